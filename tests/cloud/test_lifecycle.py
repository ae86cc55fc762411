"""Names, protection, order of deletion, import and refresh."""

from typing import Any

import pytest

from tests.cloud import plain
from tests.cloud.harness import PROJECT, REGION, Emulated, Refused
from tests.cloud.plain import (
    ACCOUNT,
    ACCOUNT_MEMBER,
    BUCKET,
    BUCKET_MEMBER,
    CLUSTER,
    NETWORK,
    NODE_POOL,
    PROJECT_MEMBER,
    ROUTER,
    ROUTER_NAT,
    SERVICE,
    SUBNETWORK,
)

EMAIL = f"trainer@{PROJECT}.iam.gserviceaccount.com"
ACCOUNT_ID = f"projects/{PROJECT}/serviceAccounts/{EMAIL}"
CLUSTER_ID = f"projects/{PROJECT}/locations/{REGION}/clusters/base"
NAT = {
    "name": "nat",
    "router": "router",
    "natIpAllocateOption": "AUTO_ONLY",
    "sourceSubnetworkIpRangesToNat": "ALL_SUBNETWORKS_ALL_IP_RANGES",
}


def test_a_name_is_made_up_once_and_kept(cloud: Emulated) -> None:
    inputs = {"location": REGION}
    recorded = cloud.create(BUCKET, "data", inputs)
    assert recorded.outputs["name"].startswith("data-")
    assert len(recorded.outputs["name"]) == len("data-") + 7
    planned, changed = cloud.up(recorded, {**inputs, "labels": {"a": "b"}})
    assert planned.op == "update"
    assert changed.outputs["name"] == recorded.outputs["name"]
    assert not cloud.plan(recorded, {"location": "us-central1"}).delete_first


def test_an_automatic_name_can_be_too_long(cloud: Emulated) -> None:
    cloud.create(CLUSTER, "base", plain.cluster())
    logical = "a-logical-name-of-33-characters-x"
    with pytest.raises(Refused, match="cannot be longer than 40") as refused:
        cloud.create(CLUSTER, logical, plain.cluster(name=None))
    assert refused.value.stage == "preview"
    with pytest.raises(Refused, match=r"nodePool\.name") as refused:
        cloud.create(NODE_POOL, logical, plain.pool(name=None))
    assert refused.value.stage == "update"


def test_an_automatic_bucket_name_keeps_capitals_and_is_refused(cloud: Emulated) -> None:
    with pytest.raises(Refused, match="Invalid bucket name: 'Data-"):
        cloud.create(BUCKET, "Data", {"location": REGION})


def test_a_protected_cluster_is_not_destroyed_until_an_update_lifts_it(cloud: Emulated) -> None:
    protected = cloud.create(CLUSTER, "base", plain.cluster(deletionProtection=None))
    assert protected.outputs["deletionProtection"] is True
    with pytest.raises(Refused, match="Cannot destroy cluster because deletion_protection"):
        cloud.delete(protected)
    before = cloud.store.get(CLUSTER, protected.id)
    planned, lifted = cloud.up(protected, plain.cluster())
    assert (planned.op, planned.keys) == ("update", ["deletionProtection"])
    assert cloud.store.get(CLUSTER, protected.id) == before, "it is a field of the provider's"
    cloud.delete(lifted)
    assert cloud.store.get(CLUSTER, protected.id) is None


def test_a_deletion_policy_prevents_or_only_forgets(cloud: Emulated) -> None:
    kept = cloud.create(BUCKET, "kept", plain.bucket(deletionPolicy="PREVENT"))
    with pytest.raises(Refused, match="PREVENT"):
        cloud.delete(kept)
    _, left = cloud.up(kept, plain.bucket(deletionPolicy="ABANDON"))
    cloud.delete(left)
    assert cloud.store.get(BUCKET, kept.id) is not None


def test_what_is_in_use_is_not_deleted(cloud: Emulated) -> None:
    network = cloud.adopt(NETWORK, "net", f"projects/{PROJECT}/global/networks/net")
    assert network is not None
    with pytest.raises(Refused, match="already being used by"):
        cloud.delete(network)
    cluster = cloud.create(CLUSTER, "base", plain.cluster())
    subnetwork_id = f"projects/{PROJECT}/regions/{REGION}/subnetworks/sub"
    subnetwork = cloud.adopt(SUBNETWORK, "sub", subnetwork_id)
    assert subnetwork is not None
    with pytest.raises(Refused, match="The subnetwork resource"):
        cloud.delete(subnetwork)
    for recorded in (cluster, subnetwork, network):
        cloud.delete(recorded)
    assert cloud.store.everything() == []


def test_the_network_of_a_cluster_is_not_deleted(cloud: Emulated) -> None:
    network = cloud.create(NETWORK, "other", {"name": "other"})
    cloud.create(CLUSTER, "base", plain.cluster(network="other", subnetwork=None))
    with pytest.raises(Refused, match="clusters/base"):
        cloud.delete(network)


def test_a_cluster_takes_its_pools_along(cloud: Emulated) -> None:
    cluster = cloud.create(CLUSTER, "base", plain.cluster())
    pool = cloud.create(NODE_POOL, "pool", plain.pool())
    cloud.delete(cluster)
    assert cloud.refresh(pool) is None
    cloud.delete(pool)


def test_a_bucket_takes_its_members_along_and_its_name_is_free_again(cloud: Emulated) -> None:
    bucket = cloud.create(BUCKET, "bucket", plain.bucket())
    member = {"bucket": "demo-bucket", "role": "roles/viewer", "member": "user:a@example.com"}
    recorded = cloud.create(BUCKET_MEMBER, "member", member)
    cloud.delete(bucket)
    assert cloud.refresh(recorded) is None
    cloud.create(BUCKET, "again", plain.bucket())


def test_a_bucket_with_objects_is_deleted_by_force_only(cloud: Emulated) -> None:
    recorded = cloud.create(BUCKET, "bucket", plain.bucket())
    with cloud.store.locked():
        properties = (cloud.store.get(BUCKET, "demo-bucket") or {})["properties"]
        cloud.store.put(BUCKET, "demo-bucket", {**properties, "objects": 3})
    with pytest.raises(Refused, match="force_destroy"):
        cloud.delete(recorded)
    _, forced = cloud.up(recorded, plain.bucket(forceDestroy=True))
    cloud.delete(forced)


@pytest.mark.parametrize(
    ("token", "inputs", "ids"),
    [
        (NETWORK, {"name": "n"}, [f"projects/{PROJECT}/global/networks/n", "n"]),
        (
            SUBNETWORK,
            {"name": "s", "network": "net", "ipCidrRange": "10.99.0.0/20"},
            [f"projects/{PROJECT}/regions/{REGION}/subnetworks/s", f"{PROJECT}/{REGION}/s", "s"],
        ),
        (
            ROUTER,
            {"name": "r", "network": "net"},
            [f"projects/{PROJECT}/regions/{REGION}/routers/r", "r"],
        ),
        (
            ROUTER_NAT,
            NAT,
            [
                f"{PROJECT}/{REGION}/router/nat",
                f"projects/{PROJECT}/regions/{REGION}/routers/router/nat",
                "router/nat",
            ],
        ),
        (CLUSTER, plain.cluster(name="c"), [CLUSTER_ID.replace("base", "c"), f"{REGION}/c"]),
        (NODE_POOL, plain.pool(), [f"{CLUSTER_ID}/nodePools/pool", f"{REGION}/base/pool"]),
        (BUCKET, plain.bucket(name="b-0"), ["b-0", f"{PROJECT}/b-0"]),
        (ACCOUNT, {"accountId": "other-one"}, [ACCOUNT_ID.replace("trainer", "other-one")]),
        (
            ACCOUNT_MEMBER,
            {"serviceAccountId": ACCOUNT_ID, "role": "roles/a.b", "member": "user:a@b.com"},
            [f"{ACCOUNT_ID}/roles/a.b/user:a@b.com", f"{ACCOUNT_ID} roles/a.b user:a@b.com"],
        ),
        (
            PROJECT_MEMBER,
            {"project": PROJECT, "role": "roles/a.b", "member": "user:a@b.com"},
            [f"{PROJECT}/roles/a.b/user:a@b.com", f"{PROJECT} roles/a.b user:a@b.com"],
        ),
        (
            BUCKET_MEMBER,
            {"bucket": "base-bucket", "role": "roles/a.b", "member": "user:a@b.com"},
            ["b/base-bucket/roles/a.b/user:a@b.com", "base-bucket roles/a.b user:a@b.com"],
        ),
        (
            PROJECT_MEMBER,
            {
                "project": PROJECT,
                "role": "roles/a.b",
                "member": "user:a@b.com",
                "condition": {"title": "soon", "expression": "true"},
            },
            [f"{PROJECT}/roles/a.b/user:a@b.com/soon"],
        ),
        (
            SERVICE,
            {"service": "compute.googleapis.com"},
            [f"{PROJECT}/compute.googleapis.com", "compute.googleapis.com"],
        ),
    ],
)
def test_a_resource_is_imported_by_the_ids_that_google_uses(
    cloud: Emulated, token: str, inputs: dict[str, Any], ids: list[str]
) -> None:
    cloud.create(CLUSTER, "base", plain.cluster())
    cloud.create(BUCKET, "base-bucket", plain.bucket(name="base-bucket"))
    cloud.create(ROUTER, "router", {"name": "router", "network": "net"})
    cloud.create(ACCOUNT, "trainer", {"accountId": "trainer"})
    created = cloud.create(token, "resource", inputs)
    assert created.id == ids[0]
    for identifier in ids:
        adopted = cloud.adopt(token, "resource", identifier)
        assert adopted is not None, identifier
        assert adopted.id == created.id
        assert not cloud.plan(adopted, inputs).replace_keys
    cloud.delete(created)
    assert cloud.adopt(token, "resource", created.id) is None


def test_a_refresh_brings_the_servers_values_into_inputs_and_outputs(cloud: Emulated) -> None:
    inputs = plain.bucket(labels={"team": "a"}, storageClass="STANDARD")
    recorded = cloud.create(BUCKET, "bucket", inputs)
    with cloud.store.locked():
        properties = dict((cloud.store.get(BUCKET, recorded.id) or {})["properties"])
        labels = {**properties["effectiveLabels"], "team": "b", "added": "by hand"}
        changed = {"storageClass": "COLDLINE", "effectiveLabels": labels}
        cloud.store.put(BUCKET, recorded.id, {**properties, **changed})
    refreshed = cloud.refresh(recorded)
    assert refreshed is not None
    assert refreshed.inputs["storageClass"] == "COLDLINE"
    assert refreshed.outputs["labels"] == {"team": "b"}, "labels that others set are not ours"
    assert refreshed.outputs["effectiveLabels"]["added"] == "by hand"
    keys = cloud.plan(refreshed, inputs).keys
    assert keys == ["effectiveLabels.team", "labels.team", "pulumiLabels.team", "storageClass"]
    _, mended = cloud.up(refreshed, inputs)
    assert mended.outputs["storageClass"] == "STANDARD"


def test_roles_can_be_given_twice_and_services_enabled_twice(cloud: Emulated) -> None:
    member = {"project": PROJECT, "role": "roles/viewer", "member": "user:Some@Example.com"}
    first = cloud.create(PROJECT_MEMBER, "first", member)
    assert first.outputs["member"] == "user:some@example.com"
    assert cloud.plan(first, member).op == "same"
    cloud.create(PROJECT_MEMBER, "second", member)
    for name in ("first", "second"):
        cloud.create(SERVICE, name, {"service": "compute.googleapis.com"})


def test_a_workload_can_be_a_member_once_a_cluster_brought_the_identity_pool(
    cloud: Emulated,
) -> None:
    pool = f"{PROJECT}.svc.id.goog"
    member = {
        "project": PROJECT,
        "role": "roles/viewer",
        "member": f"serviceAccount:{pool}[ns/ksa]",
    }
    with pytest.raises(Refused, match="Identity Pool does not exist"):
        cloud.create(PROJECT_MEMBER, "member", member)
    identity = {"workloadPool": pool}
    cloud.create(CLUSTER, "base", plain.cluster(workloadIdentityConfig=identity))
    cloud.create(PROJECT_MEMBER, "member", member)
