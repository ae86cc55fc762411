"""Where the demands on a node pool begin, and which of them GKE makes by refusing the pool."""

import json
from pathlib import Path
from typing import Any

import pytest

from spotproof_gke.rules.finding import Resource
from spotproof_gke.rules.pool_capacity import pool_conflicts
from spotproof_gke.rules.pool_refusals import refused_pools
from spotproof_gke.rules.reading import UNKNOWN

PROBES = Path(__file__).resolve().parents[3] / "shared" / "data" / "provider-probes.json"
# Of this one the documentation says: at least one of the two is above zero.
TAKEN_BY_THE_PROVIDER_ALONE = {"p-surge-zero"}
ZONES = ["us-central1-a", "us-central1-b"]
NO_RESERVATION = {"reservationAffinity": {"consumeReservationType": "NO_RESERVATION"}}


def _flex(**props: Any) -> dict[str, Any]:
    config = {"flexStart": True, **NO_RESERVATION, **props.pop("config", {})}
    scaled = {"totalMinNodeCount": 0, "totalMaxNodeCount": 4, "locationPolicy": "ANY"}
    pool = {"autoscaling": scaled, "management": {"autoRepair": False}, "nodeConfig": config}
    return {**pool, **props}


def _queued(**props: Any) -> dict[str, Any]:
    labels = {"labels": {"cloud.google.com/gke-queued": "true"}}
    config = {**NO_RESERVATION, **labels, **props.pop("config", {})}
    pool = {"autoscaling": {"totalMaxNodeCount": 4}, "queuedProvisioning": {"enabled": True}}
    return {**pool, "nodeConfig": config, **props}


def _scaled(**limits: Any) -> dict[str, Any]:
    return {"autoscaling": limits}


def _grace(total: Any, critical: Any = None, spot: bool = True) -> dict[str, Any]:
    kubelet = {
        "shutdownGracePeriodSeconds": total,
        "shutdownGracePeriodCriticalPodsSeconds": critical,
    }
    return {"nodeConfig": {"spot": spot, "kubeletConfig": kubelet}}


MEETS = {
    "no property": {},
    "a static number": {"nodeCount": 2},
    "no node": {"nodeCount": 0},
    "an initial number alone": {"initialNodeCount": 3},
    "a static number, and limits that are not known": {"nodeCount": 2, "autoscaling": UNKNOWN},
    "one node at most": _scaled(maxNodeCount=1),
    "one node at most, in total": _scaled(totalMaxNodeCount=1),
    "least and most alike": _scaled(minNodeCount=3, maxNodeCount=3),
    "least and most alike, in total": _scaled(totalMinNodeCount=3, totalMaxNodeCount=3),
    "a least number alone": _scaled(minNodeCount=3),
    "a least number alone, in total": _scaled(totalMinNodeCount=3),
    "initial and least alike": {**_scaled(minNodeCount=2, maxNodeCount=4), "initialNodeCount": 2},
    "initial and most alike": {**_scaled(minNodeCount=2, maxNodeCount=4), "initialNodeCount": 4},
    "the most in all of its zones, for each zone": {
        **_scaled(maxNodeCount=4), "initialNodeCount": 4, "nodeLocations": ZONES},
    "the most in all of its zones, in total": {
        **_scaled(totalMaxNodeCount=4), "initialNodeCount": 2, "nodeLocations": ZONES},
    "more in total than may be, in zones that are not known": {
        **_scaled(totalMaxNodeCount=4), "initialNodeCount": 9},
    "fewer than the least in total": {
        **_scaled(totalMinNodeCount=2, totalMaxNodeCount=4), "initialNodeCount": 1},
    "flex-start, from zero": _flex(initialNodeCount=0),
    "flex-start for seven days": _flex(config={"maxRunDuration": "604800s"}),
    "flex-start for ten minutes": _flex(config={"maxRunDuration": "600s"}),
    "flex-start with numbers that are not known": _flex(nodeCount=UNKNOWN, autoscaling=UNKNOWN),
    "flex-start with a location policy that is not known": _flex(
        autoscaling={"totalMaxNodeCount": 4, "locationPolicy": UNKNOWN}),
    "flex-start with a least number that is not known": _flex(
        autoscaling={"totalMinNodeCount": UNKNOWN, "locationPolicy": "ANY"}),
    "flex-start with upgrades that are not known": _flex(upgradeSettings=UNKNOWN),
    "flex-start with repair that is not known": _flex(management={"autoRepair": UNKNOWN}),
    "flex-start with a reservation that is not known": _flex(
        config={"reservationAffinity": {"consumeReservationType": UNKNOWN}}),
    "queued": _queued(),
    "queued, with flex-start": _flex(
        queuedProvisioning={"enabled": True},
        config={"labels": {"cloud.google.com/gke-queued": "true"}}),
    "queued with a reservation that is not known": _queued(
        config={"reservationAffinity": UNKNOWN}),
    "queued with a label that is not known": _queued(
        config={"labels": {"cloud.google.com/gke-queued": UNKNOWN}}),
    "queued with a lifetime that is not known": _queued(config={"maxRunDuration": UNKNOWN}),
    "Spot without a reservation": {"nodeConfig": {"spot": True, **NO_RESERVATION}},
    "any reservation": {
        "nodeConfig": {"reservationAffinity": {"consumeReservationType": "ANY_RESERVATION"}}},
    "a named reservation": {"nodeConfig": {"reservationAffinity": {
        "consumeReservationType": "SPECIFIC_RESERVATION", "key": "k", "values": ["v"]}}},
    "a surge": {"upgradeSettings": {"maxSurge": 1, "maxUnavailable": 0}},
    "no surge": {"upgradeSettings": {"maxSurge": 0, "maxUnavailable": 1}},
    "one part of a surge": {"upgradeSettings": {"maxSurge": 0}},
    "the other part of a surge": {"upgradeSettings": {"maxUnavailable": 0}},
    "a surge that is not known": {"upgradeSettings": {"maxSurge": UNKNOWN, "maxUnavailable": 0}},
    "a surge of text": {"upgradeSettings": {"maxSurge": "1", "maxUnavailable": "0"}},
    "a lifetime of ten minutes": {"nodeConfig": {"maxRunDuration": "600s"}},
    "compact in one zone": {"placementPolicy": {"type": "COMPACT"}, "nodeLocations": ZONES[:1]},
    "compact in zones that are not named": {"placementPolicy": {"type": "COMPACT"}},
    "compact in zones that are not known": {
        "placementPolicy": {"type": "COMPACT"}, "nodeLocations": UNKNOWN},
    "compact flex-start of a machine that is not known": _flex(
        config={"machineType": UNKNOWN}, placementPolicy={"type": "COMPACT"}),
    "compact, upgraded by surge": {
        "placementPolicy": {"type": "COMPACT"}, "upgradeSettings": {"strategy": "SURGE"}},
    "no shutdown of its own": _grace(0, spot=False),
    "a short shutdown": _grace(30, 15),
    "a long shutdown": _grace(120, 119),
    "a shutdown for all pods": _grace(30, 0),
    "no shutdown, whatever is critical": _grace(0, 15),
    "a critical part that is not known": _grace(30, UNKNOWN),
}  # fmt: skip


@pytest.mark.parametrize("pool", MEETS.values(), ids=MEETS)
def test_pool_that_meets_every_demand(pool: dict[str, Any]) -> None:
    assert list(pool_conflicts(pool)) == []


MISSES: dict[str, tuple[dict[str, Any], list[tuple[str, Any, bool]]]] = {
    "a static number beside limits": (
        {"nodeCount": 2, **_scaled(maxNodeCount=4)}, [("autoscaling", "…", False)]),
    "a static number beside limits and an initial one": (
        {"nodeCount": 2, "initialNodeCount": 2, **_scaled(maxNodeCount=4)},
        [("autoscaling", "…", False)]),
    "a static number beside an initial one, and limits that are not known": (
        {"nodeCount": 2, "initialNodeCount": 3, "autoscaling": UNKNOWN},
        [("initialNodeCount", 3, False)]),
    "limits of both kinds": (
        _scaled(minNodeCount=1, maxNodeCount=2, totalMaxNodeCount=3),
        [("autoscaling.minNodeCount", 1, True)]),
    "limits of both kinds, the first of them zero": (
        _scaled(minNodeCount=0, maxNodeCount=2, totalMinNodeCount=1),
        [("autoscaling.maxNodeCount", 2, True)]),
    "limits of both kinds, one of each zero": (
        _scaled(minNodeCount=0, maxNodeCount=2, totalMinNodeCount=0, totalMaxNodeCount=3),
        [("autoscaling.maxNodeCount", 2, True)]),
    "limits of both kinds, those of one kind zero": (
        _scaled(minNodeCount=0, maxNodeCount=0, totalMaxNodeCount=3),
        [("autoscaling.minNodeCount", 0, False)]),
    "limits of both kinds, those of the other kind zero": (
        _scaled(maxNodeCount=3, totalMinNodeCount=0),
        [("autoscaling.maxNodeCount", 3, False)]),
    "no node at most": (_scaled(maxNodeCount=0), [("autoscaling.maxNodeCount", 0, True)]),
    "no node at most, in total": (
        _scaled(totalMinNodeCount=1, totalMaxNodeCount=0),
        [("autoscaling.totalMaxNodeCount", 0, True)]),
    "the least above the most": (
        _scaled(minNodeCount=3, maxNodeCount=2), [("autoscaling.minNodeCount", 3, True)]),
    "the least above the most, in total": (
        _scaled(totalMinNodeCount=3, totalMaxNodeCount=2),
        [("autoscaling.totalMinNodeCount", 3, True)]),
    "fewer at first than the least": (
        {**_scaled(minNodeCount=2, maxNodeCount=4), "initialNodeCount": 1},
        [("initialNodeCount", 1, False)]),
    "more at first than the most": (
        {**_scaled(maxNodeCount=4), "initialNodeCount": 5}, [("initialNodeCount", 5, False)]),
    "more at first than the most, in total": (
        {**_scaled(totalMaxNodeCount=4), "initialNodeCount": 3, "nodeLocations": ZONES},
        [("initialNodeCount", 3, False)]),
    "flex-start with a static number": (_flex(nodeCount=1), [("nodeCount", 1, True)]),
    "flex-start with a static number, that is not scaled": (
        _flex(nodeCount=1, autoscaling=None), [("nodeCount", 1, True)]),
    "queued flex-start that is not scaled": (
        _flex(autoscaling=None, queuedProvisioning={"enabled": True},
              config={"labels": {"cloud.google.com/gke-queued": "true"}}),
        [("autoscaling", None, True)]),
    "flex-start with a static number of none": (_flex(nodeCount=0), [("nodeCount", 0, False)]),
    "flex-start that is repaired": (
        _flex(management={"autoRepair": True}), [("management.autoRepair", True, False)]),
    "flex-start in balanced zones": (
        _flex(autoscaling={"totalMaxNodeCount": 4}),
        [("autoscaling.locationPolicy", None, False)]),
    "flex-start with upgrades": (
        _flex(upgradeSettings={"maxSurge": 1}), [("upgradeSettings", "…", False)]),
    "flex-start that is not scaled": (
        _flex(autoscaling=None), [("autoscaling", None, False)]),
    "flex-start from one node": (
        _flex(autoscaling={"minNodeCount": 1, "locationPolicy": "ANY"}),
        [("autoscaling.minNodeCount", 1, False)]),
    "flex-start that starts at one": (_flex(initialNodeCount=1), [("initialNodeCount", 1, False)]),
    "flex-start that says nothing of reservations": (
        _flex(config={"reservationAffinity": None}),
        [("nodeConfig.reservationAffinity.consumeReservationType", None, False)]),
    "flex-start from any reservation": (
        _flex(config={"reservationAffinity": {"consumeReservationType": "ANY_RESERVATION"}}),
        [("nodeConfig.reservationAffinity.consumeReservationType", "ANY_RESERVATION", True)]),
    "flex-start from a named reservation": (
        _flex(config={"reservationAffinity": {
            "consumeReservationType": "SPECIFIC_RESERVATION", "key": "k", "values": ["v"]}}),
        [("nodeConfig.reservationAffinity.consumeReservationType", "SPECIFIC_RESERVATION", True)]),
    "flex-start for too short": (
        _flex(config={"maxRunDuration": "599s"}), [("nodeConfig.maxRunDuration", "599s", True)]),
    "flex-start for too long": (
        _flex(config={"maxRunDuration": "604801s"}),
        [("nodeConfig.maxRunDuration", "604801s", True)]),
    "others for too short": (
        {"nodeConfig": {"maxRunDuration": "599s"}}, [("nodeConfig.maxRunDuration", "599s", False)]),
    "a lifetime without its unit": (
        {"nodeConfig": {"maxRunDuration": "8640"}}, [("nodeConfig.maxRunDuration", "8640", True)]),
    "a lifetime in another unit": (
        {"nodeConfig": {"maxRunDuration": "24h"}}, [("nodeConfig.maxRunDuration", "24h", True)]),
    "queued that says nothing of reservations": (
        _queued(config={"reservationAffinity": None}),
        [("nodeConfig.reservationAffinity.consumeReservationType", None, True)]),
    "queued that is not scaled": (_queued(autoscaling=None), [("autoscaling", None, True)]),
    "queued from one node": (
        _queued(autoscaling={"totalMinNodeCount": 1, "totalMaxNodeCount": 4}),
        [("autoscaling.totalMinNodeCount", 1, True)]),
    "queued from one node in each zone": (
        _queued(autoscaling={"minNodeCount": 1, "maxNodeCount": 4}, initialNodeCount=0),
        [("autoscaling.minNodeCount", 1, True)]),
    "queued that starts at one": (_queued(initialNodeCount=1), [("initialNodeCount", 1, False)]),
    "queued without its label": (
        _queued(config={"labels": {}}), [("nodeConfig.labels", None, False)]),
    "queued with another label": (
        _queued(config={"labels": {"cloud.google.com/gke-queued": "yes"}}),
        [("nodeConfig.labels", "yes", False)]),
    "queued with a lifetime": (
        _queued(config={"maxRunDuration": "1s"}), [("nodeConfig.maxRunDuration", "1s", False)]),
    "queued and compact": (
        _queued(placementPolicy={"type": "COMPACT"}), [("placementPolicy.type", "COMPACT", True)]),
    "Spot that says something else of reservations": (
        {"nodeConfig": {"spot": True, "reservationAffinity": {
            "consumeReservationType": "UNSPECIFIED"}}},
        [("nodeConfig.reservationAffinity.consumeReservationType", "UNSPECIFIED", False)]),
    "a named reservation without a key": (
        {"nodeConfig": {"reservationAffinity": {
            "consumeReservationType": "SPECIFIC_RESERVATION", "values": ["v"]}}},
        [("nodeConfig.reservationAffinity", "SPECIFIC_RESERVATION", True)]),
    "a named reservation without a name": (
        {"nodeConfig": {"reservationAffinity": {
            "consumeReservationType": "SPECIFIC_RESERVATION", "key": "k", "values": []}}},
        [("nodeConfig.reservationAffinity", "SPECIFIC_RESERVATION", True)]),
    "Spot and compact": (
        {"nodeConfig": {"spot": True}, "placementPolicy": {"type": "COMPACT"}},
        [("placementPolicy.type", "COMPACT", False)]),
    "flex-start and compact": (
        _flex(placementPolicy={"type": "COMPACT"}, config={"machineType": "a3-highgpu-8g"}),
        [("placementPolicy.type", "COMPACT", False)]),
    "compact in two zones": (
        {"placementPolicy": {"type": "COMPACT"}, "nodeLocations": ZONES},
        [("nodeLocations", ZONES, True)]),
    "compact in no zone": (
        {"placementPolicy": {"type": "COMPACT"}, "nodeLocations": []},
        [("nodeLocations", [], False)]),
    "compact, and upgraded blue and green": (
        {"placementPolicy": {"type": "COMPACT"}, "upgradeSettings": {"strategy": "BLUE_GREEN"}},
        [("upgradeSettings.strategy", "BLUE_GREEN", False)]),
    "no surge, and none away": (
        {"upgradeSettings": {"maxSurge": 0, "maxUnavailable": 0}},
        [("upgradeSettings.maxSurge", 0, True)]),
    "a shutdown of another length": (
        _grace(60), [("nodeConfig.kubeletConfig.shutdownGracePeriodSeconds", 60, True)]),
    "a shutdown that is no number": (
        _grace("long"), [("nodeConfig.kubeletConfig.shutdownGracePeriodSeconds", "long", True)]),
    "a shutdown of nodes that are not Spot": (
        _grace(30, spot=False),
        [("nodeConfig.kubeletConfig.shutdownGracePeriodSeconds", 30, True)]),
    "a shutdown for critical pods alone": (
        _grace(30, 30),
        [("nodeConfig.kubeletConfig.shutdownGracePeriodCriticalPodsSeconds", 30, True)]),
}  # fmt: skip


@pytest.mark.parametrize(("pool", "found"), MISSES.values(), ids=MISSES)
def test_pool_that_misses_one_demand(pool: dict[str, Any], found: list) -> None:
    conflicts = list(pool_conflicts(pool))

    assert [(each.property, each.value, each.refused) for each in conflicts] == found
    reported = refused_pools(Resource("gcp:container/nodePool:NodePool", "pool", props=pool))
    assert [each.certain for each in reported] == [True] * sum(each.refused for each in conflicts)


def test_pool_that_starts_too_large_says_with_how_many_nodes_in_all_zones() -> None:
    pool = {**_scaled(totalMaxNodeCount=4), "initialNodeCount": 3, "nodeLocations": ZONES}

    assert [each.rule for each in pool_conflicts(pool)] == [
        "the pool starts with 6 nodes, above the most it may have (4)"
    ]


def test_report_names_property_value_demand_and_fix() -> None:
    pool = Resource("gcp:container/nodePool:NodePool", "l4", props=_grace(60))

    assert str(next(refused_pools(pool))) == (
        "l4: nodeConfig.kubeletConfig.shutdownGracePeriodSeconds is 60, but GKE takes 0, 30, 120 "
        "seconds for the shutdown of a node, whatever the SDK says. Fix: choose one of them. "
        "Rule: the properties of a node pool go together as GKE demands."
    )


@pytest.mark.parametrize(
    ("value", "words"),
    [(True, "is true,"), (None, "is not set,"), (1, "is 1,"), ("a b", "is (not shown),")],
)
def test_report_says_a_value_in_words(value: object, words: str, monkeypatch) -> None:
    conflict = next(iter(pool_conflicts({"nodeConfig": {"spot": True, "preemptible": True}})))
    changed = type(conflict)(conflict.property, value, conflict.rule, conflict.fix)
    monkeypatch.setattr(
        "spotproof_gke.rules.pool_refusals.pool_conflicts", lambda pool: iter([changed])
    )

    found = next(refused_pools(Resource("gcp:container/nodePool:NodePool", "a")))
    assert words in found.value


@pytest.mark.skipif(not PROBES.is_file(), reason="what the provider did is not in the project")
def test_pool_that_the_real_provider_took_is_not_reported() -> None:
    rows = json.loads(PROBES.read_text(encoding="utf-8"))["rows"] if PROBES.is_file() else []
    taken = [row for row in rows if row["outcome"] == "accepted"]
    reported = {
        row["id"]
        for row in taken
        if list(refused_pools(Resource(row["type"], row["id"], props=row["inputs"])))
    }

    assert len(taken) > 100
    assert reported == TAKEN_BY_THE_PROVIDER_ALONE
