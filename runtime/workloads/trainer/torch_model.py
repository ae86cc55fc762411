"""The model in PyTorch: a character-level transformer of two layers."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader

from spotproof_runtime import ResumableBatches
from trainer.settings import Settings
from trainer.sums import ASKED, CHARACTERS, LENGTH, Rows

WIDTH, HEADS, LAYERS, DROPPED = 64, 4, 2, 0.1
RATE = 0.001


class Network(nn.Module):
    """Says for each character of a row which one comes next."""

    def __init__(self) -> None:
        super().__init__()
        self.characters = nn.Embedding(len(CHARACTERS), WIDTH)
        self.places = nn.Embedding(LENGTH, WIDTH)
        layer = nn.TransformerEncoderLayer(
            WIDTH, HEADS, 4 * WIDTH, DROPPED, batch_first=True, norm_first=True
        )
        self.layers = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)
        self.out = nn.Linear(WIDTH, len(CHARACTERS))

    def forward(self, rows: Tensor) -> Tensor:
        """Logits of the next character, one row of them for each character."""
        length = rows.shape[1]
        places = torch.arange(length, device=rows.device)
        later = torch.ones(length, length, dtype=torch.bool, device=rows.device).triu(1)
        return self.out(self.layers(self.characters(rows) + self.places(places), mask=later))


class TorchModel:
    """See `Model`. Runs on a GPU when there is one."""

    def __init__(self, settings: Settings) -> None:
        torch.manual_seed(settings.seed)
        if torch.cuda.is_available():
            # Equal to the bit needs kernels that add in one order; cuBLAS wants to be told early.
            os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        torch.use_deterministic_algorithms(True)
        self._device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self._loader_workers = settings.loader_workers
        self._network = Network().to(self._device)
        self._optimizer = torch.optim.AdamW(self._network.parameters(), lr=RATE)

    def loader(self, sums: Rows, batches: ResumableBatches) -> Iterable[Any]:
        """See `Model.loader`."""
        rows: Any = torch.from_numpy(sums)
        return DataLoader(rows, batch_sampler=batches, num_workers=self._loader_workers)

    def train(self, rows: Tensor) -> float:
        """See `Model.train`."""
        rows = rows.to(self._device)
        self._network.train()
        found = self._network(rows[:, :-1])[:, ASKED - 1 :]
        loss = nn.functional.cross_entropy(found.flatten(0, 1), rows[:, ASKED:].flatten())
        self._optimizer.zero_grad()
        loss.backward()
        self._optimizer.step()
        return loss.item()

    @torch.no_grad()
    def right(self, rows: Rows) -> int:
        """See `Model.right`."""
        self._network.eval()
        known = torch.from_numpy(rows).to(self._device)
        written = known[:, :ASKED]
        while written.shape[1] < LENGTH:
            following = self._network(written)[:, -1].argmax(dim=1, keepdim=True)
            written = torch.cat((written, following), dim=1)
        return int((written == known).all(dim=1).sum())

    def save(self, folder: Path) -> None:
        """See `Model.save`."""
        # Tensors alone: what is not one could not be read back without trusting the file as code.
        moments = self._optimizer.state_dict()["state"]
        state = {"network": self._network.state_dict(), "moments": moments}
        torch.save(state, folder / "model.pt")

    def load(self, folder: Path) -> None:
        """See `Model.load`."""
        state = torch.load(folder / "model.pt", map_location=self._device, weights_only=True)
        self._network.load_state_dict(state["network"])
        settings = self._optimizer.state_dict()
        self._optimizer.load_state_dict({**settings, "state": state["moments"]})

    def weights(self) -> Iterator[bytes]:
        """See `Model.weights`."""
        return (each.cpu().numpy().tobytes() for each in self._network.state_dict().values())
