// Runs a compiled program without an engine and prints what it declares, as JSON.
const pulumi = require("@pulumi/pulumi");

const [project, config] = process.argv.slice(2);
const declared = [];
pulumi.runtime.setAllConfig(JSON.parse(config));
pulumi.runtime.setMocks(
    {
        newResource: ({ type, inputs }) => {
            declared.push({ type, properties: inputs });
            return { id: "", state: inputs };
        },
        call: ({ inputs }) => inputs,
    },
    project,
);
require("./bin/index.js");
pulumi.runtime.disconnect().then(() => console.log(JSON.stringify(declared)));
