"""The lives of a run, made out of its events: what each did, and when."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from spotproof_runtime.event_files import Event, Reading

Span = tuple[float, float]
"""A stretch of time, from and to, in seconds since 1970."""

KNOWN_EVENTS = frozenset(
    {
        *("run_started", "restored", "notice", "progress", "interrupted", "run_finished"),
        *("run_failed", "hopeless", "interval_chosen", "checkpoint_skipped", "cleanup_failed"),
        *("save_started", "save_finished", "save_failed", "save_replaced", "save_awaited"),
        *("message_started", "message_stored", "message_acked", "message_given_back"),
        *("message_failed", "message_timed_out", "message_dead_lettered", "dead_letter_failed"),
        *("ack_failed", "lease_failed", "pull_failed", "sink_failed", "notice_callback_failed"),
    }
)

_SKEW = 30.0
"""Seconds by which clocks may differ before it is worth a note."""

_ENDS = {"run_finished": "finished", "run_failed": "failed", "hopeless": "hopeless"}


@dataclass
class Life:
    """One process, from its start to its end.

    Attributes:
        start: When it started, as far as its events tell.
        end: When its last event was.
        events: What it said, with times that never go back.
        work_start: When its first step began, None if none did.
        restored_at: When its state was there, None if it never was.
        restore_seconds: How long that took.
        start_step: How many steps were done when it began.
        step: How many were done at its end.
        points: When how many steps were done, in order of time.
        saving: When saves held up the work, without overlaps.
        outcome: `finished`, `failed` or `hopeless`, or how its interruption went: `saved`,
            `flushed`, `too_late` or `none`; None for a life that has no end yet.
    """

    start: float
    end: float
    events: list[Event]
    work_start: float | None = None
    restored_at: float | None = None
    restore_seconds: float = 0.0
    start_step: int = 0
    step: int = 0
    points: list[tuple[float, int]] = field(default_factory=list[tuple[float, int]])
    saving: list[Span] = field(default_factory=list[Span])
    outcome: str | None = None

    def of(self, *names: str) -> list[Event]:
        """Its events of these names."""
        return [event for event in self.events if event.name in names]

    @property
    def interrupted(self) -> bool:
        """Whether it ended before the work was done."""
        return self.outcome not in (None, *_ENDS.values())

    @property
    def works(self) -> bool:
        """Whether it does steps, as a training does and a queue worker does not."""
        return self.work_start is not None

    def time_of(self, step: int) -> float:
        """When `step` steps were done, interpolated between what was said."""
        before = (self.work_start if self.work_start is not None else self.end, self.start_step)
        if step <= before[1]:
            return before[0]
        for point in self.points:
            if point[1] >= step:
                if point[1] == before[1]:
                    return point[0]
                share = (step - before[1]) / (point[1] - before[1])
                return before[0] + share * (point[0] - before[0])
            before = point
        return self.end


def lives_of(reading: Reading) -> tuple[list[Life], list[str]]:
    """The lives of a run in order of their start, and what to know about the events."""
    notes: list[str] = []
    names = Counter(event.name for events in reading.events for event in events)
    unknown = [f"{name} ({names[name]})" for name in sorted(names) if name not in KNOWN_EVENTS]
    if unknown:
        notes.append("events of unknown names, left out: " + ", ".join(unknown))
    split = [part for events in reading.events for part in _split(events)]
    lives = [_life(_steady(part, notes)) for part in split]
    lives.sort(key=lambda life: life.start)
    for index, life in enumerate(lives):
        life.outcome = _outcome(life, last=index == len(lives) - 1)
    overlaps = sum(b.start < a.end - _SKEW for a, b in pairwise(lives))
    if overlaps:
        notes.append(
            f"{overlaps} lives began before the one before had ended: several processes at once, "
            "or clocks that differ; shares are of the time of all processes together"
        )
    return lives, notes


def _split(events: Sequence[Event]) -> list[list[Event]]:
    """The events of one file by life; those of several processes may be mixed."""
    done: list[list[Event]] = []
    parts: dict[int | None, list[Event]] = {}
    for event in events:
        part = parts.setdefault(event.pid, [])
        if part and _begins(part, event):
            done.append(part)
            part = parts[event.pid] = []
        part.append(event)
    return [*done, *parts.values()]


def _begins(part: Sequence[Event], event: Event) -> bool:
    """Whether a new life begins; in a container each has the same process number."""
    if event.name == "run_started":
        return True
    if event.name not in ("checkpoint_skipped", "restored", "hopeless"):
        return False
    return any(before.name in ("restored", "progress", "interrupted") for before in part)


def _steady(events: Sequence[Event], notes: list[str]) -> list[Event]:
    """The same events as if the clock had never been set back."""
    steady: list[Event] = []
    shift, told_at = 0.0, None
    for event in events:
        time = event.time + shift
        least = steady[-1].time if steady else time
        measured = event.number("seconds") if event.name == "progress" else None
        if measured is not None and told_at is not None and told_at + measured > time + _SKEW:
            least = told_at + measured
        if time < least:
            if least - time > _SKEW:
                notes.append(f"{event.source}: the clock went back by {least - time:.0f} s")
            shift += least - time
            time = least
        if event.name == "progress":
            told_at = time
        steady.append(replace(event, time=time))
    return steady


def _life(events: list[Event]) -> Life:
    life = Life(start=events[0].time, end=events[-1].time, events=events)
    for event in events:
        step, seconds = event.number("step"), event.number("seconds") or 0.0
        if event.name == "run_started":
            life.start = min(life.start, event.time - seconds)
        elif event.name == "restored":
            life.restored_at, life.restore_seconds = event.time, seconds
            life.start = min(life.start, event.time - seconds)
            life.start_step = life.step = int(step or 0)
        elif event.name == "progress" and step is not None:
            _progressed(life, event, int(step), seconds)
        elif event.name == "save_started" and step is not None:
            _reached(life, event.time, int(step))
        elif event.name == "interrupted" and step is not None:
            lost = event.number("lost_steps") or 0
            _reached(life, event.time - seconds, int(step + lost))
    if life.work_start is None and life.points:
        life.work_start = life.points[0][0] if life.restored_at is None else life.restored_at
    # Whatever the order of what was said: start, restore, work, end.
    if life.work_start is not None:
        begun = life.work_start = max(life.work_start, life.restored_at or life.start)
        life.points = [(max(time, begun), step) for time, step in life.points]
    life.saving = _saving(life)
    return life


def _progressed(life: Life, event: Event, step: int, seconds: float) -> None:
    if life.work_start is None:
        life.work_start = max(event.time - seconds, life.restored_at or life.start)
        steps = int(event.number("steps") or 0)
        if life.restored_at is None:
            life.start_step = max(step - steps, 0)
    _reached(life, event.time, step)


def _reached(life: Life, time: float, step: int) -> None:
    if step >= life.step:
        life.step = step
        since = life.points[-1][0] if life.points else life.start
        life.points.append((max(time, since), step))


def _saving(life: Life) -> list[Span]:
    spans: list[Span] = []
    started: dict[float, float] = {}
    for event in life.events:
        step = event.number("step") or 0.0
        if event.name == "save_started":
            started[step] = event.time
        elif event.name == "save_finished":
            held = event.number("blocking_seconds") or 0.0
            begun = started.pop(step, event.time - held)
            spans.append((begun, min(begun + held, life.end)))
        elif event.name == "save_awaited" or (
            event.name == "interrupted" and event.text("outcome") != "none"
        ):
            spans.append((event.time - (event.number("seconds") or 0.0), event.time))
    return union(spans)


def union(spans: Iterable[Span]) -> list[Span]:
    """The same stretches in order and without overlaps."""
    joined: list[Span] = []
    for begin, end in sorted(spans):
        if joined and begin <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        elif end > begin:
            joined.append((begin, end))
    return joined


def _outcome(life: Life, *, last: bool) -> str | None:
    for event, outcome in _ENDS.items():
        if life.of(event):
            return outcome
    interrupted = life.of("interrupted")
    if interrupted:
        return interrupted[-1].text("outcome") or "none"
    if last and not life.of("notice"):
        return None
    if life.of("message_started"):
        return "saved" if life.of("notice") and _in_hand(life) <= 0 else "none"
    return "too_late" if life.of("notice") else "none"


def _in_hand(life: Life) -> float:
    taken = sum(event.number("messages") or 1 for event in life.of("message_started"))
    ended = life.of("message_acked", "message_given_back")
    return taken - sum(event.number("messages") or 1 for event in ended)
