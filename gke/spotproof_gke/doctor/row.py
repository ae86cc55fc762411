"""One thing that was looked at, and what was found."""

from dataclasses import dataclass
from enum import Enum


class Status(str, Enum):
    """What was found."""

    OK = "ok"
    MISSING = "missing"
    UNKNOWN = "unknown"


class Area(str, Enum):
    """Where it was looked for."""

    MACHINE = "machine"
    PROJECT = "project"
    STACK = "stack"


@dataclass(frozen=True)
class Row:
    """A thing that was looked at.

    Attributes:
        area: Where it belongs.
        name: What it is called in reports and in `--skip`.
        status: What was found; `MISSING` for all that is not in order.
        found: What was found, in words.
        why: What it is needed for.
        fix: The one command that mends it, or what else to do; "" when nothing is to be done.
    """

    area: Area
    name: str
    status: Status
    found: str
    why: str
    fix: str = ""


def ok(area: Area, name: str, found: str, why: str) -> Row:
    """A thing that is in order."""
    return Row(area, name, Status.OK, found, why)


def missing(area: Area, name: str, found: str, why: str, fix: str) -> Row:
    """A thing that is not there, or not in order."""
    return Row(area, name, Status.MISSING, found, why, fix)


def unknown(area: Area, name: str, found: str, why: str, fix: str) -> Row:
    """A thing of which nothing could be learned."""
    return Row(area, name, Status.UNKNOWN, found, why, fix)
