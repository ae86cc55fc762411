"""Checkpoints of a run: restore, loop over steps, save when it is due or the end is near."""

import atexit
import operator
import os
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from spotproof_runtime.checkpoints.cadences import When, read_when
from spotproof_runtime.checkpoints.commits import Commit
from spotproof_runtime.checkpoints.ending import Ending
from spotproof_runtime.checkpoints.errors import SaveFailedError, StoreError
from spotproof_runtime.checkpoints.last_save import Outcome
from spotproof_runtime.checkpoints.limited_stop import LimitedStop, NeverStops
from spotproof_runtime.checkpoints.lives import DEFAULT_LIMIT, Lives
from spotproof_runtime.checkpoints.location import parse_location
from spotproof_runtime.checkpoints.loop import Loop
from spotproof_runtime.checkpoints.offering import Offering, Write
from spotproof_runtime.checkpoints.ranks import process_saves
from spotproof_runtime.checkpoints.reading import list_commits
from spotproof_runtime.checkpoints.retention import DEFAULT_KEEP
from spotproof_runtime.checkpoints.saving import SavePolicy, Saver
from spotproof_runtime.checkpoints.start import Start
from spotproof_runtime.checkpoints.store import open_store
from spotproof_runtime.events import EventLog
from spotproof_runtime.stop import Interrupted, Stop

State = TypeVar("State")

when_exiting = atexit.register


class Checkpoints:
    """The checkpoints of one run.

    A checkpoint of step N holds the state that N steps have made: steps 0 to N - 1 are done, N is
    the next. `restore` returns N, `steps` begins with it, and `offer(step, ...)`, the last line of
    the body of step `step`, saves under `step + 1`. So no step is done twice or left out.

    A whole checkpoint in the location is always used: to start over, take another location or
    another `run`.

    Args:
        location: `gs://BUCKET/PATH`, or a directory, for example in a mounted bucket; the path is
            the run's own. `SPOTPROOF_CHECKPOINT_LOCATION` when omitted.
        stop: whether and when the program must end, an `Interruption`; never when omitted.
        run: a folder of this name in the location, so that several runs can share it.
        interval: how much work may be unsaved: `Every(...)` or a number of seconds, estimated from
            what the run measures when omitted; or a `Cadence` of your own, which promises nothing.
        keep: how many checkpoints to keep, 1 or more; 2 when omitted. Those of other runs and
            those not yet committed never count.
        background: whether uploads happen beside the work. Only the local copy holds it up then,
            and an upload that takes longer than half of the interval.
        saves: whether this process saves, or only restores; when omitted, all do but ranks above 0
            of a distributed program (`RANK`). One process has to write the whole state.
        staging: where local copies are made; the system's temporary directory when omitted. It
            needs room for two, with a background three. What killed processes have left there is
            removed, on this machine and until it is booted again.
        hopeless_after: how many lives in a row may be interrupted without a newer checkpoint
            before the program exits with 42; 5 when omitted.
        events: where to record what happens; as JSON lines on standard error when omitted.

    Raises:
        ValueError: an argument cannot be; as a `ProblemsError` for the location.
        StoreError: there is no way to the location.
    """

    def __init__(
        self,
        location: str | os.PathLike[str] | None = None,
        *,
        stop: Stop | None = None,
        run: str | None = None,
        interval: When = None,
        keep: int = DEFAULT_KEEP,
        background: bool = True,
        saves: bool | None = None,
        staging: str | os.PathLike[str] | None = None,
        hopeless_after: int = DEFAULT_LIMIT,
        events: EventLog | None = None,
    ) -> None:
        _at_least_one("keep", keep)
        _at_least_one("hopeless_after", hopeless_after)
        self.location = parse_location(location, run)
        self._saves = process_saves(saves, run, os.environ)
        self._stop = LimitedStop(stop or NeverStops())
        self._events = EventLog(run=str(self.location)) if events is None else events
        when = read_when(interval)
        self._staging = None if staging is None else Path(staging)
        self._store = open_store(self.location, self._stop)
        self._lives = Lives(self._store, leaves_mark=self._saves)
        policy = SavePolicy(keep, background, self._staging)
        self._saver = Saver(self._store, self._lives, policy, self._stop, self._events)
        self._ending = Ending(self._saver, self._lives, self._stop, self._events, saves=self._saves)
        self._hopeless_after = hopeless_after
        self._offering = Offering(self._saver, self._ending, self._stop, when, self._events)
        self._loop = Loop(
            self._saver,
            self._ending,
            self._offering,
            self._stop,
            self._events,
            place=str(self.location),
            saves=self._saves,
        )
        self._restored: Commit | None = None
        self._has_looked = False
        self._stop.on_notice(self._saver.background.wake)
        when_exiting(self._ending.at_exit)

    @property
    def restored(self) -> Commit | None:
        """The checkpoint that `restore` used, with its metadata; None when it started at zero."""
        return self._restored

    def restore(
        self,
        load: Callable[[Path], State],
        *,
        default: Callable[[], State],
        fresh: bool = False,
    ) -> tuple[int, State]:
        """The newest whole checkpoint, or a new state.

        What is torn or corrupt is passed over, and said so in an event and a log line.

        Args:
            load: makes the state out of the directory that `write` once filled; the directory is
                removed afterwards.
            default: makes the state to start from when there is no checkpoint.
            fresh: start from zero also when there is data of which nothing is whole.

        Returns:
            How many steps are done, and the state after them.

        Raises:
            NothingWholeError: there was a checkpoint, and none is whole.
            NewerFormatError: a newer release of this library wrote the newest one.
            StoreError: the location cannot be read.
            CheckpointError: the local copy cannot be written.
            Hopeless: several lives in a row were interrupted without a newer checkpoint.
            Interrupted: the program is told to end meanwhile.
        """
        start = Start(self._store, self._lives, self._events, self._hopeless_after, self._stop)
        begun = time.monotonic()
        try:
            with start.search(self._staging, self.location, fresh) as search:
                commit = search.commit
                step = commit.step if commit else 0
                state = load(search.directory) if commit else default()
        except (Interrupted, StoreError):
            if self._stop.requested:
                self._ending.leave_restore()
                self._stop.exit_if_requested()
            raise
        self._saver.restored(step if commit else None, frozenset(search.torn))
        self._restored, self._has_looked = commit, True
        self._ending.begun_step = step
        seconds = time.monotonic() - begun
        self._offering.begin(commit, seconds, start.interrupted_lives)
        self._events.record(
            "restored",
            step=step,
            seconds=round(seconds, 3),
            skipped=[f"{each}: {why}" for each, why in search.skipped.items()],
        )
        return step, state

    def steps(self, start: int, total: int) -> Iterator[int]:
        """Yields `start` to `total - 1`, each the number of the step to do now.

        Told to end, the step at work is finished and offered, then `Interrupted` is raised. After
        the last step it waits until its state is saved, and tells the `stop` that all is done. A
        loop that is left by `break` is not finished: call `wait_until_finished()`, and
        `stop.done()` if no step is left to do.

        Raises:
            ValueError: `start` is beyond `total`, so the checkpoint is of another run; or there are
                checkpoints beyond `start`, and `restore` was not called.
            SaveFailedError: a save in the background has failed.
            Interrupted: the program is told to end.
        """
        forgets = self._saves and not self._has_looked
        return self._loop.steps(start, total, self.latest_step if forgets else None)

    def offer(
        self,
        step: int,
        write: Write,
        *,
        data_position: Any = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """Saves the state after `step` if that is due, or if the program is told to end.

        Waits for the upload under way while a whole interval is not yet committed, so that no more
        is ever lost to SIGKILL. Does nothing in a process that does not save.

        Args:
            step: the step that has just been done, as `steps` yields it.
            write: writes the state into the directory that it gets, and returns when the files
                are complete. Not called when nothing is due.
            data_position: where the data stands, for JSON.
            metadata: what else to keep, for JSON; `restored` has it after a restore.

        Raises:
            SaveFailedError: this save, or one in the background before it, has failed.
            Exception: whatever `write` raises. Once the program is told to end it is only recorded
                and logged: the life ends as interrupted, and the next one takes the newest save.
        """
        done = operator.index(step) + 1
        self._loop.offered(step)
        if not self._saves:
            if self._stop.requested:
                self._ending.outcome = Outcome.NONE
            return
        self._offering.offer(done, write, data_position, metadata)

    def latest_step(self) -> int | None:
        """How many steps the newest committed checkpoint has behind it; None without any."""
        steps = self.all_steps()
        return steps[-1] if steps else None

    def all_steps(self) -> list[int]:
        """The steps of all committed checkpoints, the oldest first; nothing is checked."""
        return sorted(each.step for each in list_commits(self._store))

    def wait_until_finished(self) -> None:
        """Waits until nothing is being saved, but not beyond the program's end.

        Raises:
            SaveFailedError: a save has failed.
            Interrupted: the program is told to end, and a save did not end in time.
        """
        try:
            self._ending.wait()
        except SaveFailedError:
            self._stop.exit_if_requested()
            raise


def _at_least_one(name: str, value: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ValueError(f"{name} = {value!r}: this is a whole number, 1 or more")
