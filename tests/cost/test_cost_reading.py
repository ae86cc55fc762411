"""What of a plan counts: what is left out, and what stands for what is not said."""

from datetime import date
from typing import Any

import pytest

from spotproof_gke.cli import main
from spotproof_gke.cost.estimate import Estimate, estimate
from spotproof_gke.cost.lines import Use
from spotproof_gke.cost.plans import plan_of
from tests.cost.documents import UNKNOWN, Row, cluster, plan, pool, state


def estimated(document: Row) -> Estimate:
    return estimate(plan_of("test", document), Use(), date(2026, 11, 30))


def whats(made: Estimate, name: str) -> list[str]:
    return [line.what for line in made.lines if line.name == name]


def test_pool_whose_cluster_is_not_known_yet_is_that_of_the_only_one() -> None:
    alone = pool("p", "e2-standard-4", nodeCount=1, cluster=UNKNOWN, location=None)
    made = estimated(state(cluster(nodeLocations=["us-central1-b"]), alone))

    assert whats(made, "p")[0] == "1 node e2-standard-4, on-demand, us-central1"


def test_least_above_the_most_counts_as_the_most() -> None:
    limits = {"totalMinNodeCount": 5, "totalMaxNodeCount": 2}
    made = estimated(state(cluster(), pool("p", "e2-standard-4", autoscaling=limits)))

    assert whats(made, "p")[0].startswith("2 nodes ")


@pytest.mark.parametrize(
    ("machine_type", "apart"),
    [("a3-highgpu-8g", False), ("a2-ultragpu-1g", False), ("a2-highgpu-1g", True)],
)
def test_local_ssd_is_apart_where_the_price_of_the_machine_lacks_it(
    machine_type: str, apart: bool
) -> None:
    config = {"ephemeralStorageLocalSsdConfig": {"localSsdCount": 1}}
    made = estimated(state(cluster(), pool("p", machine_type, nodeCount=1, config=config)))

    assert ("local SSD of its nodes" in whats(made, "p")) is apart


def test_limit_beyond_all_reason_is_none() -> None:
    limits = [{"resourceType": "cpu", "maximum": 10**9}]
    scaling = {"enabled": True, "resourceLimits": limits}
    made = estimated(state(cluster(clusterAutoscaling=scaling)))

    (found,) = [line for line in made.lines if "without GPUs" in line.what]
    assert found.unknown == "the cluster states no limit of vCPUs"


@pytest.mark.parametrize("mark", ["delete", "pendingReplacement"])
def test_what_a_state_holds_to_be_deleted_costs_nothing(mark: str) -> None:
    gone = {**pool("p", "e2-standard-4", nodeCount=1), mark: True}

    assert not whats(estimated(state(cluster(), gone)), "p")


def test_pools_that_a_cluster_computes_are_not_counted_beside_their_resources() -> None:
    main = cluster(removeDefaultNodePool=False)
    document = plan(main, pool("p", "e2-standard-4", nodeCount=1))
    row = document["resourcePlans"][main["urn"]]
    computed: Any = [{"name": "p", "nodeCount": 1, "nodeConfig": {"machineType": "e2-standard-4"}}]
    row["steps"] = ["update"]
    row["state"] = {**row["state"], "nodePools": computed}

    made = estimated(document)
    assert {line.name for line in made.lines} == {"main", "main default pool", "p"}
    assert "are left out" in " ".join(made.plan.notes)


def test_vcpus_of_flex_start_count_against_a_quota_whose_name_is_not_known() -> None:
    one = pool("p", "a2-highgpu-1g", nodeCount=1, config={"flexStart": True})
    needs = estimated(state(cluster(), one)).needs

    assert [need.quota for need in needs if need.what.startswith("vCPUs of A2")] == [None]


@pytest.mark.parametrize("count", ["1e6", "1e300", "nan", "-1", "x", ""])
def test_number_of_nodes_that_no_pool_has_is_refused(
    count: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["cost", "plan.json", "--nodes", f"p={count}"]) == 2

    out, err = capsys.readouterr()
    assert not out
    assert f"--nodes 'p={count}': not a pool and a number of nodes" in err
