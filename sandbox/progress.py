"""Long steps that say what they do and how long it has taken."""

import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

HEARTBEAT_SECONDS = 20


def say(text: str) -> None:
    """Prints a line for the person; standard output is kept for what programs read."""
    print(text, file=sys.stderr, flush=True)


@contextmanager
def heartbeat(
    step: str, detail: str = "", every_seconds: float = HEARTBEAT_SECONDS
) -> Iterator[None]:
    """Prints the step with its detail, then its elapsed time until it ends."""
    started = time.monotonic()
    ended = threading.Event()

    def beat() -> None:
        while not ended.wait(every_seconds):
            say(f"  … {step}: {elapsed(started)}")

    say(f"  {step} {detail}".rstrip())
    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
    say(f"  {step}: done in {elapsed(started)}")


def elapsed(started: float) -> str:
    seconds = int(time.monotonic() - started)
    return f"{seconds // 60} min {seconds % 60:02} s" if seconds >= 60 else f"{seconds} s"


class StepError(Exception):
    """A command failed; the text holds the command and the end of what it printed."""


def run_step(
    command: Sequence[str | Path], cwd: Path, env: Mapping[str, str], timeout_seconds: float
) -> str:
    """Runs a command and returns its standard output.

    Raises:
        StepError: it failed, could not be started or took too long.
    """
    shown = " ".join(str(part) for part in command)
    try:
        result = subprocess.run(
            command, cwd=cwd, env=dict(env), capture_output=True, text=True,
            timeout=timeout_seconds, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise StepError(f"`{shown}` did not end within {timeout_seconds:.0f} s") from None
    except OSError as error:
        raise StepError(f"`{shown}` could not be started: {error}") from None
    if result.returncode != 0:
        tail = "\n".join((result.stdout + result.stderr).strip().splitlines()[-12:])
        raise StepError(f"`{shown}` ended with {result.returncode}:\n{tail}")
    return result.stdout
