"""Kills a run with three saves at each point that there is, and looks at what is left.

`python -m tests.runtime.crash_points STORE KEEP BACKGROUND DIR [ADDRESS]` prints what it found as
JSON. A program is forked from this warm process for each kill. STORE is

- `directory`: killed before and after each call of the store,
- `files`: killed before each operation on a file of the store,
- `mounted`: the same without hard links, as in a mounted bucket,
- `gcs`: killed by the server at ADDRESS, after each request has taken effect;
- `gcs-before`: before it does, which leaves the store as after the request before it.
"""

import gc
import io
import json
import os
import random
import shutil
import signal
import sys
import urllib.request
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from spotproof_runtime import Checkpoints, EventLog, Every
from spotproof_runtime.checkpoints import checkpoints as facade
from spotproof_runtime.checkpoints.directory_store import DirectoryStore
from tests.runtime.gcs.fixtures import no_link
from tests.runtime.gcs.server import BUCKET

SAVES = 3
LONG = os.environ.get("SPOTPROOF_CHAOS") == "full"
_SIDES = {
    "directory": (False, True),
    "files": (False,),
    "mounted": (False,),
    "gcs": (True,),
    "gcs-before": (False,),
}
_FILE_EVENTS = {"open", "os.link", "os.remove", "os.mkdir", "os.rmdir", "os.scandir"}


class Acknowledged(EventLog):
    """Writes down, in a file that survives a kill, which saves are said to be finished."""

    def __init__(self, path: Path) -> None:
        super().__init__(stream=io.StringIO())
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def record(self, event: str, **fields: Any) -> None:
        if event == "save_finished":
            os.write(self._file, f"{fields['step']}\n".encode())


class DyingStore:
    """A store whose user is killed before or after one of its calls takes effect."""

    def __init__(self, store: Any, call: int, after: bool) -> None:
        self._store = store
        self._left = call
        self._after = after

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            self._left -= 1
            if self._left == 0 and not self._after:
                die()
            answer = getattr(self._store, name)(*args)
            if name == "list":
                answer = iter(list(answer))
            if self._left == 0:
                die()
            return answer

        return call


def die() -> None:
    """Nothing is closed, flushed or finished."""
    os.kill(os.getpid(), signal.SIGKILL)
    signal.pause()


def state_after(steps: int) -> dict[str, str]:
    """The files of the state after so many steps."""
    return {f"part-{part}": f"{part} after {steps} steps" * 20 for part in range(2)}


def load(directory: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in directory.iterdir()}


def run(location: str, keep: int, background: bool, acknowledged: Path) -> None:
    """The program: three steps, each of which is saved; with a background, saves overlap.

    Two steps may be unsaved with it, which has each saved while the one before is on its way.
    """
    log = Acknowledged(acknowledged)
    interval = 2 if background else 1
    done = acknowledged.with_name("done")
    checkpoints = Checkpoints(
        location,
        keep=keep,
        background=background,
        interval=Every(steps=interval),
        events=log,
    )
    start, state = checkpoints.restore(load, default=lambda: state_after(0))
    said = {int(line) for line in acknowledged.read_text().split()}
    assert start >= max(said, default=0), f"restored {start}, though {said} were finished"
    lost = int(done.read_text() or 0) - start
    assert lost <= interval, f"{lost} steps are lost, and {interval} may be unsaved"
    assert state == state_after(start), f"the state of step {start} is {state}"
    for step in checkpoints.steps(start, SAVES):
        state = state_after(step + 1)
        done.write_text(str(step + 1))
        checkpoints.offer(step, lambda directory, state=state: write(directory, state))
    found = checkpoints.all_steps()
    assert max(found, default=0) == SAVES, f"steps {found} at the end"


def write(directory: Path, state: dict[str, str]) -> None:
    for name, text in state.items():
        (directory / name).write_text(text)


def forked(work: Callable[[], None]) -> int:
    """Does `work` in a forked process and returns its status: 0, or what ended it."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
            os._exit(1)
    return os.waitpid(child, 0)[1]


class Harness:
    """All kills of one kind of run."""

    def __init__(self, store: str, keep: int, background: bool, place: Path, address: str) -> None:
        self._random = random.Random(13)
        self.store = store
        self.keep = keep
        self.background = background
        self.root = place / "run"
        self.acknowledged = place / "acknowledged"
        self.address = address
        self.location = f"gs://{BUCKET}/run" if store.startswith("gcs") else str(self.root)

    def enumerate(self) -> dict[str, Any]:
        """Kills at the first point, the second and so on, until the program lives to its end."""
        self._warm_up()
        kills = 0
        failures: list[str] = []
        for after in _SIDES[self.store]:
            point = 1
            while self._killed(point, after):
                kills += 1
                failed = False
                if LONG:
                    # Killed once more while it goes on from what the first kill has left.
                    again = self._random.randint(1, point + 20)
                    status = forked(partial(self._run_until, again, after))
                    kills += os.WIFSIGNALED(status)
                    failed = os.WIFEXITED(status) and status != 0
                if failed or forked(self._go_on) != 0:
                    failures.append(f"point {point}, {'after' if after else 'before'}")
                point += 1
        return {"kills": kills, "failures": failures}

    def _warm_up(self) -> None:
        """Lives once in this process: each fork then has all loaded, and copies less of it."""
        self._empty()
        self._program()
        gc.collect()
        gc.freeze()
        gc.disable()

    def _empty(self) -> None:
        shutil.rmtree(self.root, ignore_errors=True)
        for file in (self.acknowledged, self.acknowledged.with_name("done")):
            file.write_text("")
        if self.store.startswith("gcs"):
            self._ask("clear", [])

    def _killed(self, point: int, after: bool) -> bool:
        self._empty()
        status = forked(lambda: self._run_until(point, after))
        if status == 0:
            return False
        assert os.WIFSIGNALED(status), f"the program failed at point {point}: {status}"
        return True

    def _run_until(self, point: int, after: bool) -> None:
        if self.store.startswith("gcs"):
            plan = {"kind": "kill", "call": point, "after": after, "pid": os.getpid()}
            self._ask("plan", [plan])
        elif self.store == "directory":
            facade.open_store = lambda location, stop: DyingStore(
                DirectoryStore(location.path), point, after
            )
        else:
            self._die_at_file(point)
        self._program()

    def _die_at_file(self, point: int) -> None:
        left = [point]

        def watch(event: str, args: tuple[Any, ...]) -> None:
            if event in _FILE_EVENTS and str(args[0]).startswith(str(self.root)):
                left[0] -= 1
                if left[0] == 0:
                    die()

        sys.addaudithook(watch)

    def _go_on(self) -> None:
        if self.store.startswith("gcs"):
            self._ask("plan", [])
        self._program()

    def _program(self) -> None:
        if self.store == "mounted":
            facade.open_store = lambda location, stop: DirectoryStore(location.path, no_link)
        run(self.location, self.keep, self.background, self.acknowledged)

    def _ask(self, what: str, plan: list[dict[str, Any]]) -> None:
        body = json.dumps(plan).encode()
        request = urllib.request.Request(f"{self.address}/_test/{what}", body)
        urllib.request.urlopen(request, timeout=30).close()


def main(store: str, keep: str, background: str, place: str, address: str = "") -> None:
    if store.startswith("gcs"):
        # What each program needs is loaded here, once.
        from google.cloud import storage  # noqa: F401

        os.environ["STORAGE_EMULATOR_HOST"] = address
    harness = Harness(store, int(keep), background == "background", Path(place), address)
    print(json.dumps(harness.enumerate()))


if __name__ == "__main__":
    main(*sys.argv[1:])
