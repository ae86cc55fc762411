"""The quotas that a plan needs: their names as Google has them, at the most nodes."""

from datetime import date

import pytest

from spotproof_gke.cost.estimate import estimate
from spotproof_gke.cost.lines import Use
from spotproof_gke.cost.plans import plan_of
from spotproof_gke.gpu_names import KNOWN
from spotproof_gke.quotas import ALL_REGIONS, Need
from spotproof_gke.tables import table
from tests.cost.documents import UNKNOWN, Row, cluster, pool, state


def needed(*rows: Row) -> list[Need]:
    made = estimate(plan_of("test", state(*rows)), Use(), date(2026, 11, 30))
    return list(made.needs)


def amounts(*rows: Row) -> dict[tuple[str | None, str | None], float | None]:
    return {(need.quota, need.region): need.amount for need in needed(*rows)}


@pytest.mark.parametrize(
    ("config", "gpus", "cpus"),
    [
        ({"spot": True}, "PREEMPTIBLE_NVIDIA_L4_GPUS", "PREEMPTIBLE_CPUS"),
        ({"preemptible": True}, "PREEMPTIBLE_NVIDIA_L4_GPUS", "PREEMPTIBLE_CPUS"),
        ({"flexStart": True}, "PREEMPTIBLE_NVIDIA_L4_GPUS", None),
        ({}, "NVIDIA_L4_GPUS", None),
        ({"spot": UNKNOWN}, None, None),
    ],
)
def test_spot_and_flex_start_need_preemptible_quota(
    config: Row, gpus: str | None, cpus: str | None
) -> None:
    scaling = {"totalMinNodeCount": 0, "totalMaxNodeCount": 5}
    found = amounts(cluster(), pool("p", "g2-standard-24", autoscaling=scaling, config=config))

    assert found[gpus, "us-central1"] in (10, 120)
    assert (cpus, "us-central1") in found
    assert found["GPUS_ALL_REGIONS", ALL_REGIONS] == 10
    assert found["CPUS_ALL_REGIONS", ALL_REGIONS] == 120
    assert found["SSD_TOTAL_GB", "us-central1"] == 500
    assert found["INSTANCES", "us-central1"] == 5


def test_pools_of_one_kind_are_added_up_by_region() -> None:
    found = amounts(
        cluster(),
        pool("a", "e2-standard-4", nodeCount=1),
        pool("b", "n1-standard-8", nodeCount=1),
        pool("c", "e2-standard-4", nodeCount=1, nodeLocations=["europe-west4-a"]),
        pool("d", "n2-standard-4", nodeCount=1, config={"diskType": "pd-standard"}),
        pool("empty", "c2-standard-4", nodeCount=0),
    )

    assert found["CPUS", "us-central1"] == 36
    assert found["CPUS", "europe-west4"] == 4
    assert found["N2_CPUS", "us-central1"] == 12
    assert found["DISKS_TOTAL_GB", "us-central1"] == 300
    assert ("C2_CPUS", "us-central1") not in found


def test_spot_counts_as_standard_until_preemptible_quota_is_granted() -> None:
    [need] = [
        need
        for need in needed(pool("p", "n2-standard-4", nodeCount=1, config={"spot": True}))
        if need.quota == "PREEMPTIBLE_CPUS"
    ]

    assert "N2_CPUS until" in need.otherwise
    assert need.asked_by == ("p",)


def test_quota_whose_name_was_not_found_is_not_made_up() -> None:
    unnamed = [n for n in needed(pool("p", "a3-megagpu-8g", nodeCount=1)) if n.quota is None]

    assert {need.what for need in unnamed} == {
        "nvidia-h100-mega-80gb GPUs",
        "vCPUs of A3 machines",
    }


def test_amount_is_unknown_where_a_part_of_it_is() -> None:
    found = amounts(
        pool("a", "e2-standard-4", nodeCount=1),
        pool("b", "e2-standard-4", nodeCount=UNKNOWN),
    )

    assert found["CPUS", "us-central1"] is None


def test_nodes_with_public_addresses_need_addresses() -> None:
    private = {"privateClusterConfig": {"enablePrivateNodes": True}}
    nodes = pool("p", "e2-standard-4", nodeCount=1)

    assert amounts(cluster(), nodes)["IN_USE_ADDRESSES", "us-central1"] == 3
    assert ("IN_USE_ADDRESSES", "us-central1") not in amounts(cluster(**private), nodes)


def test_gpus_that_a_cluster_may_add_need_quota_too() -> None:
    limits = [{"resourceType": "nvidia-l4", "maximum": 8}, {"resourceType": "cpu", "maximum": 9}]
    scaling = {"enabled": True, "resourceLimits": limits}
    spot = pool("p", "g2-standard-4", nodeCount=1, config={"spot": True})
    [need] = [
        need
        for need in needed(cluster(clusterAutoscaling=scaling), spot)
        if need.quota == "PREEMPTIBLE_NVIDIA_L4_GPUS"
    ]

    assert need.amount == 11
    assert need.asked_by == ("p", "main")
    assert "NVIDIA_L4_GPUS where pods ask for on-demand nodes" in need.otherwise


def test_queued_pools_need_resize_requests() -> None:
    queued = pool("p", "a3-highgpu-8g", nodeCount=1, queuedProvisioning={"enabled": True})

    assert amounts(queued)["active_resize_requests", "us-central1"] is None


def test_table_names_gpus_that_there_are() -> None:
    assert set(table("quotas")["gpus"]) <= set(KNOWN)
