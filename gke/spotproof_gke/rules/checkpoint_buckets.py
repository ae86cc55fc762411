"""Whether a bucket of checkpoints keeps, and bills, what was deleted or left behind.

A bucket holds checkpoints when its label says so, when a label ties it to a cluster, when a
workload names it as the place of checkpoints, or when it is named for them in a stack with clusters
or workloads; a bucket of data that a workload merely reads is not judged.
"""

from collections.abc import Iterator, Mapping, Sequence

from spotproof_gke.checkpoints import ENDING_ACTIONS, SOFT_DELETE_SECONDS
from spotproof_gke.contract import (
    CHECKPOINTS_ROLE,
    CLUSTER_LABEL,
    CLUSTER_LOCATION_LABEL,
    ROLE_LABEL,
)
from spotproof_gke.rules.bucket_users import BUCKET, label
from spotproof_gke.rules.checkpoint_uses import (
    checkpoint_buckets_in,
    is_named_for_checkpoints,
    is_open,
)
from spotproof_gke.rules.clusters import CLUSTER
from spotproof_gke.rules.finding import Finding, Mend, Resource, Stack, shown
from spotproof_gke.rules.reading import UNKNOWN, dig, items, mapping, number, text
from spotproof_gke.rules.workloads import PodSpec, pod_specs

SOFT_DELETE_RULE = "a checkpoint bucket does not keep, and bill, the checkpoints that were deleted"
LIFECYCLE_RULE = "a checkpoint bucket ends old data, or what interrupted uploads leave behind"

_SOFT_DELETE_AT = ("softDeletePolicy", "retentionDurationSeconds")
_SOFT_DELETE_FIX = "set softDeletePolicy.retentionDurationSeconds to 0"
_LIFECYCLE_FIX = (
    "add a lifecycleRule with action AbortIncompleteMultipartUpload and condition age, and one "
    "with Delete where no run needs its oldest checkpoints"
)


def soft_delete(stack: Stack) -> Iterator[Finding]:
    """Findings for checkpoint buckets that keep deleted objects; left out that is 7 days."""
    for bucket, certain in checkpoint_buckets(stack):
        seconds = dig(bucket.get(_SOFT_DELETE_AT[0]), _SOFT_DELETE_AT[1])
        if seconds is None:
            days = SOFT_DELETE_SECONDS[0] // 86_400
            found = f"without softDeletePolicy it keeps deleted objects for {days} days"
        elif seconds is UNKNOWN or number(seconds):
            found = f"softDeletePolicy.retentionDurationSeconds is {shown(seconds)}"
        else:
            continue
        known = seconds is not UNKNOWN
        yield bucket.finding(found, SOFT_DELETE_RULE, _SOFT_DELETE_FIX, certain and known)


def soft_delete_mend(bucket: Resource) -> Mend | None:
    """Soft delete off for a bucket that its label says is for checkpoints.

    None where the label is not known, and where the program states how long deleted objects are
    kept: that is a decision which a mend does not overrule.
    """
    policy = bucket.get(_SOFT_DELETE_AT[0])
    if bucket.type != BUCKET or text(label(bucket, ROLE_LABEL)) != CHECKPOINTS_ROLE:
        return None
    stated = isinstance(policy, Mapping) and policy.get(_SOFT_DELETE_AT[1]) is None
    if policy is not None and not stated:
        return None
    return Mend(_SOFT_DELETE_AT, value=0)


def lifecycle(stack: Stack) -> Iterator[Finding]:
    """Findings for checkpoint buckets without a lifecycle rule that deletes anything."""
    for bucket, certain in checkpoint_buckets(stack):
        rules = bucket.get("lifecycleRules")
        actions = [
            dig(rule, "action", "type")
            for rule in ([UNKNOWN] if rules is UNKNOWN else items(rules))
        ]
        if any(text(action) in ENDING_ACTIONS for action in actions):
            continue
        unknown = UNKNOWN in actions
        found = "its lifecycle rules" if unknown else "no lifecycle rule deletes anything"
        yield bucket.finding(found, LIFECYCLE_RULE, _LIFECYCLE_FIX, certain and not unknown)


def checkpoint_buckets(stack: Stack) -> Iterator[tuple[Resource, bool]]:
    """The buckets of a stack that hold checkpoints, and whether that is certain."""
    buckets = stack.of_type(BUCKET)
    if not buckets:
        return
    pods = [(user, pod) for user in stack.resources for pod in pod_specs(user)]
    has_cluster = bool(pods or stack.of_type(CLUSTER))
    named, perhaps = _named(pods, {bucket.urn for bucket in buckets if bucket.urn})
    strangers = named - {text(bucket.get("name")) for bucket in buckets}
    for bucket in buckets:
        role, name = label(bucket, ROLE_LABEL), bucket.get("name")
        if text(role):
            if text(role) == CHECKPOINTS_ROLE:
                yield bucket, True
        elif text(name) in named or (has_cluster and _is_meant(bucket)):
            yield bucket, role is not UNKNOWN
        elif (
            bucket.urn in perhaps
            or (role is UNKNOWN and has_cluster)
            or (name is UNKNOWN and strangers)
        ):
            yield bucket, False


def _named(
    pods: Sequence[tuple[Resource, PodSpec]], buckets: set[str]
) -> tuple[set[str], set[str]]:
    """Names of buckets that workloads name as the place of checkpoints, and URNs of those that they
    may name: where a value is not known, the buckets that it depends on, else any."""
    named: set[str] = set()
    perhaps: set[str] = set()
    for resource, pod in pods:
        for name in checkpoint_buckets_in(pod.spec):
            if name is UNKNOWN:
                urns = {*resource.depends_on("spec"), *resource.depends_on("template")}
                perhaps |= (urns & buckets) or buckets
            else:
                named.add(name)
        if is_open(pod.spec):
            perhaps |= buckets
    return named - {""}, perhaps


def _is_meant(bucket: Resource) -> bool:
    """Whether a bucket is meant for checkpoints, by its names and labels."""
    labels = mapping(bucket.get("labels"))
    if any(map(is_named_for_checkpoints, (bucket.name, bucket.get("name"), *labels.values()))):
        return True
    return any(label(bucket, key) is not None for key in (CLUSTER_LABEL, CLUSTER_LOCATION_LABEL))
