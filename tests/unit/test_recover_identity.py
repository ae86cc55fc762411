"""The id of an interrupted create is the one that the cloud gives to a resource of that name."""

from typing import Any

import pytest

from sandbox.cloud.types import kinds
from sandbox.cloud.types.monitoring import MonitoringKind
from sandbox.cloud.types.service_identity import SERVICE_IDENTITY
from sandbox.recovery.identity import identify
from tests.unit.fake_pulumi import PROVIDER, resource

SECRET = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "ciphertext": "x"}
ACCOUNT = "projects/acme/serviceAccounts/nodes@acme.iam.gserviceaccount.com"
MEMBER = {"role": "roles/viewer", "member": "user:Ann@example.com"}
WHO = "roles/viewer/user:ann@example.com"
CLUSTER_ID = "projects/acme/locations/europe-west4/clusters/base"
GIVEN: dict[str, tuple[dict[str, Any], str]] = {
    "gcp:compute/network:Network": ({"name": "net"}, "projects/acme/global/networks/net"),
    "gcp:compute/subnetwork:Subnetwork": (
        {"name": "sub", "region": "us-central1"},
        "projects/acme/regions/us-central1/subnetworks/sub",
    ),
    "gcp:compute/router:Router": (
        {"name": "r", "network": "net"}, "projects/acme/regions/europe-west4/routers/r",
    ),
    "gcp:compute/routerNat:RouterNat": (
        {"name": "nat", "router": "r"}, "acme/europe-west4/r/nat",
    ),
    "gcp:compute/firewall:Firewall": ({"name": "f"}, "projects/acme/global/firewalls/f"),
    "gcp:compute/resourcePolicy:ResourcePolicy": (
        {"name": "compact"}, "projects/acme/regions/europe-west4/resourcePolicies/compact",
    ),
    "gcp:container/cluster:Cluster": ({"name": "base", "location": "europe-west4"}, CLUSTER_ID),
    "gcp:container/nodePool:NodePool": (
        {"name": "workers", "cluster": CLUSTER_ID}, f"{CLUSTER_ID}/nodePools/workers",
    ),
    "gcp:storage/bucket:Bucket": ({"name": "acme-data"}, "acme-data"),
    "gcp:storage/bucketIAMMember:BucketIAMMember": (
        {"bucket": "acme-data", **MEMBER}, f"b/acme-data/{WHO}",
    ),
    "gcp:serviceaccount/account:Account": ({"accountId": "nodes"}, ACCOUNT),
    "gcp:serviceaccount/iAMMember:IAMMember": (
        {"serviceAccountId": ACCOUNT, **MEMBER}, f"{ACCOUNT}/{WHO}",
    ),
    "gcp:projects/iAMMember:IAMMember": ({"project": "other", **MEMBER}, f"other/{WHO}"),
    "gcp:projects/service:Service": (
        {"service": "container.googleapis.com"}, "acme/container.googleapis.com",
    ),
    "gcp:pubsub/topic:Topic": ({"name": "work"}, "projects/acme/topics/work"),
    "gcp:pubsub/subscription:Subscription": (
        {"name": "workers", "topic": "work"}, "projects/acme/subscriptions/workers",
    ),
    "gcp:pubsub/topicIAMMember:TopicIAMMember": (
        {"topic": "work", **MEMBER}, f"projects/acme/topics/work/{WHO}",
    ),
    "gcp:pubsub/subscriptionIAMMember:SubscriptionIAMMember": (
        {"subscription": "workers", **MEMBER}, f"projects/acme/subscriptions/workers/{WHO}",
    ),
    "gcp:artifactregistry/repository:Repository": (
        {"repositoryId": "images", "location": "europe-west4"},
        "projects/acme/locations/europe-west4/repositories/images",
    ),
    "gcp:artifactregistry/repositoryIamMember:RepositoryIamMember": (
        {"repository": "images", "location": "europe-west4", **MEMBER},
        f"projects/acme/locations/europe-west4/repositories/images/{WHO}",
    ),
}  # fmt: skip
KUBERNETES: list[tuple[str, dict[str, Any], str]] = [
    ("core/v1:ConfigMap", {"metadata": {"name": "a", "namespace": "jobs"}}, "jobs/a"),
    ("core/v1:Namespace", {"metadata": {"name": "jobs"}}, "jobs"),
    ("rbac.authorization.k8s.io/v1:ClusterRole", {"metadata": {"name": "r"}}, "r"),
    ("helm.sh/v3:Release", {"name": "queue", "namespace": "kueue"}, "kueue/queue"),
]


@pytest.mark.parametrize("token", sorted(kinds()))
def test_every_type_of_the_emulated_cloud(token: str) -> None:
    if isinstance(kinds()[token], MonitoringKind):
        found = identify(resource(token, "it", {"displayName": "it"}), [PROVIDER])
        assert (found.identifier, found.reason) == ("", "the server chooses its id")
        return
    if token == SERVICE_IDENTITY:
        assert identify(resource(token, "it", {"service": "x"}), [PROVIDER]).again
        return
    assert token in GIVEN, f"add a row: what is the id of {token}?"
    inputs, identifier = GIVEN[token]
    assert identify(resource(token, "it", inputs), [PROVIDER]).identifier == identifier


@pytest.mark.parametrize(("token", "inputs", "identifier"), KUBERNETES)
def test_objects_in_kubernetes(token: str, inputs: dict[str, Any], identifier: str) -> None:
    made = resource(f"kubernetes:{token}", "it", inputs)

    assert identify(made, [PROVIDER]).identifier == identifier


@pytest.mark.parametrize(
    ("token", "inputs", "reason"),
    [
        ("aws:s3/bucket:Bucket", {"bucket": "b"}, "not known here"),
        ("gcp:storage/bucket:Bucket", {"name": SECRET}, "its name is a secret"),
        ("gcp:pubsub/topic:Topic", {"name": "t", "project": SECRET}, "its project is a secret"),
        ("gcp:storage/bucket:Bucket", {"location": "EU"}, "its name is not known"),
        ("kubernetes:core/v1:ConfigMap", {"metadata": {"name": "a"}}, "its namespace is not"),
        ("kubernetes:core/v1:Secret", {"metadata": {"generateName": "a-"}}, "made up by the serv"),
        ("kubernetes:core/v1:Secret", {"metadata": SECRET}, "its metadata are a secret"),
    ],
)
def test_what_does_not_tell_its_id_says_why(
    token: str, inputs: dict[str, Any], reason: str
) -> None:
    found = identify(resource(token, "it", inputs), [PROVIDER])

    assert found.identifier == ""
    assert reason in found.reason


def test_a_provider_without_a_project_or_none_at_all() -> None:
    topic = resource("gcp:pubsub/topic:Topic", "it", {"name": "t"})

    assert "says project" in identify(topic, [{**PROVIDER, "inputs": {}}]).reason
    assert "provider is not in the state" in identify(topic, []).reason
    assert identify(topic, [{**PROVIDER, "id": "p-2"}]).identifier == "projects/acme/topics/t"
