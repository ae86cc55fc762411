"""A callback for Lightning: checkpoints that survive eviction, and a save before the end.

Lightning cannot be installed where this project is tested: the tests have a stand-in with the hooks
of its documentation (lightning.pytorch.callbacks.Callback, read on 2026-11-30).

    with Interruption() as stop:
        callback = SaveOnEviction(Checkpoints(stop=stop), stop)
        trainer = Trainer(callbacks=[callback], enable_checkpointing=False)
        trainer.fit(model, data, ckpt_path=callback.restore())
        stop.exit_if_requested()
        trainer.save_checkpoint("/results/model.ckpt")
        stop.done()

A `LightningDataModule` keeps the position in the data: return that of `ResumableBatches` from its
`state_dict`.
"""

import shutil
import tempfile
from pathlib import Path
from typing import Any

from lightning.pytorch.callbacks import Callback

from spotproof_runtime import Checkpoints, Interruption

FILE = "lightning.ckpt"


class SaveOnEviction(Callback):
    """Offers the state after each optimizer step; told to end, saves it and stops the trainer."""

    def __init__(self, checkpoints: Checkpoints, stop: Interruption) -> None:
        self._checkpoints, self._stop, self._offered = checkpoints, stop, 0

    def restore(self) -> Path | None:
        """The checkpoint to go on from, as a file; None at the beginning."""
        kept = Path(tempfile.mkdtemp())
        _, file = self._checkpoints.restore(
            lambda folder: Path(shutil.move(folder / FILE, kept / FILE)), default=lambda: None
        )
        return file

    def on_train_batch_end(self, trainer: Any, *_: Any) -> None:
        self._offer(trainer)
        if self._stop.requested:
            trainer.should_stop = True

    def on_validation_batch_end(self, trainer: Any, *_: Any, **__: Any) -> None:
        if self._stop.requested and not trainer.sanity_checking:
            self._offer(trainer, again=True)
        self._stop.exit_if_requested()

    def _offer(self, trainer: Any, again: bool = False) -> None:
        # With accumulated gradients several batches make one step.
        if trainer.global_step > self._offered or again:
            self._offered = trainer.global_step
            self._checkpoints.offer(
                trainer.global_step - 1, lambda folder: trainer.save_checkpoint(folder / FILE)
            )
