"""Work of the library that the main thread waits for, but not beyond a notice to end."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from spotproof_runtime.checkpoints.limited_stop import LimitedStop

_ASK_AGAIN_SECONDS = 0.1
"""How often a `stop` is asked that does not tell by itself."""

T = TypeVar("T")


class _Work(Generic[T]):
    """What a thread has come to."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self.ended = False
        self.changed = threading.Event()
        self.results: list[T] = []
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self.results.append(self._work())
        except BaseException as error:
            self.error = error
        self.ended = True
        self.changed.set()


def unless_told_to_end(work: Callable[[], T], stop: LimitedStop) -> T:
    """Does `work` in a thread of its own and returns its result.

    A request that gets no answer holds up a thread for a minute, and no signal ends it. So the
    thread is left behind when the program is told to end; it does not hold up the process.

    Args:
        work: what to do; it must do no harm when it goes on for a while.
        stop: says when the program is told to end.

    Raises:
        Interrupted: the program is told to end.
        BaseException: whatever `work` raises.
    """
    doing = _Work(work)
    stop.on_notice(doing.changed.set)
    threading.Thread(target=doing.run, name="spotproof-restore", daemon=True).start()
    while not doing.ended:
        stop.exit_if_requested()
        doing.changed.wait(_ASK_AGAIN_SECONDS)
        doing.changed.clear()
    if doing.error is not None:
        raise doing.error
    return doing.results[0]
