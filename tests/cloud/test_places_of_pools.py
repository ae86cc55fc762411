"""Where a pool's nodes are, and what a provider for another project does."""

from pathlib import Path

from pulumi.runtime.proto import provider_pb2

from sandbox.cloud import wire
from tests.cloud import plain
from tests.cloud.harness import Emulated

POOL = "gcp:container/nodePool:NodePool"
ZONE = "europe-west4-b"


def zonal(cloud: Emulated) -> None:
    cloud.create(plain.NETWORK, "net", {"name": "net"})
    inputs = {"name": "z", "location": ZONE, "nodeLocations": ["europe-west4-c"]}
    cloud.create(plain.CLUSTER, "z", plain.cluster(subnetwork=None, **inputs))


def test_a_pool_of_a_zonal_cluster_is_in_its_zone_and_the_further_ones(tmp_path: Path) -> None:
    cloud = Emulated(tmp_path)
    zonal(cloud)
    pool = cloud.create(POOL, "p", {"name": "p", "cluster": "z", "location": ZONE, "nodeCount": 1})
    assert pool.outputs["nodeLocations"] == [ZONE, "europe-west4-c"]


def test_a_pool_without_location_is_where_the_provider_is(tmp_path: Path) -> None:
    cloud = Emulated(tmp_path, zone=ZONE)
    zonal(cloud)
    pool = cloud.create(POOL, "p", {"name": "p", "cluster": "z", "nodeCount": 1})
    assert pool.outputs["location"] == ZONE


def test_a_provider_for_another_project_replaces_and_for_another_region_does_not(
    tmp_path: Path,
) -> None:
    cloud = Emulated(tmp_path)

    def replaced(**new: str) -> list[str]:
        old = {"project": "acme", "region": "europe-west4"}
        request = provider_pb2.DiffRequest(olds=wire.marshal(old), news=wire.marshal(old | new))
        return list(cloud.provider.DiffConfig(request, cloud.context).replaces)

    assert replaced(project="other") == ["project"]
    assert replaced(region="us-central1") == []
