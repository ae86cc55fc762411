"""When the node ends that a program runs on, as far as it can know."""

import math
import time
import warnings

NODE_BOOT_SECONDS = 60.0
"""Taken off a node's lifetime. It counts from when Compute Engine calls the machine running (page
"Limit the run time of a VM", read on 2026-11-30), and the kernel's clock starts a little later."""


def node_end(lifetime_seconds: float | None) -> float:
    """The end of this node in seconds of `time.monotonic()`.

    The node's start is when its kernel booted, which a container sees too. A sandbox (gVisor) has
    a kernel of its own, so there the end comes earlier than this says.

    Args:
        lifetime_seconds: from the node's start to its end, None when it is not known.

    Returns:
        The end, less a minute for the boot; `math.inf` when it is not known. A node that is up
        for longer than it lives is not the one that was meant: a warning, and the end is unknown.
    """
    if lifetime_seconds is None:
        return math.inf
    if not hasattr(time, "CLOCK_BOOTTIME"):
        _warn("this system does not tell when it was booted")
        return math.inf
    up = time.clock_gettime(time.CLOCK_BOOTTIME)
    if up > lifetime_seconds:
        _warn(f"it is up for {up:.0f} s and should have lived for {lifetime_seconds:.0f} s")
        return math.inf
    return time.monotonic() + lifetime_seconds - NODE_BOOT_SECONDS - up


def _warn(why: str) -> None:
    text = f"the end of this node is not known, so nothing is saved ahead of it: {why}"
    warnings.warn(text, RuntimeWarning, stacklevel=4)
