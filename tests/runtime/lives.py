"""One life of a program in a test: its process, what it recorded, and how it ended."""

import json
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PATIENCE_SECONDS = 60.0


class Life:
    """A process that records events on its standard error.

    Attributes:
        seconds_to_end: from the last signal to the end, once it has ended.

    Args:
        process: with its standard output piped.
        errors: the file that its standard error goes to.
    """

    def __init__(self, process: "subprocess.Popen[str]", errors: Path) -> None:
        self.process = process
        self._errors = errors
        self._told_at = time.monotonic()
        self.seconds_to_end = 0.0

    def text(self) -> str:
        return self._errors.read_text(errors="replace")

    def events(self, name: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for line in self.text().splitlines():
            if line.startswith("{") and line.endswith("}"):
                found.append(json.loads(line))
        return [event for event in found if event["event"] == name]

    def last(self, name: str) -> dict[str, Any]:
        found = self.events(name)
        assert found, f"no event {name} in:\n{self.text()}"
        return found[-1]

    def wait_for(self, name: str, count: int = 1) -> None:
        self.wait_until(lambda: len(self.events(name)) >= count, f"{count} events {name}")

    def wait_for_text(self, wanted: str) -> None:
        self.wait_until(lambda: wanted in self.text(), wanted)

    def wait_for_library(self, name: str) -> None:
        """Waits until the process has mapped a library of this name."""
        maps = Path(f"/proc/{self.process.pid}/maps")
        self.wait_until(lambda: name in maps.read_text(), f"library {name}")

    def read_lines(self, count: int) -> list[str]:
        """The next lines of the standard output; waits for them."""
        assert self.process.stdout is not None
        return [self.process.stdout.readline() for _ in range(count)]

    def signal(self, number: signal.Signals) -> None:
        self._told_at = time.monotonic()
        self.process.send_signal(number)

    def ends(self, code: int) -> str:
        """Waits for the end; returns the standard output."""
        return self.ends_with(code)

    def ends_with(self, *codes: int) -> str:
        """Waits for the end with one of these codes; returns the standard output."""
        output, _ = self.process.communicate(timeout=PATIENCE_SECONDS)
        self.seconds_to_end = time.monotonic() - self._told_at
        assert self.process.returncode in codes, self.text()[-3000:]
        return output

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()

    def wait_until(self, seen: Callable[[], bool], what: str) -> None:
        """Waits until `seen()`; fails by naming what was waited for."""
        ends = time.monotonic() + PATIENCE_SECONDS
        while not seen():
            over = self.process.poll() is not None and not seen()
            assert not over, f"ended without {what}:\n{self.text()[-3000:]}"
            assert time.monotonic() < ends, f"no {what} in time:\n{self.text()[-3000:]}"
            time.sleep(0.005)


def weights_of(output: str) -> str:
    """The fingerprint of the weights in a trainer's last line."""
    return json.loads(output.splitlines()[-1])["weights_sha256"]
