// The Kubernetes provider plugin. The module's own main package embeds files that the module does
// not carry, so this one embeds the schema and mapping that the build copies from the module.
package main

import (
	_ "embed"

	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
)

//go:embed schema.json
var schema []byte

//go:embed terraform-mapping.json
var mapping []byte

var version string // set by the linker

func main() {
	provider.Serve("kubernetes", version, schema, mapping)
}
