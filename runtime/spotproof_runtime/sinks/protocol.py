"""What a sink is: where results go, by a key of the business."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable


@dataclass(frozen=True)
class Row:
    """One result.

    Attributes:
        key: the item's key.
        value: the result, anything that JSON holds.
    """

    key: str
    value: Any


class RowRefused(ValueError):
    """The sink is well, but can never take this row: counted as an error of its item."""


class Sink(Protocol):
    """Where results go. These two methods are all that a sink of your own needs.

    An error out of either means that the sink is not well: the worker stops pulling and tries
    again. `ValueError` (so `RowRefused`) and `TypeError` out of `put` mean that the rows are not.
    """

    def have(self, keys: Collection[str]) -> set[str]:
        """Those of the keys whose results are stored, at this worker's version or a newer one."""
        ...

    def put(self, rows: Sequence[Row]) -> None:
        """Stores all rows or none, durably, before it returns.

        The same row twice must leave what one leaves; an older version must never overwrite a
        newer one.
        """
        ...


@runtime_checkable
class ErrorBook(Protocol):
    """Counts errors by key, in one place for all workers. A sink may be one too."""

    def count_error(self, key: str, error: str) -> int:
        """Notes one more error of the key; returns how many there are now."""
        ...

    def forget_errors(self, keys: Collection[str]) -> None:
        """The keys succeeded: their errors count no more."""
        ...


@runtime_checkable
class Claims(Protocol):
    """Lets one worker at a time work on a key. A sink may do so too.

    A claim ends when its worker ends, however it ends.
    """

    def claim(self, keys: Collection[str]) -> set[str]:
        """Claims what no other worker has claimed; returns the keys that are this worker's now."""
        ...

    def release(self, keys: Collection[str]) -> None:
        """Gives claims back. Never raises: a claim ends with its connection at the latest."""
        ...


class ErrorsInMemory:
    """Counts errors in this process: what a sink gets that cannot count them itself.

    A message then has the budget in each worker, not in all of them together.
    """

    def __init__(self) -> None:
        self._errors: dict[str, int] = {}

    def count_error(self, key: str, error: str) -> int:
        """Notes one more error of the key; returns how many there are now."""
        self._errors[key] = self._errors.get(key, 0) + 1
        return self._errors[key]

    def forget_errors(self, keys: Collection[str]) -> None:
        """The keys succeeded: their errors count no more."""
        for key in keys:
            self._errors.pop(key, None)
