"""Each demand of GKE on a pool's capacity is one conflict, at the property that decides it."""

from copy import deepcopy
from typing import Any

import pytest

from spotproof_gke.rules.pool_capacity import pool_conflicts
from spotproof_gke.rules.reading import UNKNOWN

GPU = {"machineType": "g2-standard-8"}
FLEX: dict[str, Any] = {
    "nodeConfig": {
        **GPU,
        "flexStart": True,
        "reservationAffinity": {"consumeReservationType": "NO_RESERVATION"},
    },
    "management": {"autoRepair": False},
    "initialNodeCount": 0,
    "nodeLocations": ["us-central1-a"],
    "autoscaling": {"totalMinNodeCount": 0, "totalMaxNodeCount": 4, "locationPolicy": "ANY"},
}
QUEUED: dict[str, Any] = {
    **FLEX,
    "nodeConfig": {**FLEX["nodeConfig"], "labels": {"cloud.google.com/gke-queued": "true"}},
    "queuedProvisioning": {"enabled": True},
}
SPOT: dict[str, Any] = {
    "nodeConfig": {**GPU, "spot": True},
    "nodeLocations": ["us-central1-a", "us-central1-b"],
    "initialNodeCount": 0,
    "autoscaling": {"totalMinNodeCount": 0, "totalMaxNodeCount": 4},
}
ON_DEMAND: dict[str, Any] = {**SPOT, "nodeConfig": dict(GPU)}

RULES: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("flex-start nodes are not repaired", FLEX, {"management": {"autoRepair": True}},
     "management.autoRepair"),
    ("flex-start nodes are not repaired by default either", FLEX, {"management": None},
     "management.autoRepair"),
    ("flex-start has no static number of nodes", FLEX, {"nodeCount": 2}, "nodeCount"),
    ("flex-start says that it uses no reservation", FLEX,
     {"nodeConfig.reservationAffinity": None},
     "nodeConfig.reservationAffinity.consumeReservationType"),
    ("flex-start uses no reservation", FLEX,
     {"nodeConfig.reservationAffinity": {"consumeReservationType": "ANY_RESERVATION"}},
     "nodeConfig.reservationAffinity.consumeReservationType"),
    ("flex-start goes to any zone", FLEX, {"autoscaling.locationPolicy": "BALANCED"},
     "autoscaling.locationPolicy"),
    ("flex-start is scaled by the autoscaler", FLEX, {"autoscaling": None}, "autoscaling"),
    ("flex-start scales from zero", FLEX, {"autoscaling.totalMinNodeCount": 1},
     "autoscaling.totalMinNodeCount"),
    ("flex-start scales from zero in each zone too", FLEX,
     {"autoscaling": {"minNodeCount": 1, "maxNodeCount": 2, "locationPolicy": "ANY"}},
     "autoscaling.minNodeCount"),
    ("flex-start starts at zero", FLEX, {"initialNodeCount": 1}, "initialNodeCount"),
    ("flex-start has no upgrade settings", FLEX, {"upgradeSettings": {"maxSurge": 1}},
     "upgradeSettings"),
    ("flex-start excludes Spot", FLEX, {"nodeConfig.spot": True}, "nodeConfig.spot"),
    ("flex-start excludes preemptible", FLEX, {"nodeConfig.preemptible": True},
     "nodeConfig.preemptible"),
    ("queued excludes Spot", SPOT, {
        "queuedProvisioning": {"enabled": True},
        "nodeConfig.reservationAffinity": {"consumeReservationType": "NO_RESERVATION"},
        "nodeConfig.labels": {"cloud.google.com/gke-queued": "true"},
     }, "queuedProvisioning.enabled"),
    ("queued uses no reservation", QUEUED, {"nodeConfig.reservationAffinity": None},
     "nodeConfig.reservationAffinity.consumeReservationType"),
    ("queued scales from zero", {
        **ON_DEMAND, "queuedProvisioning": {"enabled": True},
        "nodeConfig": {**QUEUED["nodeConfig"], "flexStart": None},
     }, {"autoscaling.totalMinNodeCount": 1}, "autoscaling.totalMinNodeCount"),
    ("queued GPU nodes are not placed compactly", QUEUED,
     {"placementPolicy": {"type": "COMPACT"}}, "placementPolicy.type"),
    ("queued pools carry the label that workloads select", QUEUED, {"nodeConfig.labels": None},
     "nodeConfig.labels"),
    ("queued nodes get their lifetime from the request", QUEUED,
     {"nodeConfig.maxRunDuration": "3600s"}, "nodeConfig.maxRunDuration"),
    ("Spot uses no reservation if it says anything", SPOT,
     {"nodeConfig.reservationAffinity": {"consumeReservationType": "ANY_RESERVATION"}},
     "nodeConfig.reservationAffinity.consumeReservationType"),
    ("Spot excludes preemptible", SPOT, {"nodeConfig.preemptible": True},
     "nodeConfig.preemptible"),
    ("Spot is not placed compactly", SPOT,
     {"placementPolicy": {"type": "COMPACT"}, "nodeLocations": ["us-central1-a"]},
     "placementPolicy.type"),
    ("compact placement needs exactly one zone", ON_DEMAND,
     {"placementPolicy": {"type": "COMPACT"}}, "nodeLocations"),
    ("flex-start places few machines compactly", FLEX, {"placementPolicy": {"type": "COMPACT"}},
     "placementPolicy.type"),
    ("a compact pool is not upgraded blue and green", ON_DEMAND, {
        "placementPolicy": {"type": "COMPACT"}, "nodeLocations": ["us-central1-a"],
        "upgradeSettings": {"strategy": "BLUE_GREEN"},
     }, "upgradeSettings.strategy"),
    ("a static number excludes autoscaling", ON_DEMAND,
     {"nodeCount": 2, "initialNodeCount": None}, "autoscaling"),
    ("a static number excludes an initial one", ON_DEMAND,
     {"nodeCount": 2, "autoscaling": None}, "initialNodeCount"),
    ("the least is not above the most", ON_DEMAND, {"autoscaling.totalMinNodeCount": 5},
     "autoscaling.totalMinNodeCount"),
    ("the initial number is not above the most", ON_DEMAND, {"initialNodeCount": 3},
     "initialNodeCount"),
    ("the initial number in a zone is not below the least", ON_DEMAND,
     {"autoscaling": {"minNodeCount": 1, "maxNodeCount": 4}}, "initialNodeCount"),
    ("limits hold for each zone or in total", ON_DEMAND, {"autoscaling.maxNodeCount": 4},
     "autoscaling.maxNodeCount"),
    ("a pool that is scaled may reach a node", ON_DEMAND, {"autoscaling.totalMaxNodeCount": 0},
     "autoscaling.totalMaxNodeCount"),
    ("an upgrade adds or takes away a node", ON_DEMAND,
     {"upgradeSettings": {"maxSurge": 0, "maxUnavailable": 0}}, "upgradeSettings.maxSurge"),
    ("nodes live at least ten minutes", FLEX, {"nodeConfig.maxRunDuration": "599s"},
     "nodeConfig.maxRunDuration"),
    ("nodes live at most seven days", FLEX, {"nodeConfig.maxRunDuration": "604801s"},
     "nodeConfig.maxRunDuration"),
    ("a lifetime is in seconds with an s", FLEX, {"nodeConfig.maxRunDuration": "86400"},
     "nodeConfig.maxRunDuration"),
    ("a specific reservation is named", ON_DEMAND,
     {"nodeConfig.reservationAffinity": {"consumeReservationType": "SPECIFIC_RESERVATION"}},
     "nodeConfig.reservationAffinity"),
    ("a shutdown is 0, 30 or 120 seconds", SPOT,
     {"nodeConfig.kubeletConfig": {"shutdownGracePeriodSeconds": 60}},
     "nodeConfig.kubeletConfig.shutdownGracePeriodSeconds"),
    ("critical pods get less than the whole shutdown", SPOT, {
        "nodeConfig.kubeletConfig": {
            "shutdownGracePeriodSeconds": 30, "shutdownGracePeriodCriticalPodsSeconds": 30,
        }
     }, "nodeConfig.kubeletConfig.shutdownGracePeriodCriticalPodsSeconds"),
    ("only Spot nodes have an extended shutdown", ON_DEMAND,
     {"nodeConfig.kubeletConfig": {"shutdownGracePeriodSeconds": 120}},
     "nodeConfig.kubeletConfig.shutdownGracePeriodSeconds"),
]  # fmt: skip


def _changed(pool: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    result = deepcopy(pool)
    for path, value in change.items():
        *above, last = path.split(".")
        holder = result
        for key in above:
            holder = holder[key]
        if value is None:
            holder.pop(last, None)
        else:
            holder[last] = value
    return result


@pytest.mark.parametrize("pool", [FLEX, QUEUED, SPOT, ON_DEMAND])
def test_a_pool_that_meets_every_demand_has_no_conflict(pool: dict[str, Any]) -> None:
    assert list(pool_conflicts(pool)) == []


@pytest.mark.parametrize(
    ("pool", "change", "where"), [row[1:] for row in RULES], ids=[row[0] for row in RULES]
)
def test_a_demand_that_is_not_met_is_one_conflict(
    pool: dict[str, Any], change: dict[str, Any], where: str
) -> None:
    found = list(pool_conflicts(_changed(pool, change)))
    assert [one.property for one in found] == [where]
    assert found[0].rule
    assert found[0].fix


@pytest.mark.parametrize("machine", ["a3-ultragpu-8g", "a4-highgpu-8g", "h4d-standard-192"])
def test_flex_start_places_these_compactly_in_one_zone(machine: str) -> None:
    pool = _changed(FLEX, {"placementPolicy": {"type": "COMPACT"}})
    pool["nodeConfig"]["machineType"] = machine
    assert list(pool_conflicts(pool)) == []


@pytest.mark.parametrize("pool", [FLEX, QUEUED, SPOT, ON_DEMAND])
def test_what_is_not_known_breaks_no_rule(pool: dict[str, Any]) -> None:
    for key in pool:
        assert list(pool_conflicts({**pool, key: UNKNOWN})) == [] or key == "nodeConfig"
    for key in pool["nodeConfig"]:
        config = {**pool["nodeConfig"], key: UNKNOWN}
        assert list(pool_conflicts({**pool, "nodeConfig": config})) == []
