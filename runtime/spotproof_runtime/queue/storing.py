"""Puts results into the sink, and rides out what the sink may run into."""

import time
from collections.abc import Callable, Collection, Sequence

from spotproof_runtime.error_text import error_class, error_text
from spotproof_runtime.events import EventLog
from spotproof_runtime.queue.pause import Pauses, time_left
from spotproof_runtime.queue.summary import Summary
from spotproof_runtime.sinks.protocol import Row, Sink
from spotproof_runtime.stop import Stop

ROW_FAULTS = (ValueError, TypeError)
"""Errors out of `put` that are the rows' fault, not the sink's."""


class SinkDown(Exception):
    """The sink was not well for longer than results are kept for it."""


class Storing:
    """The writes of one worker.

    Args:
        sink: where results go.
        stop: once requested, a failing sink is tried for the time left only.
        patience_seconds: for how long it is tried otherwise.
        events: told of errors.
        summary: counts stored items and the times that the sink failed.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        sink: Sink,
        stop: Stop,
        patience_seconds: float,
        *,
        events: EventLog,
        summary: Summary,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._sink = sink
        self._stop = stop
        self._patience_seconds = patience_seconds
        self._events = events
        self._summary = summary
        self._clock = clock
        # A result in hand is put soon after the sink is back: before another worker, whose next
        # question to the sink comes later, works on the same again.
        self._pauses = Pauses(stop, first_seconds=0.2, most_seconds=1.0)
        self._probes = Pauses(stop, first_seconds=1.0, most_seconds=30.0)

    def store(self, rows: Sequence[Row]) -> dict[str, Exception]:
        """Stores rows; returns those that the sink refuses, by key.

        Raises:
            SinkDown: the sink is not well; what is stored is not known.
        """
        if not rows:
            return {}
        try:
            self._put(rows)
        except ROW_FAULTS as error:
            if len(rows) == 1:
                return {rows[0].key: error}
        else:
            return {}
        refused: dict[str, Exception] = {}
        for row in rows:
            try:
                self._put([row])
            except ROW_FAULTS as error:
                refused[row.key] = error
        return refused

    def wait_until_well(self, keys: Collection[str]) -> None:
        """Asks the sink until it answers or the end is asked for; nothing is pulled meanwhile."""
        while not self._stop.requested:
            self._probes.take()
            try:
                self._sink.have(keys)
            except Exception as error:
                self.failed("have", error)
            else:
                self._probes.over()
                return

    def failed(self, call: str, error: Exception) -> None:
        """Notes that the sink was not well."""
        self._summary.sink_failures += 1
        text = f"{error_class(error)}: {error_text(error)}"
        self._events.record("sink_failed", call=call, error=text)

    def _put(self, rows: Sequence[Row]) -> None:
        ends = self._clock() + self._patience_seconds
        while True:
            try:
                self._sink.put(rows)
            except ROW_FAULTS:
                raise
            except Exception as error:
                self.failed("put", error)
            else:
                self._pauses.over()
                self._summary.stored += len(rows)
                self._events.record("message_stored", items=len(rows))
                return
            if self._clock() > ends or (self._stop.requested and time_left(self._stop) <= 0):
                raise SinkDown
            self._pauses.take()
