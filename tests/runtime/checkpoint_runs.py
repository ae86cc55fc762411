"""Small runs for tests of checkpoints: a state of two files, a log, and a fake end."""

import io
import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from spotproof_runtime import Checkpoints, EventLog, Every, Interrupted


class Log(EventLog):
    """Keeps events instead of writing them."""

    def __init__(self) -> None:
        super().__init__(stream=io.StringIO())
        self.events: list[dict[str, Any]] = []

    def record(self, event: str, **fields: Any) -> None:
        self.events.append({"event": event, **fields})

    def of(self, event: str) -> list[dict[str, Any]]:
        return [each for each in self.events if each["event"] == event]


class FakeStop:
    """An end that a test decides about."""

    def __init__(self) -> None:
        self.requested = False
        self.is_done = False
        self._end = math.inf

    def remaining(self) -> float:
        return max(0.0, self._end - time.monotonic())

    def wait(self, seconds: float) -> bool:
        return self.requested

    def done(self) -> None:
        self.is_done = True

    def request(self, remaining_seconds: float) -> None:
        self._end = time.monotonic() + remaining_seconds
        self.requested = True


class EachStep:
    """A cadence of a user's own that promises nothing: it saves after each step."""

    def due(self, step: int, now: float | None = None) -> bool:
        return True

    def saved(self, blocking_seconds: float) -> None: ...
    def failed(self) -> None: ...
    def restored(self, seconds: float) -> None: ...
    def interrupted(self, landed: bool = False, working: bool = True) -> None: ...


def write(directory: Path, steps: int) -> None:
    """The state after so many steps."""
    (directory / "model.bin").write_bytes(b"weights" * 100 + str(steps).encode())
    (directory / "optimizer").mkdir()
    (directory / "optimizer" / "step.txt").write_text(str(steps))


def load(directory: Path) -> int:
    steps = int((directory / "optimizer" / "step.txt").read_text())
    assert (directory / "model.bin").read_bytes() == b"weights" * 100 + str(steps).encode()
    return steps


def checkpoints(location: str, log: EventLog | None = None, **settings: Any) -> Checkpoints:
    """Checkpoints that block and are saved after each step unless told otherwise.

    With a background they are so too: two steps may be unsaved, and half as many lie between saves.
    """
    background = settings.pop("background", False)
    settings = {"interval": Every(steps=2 if background else 1), **settings}
    return Checkpoints(location, events=log or Log(), background=background, **settings)


def restore(location: str, log: EventLog | None = None, **settings: Any) -> int:
    """What a new life goes on from; checks that the state is that of the step."""
    start, state = checkpoints(location, log).restore(load, default=lambda: 0, **settings)
    assert start == state
    return start


def train(location: str, until: int, log: EventLog | None = None, **settings: Any) -> Checkpoints:
    """A life that goes on from what is there to `until` steps."""
    made = checkpoints(location, log, **settings)
    start, _ = made.restore(load, default=lambda: 0)
    for step in made.steps(start, until):
        made.offer(step, lambda directory, step=step: write(directory, step + 1))
    return made


def is_interrupted(made: Checkpoints, start: int, total: int, body: Callable[[int], Any]) -> None:
    """Does `body` with each step until the loop ends with `Interrupted`, as it must."""
    with pytest.raises(Interrupted) as interrupted:
        _do(made.steps(start, total), body)
    assert interrupted.value.code == 143


def _do(steps: Iterator[int], body: Callable[[int], Any]) -> None:
    for step in steps:
        body(step)


def wait_for(condition: Callable[[], object], seconds: float = 30.0) -> None:
    """Waits for what is to be seen from outside."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.002)
