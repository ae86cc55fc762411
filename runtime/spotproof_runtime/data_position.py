"""Which items of a data set a training has seen, shuffles included, as part of a checkpoint."""

import math
import random
import sys
from array import array
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from itertools import chain, cycle, islice
from typing import Any, TypeVar

from spotproof_gke.problems import Problem, raise_if_any

Batch = TypeVar("Batch")

IDENTITY = ("size", "seed", "shuffle")
"""What must be the same in each life of a run, or the order of the items would be another one."""


class ResumableBatches:
    """Batches of indices, epoch after epoch, that go on where the last checkpoint was written.

    A batch counts as seen when the program gets it, not when a data loader fetches it ahead; so
    write the checkpoint after the step that used it. The order of an epoch follows from `seed` and
    the number of the epoch alone: it is the same after a resume, on every replica, with another
    version of Python, and with another batch size or number of replicas.

    Give it to PyTorch as `DataLoader(dataset, batch_sampler=batches)` and read the loader through
    `feed`; without a loader, `take` gives one batch of indices. A shuffle takes about half a second
    and 8 MB a million items, at the start of an epoch and on each resume.

    Attributes:
        epoch: number of the epoch, from 0; moves on when `feed` is exhausted, or when `take` finds
            nothing left.
        seen: items of this epoch that all replicas together have been given.

    Args:
        size: items of the data set.
        batch_size: items of a batch of one replica.
        seed: of the shuffles.
        shuffle: whether each epoch has an order of its own; false keeps the data set's.
        drop_last: whether a last batch that is not full is left out. Otherwise it is shorter; with
            several replicas up to `replicas - 1` items come twice in it, so that each replica has
            as many steps and items.
        replica: number of this process among those that train together, from 0.
        replicas: processes that train together, each with batches of its own.

    Raises:
        ProblemsError: the numbers do not fit together, all of them named.
    """

    def __init__(
        self,
        size: int,
        *,
        batch_size: int = 1,
        seed: int = 0,
        shuffle: bool = True,
        drop_last: bool = False,
        replica: int = 0,
        replicas: int = 1,
    ) -> None:
        self.size, self.seed, self.shuffle = size, seed, shuffle
        self.batch_size, self.drop_last = batch_size, drop_last
        self.replica, self.replicas = replica, replicas
        raise_if_any("ResumableBatches", _size_problems(self))
        self.epoch = 0
        self.seen = 0
        self._order: tuple[int, array[int]] | None = None

    def __len__(self) -> int:
        """Batches that are left of this epoch."""
        full, rest = divmod(self.size - self.seen, self._step)
        return full if self.drop_last or not rest else full + 1

    def __iter__(self) -> Iterator[list[int]]:
        """The batches that are left of this epoch, for a data loader; counts none as seen."""
        order = self._epoch_order()
        starts = range(self.seen, self.seen + len(self) * self._step, self._step)
        return (self._batch(order, start) for start in starts)

    def take(self) -> list[int]:
        """The next batch, the first of the next epoch when this one is done; counts as seen."""
        if len(self) == 0:
            self._next_epoch()
        batch = self._batch(self._epoch_order(), self.seen)
        self._count()
        return batch

    def feed(self, loader: Iterable[Batch]) -> Iterator[Batch]:
        """What is left of this epoch out of `loader`; each batch counts as seen when it comes out.

        PyTorch's own generator is not touched by this. What a data set draws at random in worker
        processes is not repeated by a resume: let it follow from the index instead.

        Args:
            loader: a data loader over these batches, or anything else that gives one value a batch.

        Raises:
            ValueError: the loader has other batches than these.
        """
        for batch in self._start(loader):
            if len(self) == 0:
                raise ValueError(
                    "the loader has more batches than are left of this epoch: build it over these "
                    "batches, as in DataLoader(dataset, batch_sampler=batches)"
                )
            self._count()
            yield batch
        if left := len(self):
            raise ValueError(
                f"the loader ended with {left} batches left of epoch {self.epoch}: build it over "
                "these batches, and let it leave none out"
            )
        self._next_epoch()

    def feed_endlessly(self, loader: Iterable[Batch]) -> Iterator[Batch]:
        """`feed`, epoch after epoch; for loops that count steps."""
        while True:
            yield from self.feed(loader)

    def state_dict(self) -> dict[str, int | bool]:
        """The position; can be written as JSON, and is the same on each replica."""
        return {
            "size": self.size,
            "seed": self.seed,
            "shuffle": self.shuffle,
            "epoch": self.epoch,
            "seen": self.seen,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on from a position; before `feed` is called.

        Raises:
            ProblemsError: the position is of another data set, seed or order, or is none.
        """
        raise_if_any("position in the data", _position_problems(state, self.state_dict()))
        epoch, seen = state["epoch"], state["seen"]
        self.epoch, self.seen = epoch, seen

    @property
    def _step(self) -> int:
        """Items that a step takes from the epoch, on all replicas together."""
        return self.batch_size * self.replicas

    def _batch(self, order: "array[int] | range", start: int) -> list[int]:
        items = order[start : start + self._step]
        lacking = -len(items) % self.replicas
        return list(chain(items, islice(cycle(order), lacking)))[self.replica :: self.replicas]

    def _count(self) -> None:
        self.seen = min(self.seen + self._step, self.size)

    def _next_epoch(self) -> None:
        self.epoch += 1
        self.seen = 0

    def _epoch_order(self) -> "array[int] | range":
        if not self.shuffle:
            return range(self.size)
        if self._order is None or self._order[0] != self.epoch:
            self._order = (self.epoch, _shuffled(self.size, f"{self.seed}/{self.epoch}"))
        return self._order[1]

    def _start(self, loader: Iterable[Batch]) -> Iterator[Batch]:
        """Begins to read a loader, without a trace in the state of PyTorch's generator.

        A data loader draws the seed of its workers when it is started, and a life that resumes
        within an epoch starts it once more than a life without an end does.
        """
        if getattr(loader, "batch_sampler", self) is not self:
            raise ValueError(
                "the loader draws its batches from elsewhere, so a resume would not know which are "
                "seen: build it as DataLoader(dataset, batch_sampler=batches)"
            )
        if "torch" not in sys.modules:
            return iter(loader)
        torch = import_module("torch")
        with torch.random.fork_rng(devices=[]):
            drawn = random.Random(f"{self.seed}/{self.epoch}/{self.seen}").getrandbits(63)
            torch.default_generator.manual_seed(drawn)
            return iter(loader)


def _size_problems(batches: ResumableBatches) -> Iterator[Problem]:
    wrong = False
    for key in ("size", "batch_size", "replicas"):
        value = getattr(batches, key)
        if value < 1:
            wrong = True
            yield Problem(key, value, "this is 1 or more", "correct it")
    if not 0 <= batches.replica < max(batches.replicas, 1):
        rule = "replicas are numbered from 0 to replicas - 1"
        yield Problem("replica", batches.replica, rule, "give the rank of this process")
    step = batches.batch_size * batches.replicas
    if not wrong and batches.drop_last and batches.size < step:
        rule = f"a step takes {step} items, and drop_last leaves out what is less"
        yield Problem("size", batches.size, rule, "take smaller batches, or drop_last=False")


def _position_problems(state: Mapping[str, Any], wanted: Mapping[str, Any]) -> Iterator[Problem]:
    missing = [key for key in wanted if key not in state]
    for key in missing:
        yield Problem(key, None, "this is missing", "give what state_dict() returned")
    if missing:
        return
    for key in IDENTITY:
        if state[key] != wanted[key]:
            rule = f"the checkpoint has {state[key]!r}, so its items come in another order"
            fix = "make it equal, or start a run with a checkpoint location of its own"
            yield Problem(key, wanted[key], rule, fix)
    for key, most in (("epoch", math.inf), ("seen", state["size"])):
        if not 0 <= state[key] <= most:
            yield Problem(key, state[key], f"this is from 0 to {most}", "take another checkpoint")


def _shuffled(size: int, seed: str) -> "array[int]":
    """The numbers below `size` in an order that follows from `seed`.

    Python promises the same numbers from `random()` in every version, but not the same `shuffle`.
    """
    drawn = random.Random(seed).random
    order = array("q", range(size))
    for last in range(size - 1, 0, -1):
        other = int(drawn() * (last + 1))
        order[last], order[other] = order[other], order[last]
    return order
