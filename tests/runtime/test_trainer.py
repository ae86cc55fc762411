"""The reference trainer, as the process that its image starts, ended by real signals."""

import random
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from spotproof_gke.contract import EXIT_DONE, EXIT_ERROR, EXIT_INTERRUPTED
from tests.runtime.containers import copy_into, read_image, start
from tests.runtime.gcs.server import BUCKET
from tests.runtime.lives import Life, weights_of

STEPS = 120
ARGUMENTS = ["--backend", "numpy", "--sums", "1000", "--batch-size", "50", "--steps", str(STEPS)]
"""Six epochs of 20 steps."""


@pytest.fixture
def train(tmp_path: Path) -> Iterator[Callable[..., Life]]:
    """Starts a life of the trainer, in an image of its own."""
    image = read_image("trainer")
    copy_into(image, tmp_path / "image")
    lives: list[Life] = []

    def begin(*more: str, location: str = "run", env: dict[str, str] | None = None) -> Life:
        told = {"SPOTPROOF_CHECKPOINT_LOCATION": str(tmp_path / location), **(env or {})}
        errors = tmp_path / f"{location}-{len(lives)}.jsonl"
        process = start(
            image, tmp_path / "image", arguments=[*ARGUMENTS, *more], env=told, errors=errors
        )
        lives.append(Life(process, errors))
        return lives[-1]

    yield begin
    for life in lives:
        life.kill()


def test_a_run_interrupted_in_the_middle_of_epochs_equals_one_without_interruption(
    train: Callable[..., Life], record_property: Callable[[str, object], None]
) -> None:
    whole = train(location="whole").ends(EXIT_DONE)
    begun_at = [0]
    slowest = 0.0
    for evaluations in (1, 3, 2, 4):
        life = train("--evaluate-every", "7", "--pause-seconds", "0.01")
        life.read_lines(evaluations)
        life.signal(signal.SIGTERM)
        life.ends(EXIT_INTERRUPTED)
        ended = life.last("interrupted")
        assert ended["outcome"] == "saved"
        assert ended["lost_steps"] == 0
        assert life.last("restored")["step"] == begun_at[-1]
        begun_at.append(ended["step"])
        slowest = max(slowest, life.seconds_to_end)
    record_property("figure", f"trainer, SIGTERM to exit with a save: at most {slowest:.2f} s")
    assert begun_at == sorted(set(begun_at))
    assert any(step % 20 for step in begun_at)
    last = train()
    assert weights_of(last.ends(EXIT_DONE)) == weights_of(whole)
    assert last.last("restored")["step"] == begun_at[-1] < STEPS


def test_a_run_killed_without_notice_loses_what_came_after_the_last_save_and_ends_the_same(
    train: Callable[..., Life],
) -> None:
    whole = train(location="whole").ends(EXIT_DONE)
    for killed in range(2):
        life = train("--save-every", "10", "--pause-seconds", "0.02")
        life.wait_for("save_finished", count=2)
        life.signal(signal.SIGKILL)
        life.ends(-signal.SIGKILL)
        assert life.last("restored")["step"] >= 10 * killed, "two saves are 5 steps apart or more"
    assert weights_of(train("--save-every", "10").ends(EXIT_DONE)) == weights_of(whole)


def test_a_run_in_a_bucket_is_interrupted_and_goes_on(
    train: Callable[..., Life], gcs_process: str, tmp_path: Path
) -> None:
    env = {
        "STORAGE_EMULATOR_HOST": gcs_process,
        "SPOTPROOF_CHECKPOINT_LOCATION": f"gs://{BUCKET}/{tmp_path.name}",
    }
    life = train("--evaluate-every", "5", "--pause-seconds", "0.01", env=env)
    life.read_lines(3)
    life.signal(signal.SIGTERM)
    life.ends(EXIT_INTERRUPTED)
    step = life.last("interrupted")["step"]
    last = train(env=env)
    in_bucket = last.ends(EXIT_DONE)
    assert last.last("restored")["step"] == step > 0
    assert weights_of(in_bucket) == weights_of(train(location="whole").ends(EXIT_DONE))


def test_a_run_that_is_told_to_end_at_any_moment_of_its_lives_ends_the_same(
    train: Callable[..., Life],
) -> None:
    whole = train(location="whole")
    fingerprint = weights_of(whole.ends(EXIT_DONE))
    drawn = random.Random(11)
    seconds = whole.last("run_finished")["time"] - whole.last("run_started")["time"]
    for _ in range(6):
        life = train("--save-every", "5", "--evaluate-every", "3")
        life.wait_for("run_started")
        time.sleep(drawn.uniform(0, seconds))
        life.signal(signal.SIGTERM)
        # After its last line a program has no handler; its container shows 143 then, too.
        life.ends_with(EXIT_DONE, EXIT_INTERRUPTED, -signal.SIGTERM)
    assert weights_of(train().ends(EXIT_DONE)) == fingerprint


def test_sigterm_while_it_saves_lets_the_save_land(train: Callable[..., Life]) -> None:
    life = train("--save-every", "50", "--pause-seconds", "0.005")
    life.wait_for("save_started")
    life.signal(signal.SIGTERM)
    life.ends(EXIT_INTERRUPTED)
    assert life.last("interrupted")["outcome"] == "saved"
    assert life.last("save_finished")["step"] == life.last("interrupted")["step"] >= 25


def test_sigterm_while_it_loads_its_libraries_is_an_interruption(
    train: Callable[..., Life],
) -> None:
    life = train(env={"PYTHONVERBOSE": "1"})
    life.wait_for_text("import 'signal'")
    life.wait_for_text("spotproof_runtime/signal_watch")
    life.wait_for_text("numpy/__init__")
    life.signal(signal.SIGTERM)
    life.ends(EXIT_INTERRUPTED)


def test_a_finished_run_that_is_started_again_is_done_at_once(train: Callable[..., Life]) -> None:
    first = train().ends(EXIT_DONE)
    again = train()
    assert weights_of(again.ends(EXIT_DONE)) == weights_of(first)
    assert again.last("restored")["step"] == STEPS


def test_a_run_that_is_started_again_with_other_data_is_refused(
    train: Callable[..., Life],
) -> None:
    train().ends(EXIT_DONE)
    life = train("--sums", "900", "--seed", "5", "--steps", "200")
    life.ends(EXIT_ERROR)
    assert "size = 900: the checkpoint has 1000" in life.text()
    assert "seed = 5: the checkpoint has 0" in life.text()
    assert "Traceback" not in life.text()


def test_a_run_whose_checkpoints_are_torn_does_not_start_from_zero(
    train: Callable[..., Life], tmp_path: Path
) -> None:
    train().ends(EXIT_DONE)
    for file in (tmp_path / "run" / "steps").rglob("model.npz"):
        file.unlink()
    life = train()
    life.ends(EXIT_ERROR)
    assert "none of them is whole" in life.text()
    assert "Traceback" not in life.text()


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("--steps", "many"),
        ("--seed", "-1"),
        ("--loader-workers", "-1"),
        ("--pause-seconds", "-1"),
        ("--pause-seconds", "nan"),
    ],
)
def test_a_number_that_cannot_be_is_refused_by_name(
    train: Callable[..., Life], argument: str, value: str
) -> None:
    life = train(argument, value)
    life.ends(2)
    assert f"{argument}: {value}: " in life.text()


@pytest.mark.parametrize(
    ("arguments", "env", "said"),
    [
        ((), {"SPOTPROOF_CHECKPOINT_LOCATION": ""}, "SPOTPROOF_CHECKPOINT_LOCATION"),
        (("--checkpoints", "s3://bucket/run"), {}, "s3"),
        (("--backend", "torch"), {}, "torch"),
        ((), {"SPOTPROOF_TERMINATION_BUDGET_SECONDS": "15s"}, "number of seconds"),
    ],
    ids=["no location", "unknown location", "no PyTorch", "no number"],
)
def test_a_mistake_is_one_message_and_an_error_not_a_traceback(
    train: Callable[..., Life], arguments: tuple[str, ...], env: dict[str, str], said: str
) -> None:
    life = train(*arguments, env=env)
    life.ends(EXIT_ERROR)
    text = life.text()
    assert said in text
    assert "Traceback" not in text
