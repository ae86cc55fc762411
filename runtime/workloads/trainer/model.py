"""What the training loop asks of a model, whatever it is written in."""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol

from spotproof_runtime import ResumableBatches
from trainer.settings import Settings
from trainer.sums import Rows


class Model(Protocol):
    """A model with its optimizer."""

    def loader(self, sums: Rows, batches: ResumableBatches) -> Iterable[Any]:
        """Batches of rows, in the order of `batches`."""
        ...

    def train(self, rows: Any) -> float:
        """One step; returns the loss."""
        ...

    def right(self, rows: Rows) -> int:
        """How many of these sums the model gets right."""
        ...

    def save(self, folder: Path) -> None:
        """Writes weights and optimizer into a folder."""
        ...

    def load(self, folder: Path) -> None:
        """Reads what `save` wrote."""
        ...

    def weights(self) -> Iterable[bytes]:
        """The weights, for a fingerprint."""
        ...


def make_model(settings: Settings) -> Model:
    """The model of a backend, with weights that follow from the seed.

    Raises:
        ModuleNotFoundError: the backend is not installed.
    """
    if settings.backend == "torch":
        from trainer.torch_model import TorchModel

        return TorchModel(settings)
    from trainer.numpy_model import NumpyModel

    return NumpyModel(settings)


def fingerprint(model: Model) -> str:
    """SHA-256 over all weights: equal for two runs that are equal to the bit."""
    digest = hashlib.sha256()
    for each in model.weights():
        digest.update(each)
    return digest.hexdigest()
