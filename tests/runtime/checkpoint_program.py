"""A program as a user writes it, for tests that end it with real signals.

`python -m tests.runtime.checkpoint_program LOCATION TOTAL EVERY BACKGROUND DONE RESULT` writes each
step that it has done into the file DONE, and the final state into RESULT.
"""

import hashlib
import os
import sys
import time
from pathlib import Path

from spotproof_runtime import Interruption

STEP_SECONDS = 0.01


def next_state(state: str, step: int) -> str:
    """A state that depends on each step and on their order."""
    return hashlib.sha256(f"{state} {step}".encode()).hexdigest()


def main(location: str, total: str, every: str, background: str, done: str, result: str) -> None:
    from spotproof_runtime import Checkpoints, Every

    log = os.open(done, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    with Interruption() as stop:
        checkpoints = Checkpoints(
            location,
            stop=stop,
            interval=Every(steps=int(every)),
            background=background == "background",
        )
        start, state = checkpoints.restore(
            lambda directory: (directory / "state").read_text(), default=lambda: ""
        )
        for step in checkpoints.steps(start, int(total)):
            time.sleep(STEP_SECONDS)
            state = next_state(state, step)
            os.write(log, f"{step}\n".encode())
            checkpoints.offer(step, lambda directory: (directory / "state").write_text(state))  # noqa: B023
        Path(result).write_text(state)


if __name__ == "__main__":
    main(*sys.argv[1:])
