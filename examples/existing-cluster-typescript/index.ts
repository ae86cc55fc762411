// Spot GPUs and a checkpoint bucket for a cluster that this program does not own.
import * as pulumi from "@pulumi/pulumi";
import * as spotproof from "spotproof";

const config = new pulumi.Config();
const project = new pulumi.Config("gcp").require("project");
const clusterName = config.require("clusterName");
const clusterLocation = config.require("clusterLocation");

const pool = new spotproof.SpotGpuPool("team-l4", {
    project,
    cluster: clusterName,
    clusterLocation,
    nodeServiceAccount: config.require("nodeServiceAccount"),
    machineType: "g2-standard-8",
    maxNodes: 8,
});

const bucket = new spotproof.CheckpointBucket("team-checkpoints", {
    project,
    clusterName,
    clusterLocation,
    bucketName: `${project}-team-checkpoints`,
    workloads: ["team/trainer"],
});

export const nodePool = pool.nodePoolName;
export const nodeSelector = pool.nodeSelector;
export const tolerations = pool.tolerations;
export const checkpoints = bucket.url;
