"""Judges where a training keeps its checkpoints, and when its Job ends."""

import re
from typing import Any

import pulumi

from spotproof.reader import Reader
from spotproof_gke import kubernetes_names, names
from spotproof_gke.workloads.jobs import JobLimits
from spotproof_gke.workloads.pod import Mount, bucket_mount, claim_mount

MOST_SECONDS = 10 * 365 * 86_400
"""Upper bound of a deadline, to catch a slip."""

_LOCATION = re.compile(r"gs://([^/]+)/*(.*)")
_PATH = re.compile(r"/[^\s:]*[^\s:/]")


def read_checkpoints(read: Reader) -> tuple[Any, tuple[Mount, ...]]:
    """The location of checkpoints, and the volume that holds them if one does."""
    location = read.given("checkpoint_location")
    claim = None
    if read.has("checkpoint_claim"):
        claim = read.name("checkpoint_claim", kubernetes_names.subdomain_problems)
    bucket = _bucket(read)
    if claim and bucket:
        rule = "one volume is mounted at the checkpoint location"
        read.problem("checkpoint_bucket", read.shown("checkpoint_bucket"), rule, "remove one")
    if not isinstance(location, str) or not location:
        if (claim or bucket) and isinstance(location, pulumi.Output):
            rule = "the path of a volume shapes the plan, so it is known before the update"
            read.problem("checkpoint_location", "an output", rule, "write a plain path")
        return location, ()
    _judge_location(read, location, claim, bucket)
    if claim and bucket is None:
        return location, (claim_mount(location, claim),)
    return location, (bucket_mount(location, bucket),) if bucket is not None else ()


def _bucket(read: Reader) -> Any:
    bucket = read.given("checkpoint_bucket", default=None)
    if isinstance(bucket, str) and bucket:
        read.extend(names.bucket_name_problems("checkpoint_bucket", bucket))
    return bucket if read.has("checkpoint_bucket") else None


def _judge_location(read: Reader, location: str, claim: str | None, bucket: Any) -> None:
    key = "checkpoint_location"
    found = _LOCATION.fullmatch(location)
    if found:
        if names.bucket_name_problems(key, found[1]):
            rule = "this names no bucket"
            read.problem(key, location, rule, "write it like gs://BUCKET/RUN")
        elif not found[2].strip("/"):
            rule = "each run has a prefix of its own, or two runs would mix their checkpoints"
            read.problem(key, location, rule, f"write it like gs://{found[1]}/RUN")
        elif claim or bucket:
            rule = "a volume is mounted at a path, and gs:// is none"
            fix = "write a path like /checkpoints, or remove the volume"
            read.problem(key, location, rule, fix)
    elif not _PATH.fullmatch(location):
        rule = "this is gs://BUCKET/PREFIX or an absolute path"
        read.problem(key, location, rule, "write one of the two")
    elif not claim and bucket is None:
        rule = "what a pod writes outside a volume goes with the pod"
        fix = "give checkpoint_claim or checkpoint_bucket, or write gs://BUCKET/PREFIX"
        read.problem(key, location, rule, fix)


def read_limits(read: Reader, pods: int = 1) -> JobLimits:
    """When the Job ends without being done."""
    ttl = None
    if read.has("ttl_seconds_after_finished"):
        ttl = read.integer("ttl_seconds_after_finished", most=MOST_SECONDS)
    return JobLimits(
        deadline_seconds=read.integer("deadline_seconds", least=1, most=MOST_SECONDS),
        backoff_limit=read.integer("backoff_limit", default=3, least=1, most=100),
        ttl_seconds=ttl,
        pods=pods,
    )
