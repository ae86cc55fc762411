"""All ranks of a PyTorch job end at the same step, whichever of them was told to."""

import math
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from spotproof_runtime.interruption import Interruption

OTHER_RANK = "another rank"
"""Reason of the notice on ranks that were not told themselves."""


def any_rank(stop: Interruption) -> bool:
    """Whether any rank was told to end; if so, this one is told too.

    It is one all-reduce of a number, so every rank has to call it at the same steps: at each, or
    at every so many if a step is short. In a process without a process group it is
    `stop.requested`.

    Args:
        stop: the interruption of this process.
    """
    return _least_remaining(stop) < math.inf


class AgreedStop:
    """A stop for `Checkpoints` that is up on all ranks at the same step.

    A rank that ended its loop on its own flag would leave the others waiting for it in a
    collective call until they are killed. The rank that saves gives it to `Checkpoints` in place
    of the interruption and offers each step; the others loop over `steps()`. Every rank calls
    `agree()` once in each step.

    Args:
        stop: the interruption of this process.
    """

    def __init__(self, stop: Interruption) -> None:
        self._stop = stop
        self._agreed = False
        self._end = math.inf

    @property
    def requested(self) -> bool:
        """Whether the ranks have agreed to end."""
        return self._agreed

    @property
    def told(self) -> bool:
        """Whether this rank was told to end, agreed or not."""
        return self._stop.requested

    def on_notice(self, callback: Callable[[], None]) -> None:
        """Has `callback` called when this rank is told to end."""
        self._stop.on_notice(callback)

    def agree(self) -> bool:
        """Asks all ranks, see `any_rank`; returns `requested`."""
        if not self._agreed:
            left = _least_remaining(self._stop)
            self._agreed = left < math.inf
            self._end = time.monotonic() + left
        return self._agreed

    def remaining(self) -> float:
        """Seconds that are left to the rank that has the least, as of the agreement."""
        return max(min(self._stop.remaining(), self._end - time.monotonic()), 0.0)

    def wait(self, seconds: float) -> bool:
        """Sleeps, but not beyond a request to end; returns `requested`."""
        if self._stop.requested and not self._agreed:
            time.sleep(seconds)
        else:
            self._stop.wait(seconds)
        return self._agreed

    def steps(self, start: int, total: int) -> Iterator[int]:
        """What `Checkpoints.steps` is to the rank that saves: yields `start` to `total - 1`.

        Raises:
            Interrupted: the ranks have agreed to end before the last step.
        """
        for step in range(start, total):
            yield step
            if step + 1 < total:
                self.exit_if_requested()
        self.done()

    def exit_if_requested(self) -> None:
        """Raises `Interrupted` once the ranks have agreed to end."""
        if self._agreed:
            self._stop.exit_if_requested()

    def done(self) -> None:
        """Says that all the work is done."""
        self._stop.done()


def _least_remaining(stop: Interruption) -> float:
    """What is left to the rank with the least of those that were told to end, or `math.inf`."""
    left = stop.remaining() if stop.requested else math.inf
    torch: Any = import_module("torch")
    distributed: Any = import_module("torch.distributed")
    if not (distributed.is_available() and distributed.is_initialized()):
        return left
    # NCCL takes tensors of the GPU alone, and Gloo those of the CPU.
    on_gpu = distributed.get_backend() == "nccl"
    device = torch.device("cuda", torch.cuda.current_device()) if on_gpu else "cpu"
    least = torch.tensor([left], dtype=torch.float32, device=device)
    distributed.all_reduce(least, op=distributed.ReduceOp.MIN)
    found = float(least.item())
    if found < math.inf and not stop.requested:
        stop.request(OTHER_RANK)
    return found
