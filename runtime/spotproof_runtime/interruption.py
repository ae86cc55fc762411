"""SIGTERM, Ctrl-C and the end of a node become a flag with a deadline."""

import math
import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import NoReturn, TypeVar

from spotproof_gke.contract import EXIT_DONE, EXIT_INTERRUPTED
from spotproof_runtime.announcement import Announcement
from spotproof_runtime.children import forget_forks, watch_forks
from spotproof_runtime.error_text import error_class, error_text
from spotproof_runtime.events import EventLog
from spotproof_runtime.node_end import node_end
from spotproof_runtime.notices import NODE_END, Notices
from spotproof_runtime.queues import Gettable, take
from spotproof_runtime.settings import read_settings
from spotproof_runtime.signal_watch import SignalWatch
from spotproof_runtime.stop import Hopeless, Interrupted

Item = TypeVar("Item")

LAST_RESORT_SECONDS = 0.5
"""How long before its end by force a program that does not react is ended with its exit code."""

RECORD_SECONDS = 1.0
"""How long to wait at most until the notice is recorded, when the program is left."""


def _is_failure(error: BaseException) -> bool:
    """Whether the program ends with an error: neither interrupted nor with its exit code 0."""
    if isinstance(error, SystemExit):
        return error.code not in (None, 0)
    return isinstance(error, Exception)


_active: "Interruption | None" = None
_warned = False


class Interruption:
    """Turns SIGTERM and Ctrl-C into a flag with a deadline, for the length of a `with` block.

    Write it as the first line of a program, before what takes long to import. The flag is up
    within milliseconds, also while the main thread is in a long call of native code that releases
    the interpreter lock; if it does not, as soon as it returns.

    Leaving the block while the program is told to end raises `Interrupted`, unless `done()` was
    called, so that a loop that just ends on the flag, or `sys.exit(0)`, is no success to a Job.
    An error of the program stays what it is and exits with 1. A program that has not left the
    block half a second before it is killed is ended with the same exit code.

    In another thread than the main one there are no signals: there the flag follows `request()`
    and the node's end alone, and a warning says so. Forked children do not share the flag; see
    `spotproof_runtime.children`.

    Args:
        exit_code: how the process ends when it is interrupted: 143, which a Job answers with a
            new pod. Workers of a queue and servers, whose work others take over, give `EXIT_DONE`.
        node_end_lead_seconds: how long before the known end of a flex-start node the program is
            told to end; 120 when omitted. It has this time, not the budget, to save.
        events: where the notice is recorded; as JSON lines on standard error when None.

    Raises:
        SettingsError: a variable of the environment holds no number of seconds.
    """

    def __init__(
        self,
        *,
        exit_code: int = EXIT_INTERRUPTED,
        node_end_lead_seconds: float = 120.0,
        events: EventLog | None = None,
    ) -> None:
        if not 0 < node_end_lead_seconds < math.inf:
            rule = "this is a number of seconds, more than 0"
            raise ValueError(f"node_end_lead_seconds = {node_end_lead_seconds!r}: {rule}")
        settings = read_settings()
        self.exit_code = exit_code
        self._notices = Notices(settings.budget_seconds, node_end(settings.node_lifetime_seconds))
        self._lead_seconds = node_end_lead_seconds
        self._events = EventLog() if events is None else events
        self._done = False
        self._announcement = Announcement(self._events)
        self._watch: SignalWatch | None = None
        self._pid = 0

    @property
    def requested(self) -> bool:
        """Whether the program was told to end."""
        return self._notices.requested

    @property
    def noticed_at(self) -> float | None:
        """When it was told first, in seconds of `time.monotonic()`; None before that."""
        first = self._notices.first
        return first[1] if first else None

    @property
    def reason(self) -> str | None:
        """Why it was told first: `SIGTERM`, `SIGINT`, `node end` or that of `request()`."""
        first = self._notices.first
        return first[0] if first else None

    def remaining(self) -> float:
        """Seconds that are left to save, 0 or more; `math.inf` while no end is known.

        Two seconds less than the budget, `SPOTPROOF_TERMINATION_BUDGET_SECONDS`, or 15 s. The end
        of a flex-start node counts from the start.
        """
        return self._notices.remaining()

    def wait(self, seconds: float) -> bool:
        """Sleeps, but not beyond a request to end; returns `requested`."""
        self._announcement.wait(seconds)
        return self.requested

    def get(self, source: Gettable[Item], seconds: float = math.inf) -> Item:
        """Takes an item of a queue, waiting for one.

        Args:
            source: a queue of `queue` or `multiprocessing`.
            seconds: how long to wait at most.

        Raises:
            Interrupted: the program is told to end.
            queue.Empty: no item came in time.
        """
        return take(source, seconds, self.exit_if_requested)

    def guard(self, items: Iterable[Item]) -> Iterator[Item]:
        """Yields the items; raises `Interrupted` before or after one once told to end.

        For loops that save nothing: a download, a warm-up, an evaluation.
        """
        self.exit_if_requested()
        for item in items:
            self.exit_if_requested()
            yield item
            self.exit_if_requested()

    def exit_if_requested(self) -> None:
        """Raises `Interrupted` once the program is told to end."""
        if self._notices.requested:
            raise Interrupted(self._code())

    def request(self, reason: str) -> None:
        """Tells the program to end, as SIGTERM would; for a notice that comes another way.

        Args:
            reason: what happened, for the record.
        """
        self._notices.note(reason)
        if self._watch is not None:
            self._watch.look_now()
        else:
            self._announcement.make(self._record_notice)

    def done(self) -> None:
        """Says that all the work is done: from now on an interruption exits with 0."""
        self._done = True

    def on_notice(self, callback: Callable[[], None]) -> None:
        """Calls `callback` once when the program is told to end, at once if it already is.

        It runs in a thread of its own, while the program still does whatever it does. It wakes
        what waits: `notify_all` of a condition, `call_soon_threadsafe` of an event loop. Its
        errors are recorded and change nothing.
        """
        self._announcement.add(callback)

    def __enter__(self) -> "Interruption":
        global _active, _warned
        if _active is not None:
            raise RuntimeError(
                "an Interruption is at work in this process already, and there is one program to "
                "end: make one, first thing, and pass it on"
            )
        if self._pid:
            raise RuntimeError("this Interruption has been left: make a new one")
        main = threading.current_thread() is threading.main_thread()
        if not main and not _warned:
            _warned = True
            warnings.warn(
                "Interruption is not in the main thread, where signals are handled: SIGTERM will "
                "end the process as if it was not there. Enter it in the main thread",
                RuntimeWarning,
                stacklevel=2,
            )
        self._watch = SignalWatch(self._notices.note, self._look)
        self._watch.start(handle_signals=main)
        self._pid = os.getpid()
        _active = self
        watch_forks(self._in_child)
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "an Interruption stays in its process: a worker that is spawned cannot have it, so "
            "keep it out of what the worker is given, such as a data set"
        )

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        if os.getpid() != self._pid:
            return False
        interrupted = self.requested
        self._close()
        if isinstance(error, Interrupted):
            error.code = self._code()
            return self._done
        if isinstance(error, Hopeless):
            print(f"error: {error}", file=sys.stderr)
        elif error is not None and _is_failure(error):
            self._events.record("run_failed", error=f"{error_class(error)}: {error_text(error)}")
        if not interrupted or self._done:
            return False
        if error is None or (isinstance(error, SystemExit) and error.code in (None, 0)):
            raise Interrupted(self._code()) from None
        return False

    def _code(self) -> int:
        return EXIT_DONE if self._done else self.exit_code

    def _close(self) -> None:
        global _active
        forget_forks()
        if self._watch is not None:
            self._watch.close()
        self._watch = None
        self._announcement.finish(RECORD_SECONDS)
        _active = None

    def _in_child(self) -> None:
        """In a forked child: as if there had never been an Interruption."""
        global _active
        _active = None
        if self._watch is not None:
            self._watch.forget()
        self._watch = None
        self._announcement.renew()

    def _look(self) -> float:
        """Acts on what the clock and the signals say; returns seconds until it has to again."""
        now, end = time.monotonic(), self._notices.node_end
        if now >= end - self._lead_seconds:
            self._notices.note(NODE_END)
        if self.requested and not self._announcement.made:
            self._announcement.make(self._record_notice)
        if not self.requested:
            return end - self._lead_seconds - now
        left = self._notices.end - LAST_RESORT_SECONDS - now
        if left <= 0:
            self._end_now()
        return left

    def _record_notice(self) -> None:
        left = self.remaining()
        self._events.record(
            "notice",
            reason=self.reason,
            remaining_seconds=None if left == math.inf else round(left, 3),
        )

    def _end_now(self) -> None:
        """Ends a program that has not reacted, just before it would be killed."""
        record = threading.Thread(
            target=self._events.record,
            args=("interrupted",),
            kwargs={"outcome": "too_late", "reason": self.reason},
            daemon=True,
        )
        record.start()
        record.join(LAST_RESORT_SECONDS / 2)
        os._exit(self._code())
