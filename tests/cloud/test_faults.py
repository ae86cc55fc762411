"""Faults to order: each names the resource, the reason and what to do, and goes away."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from pulumi.runtime.proto import provider_pb2, status_pb2

from sandbox.cloud import injection, wire
from sandbox.cloud.faults import KINDS, FaultsError, read_faults
from sandbox.cloud.show import status
from tests.cloud import plain
from tests.cloud.harness import Emulated, Recorded, Refused
from tests.cloud.plain import BUCKET, CLUSTER, NODE_POOL, SERVICE

Make = Callable[[Emulated], tuple[str, str, dict[str, Any], dict[str, Any]]]


class Ended(BaseException):
    """The process would have ended."""


@pytest.fixture(autouse=True)
def no_process_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    def end(code: int) -> None:
        raise Ended(code)

    monkeypatch.setattr(injection.os, "_exit", end)
    monkeypatch.setattr(injection, "RETRY_SECONDS", 0)


def order(cloud: Emulated, *rules: dict[str, Any], **more: Any) -> None:
    path = cloud.store.path.parent / "faults.yaml"
    path.write_text(yaml.safe_dump({"faults": list(rules), **more}))


def log(cloud: Emulated) -> list[dict[str, Any]]:
    return [json.loads(line) for line in cloud.store.log_path.read_text().splitlines()]


def _cluster(cloud: Emulated) -> tuple[str, str, dict[str, Any], dict[str, Any]]:
    return CLUSTER, "base", plain.cluster(), plain.cluster(resourceLabels={"a": "b"})


def _pool(cloud: Emulated) -> tuple[str, str, dict[str, Any], dict[str, Any]]:
    cloud.create(CLUSTER, "base", plain.cluster())
    changed = plain.pool(autoscaling={"totalMinNodeCount": 0, "totalMaxNodeCount": 9})
    return NODE_POOL, "pool", plain.pool(), changed


def _bucket(cloud: Emulated) -> tuple[str, str, dict[str, Any], dict[str, Any]]:
    return BUCKET, "data", plain.bucket(), plain.bucket(labels={"a": "b"})


TYPES = {"cluster": _cluster, "pool": _pool, "bucket": _bucket}
NAMES = {"cluster": "clusters/base", "pool": "nodePools/pool", "bucket": "demo-bucket"}
TO_DO = {
    "quota-exceeded": ["googleapi: Error 4", "To mend", "/iam-admin/quotas?usage=USED&project="],
    "permission-denied": ["googleapi: Error 403", "To mend", "such as roles/"],
    "service-disabled": ["googleapi: Error 403", "Enable it by visiting https://", "To mend"],
}


@pytest.mark.parametrize("make", TYPES.values(), ids=TYPES)
@pytest.mark.parametrize("kind", ["quota-exceeded", "permission-denied", "service-disabled"])
def test_a_refused_create_says_why_and_the_next_run_finishes(
    cloud: Emulated, make: Make, kind: str
) -> None:
    token, name, inputs, _ = make(cloud)
    order(cloud, {"kind": kind, "type": token, "operation": "create"})
    with pytest.raises(Refused) as refused:
        cloud.create(token, name, inputs)
    text = str(refused.value)
    assert text.startswith("update: 1 error occurred:\n\t* error creating "), text
    assert [words for words in TO_DO[kind] if words not in text] == [], text
    assert cloud.store.all(token) == []
    assert cloud.create(token, name, inputs).id


REFUSALS = {
    "quota-exceeded": "look at https://|ask for more at https://",
    "stock-out": "ZONE_RESOURCE_POOL_EXHAUSTED",
    "permission-denied": "for a role with (container|storage)[.a-z]+ on ",
    "service-disabled": "Enable it by visiting",
}
LATER = [
    (kind, operation)
    for kind in REFUSALS
    for operation in ("update", "delete", "read")
    if operation in KINDS[kind]
]


@pytest.mark.parametrize("which", TYPES)
@pytest.mark.parametrize(("kind", "operation"), LATER)
def test_a_refusal_of_what_exists_changes_nothing_and_the_next_run_finishes(
    cloud: Emulated, which: str, kind: str, operation: str
) -> None:
    token, name, inputs, changed = TYPES[which](cloud)
    recorded = cloud.create(token, name, inputs)
    before = cloud.store.get(token, recorded.id)
    run: dict[str, Callable[[], object]] = {
        "update": lambda: cloud.up(recorded, changed),
        "delete": lambda: cloud.delete(recorded),
        "read": lambda: cloud.refresh(recorded),
    }
    order(cloud, {"kind": kind, "name": name, "operation": operation})
    if (which, kind) != ("bucket", "stock-out"):
        with pytest.raises(Refused, match=REFUSALS[kind]) as refused:
            run[operation]()
        assert kind in ("service-disabled", "stock-out") or NAMES[which] in str(refused.value)
        assert cloud.store.get(token, recorded.id) == before
    run[operation]()


SUBSCRIPTION = "gcp:pubsub/subscription:Subscription"
INPUTS = {
    CLUSTER: plain.cluster(),
    NODE_POOL: plain.pool(),
    plain.NETWORK: {"name": "other"},
    BUCKET: plain.bucket(),
    SUBSCRIPTION: {"name": "workers", "topic": "projects/other/topics/jobs"},
}
FORBIDDEN = {
    CLUSTER: 'Required "container.clusters.create" permission(s) for "projects/probe-project"., '
    "forbidden",
    NODE_POOL: 'Required "container.clusters.update" permission(s) for "projects/probe-project/'
    'locations/northamerica-northeast2/clusters/base"., forbidden',
    plain.NETWORK: "Required 'compute.networks.create' permission for "
    "'projects/probe-project/global/networks/other', forbidden",
    BUCKET: "caller@probe-project.iam.gserviceaccount.com does not have storage.buckets.create "
    "access to the Google Cloud project. Permission 'storage.buckets.create' denied on resource "
    "(or it may not exist)., forbidden",
    SUBSCRIPTION: "User not authorized to perform this action.",
}


@pytest.mark.parametrize("token", FORBIDDEN)
def test_each_api_forbids_in_its_own_words(cloud: Emulated, token: str) -> None:
    order(cloud, {"kind": "permission-denied"})
    with pytest.raises(Refused) as refused:
        cloud.create(token, "it", INPUTS[token])
    assert f"googleapi: Error 403: {FORBIDDEN[token]}\n\t  To mend" in str(refused.value)


@pytest.mark.parametrize(
    ("token", "api", "title", "reason"),
    [
        (CLUSTER, "container", "Kubernetes Engine API", ", accessNotConfigured"),
        (plain.NETWORK, "compute", "Compute Engine API", ", accessNotConfigured"),
        (BUCKET, "storage", "Cloud Storage API", ", accessNotConfigured"),
        (SUBSCRIPTION, "pubsub", "Cloud Pub/Sub API", ""),
    ],
)
def test_a_disabled_api_is_named_with_where_to_enable_it(
    cloud: Emulated, token: str, api: str, title: str, reason: str
) -> None:
    order(cloud, {"kind": "service-disabled"})
    with pytest.raises(Refused) as refused:
        cloud.create(token, "it", INPUTS[token])
    text = str(refused.value)
    start, _, rest = text.partition("\nDetails:\n")
    assert f"googleapi: Error 403: {title} has not been used in project " in start
    assert f"visiting https://console.developers.google.com/apis/api/{api}.googleapis.com/" in start
    details, _, mend = rest.partition(f"\n{reason}\n\t  To mend")
    assert json.loads(details)[1]["reason"] == "SERVICE_DISABLED"
    assert f"gcloud services enable {api}.googleapis.com --project=probe-project" in mend


def test_a_setting_of_the_providers_own_makes_no_request_that_could_fail(cloud: Emulated) -> None:
    recorded = cloud.create(CLUSTER, "base", plain.cluster())
    order(cloud, {"kind": "permission-denied", "operation": "update"})
    cloud.up(recorded, plain.cluster(deletionProtection=True))


def test_quota_names_the_gpu_and_whether_it_is_spot(cloud: Emulated) -> None:
    cloud.create(CLUSTER, "base", plain.cluster())
    order(cloud, {"kind": "quota-exceeded", "type": "NodePool", "times": "always"})
    with pytest.raises(Refused, match='resource "NVIDIA_L4_GPUS"'):
        cloud.create(NODE_POOL, "gpu", plain.gpu_pool())
    with pytest.raises(Refused, match='resource "PREEMPTIBLE_NVIDIA_L4_GPUS"'):
        cloud.create(NODE_POOL, "gpu", plain.gpu_pool(spot=True))
    a100 = [{"type": "nvidia-tesla-a100", "count": 1}]
    pool = plain.gpu_pool(spot=True, machineType="a2-highgpu-1g", guestAccelerators=a100)
    with pytest.raises(Refused, match='resource "PREEMPTIBLE_NVIDIA_A100_GPUS"'):
        cloud.create(NODE_POOL, "a100", pool)


@pytest.mark.parametrize("which", ["cluster", "pool"])
def test_a_stock_out_leaves_a_resource_that_waits_and_is_recorded(
    cloud: Emulated, which: str
) -> None:
    token, name, inputs, changed = TYPES[which](cloud)
    order(cloud, {"kind": "stock-out"})
    with pytest.raises(Refused, match="ZONE_RESOURCE_POOL_EXHAUSTED") as refused:
        cloud.create(token, name, inputs)
    for words in ("northamerica-northeast2-a", "Try a different zone, or try again later"):
        assert words in str(refused.value)
    detail = _initialization_failure(cloud)
    thing = cloud.store.get(token, detail.id)
    assert thing is not None
    assert status(thing) == "ERROR"
    checked = cloud.check(token, name, inputs)
    recorded = Recorded(
        token, name, detail.id, checked, {**checked, **wire.plain(detail.properties)}
    )
    cloud.up(recorded, changed)
    mended = cloud.store.get(token, detail.id)
    assert mended is not None
    assert status(mended) == "RUNNING"


def _initialization_failure(cloud: Emulated) -> provider_pb2.ErrorResourceInitFailed:
    metadata = dict(cloud.context.metadata)
    answer = status_pb2.Status.FromString(metadata["grpc-status-details-bin"])
    detail = provider_pb2.ErrorResourceInitFailed()
    assert answer.details[0].Unpack(detail)
    return detail


def test_a_stock_out_found_by_a_resize_changes_nothing(cloud: Emulated) -> None:
    token, name, inputs, changed = _pool(cloud)
    recorded = cloud.create(token, name, inputs)
    before = cloud.store.get(token, recorded.id)
    order(cloud, {"kind": "stock-out"})
    with pytest.raises(Refused, match="Error waiting for updating GKE NodePool"):
        cloud.up(recorded, changed)
    assert cloud.store.get(token, recorded.id) == before


def test_a_server_that_is_away_for_a_moment_is_asked_again(cloud: Emulated) -> None:
    order(cloud, {"kind": "unavailable", "times": 3})
    assert cloud.create(BUCKET, "data", plain.bucket()).id
    asked = [entry for entry in log(cloud) if entry.get("fault") == "unavailable"]
    assert len(asked) == 3
    assert "googleapi: Error 503" in asked[0]["error"]


def test_a_server_that_stays_away_fails_in_the_end(cloud: Emulated) -> None:
    order(cloud, {"kind": "unavailable", "times": "always"})
    with pytest.raises(
        Refused, match=r"Error 503: The service is currently unavailable.*\n.*wait a few minutes"
    ):
        cloud.create(BUCKET, "data", plain.bucket())


def test_slow_waits_without_holding_others_up(
    cloud: Emulated, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited = []

    def sleep(seconds: float) -> None:
        waited.append((seconds, cloud.store._depth))

    monkeypatch.setattr(injection.time, "sleep", sleep)
    order(cloud, {"kind": "slow", "seconds": 7, "type": "Bucket"})
    cloud.create(BUCKET, "data", plain.bucket())
    assert waited == [(7, 0)]


@pytest.mark.parametrize("make", TYPES.values(), ids=TYPES)
@pytest.mark.parametrize(("kind", "there"), [("crash-before", False), ("crash-after", True)])
def test_a_crash_within_a_create_leaves_the_cloud_before_or_after(
    cloud: Emulated, make: Make, kind: str, there: bool
) -> None:
    token, name, inputs, _ = make(cloud)
    order(cloud, {"kind": kind, "type": token, "operation": "create"})
    with pytest.raises(Ended):
        cloud.create(token, name, inputs)
    assert bool(cloud.store.all(token)) is there
    assert log(cloud)[-1]["fault"] == kind


@pytest.mark.parametrize("make", TYPES.values(), ids=TYPES)
@pytest.mark.parametrize(("kind", "done"), [("crash-before", False), ("crash-after", True)])
def test_a_crash_within_an_update_or_delete_is_mended_by_the_next_run(
    cloud: Emulated, make: Make, kind: str, done: bool
) -> None:
    token, name, inputs, changed = make(cloud)
    recorded = cloud.create(token, name, inputs)
    before = cloud.store.get(token, recorded.id)
    order(cloud, {"kind": kind, "operation": "update"}, {"kind": kind, "operation": "delete"})
    with pytest.raises(Ended):
        cloud.up(recorded, changed)
    assert (cloud.store.get(token, recorded.id) != before) is done
    _, updated = cloud.up(recorded, changed)
    with pytest.raises(Ended):
        cloud.delete(updated)
    assert (cloud.store.get(token, recorded.id) is None) is done
    cloud.delete(updated)
    assert cloud.store.get(token, recorded.id) is None


def test_only_an_engine_is_killed(cloud: Emulated, monkeypatch: pytest.MonkeyPatch) -> None:
    killed: list[int] = []
    monkeypatch.setattr(injection.os, "kill", lambda process, _: killed.append(process))
    order(cloud, {"kind": "kill-engine"})
    with pytest.raises(Refused, match="is no engine; none is killed"):
        cloud.create(BUCKET, "data", plain.bucket())
    assert killed == []


def test_a_fault_meets_what_it_names_and_previews_never(cloud: Emulated) -> None:
    rule = {"kind": "permission-denied", "type": "Buck*", "name": "checkpoints-?"}
    order(cloud, {**rule, "operation": "create"})
    cloud.create(BUCKET, "other", plain.bucket(name="other-bucket"))
    cloud.preview(BUCKET, "checkpoints-a", plain.bucket())
    with pytest.raises(Refused, match=r"storage\.buckets\.create"):
        cloud.create(BUCKET, "any", plain.bucket(name="checkpoints-a"))


def test_a_fault_is_counted_across_processes(cloud: Emulated) -> None:
    order(cloud, {"kind": "permission-denied", "times": 2})
    with pytest.raises(Refused):
        cloud.create(BUCKET, "data", plain.bucket())
    another = Emulated(cloud.store.path.parent)
    with pytest.raises(Refused):
        another.create(BUCKET, "data", plain.bucket())
    assert another.create(BUCKET, "data", plain.bucket()).id


def test_apis_that_start_disabled_refuse_until_a_service_enables_them(cloud: Emulated) -> None:
    order(cloud, apisStartDisabled=True)
    with pytest.raises(Refused, match="Kubernetes Engine API has not been used in project"):
        cloud.create(CLUSTER, "base", plain.cluster())
    with pytest.raises(Refused, match="Kubernetes Engine API has not been used in project"):
        cloud.invoke("gcp:container/getEngineVersions:getEngineVersions", location="us-central1")
    cloud.create(SERVICE, "gke", {"service": "container.googleapis.com"})
    assert cloud.create(CLUSTER, "base", plain.cluster()).id
    assert cloud.create(BUCKET, "data", plain.bucket()).id, "a new project has storage"


WRONG = """
apisStartDisabld: true
faults:
  - {kind: stockout}
  - {kind: stock-out, type: Bucket}
  - {kind: crash-after, operation: read, times: 0}
  - {kind: slow, type: Bucktes}
  - {kind: unavailable, seconds: 3, tims: 1}
  - nothing
"""


def test_all_problems_of_a_file_are_told_at_once(cloud: Emulated, tmp_path: Path) -> None:
    path = tmp_path / "faults.yaml"
    path.write_text(WRONG)
    with pytest.raises(FaultsError) as error:
        read_faults(path)
    lines = str(error.value).splitlines()
    assert lines[0] == f"{path} has 10 problems:"
    for place, words in [
        ("apisStartDisabld:", 'did you mean "apisStartDisabled"?'),
        ("faults[0].kind:", "'stockout' is no kind of fault; kinds are quota-exceeded"),
        ("faults[1].type:", "stock-out meets Cluster and NodePool"),
        ("faults[2].operation:", "crash-after meets create, update, delete"),
        ("faults[2].times:", "0 is neither a whole number from 1 nor `always`"),
        ("faults[3].type:", 'did you mean "Bucket"?'),
        ("faults[3].seconds:", "is missing"),
        ("faults[4].tims:", 'did you mean "times"?'),
        ("faults[4].seconds:", "only slow waits"),
        ("faults[5]:", "'nothing' is no rule"),
    ]:
        assert any(line.strip().startswith(place) and words in line for line in lines), place
    with pytest.raises(Refused, match="has 10 problems"):
        cloud.create(BUCKET, "data", plain.bucket())
    assert cloud.store.all(BUCKET) == []


@pytest.mark.parametrize("text", ["[1]", "{", "faults: 7", "apisStartDisabled: maybe"])
def test_a_file_of_another_shape_is_refused_in_words(tmp_path: Path, text: str) -> None:
    path = tmp_path / "faults.yaml"
    path.write_text(text)
    with pytest.raises(FaultsError, match=r"faults\.yaml"):
        read_faults(path)
