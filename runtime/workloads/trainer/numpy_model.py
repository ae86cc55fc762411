"""The model in NumPy: one hidden layer with dropout and Adam, for where no PyTorch is."""

# pyright: basic
# NumPy leaves some of its own types unknown.

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotproof_runtime import ResumableBatches
from trainer.settings import Settings
from trainer.sums import ASKED, CHARACTERS, LENGTH, Rows

HIDDEN = 128
ANSWER = LENGTH - ASKED
KINDS = len(CHARACTERS)
DROPPED = 0.1
RATE, DECAYS, TINY = 0.003, (0.9, 0.999), 1e-8

Floats = NDArray[np.float64]


class Loader:
    """Batches of rows, each epoch from where `batches` stands."""

    def __init__(self, sums: Rows, batches: ResumableBatches) -> None:
        self._sums, self._batches = sums, batches

    def __iter__(self) -> Iterator[Rows]:
        return (self._sums[batch] for batch in self._batches)


class NumpyModel:
    """See `Model`. Dropout draws from NumPy's global generator, as much user code does."""

    def __init__(self, settings: Settings) -> None:
        drawn = np.random.default_rng(settings.seed)
        self._values: dict[str, Floats] = {
            "in": drawn.normal(0, 0.2, (ASKED * KINDS, HIDDEN)),
            "in_bias": np.zeros(HIDDEN),
            "out": drawn.normal(0, 0.1, (HIDDEN, ANSWER * KINDS)),
            "out_bias": np.zeros(ANSWER * KINDS),
        }
        for name in list(self._values):
            for moment in ("mean", "square"):
                self._values[f"{name}.{moment}"] = np.zeros_like(self._values[name])
        self._values["steps"] = np.zeros(1)
        np.random.seed(settings.seed)

    def loader(self, sums: Rows, batches: ResumableBatches) -> Iterable[Rows]:
        """See `Model.loader`."""
        return Loader(sums, batches)

    def train(self, rows: Rows) -> float:
        """See `Model.train`."""
        values = self._values
        asked, answer = _one_hot(rows[:, :ASKED]), _one_hot(rows[:, ASKED:])
        kept = (np.random.random((len(rows), HIDDEN)) >= DROPPED) / (1 - DROPPED)
        raw = asked @ values["in"] + values["in_bias"]
        hidden = np.maximum(raw, 0) * kept
        found = _softmax(hidden @ values["out"] + values["out_bias"])
        wrong = (found - answer) / len(rows)
        back = (wrong @ values["out"].T) * kept * (raw > 0)
        self._improve(
            {
                "in": asked.T @ back,
                "in_bias": back.sum(axis=0),
                "out": hidden.T @ wrong,
                "out_bias": wrong.sum(axis=0),
            }
        )
        return float(-np.log((found * answer).reshape(-1, KINDS).sum(axis=1)).mean())

    def right(self, rows: Rows) -> int:
        """See `Model.right`."""
        values = self._values
        hidden = np.maximum(_one_hot(rows[:, :ASKED]) @ values["in"] + values["in_bias"], 0)
        found = hidden @ values["out"] + values["out_bias"]
        digits = found.reshape(len(rows), ANSWER, KINDS).argmax(axis=2)
        return int((digits == rows[:, ASKED:]).all(axis=1).sum())

    def save(self, folder: Path) -> None:
        """See `Model.save`."""
        named: dict[str, Any] = dict(self._values)
        np.savez(folder / "model.npz", **named)

    def load(self, folder: Path) -> None:
        """See `Model.load`."""
        with np.load(folder / "model.npz") as stored:
            self._values = {name: stored[name] for name in self._values}

    def weights(self) -> Iterator[bytes]:
        """See `Model.weights`."""
        return (value.tobytes() for value in self._values.values())

    def _improve(self, slopes: dict[str, Floats]) -> None:
        values = self._values
        values["steps"] = values["steps"] + 1
        for name, slope in slopes.items():
            mean, square = f"{name}.mean", f"{name}.square"
            values[mean] = DECAYS[0] * values[mean] + (1 - DECAYS[0]) * slope
            values[square] = DECAYS[1] * values[square] + (1 - DECAYS[1]) * slope**2
            mean_now = values[mean] / (1 - DECAYS[0] ** values["steps"])
            square_now = values[square] / (1 - DECAYS[1] ** values["steps"])
            values[name] = values[name] - RATE * mean_now / (np.sqrt(square_now) + TINY)


def _one_hot(rows: Rows) -> Floats:
    return np.eye(KINDS)[rows].reshape(len(rows), -1)


def _softmax(found: Floats) -> Floats:
    each = found.reshape(len(found), -1, KINDS)
    each = np.exp(each - each.max(axis=2, keepdims=True))
    return (each / each.sum(axis=2, keepdims=True)).reshape(len(found), -1)
