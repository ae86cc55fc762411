// Each of these must be refused by the compiler: where it is not, the comment above it is an error.
import * as spotproof from "spotproof";

const place = { project: "p", cluster: "c", clusterLocation: "europe-west4", nodeServiceAccount: "n" };
const pool = { ...place, machineType: "g2-standard-8", maxNodes: 8 };
// @ts-expect-error a property that is not there
new spotproof.SpotGpuPool("a", { ...pool, maxNode: 1 });
// @ts-expect-error text for a count
new spotproof.SpotGpuPool("a", { ...pool, maxNodes: "8" });
// @ts-expect-error a property that is required is missing
new spotproof.SpotGpuPool("a", { ...place, maxNodes: 8 });
// @ts-expect-error an output that is not there
new spotproof.SpotGpuPool("a", pool).nodePool;
