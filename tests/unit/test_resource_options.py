"""What the engine is told of our resources beside their properties."""

from collections.abc import Callable
from typing import Any

import pulumi
import pytest

import spotproof
from tests.unit.declared import declare

NODE_POOL = "gcp:container/nodePool:NodePool"
NODES: dict[str, Any] = {
    "project": "acme-ml",
    "cluster": "shared",
    "cluster_location": "us-central1",
    "node_service_account": "nodes@acme-ml.iam.gserviceaccount.com",
}
GPU = {**NODES, "machine_type": "g2-standard-8", "max_nodes": 4}
CPU = {**NODES, "machine_type": "n2-standard-8", "max_nodes": 4, "capacity": "spot"}
CLUSTER: dict[str, Any] = {
    "project": "acme-ml",
    "region": "us-central1",
    "network_id": "net",
    "subnetwork_id": "sub",
}
SCALED: list[tuple[Callable[..., Any], dict[str, Any]]] = [
    (spotproof.SpotGpuPool, GPU),
    (spotproof.FlexStartPool, GPU),
    (spotproof.GpuPool, {**GPU, "capacity": "on-demand"}),
    (spotproof.CpuPool, CPU),
    (spotproof.SystemNodePool, NODES),
]


def _options(
    component: Callable[..., Any], args: dict[str, Any], **opts: Any
) -> dict[str, tuple[pulumi.ResourceOptions, dict[str, Any]]]:
    """The options and properties of each child, by its type."""
    seen: dict[str, tuple[pulumi.ResourceOptions, dict[str, Any]]] = {}

    def record(found: pulumi.ResourceTransformationArgs) -> None:
        seen[found.type_] = (found.opts, dict(found.props))

    options = pulumi.ResourceOptions(transformations=[record], **opts)
    declare(lambda: component("it", args, options))
    return seen


@pytest.mark.parametrize(
    ("component", "args"), SCALED, ids=lambda one: getattr(one, "__name__", "")
)
def test_the_size_of_a_pool_is_the_autoscalers_alone(
    component: Callable[..., Any], args: dict[str, Any]
) -> None:
    opts, props = _options(component, args)[NODE_POOL]
    assert opts.ignore_changes == ["initialNodeCount"]
    assert props["node_count"] is None if "node_count" in props else True


def test_a_fixed_size_is_nobody_elses() -> None:
    args = {**GPU, "capacity": "on-demand", "nodes_per_zone": 2}
    del args["max_nodes"]
    opts, props = _options(spotproof.GpuPool, args)[NODE_POOL]
    assert not opts.ignore_changes
    assert props["node_count"] == 2
    assert props["autoscaling"] is None


@pytest.mark.parametrize(("component", "args"), SCALED[:3], ids=["spot", "flex-start", "gpu"])
def test_scarce_gpus_get_two_hours(component: Callable[..., Any], args: dict[str, Any]) -> None:
    timeouts = _options(component, args)[NODE_POOL][0].custom_timeouts
    assert timeouts is not None
    assert (timeouts.create, timeouts.update, timeouts.delete) == ("2h", "2h", "2h")


def test_a_network_has_time_for_what_gke_leaves_in_it() -> None:
    args = {"project": "acme-ml", "region": "us-central1"}
    seen = _options(spotproof.Network, args)
    for type_ in ("gcp:compute/network:Network", "gcp:compute/subnetwork:Subnetwork"):
        timeouts = seen[type_][0].custom_timeouts
        assert timeouts is not None
        assert timeouts.delete == "20m"


@pytest.mark.parametrize("component", [spotproof.GkeCluster, spotproof.AutopilotCluster])
def test_a_cluster_waits_for_the_roles_of_its_nodes(component: Callable[..., Any]) -> None:
    opts, _ = _options(component, CLUSTER)["gcp:container/cluster:Cluster"]
    assert len(opts.depends_on) == 2  # type: ignore


@pytest.mark.parametrize("component", [spotproof.GkeCluster, spotproof.AutopilotCluster])
def test_nodes_get_what_logs_and_images_need_and_no_more(component: Callable[..., Any]) -> None:
    declared = declare(lambda: component("train", CLUSTER))
    roles = {d.props["role"] for d in declared if d.type == "gcp:projects/iAMMember:IAMMember"}
    assert roles == {"roles/container.defaultNodeServiceAccount", "roles/artifactregistry.reader"}


def test_replacing_a_pool_creates_before_it_deletes() -> None:
    for component, args in SCALED:
        opts, props = _options(component, args)[NODE_POOL]
        assert not opts.delete_before_replace
        assert props.get("name") is None, "a fixed name would stand in the way of the new pool"
