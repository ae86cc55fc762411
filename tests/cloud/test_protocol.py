"""What the engine relies on: unknowns, secrets, configuration, refusals that end no process."""

import json
import re
from pathlib import Path

import pytest
from pulumi.runtime import rpc
from pulumi.runtime.proto import provider_pb2

from sandbox.cloud import wire
from sandbox.cloud.serve import refusal
from sandbox.cloud.types import kinds
from tests.cloud import plain
from tests.cloud.harness import PROJECT, SEED, Emulated, Refused, urn
from tests.cloud.plain import ACCOUNT, BUCKET, CLUSTER, NODE_POOL


def test_unknown_inputs_pass_and_computed_outputs_are_unknown_in_a_preview(
    cloud: Emulated,
) -> None:
    inputs = plain.pool(cluster=wire.UNKNOWN, location=None)
    outputs = cloud.preview(NODE_POOL, "pool", inputs)
    assert outputs["cluster"] is wire.UNKNOWN
    assert outputs["location"] is wire.UNKNOWN
    assert outputs["instanceGroupUrls"] is wire.UNKNOWN
    assert outputs["name"] == "pool"
    assert outputs["autoscaling"]["locationPolicy"] is wire.UNKNOWN
    assert outputs["autoscaling"]["totalMaxNodeCount"] == 4
    assert cloud.preview(BUCKET, "bucket", plain.bucket())["url"] is wire.UNKNOWN


def test_the_unknown_on_the_wire_is_the_engines() -> None:
    assert wire.marshal({"x": wire.UNKNOWN}).fields["x"].string_value == rpc.UNKNOWN


def test_the_address_of_an_account_is_known_before_it_exists(cloud: Emulated) -> None:
    outputs = cloud.preview(ACCOUNT, "account", {"accountId": "trainer"})
    assert outputs["email"] == f"trainer@{PROJECT}.iam.gserviceaccount.com"
    assert outputs["name"] is wire.UNKNOWN


def test_an_unknown_value_is_a_change_and_replaces_where_the_property_does(
    cloud: Emulated,
) -> None:
    recorded = cloud.create(BUCKET, "bucket", plain.bucket())
    planned = cloud.plan(recorded, plain.bucket(location=wire.UNKNOWN))
    assert (planned.op, planned.keys) == ("replace", ["location"])
    planned = cloud.plan(recorded, plain.bucket(storageClass=wire.UNKNOWN))
    assert (planned.op, planned.keys) == ("update", ["storageClass"])


def test_label_outputs_are_secret_and_secret_inputs_stay_secret(cloud: Emulated) -> None:
    checked = cloud.check(BUCKET, "bucket", plain.bucket(labels={"a": "b"}))
    request = provider_pb2.CreateRequest(
        urn=urn(BUCKET, "bucket"), properties=wire.marshal(checked, frozenset({"storageClass"}))
    )
    answer = cloud.provider.Create(request, cloud.context)
    _, secrets = wire.unmarshal(answer.properties)
    assert secrets == {"effectiveLabels", "pulumiLabels", "storageClass"}
    news = wire.marshal(plain.bucket(labels={"a": "b"}), frozenset({"labels"}))
    check = provider_pb2.CheckRequest(
        urn=urn(BUCKET, "bucket"), olds=wire.marshal({}), news=news, randomSeed=SEED
    )
    inputs = cloud.provider.Check(check, cloud.context).inputs
    assert wire.unmarshal(inputs)[1] == {"labels"}


def test_a_project_comes_from_the_provider_or_is_missed(tmp_path: Path) -> None:
    cloud = Emulated(tmp_path, project="")
    with pytest.raises(Refused, match="project: required field is not set"):
        cloud.create(BUCKET, "bucket", plain.bucket())
    network = {"name": "n", "project": "other"}
    recorded = cloud.create(plain.NETWORK, "network", network)
    assert recorded.id == "projects/other/global/networks/n"


def test_a_region_comes_from_the_provider_or_is_missed(tmp_path: Path) -> None:
    cloud = Emulated(tmp_path, region="")
    with pytest.raises(Refused, match="Cannot determine region"):
        cloud.create(plain.ROUTER, "router", {"name": "r", "network": "net"})


def test_the_schema_describes_every_type_and_refers_to_nothing_that_is_missing(
    cloud: Emulated,
) -> None:
    answer = cloud.provider.GetSchema(provider_pb2.GetSchemaRequest(), cloud.context)
    schema = json.loads(answer.schema)
    assert set(schema["resources"]) == set(kinds())
    bucket = schema["resources"][BUCKET]
    assert bucket["requiredInputs"] == ["location"]
    assert bucket["properties"]["url"] == {"type": "string"}
    references = set(re.findall(r'"#/types/([^"]+)"', answer.schema))
    assert references == set(schema["types"])


def test_a_setting_of_the_provider_that_does_not_exist_is_refused(cloud: Emulated) -> None:
    def failures(**settings: str) -> list[str]:
        request = provider_pb2.CheckRequest(news=wire.marshal(settings))
        return [each.reason for each in cloud.provider.CheckConfig(request, cloud.context).failures]

    assert failures(project="p", region="r", version="10.2.0") == []
    (reason,) = failures(projct="p")
    assert 'did you mean "project"?' in reason
    assert "gcp:projct" in reason


@pytest.mark.parametrize("labels", [{"env": "test"}, '{"env": "test"}'])
def test_default_labels_of_the_provider_reach_every_labelled_resource(
    tmp_path: Path, labels: object
) -> None:
    settings = {"defaultLabels": labels, "addPulumiAttributionLabel": "false"}
    cloud = Emulated(tmp_path, **settings)
    inputs = plain.bucket(labels={"team": "a"})
    recorded = cloud.create(BUCKET, "bucket", inputs)
    assert recorded.outputs["labels"] == {"team": "a"}
    assert recorded.outputs["effectiveLabels"] == {"team": "a", "env": "test"}
    assert cloud.plan(recorded, inputs).op == "same"


def test_ignored_changes_are_ignored(cloud: Emulated) -> None:
    cloud.create(CLUSTER, "base", plain.cluster())
    recorded = cloud.create(NODE_POOL, "pool", plain.pool(nodeConfig={"labels": {"a": "1"}}))
    news = cloud.check(
        NODE_POOL, "pool", plain.pool(initialNodeCount=3, nodeConfig={"labels": {"a": "2"}})
    )
    request = provider_pb2.DiffRequest(
        id=recorded.id,
        urn=urn(NODE_POOL, "pool"),
        olds=wire.marshal(recorded.outputs),
        news=wire.marshal(news),
        ignoreChanges=["initialNodeCount", "nodeConfig.labels"],
    )
    answer = cloud.provider.Diff(request, cloud.context)
    assert answer.changes == provider_pb2.DiffResponse.DIFF_NONE


def test_a_type_or_function_that_is_not_emulated_is_named(cloud: Emulated) -> None:
    with pytest.raises(Exception, match="gcp:storage/bucket:Bucket"):
        cloud.check("gcp:storage/bucketz:Bucket", "x", {})
    with pytest.raises(Refused, match="getProject"):
        cloud.invoke("gcp:organizations/getProjects:getProjects")


def test_all_problems_of_an_input_are_reported_at_once(cloud: Emulated) -> None:
    wrong = plain.pool(cluster=None, autoscaling={"locationPolicy": "SPREAD"}, nodeCnt=1)
    with pytest.raises(Refused) as refused:
        cloud.check(NODE_POOL, "pool", wrong)
    assert len(refused.value.texts) == 3


def test_every_change_is_logged_with_before_and_after(cloud: Emulated) -> None:
    recorded = cloud.create(BUCKET, "bucket", plain.bucket())
    cloud.up(recorded, plain.bucket(storageClass="NEARLINE"))
    lines = [line for line in cloud.store.log_path.read_text().splitlines() if "bucket" in line]
    created, updated = (json.loads(line) for line in lines[-2:])
    assert (created["method"], created["before"]) == ("create", None)
    assert updated["before"]["storageClass"] == "STANDARD"
    assert updated["after"]["storageClass"] == "NEARLINE"


GOOD = {
    "SPOTPROOF_SANDBOX_DIR": "{dir}",
    "PULUMI_BACKEND_URL": "file://{dir}/backend",
    "PULUMI_HOME": "{dir}/home",
}


def test_it_serves_in_the_sandbox(tmp_path: Path) -> None:
    environment = {name: value.format(dir=tmp_path) for name, value in GOOD.items()}
    assert refusal(environment) is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SPOTPROOF_SANDBOX_DIR", None),
        ("SPOTPROOF_SANDBOX_DIR", "relative"),
        ("PULUMI_BACKEND_URL", None),
        ("PULUMI_BACKEND_URL", "s3://a-bucket"),
        ("PULUMI_BACKEND_URL", "https://backend.example.com"),
        ("PULUMI_BACKEND_URL", "file://~"),
        ("PULUMI_HOME", None),
        ("PULUMI_HOME", "/root/.pulumi"),
    ],
)
def test_it_serves_nobody_else(tmp_path: Path, name: str, value: str | None) -> None:
    environment = {key: text.format(dir=tmp_path) for key, text in GOOD.items()}
    environment.pop(name)
    if value is not None:
        environment[name] = value
    assert refusal(environment) is not None
