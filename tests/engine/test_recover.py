"""An engine that is killed at any point of an update: a recovery and one update put it right.

After each: the cloud has every resource of the program once, so has the state, and a further update
changes nothing.
"""

import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from sandbox.cloud.store import Store
from sandbox.recovery.choices import Words
from sandbox.recovery.command import Pulumi
from sandbox.recovery.guard import NeedsRecoveryError, guard
from sandbox.recovery.recover import Options, RecoveryError, recover
from sandbox.recovery.terminal import Terminal
from tests.engine.support import STACK, EmulatedProject, emulated_project, engine

CONFIG = {"gcp:project": "acme", "gcp:region": "europe-west4"}
PLACE = "europe-west4"
Program = dict[str, dict[str, Any]]


def resource(kind: str, *needs: str, **properties: Any) -> dict[str, Any]:
    options = {"options": {"dependsOn": [f"${{{one}}}" for one in needs]}} if needs else {}
    return {"type": f"gcp:{kind}", "properties": properties, **options}


NETWORK = {"network": resource("compute:Network", autoCreateSubnetworks=False)}
BUCKET = {"bucket": resource("storage:Bucket", "network", name="acme-data", location=PLACE)}
CLUSTER = {
    "cluster": resource(
        "container:Cluster", name="base", location=PLACE, network="${network.id}",
        initialNodeCount=1, removeDefaultNodePool=True, deletionProtection=False,
    )
}  # fmt: skip
POOL = {
    "pool": resource(
        "container:NodePool", name="workers", cluster="${cluster.id}", nodeCount=1,
        nodeConfig={"machineType": "e2-standard-4"},
    )
}  # fmt: skip
TOPIC = {"topic": resource("pubsub:Topic", name="work")}
SUBSCRIPTION = {"sub": resource("pubsub:Subscription", name="workers", topic="${topic.id}")}
DASHBOARD = {
    "dashboard": resource(
        "monitoring:Dashboard",
        dashboardJson='{"displayName": "GPUs", "gridLayout": {"widgets": [{}]}}',
    )
}


class Stack:
    """A stack whose engine is killed at will."""

    def __init__(self, folder: Path) -> None:
        self.project = emulated_project(folder, program({}), CONFIG, runtime="yaml")

    def write(self, *parts: Program) -> None:
        self.project.write(program({name: one for part in parts for name, one in part.items()}))

    def order(self, *rules: dict[str, Any]) -> None:
        folder = self.project.sandbox.folder
        (folder / "faults.used.json").unlink(missing_ok=True)
        (folder / "faults.yaml").write_text(yaml.safe_dump({"faults": list(rules)}))

    def killed(self, action: str, *rules: dict[str, Any]) -> None:
        """Runs a command that the faults kill."""
        self.order(*rules)
        run = self.project.destroy() if action == "destroy" else self.project.up()
        assert run.returncode == -signal.SIGKILL, run.text
        self.order()

    def killed_when(self, action: str, due: Callable[[], bool]) -> None:
        """Runs a command and kills its engine as soon as something is the case."""
        command = [engine().pulumi, "--non-interactive", action, "--stack", STACK, "--yes"]
        running = subprocess.Popen(
            [*command, "--skip-preview"],
            cwd=self.project.folder,
            env=self.project.sandbox.environment(engine()),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 30
        while not due():
            assert running.poll() is None, "the command ended before it could be killed"
            assert time.monotonic() < deadline, "what was to be seen never was"
            time.sleep(0.01)
        running.kill()
        running.wait()

    def pulumi(self) -> Pulumi:
        return pulumi_of(self.project)

    def pending(self) -> list[str]:
        exported = self.project.run("stack", "export", "--stack", STACK).json()
        operations = exported["deployment"].get("pending_operations") or []
        return [f"{one['type']} {one['resource']['urn'].rpartition('::')[2]}" for one in operations]

    def recover(self, **words: Any) -> int:
        return recover(self.pulumi(), Options(yes=True, words=Words(**words)), Terminal())

    def in_cloud(self) -> list[tuple[str, str]]:
        return sorted((one["type"], one["id"]) for one in self.cloud().everything())

    def in_state(self) -> list[tuple[str, str]]:
        return sorted(
            (one["type"], one["id"])
            for one in self.project.resources()
            if one["custom"] and not one["type"].startswith("pulumi:")
        )

    def cloud(self) -> Store:
        return Store(self.project.sandbox.folder)

    def locks(self) -> list[Path]:
        return list((self.project.sandbox.backend / ".pulumi" / "locks").rglob("*.json"))

    def is_put_right(self, things: int, **words: Any) -> None:
        """A recovery and one update do it, and all is there once."""
        assert self.recover(**words) == 0
        assert self.pending() == []
        assert self.locks() == []
        self.project.up().check()
        self.project.preview("--expect-no-changes").check()
        assert self.in_state() == self.in_cloud()
        assert len(self.in_cloud()) == things
        assert not [one for one in self.project.resources() if one.get("initErrors")]


def program(resources: Program) -> str:
    return yaml.safe_dump({"resources": resources})


def pulumi_of(project: EmulatedProject) -> Pulumi:
    return Pulumi(
        stack=STACK,
        executable=engine().pulumi,
        project=project.folder,
        project_name="emulated",
        environment=project.sandbox.environment(engine()),
        preview=["pulumi", "version"],  # each test runs a preview of its own, and time is short
        backups=project.sandbox.folder / "recovery",
        backend=f"file://{project.sandbox.backend}",
    )


def kill(kind: str, operation: str) -> dict[str, Any]:
    return {"kind": "kill-engine", "type": kind, "operation": operation}


def slow(kind: str, operation: str, seconds: float) -> dict[str, Any]:
    return {"kind": "slow", "type": kind, "operation": operation, "seconds": seconds}


def test_creates(tmp_path: Path) -> None:
    stack = Stack(tmp_path)
    stack.write(NETWORK)
    stack.killed_when("up", lambda: bool(stack.locks()))
    stack.is_put_right(1)

    # The provider works on for a while after its engine has gone.
    stack.write(NETWORK, CLUSTER, BUCKET)
    stack.killed("up", slow("Bucket", "create", 1), slow("Cluster", "create", 2),
                 kill("Bucket", "create"))  # fmt: skip
    assert sorted(stack.pending()) == ["creating bucket", "creating cluster"]
    stack.is_put_right(3)

    # Nothing was made: the provider died too.
    stack.write(NETWORK, CLUSTER, BUCKET, POOL)
    stack.killed("up", kill("NodePool", "create"), {"kind": "crash-before", "type": "NodePool"})
    stack.is_put_right(4)

    stack.write(NETWORK, CLUSTER, BUCKET, POOL, TOPIC, SUBSCRIPTION)
    stack.killed("up", kill("Subscription", "create"))
    assert stack.pending() == ["creating sub"]
    with pytest.raises(NeedsRecoveryError, match="creating gcp:pubsub/subscription"):
        guard(stack.pulumi(), "up", [])
    stack.is_put_right(6)
    guard(stack.pulumi(), "up", [])


def test_a_create_whose_id_the_server_chooses(tmp_path: Path) -> None:
    stack = Stack(tmp_path)
    stack.write(DASHBOARD)
    stack.killed("up", kill("Dashboard", "create"))
    before = stack.project.run("stack", "export", "--stack", STACK).json()
    with pytest.raises(RecoveryError, match="'dashboard': the server chooses its id"):
        stack.recover()
    assert stack.project.run("stack", "export", "--stack", STACK).json() == before
    assert len(stack.locks()) == 1
    identifier = made(stack)
    stack.is_put_right(1, ids=[f"dashboard={identifier}"])
    assert stack.in_cloud()[0][1] == identifier


def made(stack: Stack) -> str:
    """The id of the first thing in the cloud, as soon as the provider has made it."""
    deadline = time.monotonic() + 20
    while not stack.in_cloud():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return stack.in_cloud()[0][1]


def test_updates_deletes_and_replacements(tmp_path: Path) -> None:
    stack = Stack(tmp_path)
    labelled = {"bucket": resource("storage:Bucket", name="acme-data", location=PLACE,
                                   labels={"team": "vision"})}  # fmt: skip
    stack.write(NETWORK, BUCKET, TOPIC, SUBSCRIPTION)
    stack.project.up().check()

    stack.write(NETWORK, labelled, TOPIC, SUBSCRIPTION)
    stack.killed("up", kill("Bucket", "update"))
    assert stack.pending() == ["updating bucket"]
    stack.is_put_right(4)

    # One with a made-up name is created before the old one is deleted, and what needs it after it.
    described = {"network": resource("compute:Network", autoCreateSubnetworks=False,
                                     description="for GPUs")}  # fmt: skip
    stack.write(described, BUCKET, TOPIC, SUBSCRIPTION)
    stack.killed("up", slow("Network", "create", 0.5), kill("Network", "create"))
    assert stack.pending() == ["creating network"]
    stack.is_put_right(4)

    # One with another fixed name too; the subscription is deleted before it is created.
    renamed = {"topic": resource("pubsub:Topic", name="work-2")}
    stack.write(described, BUCKET, renamed, SUBSCRIPTION)
    stack.killed("up", kill("Topic", "create"))
    assert stack.pending() == ["creating topic"]
    assert stack.recover() == 0
    assert [one for _, one in stack.in_state() if "/topics/" in one] == [
        "projects/acme/topics/work",
        "projects/acme/topics/work-2",
    ]
    stack.is_put_right(4)

    moved = {"bucket": resource("storage:Bucket", "network", name="acme-data",
                                location="us-central1")}  # fmt: skip
    stack.write(described, moved, renamed, SUBSCRIPTION)
    stack.killed("up", kill("Bucket", "delete"))
    assert stack.pending() == ["deleting bucket"]
    stack.is_put_right(4)

    stack.write(described, BUCKET, renamed, SUBSCRIPTION)
    stack.killed("up", kill("Bucket", "create"))
    assert stack.pending() == ["creating bucket"]
    stack.is_put_right(4)

    stack.write(described, renamed, SUBSCRIPTION)
    stack.killed("up", kill("Bucket", "delete"))
    stack.is_put_right(3)


def test_refresh_and_destroy(tmp_path: Path) -> None:
    stack = Stack(tmp_path)
    stack.write(NETWORK, BUCKET)
    stack.project.up().check()

    stack.order(slow("Bucket", "read", 3))
    asked = len(stack.project.requests())
    stack.killed_when("refresh", lambda: len(stack.project.requests()) > asked)
    stack.order()
    stack.is_put_right(2)

    stack.killed("destroy", slow("Bucket", "delete", 0.5), kill("Bucket", "delete"))
    assert stack.recover() == 0
    stack.project.destroy().check()
    assert stack.in_cloud() == stack.in_state() == []


def test_what_a_crashed_provider_made_is_adopted_by_name(tmp_path: Path) -> None:
    stack = Stack(tmp_path)
    stack.write(NETWORK, BUCKET, TOPIC)
    stack.order({"kind": "crash-after", "type": "Bucket", "operation": "create"})
    assert not stack.project.up().ok
    stack.order()
    assert stack.pending() == []
    assert "Error 409" in stack.project.up().text
    assert recover(stack.pulumi(), Options(yes=True, adopted=["bucket"]), Terminal()) == 0
    stack.is_put_right(3)
