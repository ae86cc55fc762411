"""The Jobs of a stack, wherever they stand, and which of them may run on nodes that can be lost.

Sources, read on 2026-11-30: kubernetes.io/docs/concepts/workloads/controllers/job; the JobSet API,
kubernetes-sigs/jobset api/jobset/v1alpha2.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from spotproof_gke.rules.finding import Resource, Stack
from spotproof_gke.rules.interruptible_pods import Landing, Landings
from spotproof_gke.rules.reading import UNKNOWN, dig, items, mapping, text
from spotproof_gke.rules.workloads import kind_of

_JOB_AT = {"Job": ("spec",), "CronJob": ("spec", "jobTemplate", "spec")}


@dataclass(frozen=True)
class SpotJob:
    """A Job that may lose its node.

    Attributes:
        resource: The resource that it stands in.
        where: Where it stands there, with a colon; "" when it is the resource.
        spec: The Job's specification; `UNKNOWN` when the preview does not know it.
        landing: Where its pods may run.
        job_set: Specification of the JobSet that it belongs to, or None.
    """

    resource: Resource
    where: str
    spec: Any
    landing: Landing
    job_set: Any = None

    @property
    def pod(self) -> Any:
        """The pod specification."""
        return dig(self.spec, "template", "spec")


def interruptible_jobs(stack: Stack) -> Iterator[SpotJob]:
    """The Jobs of a stack whose pods may lose their node, or of which that is not known."""
    landings = Landings(stack)
    for resource in stack.resources:
        kind = kind_of(resource)
        if not kind or resource.type.endswith("Patch"):
            continue
        props = {key: resource.get(key) for key in ("spec", "items")}
        for where, spec, job_set in _jobs(kind, props):
            landing = landings.of(dig(spec, "template", "spec"))
            if landing.may_end is not False:
                yield SpotJob(resource, where, spec, landing, job_set)


def spot_jobs(stack: Stack) -> Iterator[SpotJob]:
    """Those of them that may run on nodes that can be taken away at any time.

    Flex-start nodes are not: they end at a time that is known beforehand.
    """
    return (job for job in interruptible_jobs(stack) if job.landing.spot is not False)


def _jobs(kind: str, props: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    if kind in _JOB_AT:
        spec = dig(props, *_JOB_AT[kind])
        if spec:
            yield "", spec, None
    elif kind == "JobSet":
        job_set = props.get("spec")
        replicated = dig(job_set, "replicatedJobs")
        for place, each in enumerate([UNKNOWN] if replicated is UNKNOWN else items(replicated)):
            where = "" if replicated is UNKNOWN else f"replicatedJobs[{place}]: "
            yield where, dig(each, "template", "spec"), job_set
    elif kind.endswith("List"):
        listed = props.get("items")
        if UNKNOWN in (listed, *items(listed)) and kind[:-4] in _JOB_AT:
            yield "", UNKNOWN, None
        for place, each in enumerate(items(listed)):
            one = mapping(each)
            for where, spec, job_set in _jobs(text(one.get("kind")) or kind[:-4], one):
                yield f"items[{place}]: {where}", spec, job_set
