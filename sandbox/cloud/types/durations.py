"""Durations as Google's APIs write them: seconds with `s` at the end."""

import re
from typing import Any


def seconds_of(text: str) -> float | None:
    """The seconds of a duration such as `600s` or `3.5s`; None when it is not written so."""
    if not re.fullmatch(r"-?[0-9]+(\.[0-9]{1,9})?s", text, re.ASCII):
        return None
    return float(text[:-1])


def normal(text: str) -> str:
    """The duration as the server answers it: `10.0s` is `10s`."""
    seconds = seconds_of(text)
    if seconds is None:
        return text
    return f"{int(seconds)}s" if seconds.is_integer() else f"{seconds}s"


def same(old: Any, new: Any) -> bool:
    """Whether two durations are equally long."""
    if not isinstance(old, str) or not isinstance(new, str):
        return False
    return seconds_of(old) is not None and seconds_of(old) == seconds_of(new)


def outside(field: str, value: str | None, low: int, high: float = float("inf")) -> list[str]:
    """A complaint when the duration is not written as one, or is not `low` to `high` seconds."""
    if value in (None, ""):
        return []
    seconds = seconds_of(str(value))
    if seconds is None:
        return [f"Invalid value at '{field}' (Duration), '{value}': it is in seconds, such as 600s"]
    if low <= seconds <= high:
        return []
    limit = f"at least {low}s" if high == float("inf") else f"{low}s to {int(high)}s"
    return [f"The value for {field} '{value}' is out of bounds: it is {limit}"]
