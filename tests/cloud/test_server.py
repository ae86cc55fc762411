"""What the emulated server adds to a resource."""

import pytest

from tests.cloud import plain
from tests.cloud.harness import PROJECT, REGION, Emulated, Refused
from tests.cloud.plain import ACCOUNT, BUCKET, CLUSTER, NODE_POOL

GPU_TAINT = {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}
OTHER = {"key": "a", "value": "b", "effect": "NO_SCHEDULE"}


def test_the_first_pool_of_a_cluster_gets_no_gpu_taint(cloud: Emulated) -> None:
    cloud.create(CLUSTER, "base", plain.cluster())
    first = cloud.create(NODE_POOL, "gpu", plain.gpu_pool())
    assert first.outputs["nodeConfig"]["effectiveTaints"] == []
    cloud.create(NODE_POOL, "sys", plain.pool(name="sys"))
    refreshed = cloud.refresh(first)
    assert refreshed is not None
    assert refreshed.outputs["nodeConfig"]["effectiveTaints"] == [], "not in retrospect"


def test_a_gpu_pool_beside_a_plain_one_gets_the_gpu_taint_and_keeps_it(cloud: Emulated) -> None:
    cloud.create(CLUSTER, "base", plain.cluster())
    cloud.create(NODE_POOL, "sys", plain.pool(name="sys"))
    inputs = plain.gpu_pool(taints=[OTHER])
    pool = cloud.create(NODE_POOL, "gpu", inputs)
    assert pool.outputs["nodeConfig"]["effectiveTaints"] == [OTHER, GPU_TAINT]
    assert pool.outputs["nodeConfig"]["taints"] == [OTHER]
    assert cloud.plan(pool, inputs).op == "same"
    _, labelled = cloud.up(pool, plain.gpu_pool(taints=[OTHER], labels={"a": "b"}))
    assert GPU_TAINT in labelled.outputs["nodeConfig"]["effectiveTaints"]


def test_the_default_pool_counts_as_a_plain_one(cloud: Emulated) -> None:
    cloud.create(CLUSTER, "base", plain.cluster(removeDefaultNodePool=False))
    pool = cloud.create(NODE_POOL, "gpu", plain.gpu_pool())
    assert pool.outputs["nodeConfig"]["effectiveTaints"] == [GPU_TAINT]


def test_removing_the_default_pool_later_counts_too(cloud: Emulated) -> None:
    cluster = cloud.create(CLUSTER, "base", plain.cluster(removeDefaultNodePool=False))
    cloud.up(cluster, plain.cluster())
    pool = cloud.create(NODE_POOL, "gpu", plain.gpu_pool())
    assert pool.outputs["nodeConfig"]["effectiveTaints"] == []


def test_dropping_the_taints_drops_the_gpu_taint_too(cloud: Emulated) -> None:
    cloud.create(CLUSTER, "base", plain.cluster())
    cloud.create(NODE_POOL, "sys", plain.pool(name="sys"))
    pool = cloud.create(NODE_POOL, "gpu", plain.gpu_pool(taints=[OTHER]))
    planned, bare = cloud.up(pool, plain.gpu_pool())
    assert planned.keys == ["nodeConfig.taints"]
    assert bare.outputs["nodeConfig"]["effectiveTaints"] == []


def test_a_gpu_taint_of_ones_own_is_not_doubled(cloud: Emulated) -> None:
    cloud.create(CLUSTER, "base", plain.cluster())
    cloud.create(NODE_POOL, "sys", plain.pool(name="sys"))
    pool = cloud.create(NODE_POOL, "gpu", plain.gpu_pool(taints=[GPU_TAINT]))
    assert pool.outputs["nodeConfig"]["effectiveTaints"] == [GPU_TAINT]


def test_a_queued_pool_gets_its_taint(cloud: Emulated) -> None:
    cloud.create(CLUSTER, "base", plain.cluster())
    affinity = {"consumeReservationType": "NO_RESERVATION"}
    config = {"flexStart": True, "reservationAffinity": affinity}
    inputs = plain.pool(nodeConfig=config, queuedProvisioning={"enabled": True})
    pool = cloud.create(NODE_POOL, "queued", inputs)
    keys = [taint["key"] for taint in pool.outputs["nodeConfig"]["effectiveTaints"]]
    assert keys == ["cloud.google.com/gke-queued"]


def test_server_defaults_of_a_pool(cloud: Emulated) -> None:
    cloud.create(CLUSTER, "base", plain.cluster(minMasterVersion="1.33"))
    spot = cloud.create(NODE_POOL, "spot", plain.pool(nodeConfig={"spot": True})).outputs
    assert spot["autoscaling"]["locationPolicy"] == "ANY"
    assert spot["nodeConfig"]["metadata"] == {"disable-legacy-endpoints": "true"}
    assert spot["version"] == "1.33.5-gke.1080000"
    plain_pool = cloud.create(NODE_POOL, "plain", plain.pool(name="x", nodeLocations=None)).outputs
    assert plain_pool["autoscaling"]["locationPolicy"] == "BALANCED"
    assert plain_pool["upgradeSettings"] == {
        "strategy": "SURGE",
        "maxSurge": 1,
        "maxUnavailable": 0,
    }
    assert len(plain_pool["nodeLocations"]) == 3
    assert len(plain_pool["instanceGroupUrls"]) == 3


def test_computed_outputs_of_a_cluster(cloud: Emulated) -> None:
    outputs = cloud.create(CLUSTER, "base", plain.cluster()).outputs
    assert outputs["endpoint"].startswith("198.18.")
    assert outputs["masterAuth"]["clusterCaCertificate"]
    dns = outputs["controlPlaneEndpointsConfig"]["dnsEndpointConfig"]["endpoint"]
    assert dns.endswith(f"{REGION}.gke.goog")
    assert outputs["network"] == f"projects/{PROJECT}/global/networks/net"
    assert "defaultPool" not in outputs


def test_computed_outputs_of_a_bucket_and_an_account(cloud: Emulated) -> None:
    bucket = cloud.create(BUCKET, "bucket", plain.bucket(labels={"a": "b"})).outputs
    assert bucket["location"] == "NORTHAMERICA-NORTHEAST2"
    assert bucket["url"] == "gs://demo-bucket"
    assert bucket["softDeletePolicy"]["retentionDurationSeconds"] == 604800
    managed = {"a": "b", "goog-pulumi-provisioned": "true"}
    assert bucket["effectiveLabels"] == bucket["pulumiLabels"] == managed
    account = cloud.create(ACCOUNT, "account", {"accountId": "trainer"}).outputs
    email = f"trainer@{PROJECT}.iam.gserviceaccount.com"
    assert account["email"] == email
    assert account["name"] == f"projects/{PROJECT}/serviceAccounts/{email}"


def test_functions(cloud: Emulated) -> None:
    project = cloud.invoke("gcp:organizations/getProject:getProject")
    assert project["projectId"] == PROJECT
    assert project["number"].isdigit()
    zones = cloud.invoke("gcp:compute/getZones:getZones", region="us-central1")
    assert "us-central1-a" in zones["names"]
    client = cloud.invoke("gcp:organizations/getClientConfig:getClientConfig")
    assert (client["project"], client["region"]) == (PROJECT, REGION)
    versions = cloud.invoke(
        "gcp:container/getEngineVersions:getEngineVersions",
        location=REGION,
        versionPrefix="1.35.",
    )
    assert versions["latestMasterVersion"].startswith("1.35.")


def test_what_exists_can_be_looked_up(cloud: Emulated) -> None:
    cloud.create(CLUSTER, "base", plain.cluster())
    cloud.create(BUCKET, "bucket", plain.bucket(labels={"team": "vision"}))
    network = cloud.invoke("gcp:compute/getNetwork:getNetwork", name="net")
    assert network["selfLink"].endswith("/global/networks/net")
    assert [link.rpartition("/")[2] for link in network["subnetworksSelfLinks"]] == ["sub"]
    assert network["networkId"] == int(network["numericId"])
    by_name = cloud.invoke("gcp:compute/getSubnetwork:getSubnetwork", name="sub")
    by_link = cloud.invoke("gcp:compute/getSubnetwork:getSubnetwork", selfLink=by_name["selfLink"])
    assert by_name == by_link
    ranges = {each["rangeName"]: each["ipCidrRange"] for each in by_name["secondaryIpRanges"]}
    assert ranges["pods"] == "10.4.0.0/14"
    cluster = cloud.invoke("gcp:container/getCluster:getCluster", name="base", location=REGION)
    assert cluster["releaseChannels"] == [{"channel": "REGULAR"}]
    assert cluster["masterAuths"][0]["clusterCaCertificate"]
    assert cluster["endpoint"]
    bucket = cloud.invoke("gcp:storage/getBucket:getBucket", name="demo-bucket")
    assert bucket["url"] == "gs://demo-bucket"
    assert bucket["labels"]["team"] == "vision"
    assert bucket["softDeletePolicies"][0]["retentionDurationSeconds"] == 604_800


@pytest.mark.parametrize(
    ("token", "args"),
    [
        ("gcp:container/getCluster:getCluster", {"name": "nowhere", "location": REGION}),
        ("gcp:compute/getNetwork:getNetwork", {"name": "nowhere"}),
        ("gcp:compute/getSubnetwork:getSubnetwork", {"name": "nowhere"}),
        ("gcp:storage/getBucket:getBucket", {"name": "nowhere"}),
    ],
)
def test_what_does_not_exist_is_not_found(
    cloud: Emulated, token: str, args: dict[str, str]
) -> None:
    with pytest.raises(Refused, match=r"Error 404: Not found: .*nowhere"):
        cloud.invoke(token, **args)
