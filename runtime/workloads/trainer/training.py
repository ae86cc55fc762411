"""All that a run is made of: model, optimizer, random numbers and position in the data."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

from spotproof_runtime import RandomNumbers, ResumableBatches
from trainer.model import fingerprint, make_model
from trainer.settings import Settings
from trainer.sums import Rows, make_sums


class Training:
    """The state of a run; what `save` leaves out a resume would lose.

    Attributes:
        model: with its optimizer.
        held_out: sums to evaluate with.
        loss: of the last step.
    """

    def __init__(self, settings: Settings) -> None:
        sums, self.held_out = make_sums(settings.sums, settings.seed)
        self.model = make_model(settings)
        self.loss = 0.0
        self._batches = ResumableBatches(
            len(sums), batch_size=settings.batch_size, seed=settings.seed
        )
        self._random_numbers = RandomNumbers()
        self._feed = self._batches.feed_endlessly(self.model.loader(sums, self._batches))
        self._pause_seconds = settings.pause_seconds

    def step(self) -> None:
        """One step of the training."""
        self.loss = self.model.train(next(self._feed))
        time.sleep(self._pause_seconds)

    def save(self, folder: Path) -> None:
        """Writes the state into a folder."""
        self.model.save(folder)
        rest = {"data": self.position(), "random": self._random_numbers.state_dict()}
        (folder / "rest.json").write_text(json.dumps(rest))

    def load(self, folder: Path) -> "Training":
        """Reads what `save` wrote, and goes on from there."""
        self.model.load(folder)
        rest = json.loads((folder / "rest.json").read_text())
        self._batches.load_state_dict(rest["data"])
        self._random_numbers.load_state_dict(rest["random"])
        return self

    def position(self) -> dict[str, int | bool]:
        """Where the run stands in its data."""
        return self._batches.state_dict()

    def held_out_batches(self) -> Iterator[Rows]:
        """The sums to evaluate with, a few at a time."""
        size = 100
        return (self.held_out[at : at + size] for at in range(0, len(self.held_out), size))

    def result(self) -> dict[str, str | int | float]:
        """What the run came to."""
        right = sum(self.model.right(rows) for rows in self.held_out_batches())
        return {
            "epoch": self._batches.epoch,
            "right": round(right / len(self.held_out), 3),
            "weights_sha256": fingerprint(self.model),
        }
