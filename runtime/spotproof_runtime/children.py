"""Processes that a program starts: which of them a signal to the whole group is not meant for.

A worker that loads data must not end with the SIGTERM that tells its program to save, or the
program fails in the middle of a step. Forked workers of `multiprocessing` (those of a DataLoader
too) leave the signalled group by themselves and end with their program. Workers that are spawned
start from nothing, so they are told by `shield_worker`. Other children, such as those of
`subprocess`, are left alone: what a group is told is meant for them.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any

_PR_SET_PDEATHSIG = 1

_in_child: Callable[[], None] | None = None
_hooked = False
_forked_by_main_thread = False
_parent = 0


def watch_forks(in_child: Callable[[], None]) -> None:
    """Calls `in_child` in each forked child from now on, and shields forked workers."""
    global _in_child, _hooked
    _in_child = in_child
    if not _hooked:
        os.register_at_fork(before=_before_fork, after_in_child=_after_fork)
        _hooked = True


def forget_forks() -> None:
    """Leaves forked children alone again."""
    global _in_child
    _in_child = None


def shield_worker(*_: object) -> None:
    """Keeps a signal to the program's group from a worker, and ends the worker with its program.

    For workers that are spawned: `DataLoader(..., worker_init_fn=shield_worker)`,
    `ProcessPoolExecutor(initializer=shield_worker)`. Forked ones need none. It takes and ignores
    the number of the worker. Where the system has no process groups it only does the latter.
    """
    _leave_group()
    _end_with_parent_process()


def _before_fork() -> None:
    global _forked_by_main_thread, _parent
    _forked_by_main_thread = threading.current_thread() is threading.main_thread()
    _parent = os.getpid()


def _after_fork() -> None:
    global _in_child
    in_child, _in_child = _in_child, None
    if in_child is None:
        return
    in_child()
    # Only a child that goes on as a worker of multiprocessing runs what is registered here: one
    # that makes itself a daemon could not, since a leader of a group can't start a session.
    util: Any = sys.modules.get("multiprocessing.util")
    if util is not None:
        util.register_after_fork(_shield_forked, _shield_forked)


def _shield_forked(_: object) -> None:
    _leave_group()
    # The system ends the child with the thread that forked it, so that has to be one that stays.
    if not (_forked_by_main_thread and _end_with_parent_thread()):
        _end_with_parent_process()


def _leave_group() -> None:
    try:
        os.setpgid(0, 0)
    except (AttributeError, OSError):
        return


def _end_with_parent_thread() -> bool:
    if sys.platform != "linux":
        return False
    import ctypes

    if ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        return False
    if os.getppid() != _parent:
        os._exit(1)
    return True


def _end_with_parent_process() -> None:
    import multiprocessing

    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def wait() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=wait, name="spotproof-parent", daemon=True).start()
