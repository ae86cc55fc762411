"""A callback for the Trainer of Hugging Face: its checkpoints survive eviction.

transformers cannot be installed where this project is tested: the tests have a stand-in with the
hooks of its documentation (transformers.TrainerCallback, read on 2026-11-30).

    with Interruption() as stop:
        callback = SaveOnEviction(Checkpoints(stop=stop), stop)
        arguments = TrainingArguments(output_dir, save_steps=100, save_total_limit=2)
        trainer = Trainer(model, arguments, train_dataset=data, callbacks=[callback])
        trainer.train(resume_from_checkpoint=callback.restore(output_dir))
        stop.exit_if_requested()
        trainer.save_model("/results/model")
        stop.done()

The Trainer writes its checkpoint to the disk of the pod every `save_steps`; from there it goes to
the run's location when a save is due. In an evaluation it cannot be told to save: what came since
the last save is then lost, as on SIGKILL.
"""

import shutil
from pathlib import Path
from typing import Any

from transformers import TrainerCallback

from spotproof_runtime import Checkpoints, Interruption


class SaveOnEviction(TrainerCallback):
    """Told to end, has the Trainer save and stop; keeps each checkpoint that it writes."""

    def __init__(self, checkpoints: Checkpoints, stop: Interruption) -> None:
        self._checkpoints, self._stop = checkpoints, stop

    def restore(self, output_dir: str) -> str | None:
        """The folder of the checkpoint to go on from; None at the beginning."""

        def load(folder: Path) -> Path:
            step = max(int(each.name) for each in folder.iterdir())
            target = Path(output_dir, f"checkpoint-{step}")
            return shutil.copytree(folder / str(step), target, dirs_exist_ok=True)

        _, found = self._checkpoints.restore(load, default=lambda: None)
        return None if found is None else str(found)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> Any:
        if self._stop.requested:
            control.should_save = control.should_training_stop = True
        return control

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        step = state.global_step
        written = Path(args.output_dir, f"checkpoint-{step}")
        self._checkpoints.offer(
            step - 1, lambda folder: shutil.copytree(written, folder / str(step))
        )

    def on_prediction_step(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if self._stop.requested:
            self._checkpoints.wait_until_finished()
            self._stop.exit_if_requested()
