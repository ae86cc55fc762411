"""Policies of the pack: what a cluster uses lies in its region."""

from collections.abc import Iterable, Mapping
from typing import Any

from pulumi_policy import Severity

from spotproof_gke.policy_adapter import Config, Rule, policies_of, strings
from spotproof_gke.rules import image_region, region_match, subnet_region, topic_region
from spotproof_gke.rules.finding import Finding, Stack
from spotproof_gke.rules.region_config import (
    DUAL_REGION_PATTERN,
    LOCATION_PATTERN,
    configuration_problems,
)

CLUSTERS = "gcp:container/"
# Of a Kubernetes provider the context is read, which may name the cluster.
WORKLOADS = ("kubernetes:", "pulumi:providers:kubernetes")
BUCKETS = ("gcp:storage/bucket:", "gcp:storage/bucketObject:")
BUCKETS_AND_USERS = (CLUSTERS, *BUCKETS, *WORKLOADS)

CLUSTER_LOCATIONS: dict[str, Any] = {
    "clusters": {
        "type": "object",
        "additionalProperties": {"type": "string", "pattern": LOCATION_PATTERN},
        "default": {},
        "description": (
            "Clusters of other stacks: the region or zone of each by its name, as in "
            '{"train": "us-central1"}.'
        ),
    }
}
BUCKET_CONFIG: dict[str, Any] = {
    "allowedDualRegions": {
        "type": "array",
        "items": {"type": "string", "pattern": DUAL_REGION_PATTERN},
        "default": [],
        "description": (
            "Dual-regions that are accepted when they contain the cluster's region: a "
            'predefined one ("NAM4") or two regions ("us-central1+us-east1").'
        ),
    },
    **CLUSTER_LOCATIONS,
    "buckets": {
        "type": "object",
        "additionalProperties": {"type": "string", "pattern": r"\S"},
        "default": {},
        "description": (
            "Buckets that no label, workload or component ties to a cluster: the name of the "
            'cluster that each serves by its own name, as in {"acme-checkpoints": "train"}.'
        ),
    },
}


def _names(config: Config, key: str) -> Mapping[str, str]:
    value = config.get(key)
    entries = value.items() if isinstance(value, Mapping) else ()
    return {str(name): str(each) for name, each in entries}


def _bucket_config(config: Config) -> tuple[tuple[str, ...], Mapping[str, str], Mapping[str, str]]:
    dual_regions = strings(config, "allowedDualRegions")
    return dual_regions, _names(config, "clusters"), _names(config, "buckets")


def _checkpoint_buckets(stack: Stack, config: Config) -> Iterable[Finding]:
    dual_regions, clusters, buckets = _bucket_config(config)
    yield from configuration_problems(dual_regions, clusters)
    yield from region_match.checkpoint_buckets(stack, dual_regions, clusters, buckets)


def _unlabelled_buckets(stack: Stack, config: Config) -> Iterable[Finding]:
    return region_match.unlabelled_buckets(stack, *_bucket_config(config))


def _topics(stack: Stack, config: Config) -> Iterable[Finding]:
    return topic_region.topic_storage(stack, _names(config, "clusters"))


def _images(stack: Stack, config: Config) -> Iterable[Finding]:
    projects = strings(config, "publicProjects", image_region.PUBLIC_PROJECTS)
    return image_region.image_repositories(stack, _names(config, "clusters"), projects)


RULES = [
    Rule(
        name="checkpoint-bucket-in-cluster-region",
        display_name="Checkpoint bucket in its cluster's region",
        description=(
            "A checkpoint bucket lies in the region of the cluster that it serves, not in another "
            "region, a multi-region, a dual-region or a single zone."
        ),
        remediation=(
            "Declare the bucket with the cluster's region as its location. The location of a "
            "bucket cannot be changed: create a new bucket, copy the data, then remove the old one."
        ),
        severity=Severity.HIGH,
        types=BUCKETS_AND_USERS,
        check_stack=_checkpoint_buckets,
        config=BUCKET_CONFIG,
        tags=("gke", "storage", "region", "cost"),
    ),
    Rule(
        name="unlabelled-bucket-in-cluster-region",
        display_name="Other bucket outside the clusters' region",
        description=(
            "A bucket that nothing ties to a cluster lies in the one region that all clusters of "
            "the stack share, or says by a label that it holds something else than checkpoints; "
            "one that serves a website is not judged."
        ),
        remediation=(
            "If the bucket holds checkpoints, move it to the clusters' region. If it does not, "
            "say what it is for with the label spotproof-role, for example spotproof-role=logs."
        ),
        severity=Severity.LOW,
        types=BUCKETS_AND_USERS,
        check_stack=_unlabelled_buckets,
        mandatory=False,
        config=BUCKET_CONFIG,
        tags=("gke", "storage", "region", "cost"),
    ),
    Rule(
        name="pool-zones-in-cluster-region",
        display_name="Pool zones in their cluster's region",
        description=(
            "The zones of a cluster's node pools and of its auto-provisioning lie in its region; "
            "GKE refuses others only in the middle of an update."
        ),
        remediation="Name zones of the cluster's region, and give a pool its cluster's location.",
        severity=Severity.HIGH,
        types=(CLUSTERS,),
        check_stack=lambda stack, config: region_match.pool_zones(stack),
        tags=("gke", "region"),
    ),
    Rule(
        name="subnet-in-cluster-region",
        display_name="Subnetwork in its cluster's region",
        description=(
            "The subnetwork of a cluster lies in the cluster's region; GKE refuses another only "
            "in the middle of an update."
        ),
        remediation="Give the cluster a subnetwork of its own region, or move the cluster.",
        severity=Severity.HIGH,
        types=(CLUSTERS, "gcp:compute/subnetwork:"),
        check_stack=lambda stack, config: subnet_region.cluster_subnetworks(stack),
        tags=("gke", "network", "region"),
    ),
    Rule(
        name="topic-storage-in-cluster-region",
        display_name="Pub/Sub messages kept near their cluster",
        description=(
            "A topic that may keep messages in certain regions only may keep them in the region of "
            "a cluster near it; else they travel, or with enforceInTransit are refused."
        ),
        remediation=(
            "Add the clusters' region to messageStoragePolicy.allowedPersistenceRegions of the "
            "topic, or leave the policy out: Pub/Sub then keeps messages where they are published."
        ),
        severity=Severity.MEDIUM,
        types=(CLUSTERS, "gcp:pubsub/topic:"),
        check_stack=_topics,
        mandatory=False,
        config=CLUSTER_LOCATIONS,
        tags=("gke", "pubsub", "region", "cost"),
    ),
    Rule(
        name="image-registry-in-cluster-region",
        display_name="Images kept in their cluster's region",
        description=(
            "A Docker repository of Artifact Registry lies in the region of the clusters that pull "
            "from it, or in the multi-region that holds it: each new Spot node pulls again."
        ),
        remediation=(
            "Keep the images in a repository of the clusters' region, or of the multi-region us, "
            "europe or asia that holds it. Images of others may come through a remote repository."
        ),
        severity=Severity.LOW,
        types=(CLUSTERS, "gcp:artifactregistry/repository:", *WORKLOADS),
        check_stack=_images,
        mandatory=False,
        config={
            **CLUSTER_LOCATIONS,
            "publicProjects": {
                "type": "array",
                "items": {"type": "string"},
                "default": list(image_region.PUBLIC_PROJECTS),
                "description": "Projects whose images are not judged, as others publish them.",
            },
        },
        tags=("gke", "images", "region", "cost"),
    ),
]

POLICIES = policies_of(RULES)
