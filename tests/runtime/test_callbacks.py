"""The callbacks for Lightning and Hugging Face's Trainer, against stand-ins with their hooks.

The libraries themselves cannot be installed here. The stand-ins train by adding up numbers, and
call the hooks in the documented order.
"""

import importlib.util
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from spotproof_gke.contract import EXIT_DONE, EXIT_INTERRUPTED
from spotproof_runtime import Checkpoints, Every, Interruption

EXAMPLES = Path(__file__).parents[2] / "runtime" / "examples"
STEPS = 20
TOTAL = sum(range(STEPS))


def _example(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def lightning(monkeypatch: pytest.MonkeyPatch) -> Any:
    callbacks = ModuleType("lightning.pytorch.callbacks")
    callbacks.Callback = type("Callback", (), {})  # pyright: ignore[reportAttributeAccessIssue]
    for name in ("lightning", "lightning.pytorch"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, callbacks.__name__, callbacks)
    return _example("lightning_callback")


@pytest.fixture
def transformers(monkeypatch: pytest.MonkeyPatch) -> Any:
    stand_in = ModuleType("transformers")
    stand_in.TrainerCallback = type("TrainerCallback", (), {})  # pyright: ignore
    monkeypatch.setitem(sys.modules, "transformers", stand_in)
    return _example("transformers_callback")


class LightningTrainer:
    """Two batches an optimizer step, and a validation of three batches every five steps."""

    sanity_checking = False

    def __init__(self, callback: Any, at: Callable[[str, int], None]) -> None:
        self.callback, self.at = callback, at
        self.global_step = self.total = 0
        self.should_stop = False

    def save_checkpoint(self, path: Path) -> None:
        path.write_text(json.dumps([self.global_step, self.total]))

    def fit(self, ckpt_path: Path | None) -> None:
        if ckpt_path is not None:
            self.global_step, self.total = json.loads(ckpt_path.read_text())
        while self.global_step < STEPS and not self.should_stop:
            for batch in (0, 1):
                if batch == 1:
                    self.total += self.global_step
                    self.global_step += 1
                self.at("train", self.global_step)
                self.callback.on_train_batch_end(self, None, None, None, batch)
            if self.global_step % 5 == 0 and not self.should_stop:
                for batch in range(3):
                    self.at("validate", self.global_step)
                    self.callback.on_validation_batch_end(self, None, None, None, batch)


class HuggingFaceTrainer:
    """Saves every four steps, and evaluates every ten."""

    def __init__(self, callback: Any, output_dir: str, at: Callable[[str, int], None]) -> None:
        self.callback, self.at = callback, at
        self.args = SimpleNamespace(output_dir=output_dir)
        self.state = SimpleNamespace(global_step=0)
        self.total = 0

    def train(self, resume_from_checkpoint: str | None) -> None:
        if resume_from_checkpoint is not None:
            stored = Path(resume_from_checkpoint, "trainer_state.json").read_text()
            self.state.global_step, self.total = json.loads(stored)
        stopped = False
        while self.state.global_step < STEPS and not stopped:
            self.total += self.state.global_step
            self.state.global_step += 1
            step = self.state.global_step
            self.at("train", step)
            control = SimpleNamespace(should_save=step % 4 == 0, should_training_stop=False)
            control = self.callback.on_step_end(self.args, self.state, control, model=None)
            if step % 10 == 0:
                for _ in range(3):
                    self.at("validate", step)
                    self.callback.on_prediction_step(self.args, self.state, control)
            if control.should_save:
                self._save(step)
                self.callback.on_save(self.args, self.state, control, model=None)
            stopped = control.should_training_stop

    def _save(self, step: int) -> None:
        folder = Path(self.args.output_dir, f"checkpoint-{step}")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "trainer_state.json").write_text(json.dumps([step, self.total]))


Train = Callable[[Any, Any, Callable[[str, int], None]], None]
"""Trains with checkpoints and a stop, and says at which moment it is."""


def _life(tmp_path: Path, when: tuple[str, int] | None, train: Train) -> int:
    """Exit code of one life that is told to end at that moment."""
    checkpoints: Any = None
    try:
        with Interruption() as stop:
            checkpoints = Checkpoints(tmp_path / "run", stop=stop, interval=Every(steps=3))
            train(checkpoints, stop, lambda *now: now == when and stop.request("test"))
            stop.exit_if_requested()
            stop.done()
    except SystemExit as end:
        return int(end.code or 0)
    finally:
        checkpoints.wait_until_finished()  # a program does so when it ends
    return EXIT_DONE


def _lightning_life(example: Any, tmp_path: Path, when: tuple[str, int] | None) -> tuple[int, int]:
    """Exit code and total of one life."""
    made: list[LightningTrainer] = []

    def train(checkpoints: Any, stop: Any, at: Callable[[str, int], None]) -> None:
        callback = example.SaveOnEviction(checkpoints, stop)
        made.append(LightningTrainer(callback, at))
        made[0].fit(ckpt_path=callback.restore())

    return _life(tmp_path, when, train), made[0].total


def _transformers_life(
    example: Any, tmp_path: Path, when: tuple[str, int] | None
) -> tuple[int, int]:
    """Exit code and total of one life, on a disk of its own."""
    output_dir = tmp_path / f"disk-{len(list(tmp_path.glob('disk-*')))}"
    output_dir.mkdir()
    made: list[HuggingFaceTrainer] = []

    def train(checkpoints: Any, stop: Any, at: Callable[[str, int], None]) -> None:
        callback = example.SaveOnEviction(checkpoints, stop)
        made.append(HuggingFaceTrainer(callback, str(output_dir), at))
        made[0].train(resume_from_checkpoint=callback.restore(str(output_dir)))

    return _life(tmp_path, when, train), made[0].total


def _newest(tmp_path: Path) -> int | None:
    return Checkpoints(tmp_path / "run").latest_step()


def test_lightning_saves_the_step_at_work_and_stops(lightning: Any, tmp_path: Path) -> None:
    code, _ = _lightning_life(lightning, tmp_path, ("train", 7))
    assert (code, _newest(tmp_path)) == (EXIT_INTERRUPTED, 7)
    assert _lightning_life(lightning, tmp_path, None) == (EXIT_DONE, TOTAL)


def test_lightning_saves_and_stops_within_a_validation(lightning: Any, tmp_path: Path) -> None:
    code, _ = _lightning_life(lightning, tmp_path, ("validate", 10))
    assert (code, _newest(tmp_path)) == (EXIT_INTERRUPTED, 10)
    assert _lightning_life(lightning, tmp_path, None) == (EXIT_DONE, TOTAL)


def test_hugging_faces_trainer_saves_the_step_at_work_and_stops(
    transformers: Any, tmp_path: Path
) -> None:
    code, _ = _transformers_life(transformers, tmp_path, ("train", 7))
    assert (code, _newest(tmp_path)) == (EXIT_INTERRUPTED, 7)
    assert _transformers_life(transformers, tmp_path, None) == (EXIT_DONE, TOTAL)


def test_hugging_faces_trainer_leaves_an_evaluation_at_once_and_loses_one_interval(
    transformers: Any, tmp_path: Path
) -> None:
    code, _ = _transformers_life(transformers, tmp_path, ("validate", 10))
    assert (code, _newest(tmp_path)) == (EXIT_INTERRUPTED, 8)
    assert _transformers_life(transformers, tmp_path, None) == (EXIT_DONE, TOTAL)
