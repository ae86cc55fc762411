"""The command line on a sandbox, and the log of what was asked of its cloud."""

import json
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import struct_pb2
from pulumi.runtime.proto import provider_pb2

from sandbox.cloud import wire
from sandbox.cloud.__main__ import main
from tests.cloud import plain
from tests.cloud.harness import Emulated, Recorded, Refused, urn
from tests.cloud.plain import BUCKET, CLUSTER, NODE_POOL

Captured = pytest.CaptureFixture[str]


def run(cloud: Emulated, *arguments: str) -> int:
    return main(["--sandbox", str(cloud.store.path.parent), *arguments])


def log(cloud: Emulated) -> list[dict[str, Any]]:
    return [json.loads(line) for line in cloud.store.log_path.read_text().splitlines()]


def test_show_tells_every_resource_and_what_matters(cloud: Emulated, capsys: Captured) -> None:
    cloud.create(CLUSTER, "base", plain.cluster())
    pool = cloud.create(NODE_POOL, "gpu", plain.gpu_pool(spot=True))
    assert run(cloud, "show") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["TYPE", "ID", "LOCATION", "STATUS", "DETAILS"]
    assert len(lines) == 5
    line = next(line for line in lines if pool.id in line)
    for words in ("NodePool", "northamerica-northeast2", "RUNNING", "g2-standard-4", "spot"):
        assert words in line


def test_show_as_json_is_for_programs(cloud: Emulated, capsys: Captured) -> None:
    cloud.create(BUCKET, "data", plain.bucket())
    assert run(cloud, "show", "--json") == 0
    things = json.loads(capsys.readouterr().out)
    bucket = next(thing for thing in things if thing["type"] == BUCKET)
    assert (bucket["id"], bucket["status"]) == ("demo-bucket", "RUNNING")
    assert bucket["properties"]["url"] == "gs://demo-bucket"


def test_an_empty_cloud_and_a_missing_sandbox_are_told(tmp_path: Path, capsys: Captured) -> None:
    assert main(["--sandbox", str(tmp_path), "show"]) == 0
    assert capsys.readouterr().out == "The emulated cloud is empty.\n"
    assert main(["--sandbox", str(tmp_path / "none"), "show"]) == 1
    assert f"error: {tmp_path}/none is no sandbox's folder" in capsys.readouterr().err


def test_drift_by_command_is_in_the_log_with_before_and_after(
    cloud: Emulated, capsys: Captured
) -> None:
    cloud.create(CLUSTER, "base", plain.cluster())
    cloud.create(NODE_POOL, "pool", plain.pool())
    assert run(cloud, "drift", "resize", "pool", "3") == 0
    assert "0 -> 3 nodes per zone" in capsys.readouterr().out
    entry = log(cloud)[-1]
    assert (entry["method"], entry["before"], entry["after"]) == (
        "drift resize",
        {"nodeCount": 0},
        {"nodeCount": 3},
    )
    assert run(cloud, "drift", "resize", "poool", "3") == 1
    error = capsys.readouterr().err
    assert error.startswith("error: NodePool 'poool' is not in the cloud; these are:\n")
    assert "Traceback" not in error


def test_reset_wants_a_yes_where_nobody_can_be_asked(cloud: Emulated, capsys: Captured) -> None:
    assert run(cloud, "reset") == 1
    assert "reset deletes 2 resources" in capsys.readouterr().err
    assert len(cloud.store.everything()) == 2
    assert run(cloud, "reset", "--yes") == 0
    assert cloud.store.everything() == []
    assert "`refresh` tells the stacks" in capsys.readouterr().out


def test_faults_are_ordered_listed_and_cleared(cloud: Emulated, capsys: Captured) -> None:
    assert run(cloud, "fault", "add", "permission-denied", "--type", "Bucket") == 0
    again = ("--name", "d*", "--operation", "create", "--times", "always")
    assert run(cloud, "fault", "add", "quota-exceeded", *again) == 0
    capsys.readouterr()
    with pytest.raises(Refused, match="access to the Google Cloud project"):
        cloud.create(BUCKET, "data", plain.bucket())
    assert run(cloud, "fault", "list") == 0
    assert capsys.readouterr().out.splitlines() == [
        "permission-denied  type=Bucket  used 1 of 1",
        "quota-exceeded  name=d* operation=create  used 0 always",
    ]
    assert run(cloud, "fault", "clear") == 0
    assert cloud.create(BUCKET, "data", plain.bucket()).id


def test_a_wrong_fault_is_refused_and_the_file_stays(cloud: Emulated, capsys: Captured) -> None:
    run(cloud, "fault", "add", "permission-denied")
    capsys.readouterr()
    wrong = ("--type", "Bukkit", "--times", "never")
    assert run(cloud, "fault", "add", "slow", *wrong) == 1
    error = capsys.readouterr().err
    for words in ("the new rule has 3 problems", "'never' is neither", "seconds: is missing"):
        assert words in error
    run(cloud, "fault", "list")
    assert capsys.readouterr().out.count("\n") == 1


def test_each_change_is_logged_with_before_and_after(cloud: Emulated) -> None:
    recorded = cloud.create(BUCKET, "data", plain.bucket())
    _, changed = cloud.up(recorded, plain.bucket(storageClass="NEARLINE"))
    cloud.delete(changed)
    created, updated, deleted = log(cloud)[-3:]
    assert created["before"] is None
    assert created["after"] == updated["before"]
    assert updated["after"]["storageClass"] == "NEARLINE"
    assert updated["after"] == deleted["before"]
    assert deleted["after"] is None
    for entry in (created, updated, deleted):
        assert (entry["type"], entry["name"], entry["id"]) == (BUCKET, "data", "demo-bucket")


def test_a_refusal_is_logged_as_no_change(cloud: Emulated) -> None:
    recorded = cloud.create(BUCKET, "data", plain.bucket())
    with pytest.raises(Refused):
        cloud.up(recorded, plain.bucket(storageClass="cold"))
    entry = log(cloud)[-1]
    assert entry["before"] == entry["after"] != {}
    assert "'cold' is none of" in entry["error"]


def test_the_log_has_no_secret_of_the_program(cloud: Emulated) -> None:
    properties = wire.marshal(
        cloud.check(BUCKET, "data", plain.bucket(labels={"key": "hush-1"}, logging={"logBucket":
            "hush-2"})),
        frozenset({"labels", "logging"}),
    )  # fmt: skip
    request = provider_pb2.CreateRequest(urn=urn(BUCKET, "data"), properties=properties)
    answer = cloud.provider.Create(request, cloud.context)
    outputs: struct_pb2.Struct = answer.properties
    olds = wire.plain(outputs)
    cloud.delete(Recorded(BUCKET, "data", answer.id, {}, olds))
    text = cloud.store.log_path.read_text()
    created = text.splitlines()[-2]
    assert "hush" not in created
    assert '"logging": "[secret]"' in created


def test_a_logged_refusal_has_no_secret_of_the_program(cloud: Emulated) -> None:
    checked = cloud.check(BUCKET, "data", plain.bucket(storageClass="hush-3"))
    properties = wire.marshal(checked, frozenset({"storageClass"}))
    request = provider_pb2.CreateRequest(urn=urn(BUCKET, "data"), properties=properties)
    with pytest.raises(Exception, match="is none of"):
        cloud.provider.Create(request, cloud.context)
    assert log(cloud)[-1]["error"].count("[secret]") == 1
    assert "hush" not in cloud.store.log_path.read_text()
