"""What a worker may be given, checked before it takes a message."""

import re
from collections.abc import Iterator

MOST_MESSAGES = 10
"""The most messages in hand at once."""

_TOPIC = re.compile(r"projects/[^/\s]+/topics/[^/\s]+")


def check_arguments(
    *,
    messages_per_batch: object,
    most_errors: object,
    sink_patience_seconds: object,
    leave_when_idle_seconds: object,
    message_timeout_seconds: object,
    dead_letter_topic: object,
) -> None:
    """Checks arguments of `QueueWorker`.

    Raises:
        ValueError: some cannot be; all of them are named.
    """
    problems = [
        *_whole("messages_per_batch", messages_per_batch, MOST_MESSAGES),
        *_whole("most_errors", most_errors, None),
        *_seconds("sink_patience_seconds", sink_patience_seconds),
    ]
    if leave_when_idle_seconds is not None:
        problems += _seconds("leave_when_idle_seconds", leave_when_idle_seconds)
    if message_timeout_seconds is not None:
        problems += _seconds("message_timeout_seconds", message_timeout_seconds, above=True)
    if dead_letter_topic is not None and not _TOPIC.fullmatch(str(dead_letter_topic)):
        problems.append(f"dead_letter_topic={dead_letter_topic!r}: projects/PROJECT/topics/NAME")
    if problems:
        raise ValueError("QueueWorker: " + "; ".join(problems))


def _whole(name: str, value: object, most: int | None) -> Iterator[str]:
    given = value if isinstance(value, int) and not isinstance(value, bool) else 0
    if given < 1 or (most is not None and given > most):
        rule = f"a whole number, 1 to {most}" if most else "a whole number, 1 or more"
        yield f"{name}={value!r}: {rule}"


def _seconds(name: str, value: object, *, above: bool = False) -> Iterator[str]:
    given = value if isinstance(value, int | float) and not isinstance(value, bool) else -1
    if not given >= 0 or (above and not given):
        yield f"{name}={value!r}: a number of seconds, {'more than 0' if above else '0 or more'}"
