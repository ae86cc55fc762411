"""Saving: a local copy that holds up the work, then an upload that does not."""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from spotproof_runtime.checkpoints.background import Background
from spotproof_runtime.checkpoints.checksums import crc32c_of
from spotproof_runtime.checkpoints.commits import Commit
from spotproof_runtime.checkpoints.errors import AlreadyExistsError, SaveFailedError
from spotproof_runtime.checkpoints.estimate import SaveEstimate
from spotproof_runtime.checkpoints.lives import Lives
from spotproof_runtime.checkpoints.publishing import publish
from spotproof_runtime.checkpoints.retention import OldCheckpoints, sweep
from spotproof_runtime.checkpoints.staging import Notes, Staged, stage
from spotproof_runtime.checkpoints.store import ObjectStore
from spotproof_runtime.events import EventLog
from spotproof_runtime.stop import Stop

STARTED_FOLDER = "run/"
STARTED = f"{STARTED_FOLDER}started.json"
"""Object that says that the run has had a checkpoint: with none left, work was lost."""

_log = logging.getLogger("spotproof_runtime.checkpoints")


@dataclass(frozen=True)
class SavePolicy:
    """How to save.

    Attributes:
        keep: how many checkpoints to keep.
        background: whether uploads happen beside the work.
        staging: where local copies are made, the system's temporary directory when None.
    """

    keep: int
    background: bool
    staging: Path | None


class Saver:
    """Saves checkpoints of one run, one at a time.

    Args:
        store: where to.
        lives: the marks of the run's lives; earlier ones go with the first save.
        policy: how.
        stop: once told to end, nothing old is tidied up any more.
        events: where saves are recorded.
        clock: monotonic seconds.

    Attributes:
        background: the uploads beside the work.
        estimate: how long a save takes.
        upload_seconds: how long its upload takes, measured; None when it holds up the work.
        committed_step: the newest step that this program has restored or committed.
        torn: attempts that are known not to be whole.
        offered_step: the newest step whose state is saved or on its way.
    """

    def __init__(
        self,
        store: ObjectStore,
        lives: Lives,
        policy: SavePolicy,
        stop: Stop,
        events: EventLog,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._lives = lives
        self._old = OldCheckpoints(store, policy.keep)
        self._policy = policy
        self._stop = stop
        self._events = events
        self._clock = clock
        self._lock = threading.Lock()
        self._failure: SaveFailedError | None = None
        self._first = True
        self.offered_step: int | None = None
        self.committed_step: int | None = None
        self.background = Background(self._upload, self._note_replaced, clock)
        self.estimate = SaveEstimate()
        self._uploads = SaveEstimate()
        self.upload_seconds = self._uploads.seconds if policy.background else None
        self.torn: frozenset[str] = frozenset()

    def restored(self, step: int | None, torn: frozenset[str]) -> None:
        """Says which step is there, None for none, and which attempts were found torn."""
        self.committed_step = step
        self.torn = torn

    def save(
        self,
        step: int,
        write: Callable[[Path], object],
        notes: Notes,
    ) -> float:
        """Saves a state, and returns for how many seconds that held up the work.

        Args:
            step: how many steps the state has behind it.
            write: writes the state into the directory that it gets.
            notes: what the commit says beside its files.

        Raises:
            SaveFailedError: the state cannot be kept, or, without a background, not be saved.
            Exception: whatever else `write` raises.
        """
        begun = self._clock()
        self._events.record("save_started", step=step)
        try:
            staged = stage(step, write, self._policy.staging, self._clock, notes)
        except Exception as error:
            text = str(error) if isinstance(error, SaveFailedError) else repr(error)
            self._events.record("save_failed", step=step, error=text)
            raise
        self.offered_step = step
        if self._policy.background:
            self.background.submit(staged)
        else:
            self._upload(staged)
            staged.discard()
            self.raise_failure()
        return self._clock() - begun

    def take_failure(self) -> SaveFailedError | None:
        """The error of a save that nobody was told of yet."""
        with self._lock:
            failure, self._failure = self._failure, None
        return failure

    def raise_failure(self) -> None:
        """Raises the error of a save that nobody was told of yet."""
        failure = self.take_failure()
        if failure is not None:
            raise failure

    def _upload(self, staged: Staged) -> None:
        begun = self._clock()
        try:
            commit = publish(self._store, staged, self.torn)
        except Exception as error:
            self._fail(staged.step, error)
            return
        upload_seconds = self._clock() - begun
        self._succeed(staged, commit, upload_seconds)
        # Tidying must not take the time that the last save needs.
        if not self._stop.requested:
            self._tidy(commit.step)

    def _succeed(self, staged: Staged, commit: Commit, upload_seconds: float) -> None:
        total_seconds = staged.write_seconds + upload_seconds
        self.estimate.add(total_seconds)
        self._uploads.add(upload_seconds)
        self.committed_step = max(commit.step, self.committed_step or 0)
        self.background.wake()
        blocking_seconds = staged.write_seconds if self._policy.background else total_seconds
        self._events.record(
            "save_finished",
            step=commit.step,
            blocking_seconds=round(blocking_seconds, 3),
            total_seconds=round(total_seconds, 3),
            bytes=commit.size_bytes,
        )

    def _fail(self, step: int, error: Exception) -> None:
        if not isinstance(error, SaveFailedError):
            error = SaveFailedError(step, f"cannot save step {step}: {error!r}")
        self._events.record("save_failed", step=step, error=str(error))
        with self._lock:
            self._failure = error

    def _note_replaced(self, staged: Staged) -> None:
        self._events.record("save_replaced", step=staged.step)

    def _tidy(self, step: int) -> None:
        """Removes what the commit of `step` has made needless. Its errors only cost space."""
        first, self._first = self._first, False
        try:
            if first:
                _mark_started(self._store)
                self._lives.forget_earlier()
            self._old.remove(step, self.torn)
            if first:
                sweep(self._store)
        except Exception as error:
            # The checkpoint is there: whatever this is, it must not pass for a failed save.
            _log.warning("cannot remove old checkpoints: %s", error)
            self._events.record("cleanup_failed", step=step, error=str(error))


def _mark_started(store: ObjectStore) -> None:
    content = b"{}\n"
    try:
        store.put(STARTED, content, crc32c_of(content))
    except AlreadyExistsError:
        return
