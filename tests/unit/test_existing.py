"""What somebody else has made is taken by plain names and by Outputs alike."""

import re
from pathlib import Path
from typing import Any

import pulumi
import pytest

import spotproof
from spotproof.reader import ArgumentsError
from tests.unit.declared import Declared, declare, only

PROJECT, REGION = "acme-ml", "us-central1"
NODES = f"nodes@{PROJECT}.iam.gserviceaccount.com"
ON_CLUSTER = {
    "project": PROJECT,
    "cluster": "base",
    "cluster_location": REGION,
    "node_service_account": NODES,
}
PLACE = {"project": PROJECT, "region": REGION}
NETWORK = {
    **PLACE,
    "network_id": "projects/host/global/networks/shared",
    "subnetwork_id": f"projects/host/regions/{REGION}/subnetworks/team",
    "pods_range_name": "their-pods",
    "services_range_name": "their-services",
}
L4 = {**ON_CLUSTER, "machine_type": "g2-standard-8", "max_nodes": 4}
ELSEWHERE = {"cluster_project": "other-project", "cluster_project_number": "123456789012"}
COMPONENTS: dict[str, dict[str, Any]] = {
    "GkeCluster": NETWORK,
    "AutopilotCluster": NETWORK,
    "SystemNodePool": ON_CLUSTER,
    "SpotGpuPool": L4,
    "FlexStartPool": L4,
    "GpuPool": {**L4, "capacity": "on-demand"},
    "CpuPool": {**L4, "machine_type": "n2-standard-8", "capacity": "spot"},
    "CheckpointBucket": {
        "project": PROJECT,
        "cluster_name": "base",
        "cluster_location": REGION,
        "workloads": ["team/trainer"],
        **ELSEWHERE,
    },
    "WorkQueue": {**PLACE, "workers": ["team/trainer"], "publishers": ["team/api"], **ELSEWHERE},
    "WorkloadIdentity": {
        "project": PROJECT,
        "project_number": "123456789012",
        "service_account": "team/trainer",
        "buckets": {"data": "their-bucket"},
        "publishes_to": {"jobs": f"projects/{PROJECT}/topics/jobs"},
        "works_on": {"jobs": f"projects/{PROJECT}/subscriptions/jobs"},
    },
}
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "adopt-existing.md"
ROWS = re.findall(r"^\| (`[A-Z].+?) \| (.+?) \| (.+?) \|$", PAGE.read_text(), re.M)


def _words(cell: str, form: str = "[a-z_]+") -> list[str]:
    return re.findall(f"`({form})`", cell)


TABLE = {
    component: (_words(given), _words(given) if outputs == "all four" else _words(outputs))
    for components, given, outputs in ROWS
    for component in _words(components, r"\w+")
}


def _declared(component: str, args: dict[str, Any]) -> list[Any]:
    made = declare(lambda: getattr(spotproof, component)("team", args))
    return _in_order(made)


def _in_order(made: list[Declared]) -> list[tuple[str, str, dict[str, Any]]]:
    return sorted(((one.type, one.name, one.props) for one in made), key=lambda one: one[:2])


def _as_output(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: pulumi.Output.from_input(one) for key, one in value.items()}
    return pulumi.Output.from_input(value)


@pytest.mark.parametrize("component", COMPONENTS)
def test_what_exists_may_be_an_output_as_the_page_says(component: str) -> None:
    args = COMPONENTS[component]
    named, outputs = TABLE[component]
    assert set(named) <= set(args)

    def make() -> None:
        given = {key: _as_output(args[key]) if key in outputs else args[key] for key in args}
        getattr(spotproof, component)("team", given)

    made = declare(make)
    assert _in_order(made) == _declared(component, args)


@pytest.mark.parametrize("component", COMPONENTS)
def test_what_must_be_plain_is_refused_as_an_output(component: str) -> None:
    named, outputs = TABLE[component]
    for key in set(named) - set(outputs):
        args = {**COMPONENTS[component]}

        def make(key: str = key, args: dict[str, Any] = args) -> None:
            getattr(spotproof, component)("team", {**args, key: _as_output(args[key])})

        with pytest.raises(ArgumentsError, match=f"{key} .*known before the update"):
            declare(make)


def test_the_page_has_a_row_for_every_component_that_needs_something_made_before() -> None:
    assert set(TABLE) == set(COMPONENTS)


@pytest.mark.parametrize("component", ["SystemNodePool", "SpotGpuPool", "CpuPool"])
def test_a_pool_takes_the_name_of_the_one_that_it_adopts(component: str) -> None:
    args = {**COMPONENTS[component], "node_pool_name": "l4-by-hand"}

    pool = only(
        declare(lambda: getattr(spotproof, component)("team", args)),
        "gcp:container/nodePool:NodePool",
    )

    assert pool.name == "team-pool"
    assert pool.props["name"] == "l4-by-hand"


@pytest.mark.parametrize("wrong", ["L4", "a" * 41, "l4-"])
def test_a_pool_name_that_gke_would_refuse_is_refused(wrong: str) -> None:
    with pytest.raises(ArgumentsError, match=r"node_pool_name .*node pool name has 1 to 40"):
        declare(lambda: spotproof.SpotGpuPool("team", {**L4, "node_pool_name": wrong}))  # pyright: ignore


def test_a_long_component_name_is_fine_beside_a_fixed_pool_name() -> None:
    declared = declare(
        lambda: spotproof.SpotGpuPool("team-" * 8 + "l4", {**L4, "node_pool_name": "l4"})  # pyright: ignore
    )
    assert only(declared, "gcp:container/nodePool:NodePool").props["name"] == "l4"
