"""Where the work would run, and what can be had there."""

from dataclasses import dataclass
from functools import cached_property

from spotproof_gke.accelerators import ACCELERATORS
from spotproof_gke.capacity import Capacity
from spotproof_gke.strategy import hardware
from spotproof_gke.strategy.hardware import Offer
from spotproof_gke.strategy.question import Question
from spotproof_gke.strategy.verdict import Because, because
from spotproof_gke.strategy.words import ClusterMode, Instead
from spotproof_gke.versions import FEATURES, parse
from spotproof_gke.workloads.compute_class import Priority, needed_features

USUAL_REGION = "us-central1"
"""The region that is taken as an example where none is named and any has what is needed."""

CLASSES = "compute-class-without-auto-provisioning"
"""The feature by which a compute class makes its nodes itself."""

_PROVISIONED = "auto-provisioned-"
_WITHOUT_GPU = frozenset({Capacity.ON_DEMAND, Capacity.SPOT, Capacity.RESERVATION})


@dataclass(frozen=True)
class Place:
    """A region and a cluster, and what can be had there for one question.

    Attributes:
        question: The question.
        region: The region, that of the question or one with the most zones for it.
        assumed: Whether the region is ours.
    """

    question: Question
    region: str
    assumed: bool

    @cached_property
    def zones_known(self) -> bool:
        """Whether the tables know where the accelerator is; true where none is asked for."""
        return self.question.accelerator is None or self.offer(None).zones_known

    def offer(self, capacity: Capacity | None) -> Offer:
        """The machines with the accelerator in the region; the question must have one."""
        assert self.question.accelerator is not None
        return hardware.offer(self.question.accelerator, self.question.gpus, self.region, capacity)

    def anywhere(self, capacity: Capacity | None) -> bool:
        """Whether the region has what is needed as this kind of capacity, as far as is known."""
        if self.question.accelerator is None:
            return capacity is None or capacity in _WITHOUT_GPU
        return bool(self.offer(capacity).machines)

    def has(self, feature: str) -> bool:
        """Whether the cluster's version has a feature; true where the version is not known."""
        version = self.question.version
        return version is None or parse(version) >= parse(FEATURES[feature].version)

    def what_stays(self) -> tuple[Instead, list[Because]]:
        """What keeps its nodes here: on-demand, or a reservation with the reason for it."""
        if self.anywhere(Capacity.ON_DEMAND):
            return Instead.ON_DEMAND, []
        reason = because(
            "neither-not-on-demand",
            accelerator=self.question.accelerator,
            sold=sold_words(self),
        )
        return Instead.RESERVATION, [reason]

    @property
    def provisions(self) -> bool:
        """Whether GKE makes the nodes of flex-start work: Autopilot, or auto-provisioning."""
        if self.question.mode is ClusterMode.AUTOPILOT:
            return True
        offered = self.question.accelerator in ACCELERATORS
        return offered and all(self.has(feature) for feature in self.provisioning())

    def provisioning(self) -> list[str]:
        """The features by which auto-provisioning makes flex-start nodes for the question."""
        machines = self.offer(Capacity.FLEX_START).machines[:1]
        needed = needed_features([Priority(Capacity.ON_DEMAND, m.name) for m in machines])
        of_machine = [name for name in needed if name.startswith(_PROVISIONED)]
        return ["auto-provisioned-gpu-driver", *of_machine]


def place_of(question: Question) -> Place:
    """The place of a question: its own region, or the best supplied one."""
    if question.region is not None:
        return Place(question, question.region, assumed=False)
    if question.accelerator is None:
        return Place(question, USUAL_REGION, assumed=True)
    found = hardware.regions_with(question.accelerator, question.gpus)
    region = USUAL_REGION if not found or USUAL_REGION in found else next(iter(found))
    return Place(question, region, assumed=True)


def sold_words(place: Place) -> str:
    """How the machines for a question are sold, in words."""
    kinds = {kind for machine in place.offer(None).machines for kind in machine.obtainable}
    kinds.discard(Capacity.FLEX_START_QUEUED)
    words = sorted(kind.value for kind in kinds)
    return " or ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)
