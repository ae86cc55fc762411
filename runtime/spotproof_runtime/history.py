"""What a run has learned about its saves and its interruptions, kept from life to life."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from sys import float_info
from typing import cast

KEPT_MEASUREMENTS = 32
"""How many of the newest save and restore times are kept."""

_MOST = float_info.max


@dataclass(frozen=True)
class History:
    """What was measured in all lives of a run so far.

    Attributes:
        interruptions: How often a life was interrupted in its work. One that ended while it
            still restored had nothing to lose and is left out.
        landed: How often the save on SIGTERM landed.
        exposure_seconds: How long all lives worked together, their saves included.
        blocking_seconds: How long the newest saves held up the work, the newest last.
        restore_seconds: How long the newest restores took, the newest last.
    """

    interruptions: int = 0
    landed: int = 0
    exposure_seconds: float = 0.0
    blocking_seconds: tuple[float, ...] = ()
    restore_seconds: tuple[float, ...] = ()

    def mapping(self) -> dict[str, float | list[float]]:
        """The same as plain data for JSON; `from_mapping` reads it."""
        return {
            "interruptions": self.interruptions,
            "landed": self.landed,
            "exposure_seconds": round(self.exposure_seconds, 3),
            "blocking_seconds": [round(value, 3) for value in self.blocking_seconds],
            "restore_seconds": [round(value, 3) for value in self.restore_seconds],
        }

    @classmethod
    def from_mapping(cls, mapping: object) -> "History":
        """Reads what `mapping` wrote.

        Never raises: what is missing or can't be is left out, for no statistics are worth a
        training that does not start.
        """
        found: Mapping[str, object] = {}
        if isinstance(mapping, Mapping):
            found = cast(Mapping[str, object], mapping)
        interruptions = int(_number(found.get("interruptions")) or 0)
        return cls(
            interruptions=interruptions,
            landed=min(int(_number(found.get("landed")) or 0), interruptions),
            exposure_seconds=_number(found.get("exposure_seconds")) or 0.0,
            blocking_seconds=_numbers(found.get("blocking_seconds")),
            restore_seconds=_numbers(found.get("restore_seconds")),
        )

    def with_save(self, blocking_seconds: float) -> "History":
        """The same with one more save."""
        return replace(self, blocking_seconds=_newest(self.blocking_seconds, blocking_seconds))

    def with_restore(self, seconds: float) -> "History":
        """The same with one more restore."""
        return replace(self, restore_seconds=_newest(self.restore_seconds, seconds))

    def with_exposure(self, seconds: float) -> "History":
        """The same with `seconds` more of work."""
        return replace(self, exposure_seconds=self.exposure_seconds + max(seconds, 0.0))

    def with_interruption(self, landed: bool) -> "History":
        """The same with one more interruption."""
        return replace(self, interruptions=self.interruptions + 1, landed=self.landed + int(landed))


def _newest(measured: tuple[float, ...], value: float) -> tuple[float, ...]:
    known = _number(value)
    return measured if known is None else (*measured, known)[-KEPT_MEASUREMENTS:]


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # Finite is more than a float holds: JSON's whole numbers have no end.
    return float(value) if 0 <= value <= _MOST else None


def _numbers(value: object) -> tuple[float, ...]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        return ()
    found = (_number(item) for item in cast(Sequence[object], value))
    return tuple(number for number in found if number is not None)[-KEPT_MEASUREMENTS:]
