"""What the loop helpers of the runtime library cost a step: JSON, seconds for each of several runs.

It runs in the library's own virtualenv. A step that does nothing shows the cost best: beside real
steps it would be lost in their noise.
"""

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from functools import partial
from itertools import islice
from pathlib import Path

from spotproof_runtime import Checkpoints, EventLog, Interruption

STEPS = 20_000


def each(steps: Iterable[int], body: Callable[[int], None] | None = None) -> float:
    """Seconds for each step of a loop."""
    begun = time.perf_counter()
    if body is None:
        for _ in steps:
            pass
    else:
        for step in steps:
            body(step)
    return (time.perf_counter() - begun) / STEPS


def never(_: Path) -> None:
    """Nothing is due in so short a time."""
    raise AssertionError("a save was due")


def main() -> None:
    runs = int(sys.argv[1])
    found: dict[str, list[float]] = {"bare": [], "guard": [], "checkpoints": []}
    with open(os.devnull, "w") as quiet, tempfile.TemporaryDirectory() as folder:
        events = EventLog(quiet)
        with Interruption(events=events) as stop:
            for run in range(runs):
                found["bare"].append(each(range(STEPS)))
                found["guard"].append(each(stop.guard(range(STEPS))))
                checkpoints = Checkpoints(f"{folder}/{run}", stop=stop, events=events)
                # The last step saves, which has a cost of its own, so it is not reached.
                steps = islice(checkpoints.steps(0, STEPS + 1), STEPS)
                found["checkpoints"].append(each(steps, partial(checkpoints.offer, write=never)))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
