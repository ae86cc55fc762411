"""The reference trainer with PyTorch, as the process that its image starts, ended by signals."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from spotproof_gke.contract import EXIT_DONE, EXIT_INTERRUPTED
from tests.runtime.containers import copy_into, read_image, start
from tests.runtime.lives import Life, weights_of

pytest.importorskip("torch", reason="needs PyTorch: make test-torch")
pytestmark = pytest.mark.torch

STEPS = 40
ARGUMENTS = ["--sums", "128", "--batch-size", "8", "--steps", str(STEPS), "--evaluate-every", "5"]
"""Two and a half epochs of 16 steps."""


@pytest.fixture
def train(tmp_path: Path) -> Iterator[Callable[..., Life]]:
    image = read_image("trainer")
    copy_into(image, tmp_path / "image")
    lives: list[Life] = []

    def begin(*more: str, location: str = "run") -> Life:
        told = {"SPOTPROOF_CHECKPOINT_LOCATION": str(tmp_path / location)}
        errors = tmp_path / f"{location}-{len(lives)}.jsonl"
        root, arguments = tmp_path / "image", [*ARGUMENTS, *more]
        process = start(image, root, arguments=arguments, env=told, errors=errors, group=True)
        lives.append(Life(process, errors))
        return lives[-1]

    yield begin
    for life in lives:
        life.kill()


def test_a_run_with_a_data_loader_interrupted_within_epochs_equals_one_without_interruption(
    train: Callable[..., Life],
) -> None:
    whole = train(location="whole").ends(EXIT_DONE)
    steps = [0]
    for evaluations in (1, 3, 2):
        life = train("--loader-workers", "2")
        life.read_lines(evaluations)
        # The whole group is told, as by a terminal: the loader's workers are no reason to fail.
        os.killpg(life.process.pid, signal.SIGTERM)
        life.ends(EXIT_INTERRUPTED)
        ended = life.last("interrupted")
        assert (ended["outcome"], ended["lost_steps"]) == ("saved", 0)
        steps.append(ended["step"])
    assert steps == sorted(set(steps))
    assert any(step % 16 for step in steps)
    assert weights_of(train().ends(EXIT_DONE)) == weights_of(whole)


def test_sigterm_while_pytorch_loads_is_an_interruption(train: Callable[..., Life]) -> None:
    life = train()
    life.wait_for_library("libtorch_cpu")
    life.signal(signal.SIGTERM)
    life.ends(EXIT_INTERRUPTED)
    assert not life.events("save_started")
