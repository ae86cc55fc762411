"""A question: what is known about the work that looks for capacity."""

from dataclasses import dataclass

from spotproof_gke.problems import Problem
from spotproof_gke.strategy.words import ClusterMode, Kind

RUNS_TO_AN_END = (Kind.TRAINING, Kind.BATCH)
"""Kinds of work of which it has to be known how long it runs and whether it may be interrupted."""


DEPENDS = "the answer depends on it"
"""The rule of a problem that says what is missing."""


@dataclass(frozen=True)
class Question:
    """What is known about the work; None is "not known".

    Attributes:
        kind: What sort of work it is.
        accelerator: GKE's name of the GPU, None for none.
        tpu: The TPU that was asked for, as its author wrote it; None for none.
        gpus: GPUs of one node; None leaves it to the smallest machine.
        nodes: How many nodes work at once.
        interruptible: Whether it may lose its node: it goes on, or begins again.
        checkpoints: Whether it goes on from where it saved, instead of beginning again.
        start_flexible: Whether its start may wait, for hours or for days.
        hours: How long it runs, `inf` for ever.
        replicas: How many replicas serve, for what has replicas.
        latency_critical: Whether people wait for each answer, and this is all that answers them.
        local_state: Whether it depends on its node: a disk in it, a licence bound to it.
        sla: Whether a contract or a regulation asks for an availability that somebody answers for.
        save_seconds: How long a save takes.
        region: Region, in lower case.
        mode: What cluster there is.
        version: Version of its control plane.
        reservation: Name of a reservation that this work may use.
    """

    kind: Kind
    accelerator: str | None = None
    tpu: str | None = None
    gpus: int | None = None
    nodes: int = 1
    interruptible: bool | None = None
    checkpoints: bool | None = None
    start_flexible: bool | None = None
    hours: float | None = None
    replicas: int | None = None
    latency_critical: bool = False
    local_state: bool = False
    sla: bool = False
    save_seconds: float | None = None
    region: str | None = None
    mode: ClusterMode = ClusterMode.NONE
    version: str | None = None
    reservation: str | None = None

    @property
    def resumes(self) -> bool:
        """Whether it is taken to survive the loss of its node; not known counts as no.

        What saves where it is can go on, unless its author says that it must not be interrupted.
        """
        if self.interruptible is None:
            return self.checkpoints is True
        return self.interruptible


def missing(question: Question, *, accelerator_given: bool = True) -> list[Problem]:
    """What decides the answer and is not known; the answer takes the careful way without it.

    Args:
        question: The question.
        accelerator_given: Whether an accelerator was named, `none` included.
    """
    if question.tpu or question.kind in (Kind.STATEFUL, Kind.SYSTEM):
        return []
    if question.local_state or question.sla:
        return []
    found = []
    if not accelerator_given and question.kind is not Kind.CI:
        found.append(("accelerator", "name a GPU such as l4, or none"))
    if question.kind is Kind.STATELESS and question.replicas is None:
        found.append(("replicas", "say how many replicas serve"))
    if question.kind in RUNS_TO_AN_END and question.reservation is None:
        if question.interruptible is None and question.checkpoints is None:
            found.append(("interruptible", "say whether it may lose its node"))
        begins_again = question.checkpoints is False
        if question.hours is None and (begins_again or not question.resumes):
            found.append(("hours", "say how long it runs"))
        if question.start_flexible is None and not question.resumes:
            found.append(("start_flexible", "say whether its start may wait"))
    return [Problem(key, None, DEPENDS, fix) for key, fix in found]
