"""Policies of the pack: buckets and pool zones lie in the region of their cluster."""

from collections.abc import Iterable

from pulumi_policy import Severity

from spotproof_gke.policy_adapter import Config, Rule, policies_of, strings
from spotproof_gke.rules import region_match
from spotproof_gke.rules.finding import Finding, Stack

CLUSTERS_AND_BUCKETS = ("gcp:container/", "gcp:storage/bucket:", "kubernetes:")


def _checkpoint_buckets(stack: Stack, config: Config) -> Iterable[Finding]:
    return region_match.checkpoint_buckets(stack, strings(config, "allowedDualRegions"))


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
        types=CLUSTERS_AND_BUCKETS,
        check_stack=_checkpoint_buckets,
        config={
            "allowedDualRegions": {
                "type": "array",
                "items": {"type": "string"},
                "default": [],
                "description": (
                    "Dual-regions that are accepted when they contain the cluster's region: a "
                    'predefined one ("NAM4") or two regions ("us-central1+us-east1").'
                ),
            }
        },
        tags=("gke", "storage", "region", "cost"),
    ),
    Rule(
        name="unlabelled-bucket-in-cluster-region",
        display_name="Other bucket outside the clusters' region",
        description=(
            "A bucket that nothing ties to a cluster lies outside the one region that all "
            "clusters of the stack share."
        ),
        remediation=(
            "If the bucket holds checkpoints, move it to the clusters' region. If it does not, "
            "say what it is for with the label spotproof-role, for example spotproof-role=logs."
        ),
        severity=Severity.LOW,
        types=CLUSTERS_AND_BUCKETS,
        check_stack=lambda stack, config: region_match.unlabelled_buckets(stack),
        mandatory=False,
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
        types=("gcp:container/",),
        check_stack=lambda stack, config: region_match.pool_zones(stack),
        tags=("gke", "region"),
    ),
]

POLICIES = policies_of(RULES)
