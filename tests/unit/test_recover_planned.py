"""What a crashed provider left is taken into the state when a person names it, and only then."""

import json
from pathlib import Path

import pytest

from sandbox.cloud.wire import UNKNOWN_TEXT
from sandbox.recovery import recover as module
from sandbox.recovery.recover import Options, RecoveryError, recover
from tests.unit.fake_pulumi import Fake, bucket, killed, nobody, resource

TOPIC = "gcp:pubsub/topic:Topic"


@pytest.fixture(autouse=True)
def no_orphans(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "orphaned_providers", lambda project: [])


@pytest.fixture
def fake(tmp_path: Path) -> Fake:
    """A healthy stack without resources, whose plan creates a bucket and two topics."""
    fake = Fake(tmp_path)
    hidden = {"name": "work", "labels": {"key": "[secret]"}, "kmsKeyName": UNKNOWN_TEXT}
    made = [
        bucket(),
        resource(TOPIC, "work", hidden),
        resource(TOPIC, "hidden", {"name": "[secret]"}),
    ]
    steps = [{"op": "create", "urn": one["urn"], "newState": one} for one in made]
    fake.write("plan.json", json.dumps({"steps": steps}))
    return fake


def adopt(*names: str) -> Options:
    return Options(yes=True, adopted=names)


def test_only_what_is_named_and_in_the_cloud_comes_into_the_state(fake: Fake) -> None:
    fake.in_cloud("acme-data", "projects/acme/topics/work")
    assert recover(fake.pulumi(), adopt("bucket"), nobody()) == 0
    assert fake.ids == ["acme-data"]


def test_what_is_not_in_the_cloud_stays_planned(fake: Fake) -> None:
    assert recover(fake.pulumi(), adopt("bucket"), nobody()) == 0
    assert fake.ids == []


def test_no_mask_of_a_secret_becomes_a_value(fake: Fake) -> None:
    fake.in_cloud("projects/acme/topics/work")
    assert recover(fake.pulumi(), adopt("work"), nobody()) == 0
    assert fake.state["resources"][-1]["inputs"] == {"name": "work"}
    with pytest.raises(RecoveryError, match="'hidden': its name is not known"):
        recover(fake.pulumi(), adopt("hidden"), nobody())


def test_a_name_that_the_plan_does_not_create_is_refused(fake: Fake) -> None:
    with pytest.raises(RecoveryError, match="--adopt buket: the plan does not create it"):
        recover(fake.pulumi(), adopt("buket"), nobody())
    assert fake.changes == []


def test_a_killed_update_is_put_in_order_before(fake: Fake) -> None:
    killed(fake)
    with pytest.raises(RecoveryError, match="first, then with --adopt"):
        recover(fake.pulumi(), adopt("bucket"), nobody())
    assert fake.changes == []


def test_a_healthy_stack_says_how_to_adopt(fake: Fake, capsys: pytest.CaptureFixture[str]) -> None:
    assert recover(fake.pulumi(), Options(), nobody()) == 0
    assert 'make recover STACK=prod ARGS="--adopt NAME"' in capsys.readouterr().out
    assert fake.changes == []
