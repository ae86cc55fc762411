"""How the region rules read workloads: nothing secret gets out, and nothing takes long."""

import time

import pytest

from spotproof_gke.rules import image_region, region_match
from spotproof_gke.rules.finding import Resource, Stack
from spotproof_gke.rules.reading import UNKNOWN

SECRET = "correct-horse-battery-staple"
CLUSTER = Resource(
    "gcp:container/cluster:Cluster",
    "train",
    "urn:train",
    {"name": "train", "location": "us-central1"},
)


def _job(name: str, container: dict, **props) -> Resource:
    spec = {"template": {"spec": {"containers": [container]}}}
    return Resource("kubernetes:batch/v1:Job", name, f"urn:{name}", {"spec": spec, **props})


def _bucket(name: str, location: str = "US") -> Resource:
    props = {"name": name, "location": location}
    return Resource("gcp:storage/bucket:Bucket", name, f"urn:{name}", props)


def test_messages_hold_no_value_of_a_workload() -> None:
    container = {
        "name": SECRET,
        "image": f"us-east1-docker.pkg.dev/acme/ml/{SECRET}:1",
        "command": ["train", f"gs://acme-runs/{SECRET}"],
        "args": [f"--token={SECRET}", UNKNOWN],
        "env": [{"name": "TOKEN", "value": SECRET}, {"name": "OUT", "value": "acme-runs"}],
        "envFrom": [{"configMapRef": {"name": "settings"}}],
    }
    settings = Resource(
        "kubernetes:core/v1:ConfigMap",
        "settings",
        "urn:settings",
        {"metadata": {"name": "settings"}, "data": {SECRET: f"gs://acme-data/{SECRET}"}},
    )
    buckets = [_bucket("acme-runs"), _bucket("acme-data"), _bucket("acme-site")]
    stack = Stack([CLUSTER, *buckets, settings, _job("job", container)])

    found = [*region_match.checkpoint_buckets(stack), *image_region.image_repositories(stack)]

    assert {each.resource for each in found} == {"acme-runs", "acme-data", "acme-site", "job"}
    assert not [each for each in found if SECRET in str(each)]


def test_secret_objects_are_not_read() -> None:
    secret = Resource(
        "kubernetes:core/v1:Secret",
        "settings",
        "urn:settings",
        {"metadata": {"name": "settings"}, "stringData": {"out": "gs://acme-runs/x"}},
    )
    source = {"secretKeyRef": {"name": "settings", "key": "out"}}
    job = _job("job", {"env": [{"name": "OUT", "valueFrom": source}]})
    stack = Stack([CLUSTER, _bucket("acme-runs"), secret, job])

    assert not list(region_match.checkpoint_buckets(stack))


@pytest.mark.parametrize("depth", [5, 200])
def test_values_of_any_depth_are_read_without_an_error(depth: int) -> None:
    inner: object = "gs://acme-runs/x"
    for _ in range(depth):
        inner = {"a": [inner]}
    types = ("kubernetes:helm.sh/v3:Release", "kubernetes:ray.io/v1:RayCluster")
    users = [Resource(each, "user", "urn:u", {"values": inner, "spec": inner}) for each in types]
    stack = Stack([CLUSTER, _bucket("acme-runs"), *users])

    assert bool(list(region_match.checkpoint_buckets(stack))) == (depth == 5)


def test_time_for_a_resource_does_not_grow_with_their_number() -> None:
    def seconds(count: int) -> float:
        resources = [CLUSTER]
        for number in range(count):
            resources += [
                _bucket(f"acme-{number}"),
                _job(f"job-{number}", {"args": [f"gs://acme-{number}/x", "y"]}),
                Resource(
                    "gcp:container/cluster:Cluster",
                    f"cluster-{number}",
                    f"urn:cluster-{number}",
                    {"name": f"cluster-{number}", "location": "us-central1"},
                ),
                Resource(
                    "gcp:container/nodePool:NodePool",
                    f"pool-{number}",
                    f"urn:pool-{number}",
                    {"cluster": f"cluster-{number}", "nodeLocations": ["us-east1-b"]},
                ),
            ]
        stack = Stack(resources)
        start = time.process_time()
        found = [*region_match.checkpoint_buckets(stack), *region_match.pool_zones(stack)]
        assert len(found) == 2 * count
        return time.process_time() - start

    # What grows with the square would take 10 times as long for each resource.
    assert min(seconds(2000) for _ in range(2)) / 2000 < 4 * seconds(200) / 200
