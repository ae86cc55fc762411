"""Which versions of GKE an answer needs, and where its nodes should come from."""

from dataclasses import dataclass

from spotproof_gke.capacity import Capacity
from spotproof_gke.strategy.place import CLASSES, Place
from spotproof_gke.strategy.verdict import Verdict
from spotproof_gke.strategy.words import ClusterMode, Strategy
from spotproof_gke.versions import FEATURES, parse
from spotproof_gke.workloads.compute_class import Priority, needed_features


@dataclass(frozen=True)
class Need:
    """A feature of GKE that the answer uses.

    Attributes:
        what: The feature in words.
        version: The least version of the control plane.
        met: Whether the cluster has it; None where its version is not known.
    """

    what: str
    version: str
    met: bool | None


def needs(place: Place, verdict: Verdict) -> tuple[Need, ...]:
    """The features that an answer uses and that have a least version, the newest last."""
    known = place.question.version is not None
    return tuple(
        Need(FEATURES[name].what, FEATURES[name].version, place.has(name) if known else None)
        for name in _features(place, verdict)
    )


def _features(place: Place, verdict: Verdict) -> list[str]:
    if verdict.chain:
        machines = [
            Priority(capacity, machine_type=_first(place, capacity)) for capacity in verdict.chain
        ]
        if verdict.strategy is Strategy.SPLIT and not place.has(CLASSES):
            return []
        return needed_features(machines)
    if verdict.strategy is Strategy.FLEX_START_QUEUED:
        return ["flex-start-queued"]
    if verdict.strategy is not Strategy.FLEX_START:
        return []
    if not place.provisions or place.question.mode is ClusterMode.AUTOPILOT:
        return ["flex-start"]
    return sorted(
        ["flex-start", *place.provisioning()], key=lambda name: parse(FEATURES[name].version)
    )


def _first(place: Place, capacity: Capacity) -> str:
    if place.question.accelerator is None:
        return ""
    machines = place.offer(capacity).machines
    return machines[0].name if machines else ""


def nodes_from(place: Place, verdict: Verdict) -> str | None:
    """Whether flex-start nodes should come from Autopilot, auto-provisioning or a pool, and why.

    Google's pages describe all three and recommend none of them for a case, so this is an opinion.
    """
    mode = place.question.mode
    if verdict.strategy is Strategy.FLEX_START_QUEUED:
        if mode is ClusterMode.AUTOPILOT:
            return "Autopilot, since the cluster is there: Kueue asks it for all nodes at once."
        return (
            "A hand-made pool with queued provisioning on Standard: its size, zones and lifetime "
            "are said once, and the taint and label that Kueue's flavor selects are there before "
            "the first job. Autopilot does it too, and has no pool to look at while it waits."
        )
    if verdict.strategy is not Strategy.FLEX_START:
        return None
    if mode is ClusterMode.AUTOPILOT:
        return (
            "Autopilot, since the cluster is there: the pod asks for flex-start and there is no "
            "pool to make. On Standard, limits of auto-provisioning would bound the bill as well."
        )
    if not place.provisions:
        return (
            "A hand-made flex-start pool on Standard: auto-provisioning of this cluster's version, "
            "or for this GPU, would leave the node without a driver or is not offered."
        )
    return (
        "Standard with auto-provisioning: no pool to keep for each GPU, a limit on GPUs that "
        "bounds the bill, and Spot pools beside it whose shutdown can be extended. Autopilot is "
        "right if nobody is to look after nodes at all; it has no such limit."
    )
