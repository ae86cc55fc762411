"""The parts of a node pool that the demands on it speak of, and a demand that is not met."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from spotproof_gke.rules.reading import dig, is_true, mapping, text


@dataclass(frozen=True)
class Conflict:
    """One demand that a pool does not meet.

    Attributes:
        property: Path of the property to change, camelCase, for example `management.autoRepair`.
        value: What stands there, None when nothing does.
        rule: What holds, in one clause.
        fix: What to do, in one imperative clause.
        refused: Whether GKE refuses the pool, as its documentation says or its provider reports.
            Else it takes the pool, and something that was meant does not come about.
    """

    property: str
    value: object
    rule: str
    fix: str
    refused: bool = True


@dataclass
class PoolShape:
    """The parts of a node pool that the demands speak of."""

    props: Mapping[str, Any]
    config: Mapping[str, Any] = field(init=False)
    autoscaling: Mapping[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        self.config = mapping(self.props.get("nodeConfig"))
        self.autoscaling = mapping(self.props.get("autoscaling"))

    def is_(self, key: str) -> bool:
        return is_true(self.config.get(key))

    @property
    def spot(self) -> bool:
        return self.is_("spot")

    @property
    def flex_start(self) -> bool:
        return self.is_("flexStart")

    @property
    def queued(self) -> bool:
        return is_true(dig(self.props.get("queuedProvisioning"), "enabled"))

    @property
    def affinity(self) -> Any:
        return dig(self.config.get("reservationAffinity"), "consumeReservationType")

    @property
    def compact(self) -> bool:
        return text(dig(self.props.get("placementPolicy"), "type")) == "COMPACT"

    @property
    def least(self) -> tuple[str, Any]:
        """Path and value of the least number of nodes, of either kind of limit."""
        for key in ("totalMinNodeCount", "minNodeCount"):
            if self.autoscaling.get(key) is not None:
                return f"autoscaling.{key}", self.autoscaling[key]
        return "autoscaling.totalMinNodeCount", None
