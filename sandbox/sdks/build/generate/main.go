// Writes the SDK of a package for one language, from its schema: generate LANGUAGE SCHEMA FOLDER.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/blang/semver"
	"github.com/pulumi/pulumi/pkg/v3/codegen/nodejs"
	"github.com/pulumi/pulumi/pkg/v3/codegen/python"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
)

const tool = "spotproof"

var version string // set by the linker

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintf(os.Stderr, "usage: generate LANGUAGE SCHEMA FOLDER (code generator %s)\n", version)
		os.Exit(2)
	}
	if err := generate(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func generate(language, schemaFile, folder string) error {
	text, err := os.ReadFile(schemaFile)
	if err != nil {
		return err
	}
	var spec schema.PackageSpec
	if err := json.Unmarshal(text, &spec); err != nil {
		return fmt.Errorf("%s: %w", schemaFile, err)
	}
	pkg, found, err := schema.BindSpec(spec, alone{}, schema.ValidationOptions{})
	if err != nil {
		return err
	}
	if found.HasErrors() {
		return fmt.Errorf("%s: %w", schemaFile, found)
	}
	// As `pulumi package add` does: an SDK that a program takes from a folder.
	pkg.SupportPack = true
	files, err := generateFiles(language, pkg)
	if err != nil {
		return err
	}
	for name, content := range files {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func generateFiles(language string, pkg *schema.Package) (map[string][]byte, error) {
	switch language {
	case "nodejs":
		if err := pkg.ImportLanguages(map[string]schema.Language{"nodejs": nodejs.Importer}); err != nil {
			return nil, err
		}
		return nodejs.GeneratePackage(tool, pkg, nil, nil, true, alone{})
	case "python":
		return python.GeneratePackage(tool, pkg, nil, alone{})
	}
	return nil, fmt.Errorf("language %q: nodejs and python are known", language)
}

// alone refuses to load another package: the components refer to none.
type alone struct{}

func (alone) LoadPackage(name string, _ *semver.Version) (*schema.Package, error) {
	return nil, fmt.Errorf("the schema refers to the package %q, and none is at hand", name)
}

func (one alone) LoadPackageV2(_ context.Context, other *schema.PackageDescriptor) (*schema.Package, error) {
	return one.LoadPackage(other.Name, nil)
}

func (one alone) LoadPackageReference(name string, _ *semver.Version) (schema.PackageReference, error) {
	_, err := one.LoadPackage(name, nil)
	return nil, err
}

func (one alone) LoadPackageReferenceV2(
	_ context.Context, other *schema.PackageDescriptor,
) (schema.PackageReference, error) {
	return one.LoadPackageReference(other.Name, nil)
}
