"""What a plan is said to cost: ranges from the fewest to the most nodes, and nothing made up."""

from datetime import date
from typing import Any

import pytest

from spotproof_gke import prices
from spotproof_gke.capacity import Capacity
from spotproof_gke.cost.estimate import Estimate, estimate
from spotproof_gke.cost.lines import MONTH_HOURS, Line, Use
from spotproof_gke.cost.plans import plan_of
from spotproof_gke.prices import Price
from spotproof_gke.problems import ProblemsError
from tests.cost import documents
from tests.cost.documents import SECRET, UNKNOWN, Row, cluster, pool, row, state

TODAY = date(2026, 11, 30)


def estimated(*rows: Row, use: Use | None = None, **options: Any) -> Estimate:
    return estimate(plan_of("test", state(*rows)), use or Use(), TODAY, **options)


def line(made: Estimate, name: str, what: str) -> Line:
    found = [each for each in made.lines if each.name == name and what in each.what]
    assert len(found) == 1, [each.what for each in made.lines]
    return found[0]


def month(machine_type: str, capacity: Capacity = Capacity.ON_DEMAND) -> float:
    hour = prices.machine_hour(machine_type, "us-central1", capacity)
    assert isinstance(hour, Price)
    return hour.high * MONTH_HOURS


@pytest.mark.parametrize("form", [documents.state, documents.preview, documents.plan])
def test_every_form_of_a_plan_says_the_same(form: Any) -> None:
    rows = (cluster(), pool("spot", "g2-standard-8", nodeCount=1, config={"spot": True}))
    made = estimate(plan_of("test", form(*rows)), Use(), TODAY)

    expected = estimated(*rows)
    assert (made.lines, made.needs) == (expected.lines, expected.needs)
    assert made.low > 73


@pytest.mark.parametrize(
    ("scaling", "least", "most"),
    [
        ({"autoscaling": {"totalMinNodeCount": 1, "totalMaxNodeCount": 6}}, 1, 6),
        ({"autoscaling": {"minNodeCount": 1, "maxNodeCount": 2}}, 3, 6),
        ({"autoscaling": {"maxNodeCount": 2}, "nodeLocations": ["us-central1-a"]}, 0, 2),
        ({"autoscaling": {"maxNodeCount": 2, "locationPolicy": "ANY"}}, 0, 6),
        ({"nodeCount": 2}, 6, 6),
        ({"initialNodeCount": 1, "nodeLocations": ["us-central1-a", "us-central1-b"]}, 2, 2),
        ({"nodeCount": 2, "location": "us-central1-a"}, 2, 2),
        ({"nodeCount": "2", "location": "us-central1-a"}, 2, 2),
    ],
)
def test_counts_of_a_pool_are_for_each_zone_and_totals_for_all(
    scaling: Row, least: int, most: int
) -> None:
    found = line(estimated(cluster(), pool("p", "e2-standard-4", **scaling)), "p", "node")

    assert found.low == pytest.approx(least * month("e2-standard-4"))
    assert found.high == pytest.approx(most * month("e2-standard-4"))


def test_zones_of_the_cluster_count_where_the_pool_names_none() -> None:
    rows = (
        cluster(location="us-central1-a", nodeLocations=["us-central1-b"]),
        pool("p", "e2-standard-4", location=None, nodeCount=1),
    )

    assert line(estimated(*rows), "p", "node").high == pytest.approx(2 * month("e2-standard-4"))


def test_pools_that_a_cluster_lists_itself_and_its_default_pool_count() -> None:
    listed = {"name": "own", "nodeCount": 1, "nodeConfig": {"machineType": "e2-standard-4"}}
    made = estimated(cluster(removeDefaultNodePool=None, nodePools=[listed]))
    assert line(made, "main nodePools[0]", "3 nodes").high

    made = estimated(cluster(removeDefaultNodePool=None, initialNodeCount=1))
    assert "e2-medium" in line(made, "main default pool", "3 nodes").what


def test_number_of_nodes_that_is_given_counts_in_the_place_of_the_limits() -> None:
    made = estimated(cluster(), pool("p", "e2-standard-4", nodeCount=9), nodes={"p": 1.5})

    found = line(made, "p", "node")
    assert found.low == found.high == pytest.approx(1.5 * month("e2-standard-4"))


def test_pool_that_is_not_there_is_named_beside_those_that_are() -> None:
    with pytest.raises(ProblemsError, match=r'--nodes workrs = 3.*did you mean "workers"'):
        estimated(pool("workers", "e2-standard-4", nodeCount=1), nodes={"workrs": 3})


def test_spot_is_a_range_below_the_on_demand_price() -> None:
    spot = pool("spot", "g2-standard-8", nodeCount=1, config={"spot": True})
    found = line(estimated(cluster(), spot), "spot", "node")

    assert found.high is not None
    assert 0 < found.low < found.high <= 3 * month("g2-standard-8")


def test_flex_start_is_a_range_up_to_the_on_demand_price() -> None:
    flex = pool("flex", "a2-highgpu-1g", nodeCount=1, config={"flexStart": True})
    found = line(estimated(cluster(), flex), "flex", "node")

    assert found.high == pytest.approx(3 * month("a2-highgpu-1g"))
    assert found.low == pytest.approx(0.47 * 3 * month("a2-highgpu-1g"))


def test_gpus_that_are_attached_are_paid_beside_their_machine() -> None:
    bare = pool("bare", "n1-standard-8", nodeCount=1)
    gpus = [{"type": "nvidia-tesla-t4", "count": 2}]
    with_gpus = pool("t4", "n1-standard-8", nodeCount=1, config={"guestAccelerators": gpus})
    made = estimated(cluster(), bare, with_gpus)

    more = (line(made, "t4", "node").high or 0) - (line(made, "bare", "node").high or 0)
    assert more == pytest.approx(3 * 2 * 0.35 * MONTH_HOURS)


@pytest.mark.parametrize(
    ("machine", "inputs", "why"),
    [
        ("x9-standard-4", {}, "x9-standard-4 is not in the table"),
        ("a3-megagpu-8g", {}, "a3-megagpu-8g is not in the table"),
        (UNKNOWN, {}, "not known before the update"),
        (SECRET, {}, "not known before the update"),
        ("e2-standard-4", {"config": {"spot": UNKNOWN}}, "not known before the update"),
        ("e2-standard-4", {"nodeCount": UNKNOWN}, "how many nodes"),
        ("e2-standard-4", {"autoscaling": {"totalMaxNodeCount": UNKNOWN}}, "how many nodes"),
        ("e2-standard-4", {"location": UNKNOWN, "cluster": "other"}, ""),
    ],
)
def test_what_is_not_known_is_unknown_and_counted(machine: Any, inputs: Row, why: str) -> None:
    made = estimated(pool("p", machine, **{"nodeCount": 1, **inputs}))

    found = line(made, "p", "node")
    assert found.high is None
    assert why in found.unknown
    assert found in made.unknown


def test_region_may_be_given_where_the_plan_does_not_tell_it() -> None:
    unplaced = pool("p", "e2-standard-4", location=UNKNOWN, autoscaling={"totalMaxNodeCount": 2})
    assert "give --region" in line(estimated(unplaced), "p", "node").unknown

    made = estimated(unplaced, region="europe-west4")
    assert line(made, "p", "node").high
    with pytest.raises(ProblemsError, match='did you mean "europe-west4"'):
        estimated(unplaced, region="europe-west44")


@pytest.mark.parametrize(
    ("given", "low", "high"),
    [
        ({}, 73.0, 73.0),
        ({"location": "us-central1-a"}, 0.0, 73.0),
        ({"enableAutopilot": True}, 0.0, 73.0),
        ({"location": UNKNOWN}, 0.0, 73.0),
        ({"location": None}, 0.0, 73.0),
    ],
)
def test_free_tier_may_pay_for_zonal_and_autopilot_clusters(
    given: Row, low: float, high: float
) -> None:
    found = line(estimated(cluster(**given)), "main", "cluster")

    assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))


def test_free_tier_pays_for_one_cluster_alone() -> None:
    def zonal(name: str) -> Row:
        return row(documents.CLUSTER, name, location="us-central1-a", removeDefaultNodePool=True)

    made = estimated(cluster(), zonal("a"), zonal("b"))

    assert (made.low, made.high) == (pytest.approx(2 * 73), pytest.approx(3 * 73))
    assert line(made, "a", "zonal cluster").depends_on
    assert not line(made, "b", "zonal cluster").depends_on


@pytest.mark.parametrize(
    ("given", "added"),
    [
        ({}, 1),
        ({"upgradeSettings": UNKNOWN}, 1),
        ({"upgradeSettings": {"maxSurge": 2}}, 2),
        ({"upgradeSettings": {"maxUnavailable": 1}}, 0),
        ({"upgradeSettings": {"strategy": "BLUE_GREEN"}}, 6),
        ({"config": {"flexStart": True}}, 0),
        ({"nodeCount": 0}, 0),
    ],
)
def test_upgrades_add_as_many_nodes_as_gke_takes(given: Row, added: int) -> None:
    assert (
        estimated(cluster(), pool("p", "e2-standard-4", **{"nodeCount": 2, **given})).surge == added
    )


def test_blue_green_adds_the_nodes_that_somebody_gives() -> None:
    limits = {"autoscaling": {"totalMaxNodeCount": UNKNOWN}}
    twice = {"upgradeSettings": {"strategy": "BLUE_GREEN"}}
    made = estimated(cluster(), pool("p", "e2-standard-4", **limits, **twice), nodes={"p": 4})

    assert made.surge == 4


def test_autopilot_pods_are_unknown() -> None:
    made = estimated(cluster(enableAutopilot=True))

    assert line(made, "main", "pods").high is None


def test_limits_of_auto_provisioning_are_an_upper_bound() -> None:
    limits = [
        {"resourceType": "cpu", "maximum": 100},
        {"resourceType": "memory", "maximum": 400},
        {"resourceType": "nvidia-l4", "maximum": 4},
        {"resourceType": "nvidia-b200", "maximum": 8},
    ]
    scaling = {"enabled": True, "resourceLimits": limits}
    made = estimated(cluster(clusterAutoscaling=scaling), pool("p", "e2-standard-4", nodeCount=1))

    assert line(made, "main", "4 nvidia-l4").low == 0
    assert line(made, "main", "4 nvidia-l4").high == pytest.approx(4 * month("g2-standard-32"))
    assert line(made, "main", "8 nvidia-b200").high is None
    # 4 L4 have at least 16 vCPUs, 8 B200 have 224: nothing is left for nodes without GPUs.
    assert not [each for each in made.lines if "without GPUs" in each.what]

    small = cluster(clusterAutoscaling={**scaling, "resourceLimits": limits[:3]})
    made = estimated(small, pool("p", "e2-standard-4", nodeCount=1))
    assert "up to 72 vCPUs" in line(made, "main", "without GPUs").what


@pytest.mark.parametrize(
    ("what", "use", "option"),
    [
        (row(documents.BUCKET, "b", location="US-CENTRAL1"), Use(stored_gib=100), "--stored-gib"),
        (row(documents.NAT, "n"), Use(traffic_gib=100), "--traffic-gib"),
        (row(documents.TOPIC, "t"), Use(messages_gib=100), "--messages-gib"),
    ],
    ids=["bucket", "nat", "topic"],
)
def test_use_that_is_not_known_is_asked_for(what: Row, use: Use, option: str) -> None:
    [unknown] = estimated(what).unknown
    assert option in unknown.unknown

    made = estimated(what, use=use)
    assert not made.unknown
    assert 1.9 < made.high < 40


@pytest.mark.parametrize(
    ("given", "price"),
    [
        ({"location": "US-CENTRAL1"}, 2.0),
        ({"location": "EU"}, 2.6),
        ({"location": "NAM4"}, 4.4),
        ({"location": "europe-west4", "storageClass": "NEARLINE"}, 1.0),
        ({"location": "US-CENTRAL1", "storageClass": "COLDLINE"}, None),
        ({"location": UNKNOWN}, None),
        ({"location": "US", "customPlacementConfig": {"dataLocations": ["US-EAST1"]}}, None),
    ],
)
def test_bucket_costs_by_class_and_location(given: Row, price: float | None) -> None:
    made = estimated(row(documents.BUCKET, "b", **given), use=Use(stored_gib=100))

    assert made.lines[0].high == (None if price is None else pytest.approx(price))


def test_disks_cost_by_type_and_size() -> None:
    made = estimated(
        row(documents.DISK, "a", type="pd-balanced", size=100, zone="us-central1-a"),
        row(documents.DISK, "b", type="pd-extreme", size=100, zone="us-central1-a"),
    )

    assert made.lines[0].high == pytest.approx(10.0)
    assert "pd-extreme" in made.lines[1].unknown


def test_nodes_that_do_not_run_all_month_cost_as_much_less() -> None:
    rows = (cluster(), pool("p", "e2-standard-4", nodeCount=1))
    whole, half = estimated(*rows), estimated(*rows, use=Use(node_hours=MONTH_HOURS / 2))

    assert half.high - 73 == pytest.approx((whole.high - 73) / 2)


def test_other_resources_are_counted_and_not_priced() -> None:
    made = estimated(
        row("gcp:sql/databaseInstance:DatabaseInstance", "db"),
        row("gcp:sql/databaseInstance:DatabaseInstance", "db-2"),
        row("gcp:compute/network:Network", "net"),
        row("kubernetes:batch/v1:Job", "job"),
        row("kubernetes:core/v1:PersistentVolumeClaim", "claim"),
        row("pulumi:providers:gcp", "default"),
        {**row("spotproof:index:Network", "component"), "custom": False},
    )

    assert made.not_priced == {
        "gcp:sql/databaseInstance:DatabaseInstance": 2,
        "kubernetes:core/v1:PersistentVolumeClaim": 1,
    }
    assert made.free == 2
    assert not made.lines


def test_what_is_deleted_or_replaced_costs_nothing_more() -> None:
    old = pool("p", "e2-standard-4", nodeCount=1)
    new = pool("p", "e2-standard-8", nodeCount=1)
    steps = [
        *documents.preview(new, op="create-replacement")["steps"],
        *documents.preview(new, op="replace")["steps"],
        *documents.preview(old, op="delete-replaced")["steps"],
        *documents.preview(pool("gone", "e2-standard-4", nodeCount=1), op="delete")["steps"],
    ]
    made = estimate(plan_of("test", {"steps": steps}), Use(), TODAY)
    assert made.high == pytest.approx(3 * month("e2-standard-8") + 3 * 10)

    made = estimated({**old, "delete": True}, new)
    assert made.high == pytest.approx(3 * month("e2-standard-8") + 3 * 10)


def test_preview_that_leaves_out_unchanged_resources_is_said_to() -> None:
    shown = documents.preview(cluster(), changeSummary={"create": 1, "same": 7})

    [note] = plan_of("test", shown).notes
    assert "7 unchanged" in note
    assert "--show-sames" in note


def test_no_secret_gets_into_the_report() -> None:
    from spotproof_gke.commands import cost_report as report

    rows = [
        pool("p", "e2-standard-4", nodeCount=1, config={"labels": {"token": "hunter2"}}),
        row(documents.BUCKET, "b", location=SECRET, labels={"password": "hunter2"}),
    ]
    said = str(report.as_json(estimated(*rows)))

    assert "hunter2" not in said
    assert "ciphertext" not in said


def test_price_is_old_after_90_days_or_without_a_date() -> None:
    ages = {name: source.is_old(date(2026, 11, 30)) for name, source in prices.SOURCES.items()}

    assert ages["pubsub-page"] is False
    assert ages["price-list-2025"] is True
    assert ages["catalog"] is True
    assert prices.SOURCES["pubsub-page"].is_old(date(2026, 12, 30))


def test_pools_that_the_cloud_lists_in_a_cluster_are_not_paid_twice() -> None:
    """A cluster computes the list of all its pools, which are resources of their own."""
    own = pool("p", "e2-standard-4", nodeCount=1)
    listed = {
        "nodePools": [{"name": "p", "nodeCount": 1, "nodeConfig": own["inputs"]["nodeConfig"]}]
    }
    known = {**cluster(), "outputs": {**cluster()["inputs"], **listed}}

    assert estimated(known, own).high == pytest.approx(73 + 3 * month("e2-standard-4") + 3 * 10)


def test_what_the_cloud_computed_tells_where_a_pool_is() -> None:
    known = pool("p", "e2-standard-4", location=None, nodeCount=1)
    known["outputs"] = {"location": "us-central1", "nodeLocations": ["us-central1-a"]}
    del known["inputs"]["location"]

    assert line(estimated(known), "p", "1 node").high == pytest.approx(month("e2-standard-4"))


def test_what_is_only_read_is_left_out_and_said_to_be() -> None:
    made = estimated({**cluster(), "external": True})

    assert not made.lines
    assert "only reads" in made.plan.notes[0]


def test_unchanged_parts_of_a_plan_count_too() -> None:
    own = pool("p", "e2-standard-4", nodeCount=1)
    changed = documents.plan(cluster(), own)
    of_pool = changed["resourcePlans"][own["urn"]]
    of_pool["steps"] = ["update"]
    of_pool["goal"]["inputDiff"] = {"updates": {"nodeCount": 2}}
    made = estimate(plan_of("test", changed), Use(), TODAY)

    assert line(made, "p", "6 nodes").high == pytest.approx(6 * month("e2-standard-4"))
