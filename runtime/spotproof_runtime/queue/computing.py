"""Runs the user's work on a batch, and finds the items that it fails for."""

from collections.abc import Callable, Collection, Iterable, Sequence

from spotproof_runtime.queue.messages import Item
from spotproof_runtime.sinks.protocol import Row
from spotproof_runtime.stop import Stop

Compute = Callable[[Sequence[Item]], Iterable[Row]]
"""The work: one row for each item. It may be called again for each item alone."""


def compute_each(
    compute: Compute, items: Sequence[Item], stop: Stop
) -> tuple[list[Row], dict[str, Exception]]:
    """Rows of the items that it succeeds for, and errors of those it fails for.

    When it fails for several at once, each is tried alone, so that one bad item takes no good one
    with it. Once the end is asked for, what is left then is in neither.
    """
    try:
        return checked(compute(items), [item.key for item in items]), {}
    except Exception as error:
        if len(items) == 1:
            return [], {items[0].key: error}
    rows: list[Row] = []
    failed: dict[str, Exception] = {}
    for item in items:
        if stop.requested:
            break
        try:
            rows += checked(compute([item]), [item.key])
        except Exception as error:
            failed[item.key] = error
    return rows, failed


def checked(rows: Iterable[Row], keys: Collection[str]) -> list[Row]:
    """The rows, if they are one for each key.

    Raises:
        ValueError: a row is missing, of no item, or twice there.
        TypeError: something else than rows.
    """
    given = list(rows)
    strange = [each for each in given if not isinstance(each, Row)]  # pyright: ignore
    if strange:
        raise TypeError(f"{type(strange[0]).__name__} given as a result; give Row(key, value)")
    found = {row.key for row in given}
    problems = [f"no row for item {key!r}" for key in keys if key not in found]
    problems += [f"row {key!r} is of no item" for key in sorted(found - set(keys))]
    if len(given) > len(found):
        problems.append("two rows of one key: put what belongs together into one value")
    if problems:
        raise ValueError("; ".join(problems))
    return given
