"""Signal handlers of native code (JAX's notifier, for one), which Python does not know of.

Python takes a handler's place without a word, and what `signal.getsignal` says of it is what Python
itself last put there. Such a handler is read and put back with the C library's own call.
"""

import ctypes
import sys
from typing import Any

_MASK_BYTES = 128
_SA_SIGINFO = 4
_PLAIN = (None, 0, 1)
"""What stands for the default action and for none."""


class _Action(ctypes.Structure):
    """`struct sigaction` of Linux's C libraries, on the processors that GKE has."""

    _fields_ = (
        ("handler", ctypes.c_void_p),
        ("mask", ctypes.c_ubyte * _MASK_BYTES),
        ("flags", ctypes.c_int),
        ("restorer", ctypes.c_void_p),
    )


class NativeHandler:
    """What the system does with a signal, as it is now.

    Args:
        signum: the signal.
    """

    def __init__(self, signum: int) -> None:
        self._signum = signum
        self._action = _Action()
        self._known = _library.sigaction(signum, None, ctypes.byref(self._action)) == 0

    @property
    def address(self) -> int | None:
        """Where the handler is, None when there is none."""
        found = self._action.handler
        return None if not self._known or found in _PLAIN else found

    def call(self) -> None:
        """Calls it with the signal's number; not one that wants to know the sender."""
        if self.address is not None and not self._action.flags & _SA_SIGINFO:
            ctypes.CFUNCTYPE(None, ctypes.c_int)(self.address)(self._signum)

    def put_back(self) -> None:
        """Makes the system do this again."""
        _library.sigaction(self._signum, ctypes.byref(self._action), None)


def replaced_native(signum: int, before: "NativeHandler | None") -> "NativeHandler | None":
    """`before` when it was native code's: neither a plain action nor Python's own handler.

    Args:
        signum: the signal, for which Python has just installed a handler.
        before: what was there until then.
    """
    if before is None or before.address is None:
        return None
    return None if before.address == NativeHandler(signum).address else before


def current(signum: int) -> NativeHandler | None:
    """What the system does with a signal; None where this cannot be known."""
    return NativeHandler(signum) if _library is not None else None


def _find_library() -> Any:
    if sys.platform != "linux" or ctypes.sizeof(ctypes.c_void_p) != 8:
        return None
    return ctypes.CDLL(None)


_library = _find_library()
