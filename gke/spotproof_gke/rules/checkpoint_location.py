"""Whether a Job that may lose its node at any time names a place for its checkpoints.

Judged are Jobs that ask for GPUs or TPUs: hours of their work are dear, and training keeps it in
memory. A Job without accelerators may as well start again, and one whose deadline is an hour or
less loses no more than that. A Job that works on a Pub/Sub subscription has its work given out
again. Whether the place is in the cluster's region is for the pack `region_match` to say.
"""

import re
from collections.abc import Iterator
from typing import Any

from spotproof_gke.capacity import ACCELERATOR_KEY
from spotproof_gke.contract import CHECKPOINT_LOCATION_VARIABLE
from spotproof_gke.rules.bucket_users import BUCKET
from spotproof_gke.rules.checkpoint_uses import names_a_place
from spotproof_gke.rules.finding import Finding, Stack
from spotproof_gke.rules.reading import UNKNOWN, dig, items, mapping, number, text
from spotproof_gke.rules.spot_jobs import SpotJob, spot_jobs
from spotproof_gke.rules.workloads import containers

SHORT_JOB_SECONDS = 3600
"""The deadline up to which a Job is short: all of its work lost is an hour lost."""

_ACCELERATORS = ("nvidia.com/", "google.com/tpu")
TPU_SELECTOR_KEY = "cloud.google.com/gke-tpu-accelerator"

_SUBSCRIPTION = re.compile("subscription", re.IGNORECASE)
_RULE = "a Job with accelerators on Spot nodes keeps its checkpoints where they outlive the pod"
_FIX = (
    f"set {CHECKPOINT_LOCATION_VARIABLE} to gs://BUCKET/PATH, or mount a bucket or a persistent "
    "volume"
)


def checkpoint_location(stack: Stack) -> Iterator[Finding]:
    """Findings for accelerator Jobs on Spot that name no place that outlives their pods."""
    stores = {each.urn for each in stack.of_type(BUCKET)}
    for job in spot_jobs(stack):
        accelerated = _has_accelerators(job.pod)
        if accelerated is False or _is_short(job) or _works_on_queue(job.pod):
            continue
        named = names_a_place(job.pod)
        # A bucket of the stack in the specification is a place, though its name is not known yet.
        if named is False or (named is None and stores.isdisjoint(job.resource.depends_on("spec"))):
            found = f"{job.where}no bucket, volume or variable names a place for checkpoints"
            sure = named is False and accelerated is True and job.landing.spot is True
            yield job.resource.finding(found, _RULE, _FIX, sure)


def _has_accelerators(spec: Any) -> bool | None:
    """Whether a pod asks for GPUs or TPUs; None when that is not known."""
    selector = dig(spec, "nodeSelector")
    asked = [dig(selector, key) for key in (ACCELERATOR_KEY, TPU_SELECTOR_KEY)]
    listed = mapping(spec).get("containers")
    doubt = UNKNOWN in (selector, listed, *items(listed))
    if selector is not UNKNOWN and any(value is not None for value in asked):
        return True
    for container in containers(spec):
        for kind in ("limits", "requests"):
            counts = dig(container, "resources", kind)
            doubt = doubt or counts is UNKNOWN
            for key, count in mapping(counts).items():
                if text(key).startswith(_ACCELERATORS) and number(count) != 0:
                    return True
    return None if doubt or spec is UNKNOWN else False


def _is_short(job: SpotJob) -> bool:
    stated = (dig(job.spec, "activeDeadlineSeconds"), dig(job.pod, "activeDeadlineSeconds"))
    limits = [limit for limit in map(number, stated) if limit and limit > 0]
    return bool(limits) and min(limits) <= SHORT_JOB_SECONDS


def _works_on_queue(spec: Any) -> bool:
    for container in containers(spec):
        words = [*items(container.get("command")), *items(container.get("args"))]
        for variable in items(container.get("env")):
            words += [mapping(variable).get("name"), mapping(variable).get("value")]
        if any(_SUBSCRIPTION.search(text(word)) for word in words):
            return True
    return False
