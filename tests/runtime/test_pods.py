"""A pod as the components render it: its container runs, and its Job understands how it ends."""

import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from spotproof_gke.capacity import Scheduling
from spotproof_gke.contract import (
    DATABASE_URL_VARIABLE,
    EXIT_DONE,
    EXIT_HOPELESS,
    EXIT_INTERRUPTED,
)
from spotproof_gke.workloads.job_sets import job_set
from spotproof_gke.workloads.jobs import Checkpoints, JobLimits, job
from spotproof_gke.workloads.pod import Program, SecretKey
from spotproof_gke.workloads.queue_workers import Scale, database_env, deployment
from spotproof_runtime import Item
from tests.runtime.containers import copy_into, read_image, start
from tests.runtime.lives import Life
from tests.runtime.queues import new_queue
from tests.runtime.services import Postgres

BUDGET_SECONDS = 25
NOWHERE = Scheduling({}, ())
LIMITS = JobLimits(deadline_seconds=3600)
TRAINER = ("--backend", "numpy", "--sums", "500", "--steps", "150", "--evaluate-every", "10")

Run = Callable[..., Life]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    """Starts the container of a pod, with the values of its Secrets."""
    lives: list[Life] = []

    def begin(workload: str, pod: dict[str, Any], secrets: dict[str, str] | None = None) -> Life:
        image, root = read_image(workload), tmp_path / workload
        if not root.exists():
            copy_into(image, root)
        (container,) = pod["containers"]
        errors = tmp_path / f"{len(lives)}.jsonl"
        env = {
            one["name"]: one["value"] if "value" in one else (secrets or {})[one["name"]]
            for one in container["env"]
        }
        words = {"command": container.get("command", ()), "arguments": container.get("args", ())}
        process = start(image, root, env=env, errors=errors, **words)
        lives.append(Life(process, errors))
        return lives[-1]

    yield begin
    for life in lives:
        life.kill()


def _action(policy: dict[str, Any], code: int, lost: bool) -> str:
    """What a pod failure policy does about an exit code; COUNT when no rule says."""
    for rule in policy["rules"]:
        if code in rule.get("onExitCodes", {}).get("values", ()):
            return rule["action"]
        if lost and "onPodConditions" in rule:
            return rule["action"]
    return "COUNT"


@pytest.mark.parametrize("kind", ["job", "job_set"])
def test_a_trainers_pod_is_replaced_when_interrupted_and_complete_when_done(
    run: Run, tmp_path: Path, kind: str
) -> None:
    saves = Checkpoints(str(tmp_path / "checkpoints"), BUDGET_SECONDS, node_lifetime_seconds=86_400)
    program = Program(
        "sums", "training", "trainer:1", arguments=TRAINER, env={"OMP_NUM_THREADS": "1"}
    )
    if kind == "job":
        spec = job(program, NOWHERE, saves, LIMITS)["spec"]
    else:
        (replicated,) = job_set(program, NOWHERE, saves, LIMITS)["spec"]["replicatedJobs"]
        spec = replicated["template"]["spec"]
    pod, policy = spec["template"]["spec"], spec["podFailurePolicy"]
    pod["containers"][0]["args"] += ["--pause-seconds", "0.01"]
    life = run("trainer", pod)
    life.read_lines(2)
    life.signal(signal.SIGTERM)
    life.ends(EXIT_INTERRUPTED)
    assert BUDGET_SECONDS - 5 < life.last("notice")["remaining_seconds"] <= BUDGET_SECONDS
    assert life.last("interrupted")["outcome"] == "saved"
    assert _action(policy, EXIT_INTERRUPTED, lost=False) == "Ignore"
    assert _action(policy, EXIT_INTERRUPTED, lost=True) in ("Ignore", "FailJob")
    assert _action(policy, EXIT_HOPELESS, lost=True) in ("FailJob", "FailIndex")
    life = run("trainer", pod)
    life.ends(EXIT_DONE)
    assert life.last("restored")["step"] > 0


def test_a_workers_pod_ends_well_when_it_is_told_to(
    run: Run, emulator: str, database: Postgres
) -> None:
    queue = new_queue()
    queue.publish(*([Item(f"text-{number}", "some words")] for number in range(10)))
    program = Program(
        "embedders",
        "batch",
        "batch-inference:1",
        arguments=["--sink", "postgres:pods", "--messages", "2"],
        env={"PUBSUB_EMULATOR_HOST": emulator},
        secret_env=database_env(SecretKey("results", "url")),
        grace_seconds=BUDGET_SECONDS,
    )
    scale = Scale(queue.subscription, "queue", 0, 5, 10, 300)
    pod = deployment(program, NOWHERE, scale)["spec"]["template"]["spec"]
    life = run("batch_inference", pod, {DATABASE_URL_VARIABLE: database.url})
    life.wait_for("message_acked", count=5)
    life.signal(signal.SIGTERM)
    life.ends(EXIT_DONE)
    assert life.last("notice")["remaining_seconds"] <= BUDGET_SECONDS
    assert not queue.pull(seconds=1)
