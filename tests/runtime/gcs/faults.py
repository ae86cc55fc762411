"""Faults by the number of the call."""

import threading
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Fault:
    """What goes wrong with some calls.

    Attributes:
        kind: `status` (answered with `status`), `reset` (the connection breaks), `slow` (answered
            after `seconds`), `truncate` (half of the answer), `corrupt` (a bit of the answer is
            another) or `kill` (SIGKILL to `pid`).
        call: the first call that it happens to, 1 is the first of those that match.
        count: to how many calls in a row it happens.
        match: only calls whose description, such as `create steps/`, contains this.
        after: whether the call takes effect before it goes wrong.
    """

    kind: str
    call: int = 1
    count: int = 1
    match: str = ""
    after: bool = False
    status: int = 503
    seconds: float = 0.0
    pid: int = 0

    def mapping(self) -> dict[str, Any]:
        return asdict(self)


class Faults:
    """The faults of a server and the calls that it has seen."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._planned: list[Fault] = []
        self._seen: list[int] = []
        self.calls: list[str] = []

    def plan(self, *faults: Fault) -> None:
        """Forgets the calls so far, and has these go wrong from now on."""
        with self._lock:
            self._planned = list(faults)
            self._seen = [0] * len(faults)
            self.calls = []

    def next(self, call: str) -> Fault | None:
        """Notes a call, and returns what goes wrong with it."""
        hit = None
        with self._lock:
            self.calls.append(call)
            for index, fault in enumerate(self._planned):
                if fault.match not in call:
                    continue
                self._seen[index] += 1
                if fault.call <= self._seen[index] < fault.call + fault.count:
                    hit = hit or fault
        return hit
