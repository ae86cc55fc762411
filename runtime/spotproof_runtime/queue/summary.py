"""What a worker did in its life."""

from dataclasses import dataclass


@dataclass
class Summary:
    """Counts of one worker's life.

    Attributes:
        stored: items whose results this worker stored.
        had: items whose results were stored already.
        acked: messages that ended for good.
        given_back: messages that are another worker's to take.
        failed: errors of items.
        dead_lettered: messages of the dead letter topic that this worker published.
        sink_failures: how often the sink was not well.
    """

    stored: int = 0
    had: int = 0
    acked: int = 0
    given_back: int = 0
    failed: int = 0
    dead_lettered: int = 0
    sink_failures: int = 0
