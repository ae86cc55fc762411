// A compiled program's whole life with the real engine: made, made again without a change, destroyed.
// The Automation API runs the program in this process, so no language host for Node.js is needed.
const auto = require("@pulumi/pulumi/automation");

const program = async () => {
    delete require.cache[require.resolve("./bin/index.js")]; // each update runs the program anew
    return require("./bin/index.js");
};

async function main([projectName, stackName]) {
    const options = { workDir: __dirname };
    const stack = await auto.LocalWorkspace.selectStack({ projectName, stackName, program }, options);
    const made = await stack.up();
    await stack.up({ expectNoChanges: true });
    await stack.destroy();
    const outputs = Object.entries(made.outputs).map(([name, { value }]) => [name, value]);
    console.log(JSON.stringify(Object.fromEntries(outputs)));
}

main(process.argv.slice(2)).catch((error) => {
    console.error(error.message);
    process.exit(1);
});
