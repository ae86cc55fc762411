"""Learns of signals at once, also while the main thread is busy in a long call of native code.

Python runs a signal handler when the main thread is back in the interpreter. Below that, a C
handler writes the signal's number to the wakeup file descriptor the moment it comes; a thread that
reads it knows of the signal as soon as it gets the interpreter lock.
"""

import contextlib
import os
import select
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

from spotproof_gke.contract import EXIT_INTERRUPTED
from spotproof_runtime.native_handlers import NativeHandler, current, replaced_native

WATCHED = (signal.SIGTERM, signal.SIGINT)

_STOP = b"\xff"
_LOOK = b"\x00"
_LONGEST_WAIT_SECONDS = 3600.0

Handler = Any
"""What the signal module takes and gives as a handler."""


def end_at_once(signum: int, frame: FrameType | None) -> None:
    """A handler for the time in which there is nothing to save yet: ends the process with 143."""
    os._exit(EXIT_INTERRUPTED)


class SignalWatch:
    """Handlers for SIGTERM and SIGINT, and a thread that looks when one of them comes.

    SIGINT is noted once, and from the second on goes to the handler that was there before, so that
    a second Ctrl-C ends a program that does not react. SIGTERM goes to an earlier handler each
    time. A SIGINT that is ignored (a job in the background of a shell) stays ignored.

    Args:
        note: takes a signal's name, in a handler or in the thread: it must not block.
        look: called in the thread after each signal and when the time has come that the last call
            returned, in seconds from then.
    """

    def __init__(self, note: Callable[[str], None], look: Callable[[], float]) -> None:
        self._note = note
        self._look = look
        self._old: dict[int, Handler] = {}
        self._native: dict[int, NativeHandler] = {}
        self._old_wakeup = -1
        self._interrupts_handled = 0
        self._interrupts_seen = 0
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._reader, False)
        os.set_blocking(self._writer, False)
        self._thread = threading.Thread(target=self._watch, name="spotproof-signals", daemon=True)

    def start(self, handle_signals: bool) -> None:
        """Starts the thread.

        Args:
            handle_signals: whether to install handlers too; only the main thread can.
        """
        self._thread.start()
        if handle_signals:
            self._own_wakeup()
            for signum in WATCHED:
                if signum == signal.SIGINT and signal.getsignal(signum) == signal.SIG_IGN:
                    continue
                before = current(signum)
                self._old[signum] = signal.signal(signum, self._handle)
                native = replaced_native(signum, before)
                if native is not None:
                    self._native[signum] = native

    def look_now(self) -> None:
        """Makes the thread look; may be called in a signal handler."""
        with contextlib.suppress(OSError):
            os.write(self._writer, _LOOK)

    def close(self) -> None:
        """Ends the thread after a last look, and puts the old handlers back."""
        with contextlib.suppress(OSError):
            os.write(self._writer, _STOP)
        self._thread.join()
        self._give_back()
        self._close_pipe()

    def forget(self) -> None:
        """Does the same in a forked child, which has no such thread and shares the pipe."""
        self._give_back()
        self._close_pipe()

    def _own_wakeup(self) -> None:
        owner = signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        if owner != -1:
            # An event loop wakes by it. The handlers wake the thread too, only later.
            signal.set_wakeup_fd(owner)

    def _give_back(self) -> None:
        for signum, old in self._old.items():
            # Whoever has installed a handler since then keeps it.
            if signal.getsignal(signum) == self._handle:
                signal.signal(signum, signal.SIG_DFL if old is None else old)
                if signum in self._native:
                    self._native[signum].put_back()
        if self._old:
            owner = signal.set_wakeup_fd(-1)
            if owner not in (-1, self._writer):
                signal.set_wakeup_fd(owner)
        self._old = {}

    def _close_pipe(self) -> None:
        os.close(self._reader)
        os.close(self._writer)

    def _handle(self, signum: int, frame: FrameType | None) -> None:
        self._note(signal.SIGTERM.name if signum == signal.SIGTERM else signal.SIGINT.name)
        self.look_now()
        old = self._old.get(signum)
        if signum == signal.SIGINT:
            self._interrupts_handled += 1
            # Two that come during one long call reach this handler as one.
            if max(self._interrupts_handled, self._interrupts_seen) < 2:
                return
            if not callable(old) and signum not in self._native:
                raise KeyboardInterrupt
        native = self._native.get(signum)
        if native is not None:
            native.call()
        elif callable(old) and old is not end_at_once:
            old(signum, frame)

    def _watch(self) -> None:
        seconds = self._look()
        waiting = select.poll()
        waiting.register(self._reader, select.POLLIN)
        while True:
            told = b""
            if waiting.poll(1000 * min(max(seconds, 0.001), _LONGEST_WAIT_SECONDS)):
                with contextlib.suppress(BlockingIOError):
                    told = os.read(self._reader, 512)
            for number in told:
                if number == signal.SIGINT:
                    self._interrupts_seen += 1
                if number in WATCHED:
                    self._note(signal.Signals(number).name)
            seconds = self._look()
            if _STOP in told:
                return
