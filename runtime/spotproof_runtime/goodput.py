"""What a run has done with its time: goodput, and badput under the names that Google uses.

The names are those of `BadputType` in AI-Hypercomputer/ml-goodput-measurement,
`ml_goodput_measurement/src/goodput_utils.py`, and their meaning that of its README, read on
2026-11-30; so figures can be compared with those of that library. All of a run's time falls under
goodput or one of them. `DATA_LOADING_ASYNC` does not hold up the work, `DATA_LOADING_SYNC`,
`TPU_INITIALIZATION` and `CUSTOM_BADPUT_EVENTS` are not told apart here: what there is of them is
part of the steps or of the start.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from typing import Any

from spotproof_runtime.event_files import Event, Reading
from spotproof_runtime.lives import Life, Span, lives_of
from spotproof_runtime.message_times import WorkResult, message_counts, message_seconds


class BadputType(str, Enum):
    """Why time was no goodput."""

    TPU_INITIALIZATION = "TPU_INITIALIZATION"
    TRAINING_PREP = "TRAINING_PREP"
    """From the start of a process until its restore and from no restore to the first step."""
    PROGRAM_STARTUP = "PROGRAM_STARTUP"
    """From the restored state to the first step: compilation, warm-up."""
    DATA_LOADING_SYNC = "DATA_LOADING_SYNC"
    DATA_LOADING_ASYNC = "DATA_LOADING_ASYNC"
    UNPRODUCTIVE_CHECKPOINT_SAVE_TIME = "UNPRODUCTIVE_CHECKPOINT_SAVE_TIME"
    """Saves, as far as they held up the work."""
    UNPRODUCTIVE_CHECKPOINT_RESTORE_TIME = "UNPRODUCTIVE_CHECKPOINT_RESTORE_TIME"
    WASTED_PROGRESS_FROM_DISRUPTION = "WASTED_PROGRESS_FROM_DISRUPTION"
    """Steps that were done and not saved, so that they had to be done again."""
    INFRASTRUCTURE_RECOVERY_FROM_DISRUPTION = "INFRASTRUCTURE_RECOVERY_FROM_DISRUPTION"
    """From the last event of a life to the start of the next: a new node, image, process."""
    CUSTOM_BADPUT_EVENTS = "CUSTOM_BADPUT_EVENTS"
    OTHER = "OTHER"
    """All time of lives that never came to a step."""


@dataclass(frozen=True)
class InterruptionFigures:
    """What one interruption cost.

    Attributes:
        life: The number of the life that it ended, from 1.
        time: When, in seconds since 1970.
        outcome: `saved`, `flushed`, `too_late` or `none`.
        lost_steps: Steps that had to be done again.
        lost_seconds: How long they had taken.
        save_seconds: From the notice until the last save had ended, None without either.
        resume_seconds: From its end until a later life's work went on, None if none does yet.
    """

    life: int
    time: float
    outcome: str
    lost_steps: int
    lost_seconds: float
    save_seconds: float | None
    resume_seconds: float | None


@dataclass(frozen=True)
class Figures:
    """What a run has done with its time.

    Attributes:
        run: Its name, None when the events have none.
        elapsed_seconds: All time of its lives and between them.
        productive_seconds: Time in steps that were kept.
        badput_seconds: The rest, by its reason.
        lives: All lives, in order.
        lost_spans: For each life, the stretch of it that was lost, or None.
        interruptions: What each interruption cost.
        steps: How many steps are done.
        saves: How many saves were committed.
        failed_saves: How many failed.
        skipped: Checkpoints that a restore has passed over, and why.
        interval: The last choice of the interval, as `SaveInterval.fields` gives it.
        messages: Counts of a queue worker's messages by what became of them.
        message_seconds: How long was worked on messages, by what became of the work; empty without
            any. A batch of which something was stored counts as stored.
        notes: What to know about the events.
    """

    run: str | None
    elapsed_seconds: float
    productive_seconds: float
    badput_seconds: dict[BadputType, float]
    lives: list[Life]
    lost_spans: list[Span | None]
    interruptions: list[InterruptionFigures]
    steps: int
    saves: int
    failed_saves: int
    skipped: list[str]
    interval: dict[str, object] | None
    messages: dict[str, int]
    message_seconds: dict[WorkResult, float]
    notes: list[str]

    @property
    def goodput(self) -> float | None:
        """The share of the time in steps that were kept; None for a run without steps."""
        if not any(life.works for life in self.lives) or not self.elapsed_seconds:
            return None
        return self.productive_seconds / self.elapsed_seconds

    def mapping(self) -> dict[str, Any]:
        """The same as plain data for JSON."""
        return {
            "run": self.run,
            "goodput": None if self.goodput is None else round(self.goodput, 6),
            "elapsed_seconds": round(self.elapsed_seconds, 3),
            "goodput_seconds": round(self.productive_seconds, 3),
            "badput_seconds": {
                kind.value: round(seconds, 3) for kind, seconds in self.badput_seconds.items()
            },
            "lives": len(self.lives),
            "finished": bool(self.lives) and self.lives[-1].outcome == "finished",
            "steps": self.steps,
            "saves": self.saves,
            "failed_saves": self.failed_saves,
            "skipped_checkpoints": self.skipped,
            "lost_steps": sum(each.lost_steps for each in self.interruptions),
            "interruptions": [
                {
                    key: round(value, 3) if isinstance(value, float) else value
                    for key, value in vars(each).items()
                }
                for each in self.interruptions
            ],
            "interval": self.interval,
            "messages": self.messages,
            "message_seconds": {
                result.value: round(seconds, 3) for result, seconds in self.message_seconds.items()
            },
            "notes": self.notes,
        }


def figures(reading: Reading) -> Figures:
    """Computes the figures of one run, see `Reading.of_run`."""
    lives, notes = lives_of(reading)
    lost_from = _lost_from(lives)
    badput = dict.fromkeys(BadputType, 0.0)
    productive = 0.0
    for life, lost in zip(lives, lost_from, strict=True):
        productive += _spend(life, lost, badput)
    gaps = [max(b.start - a.end, 0.0) for a, b in pairwise(lives)]
    badput[BadputType.INFRASTRUCTURE_RECOVERY_FROM_DISRUPTION] += sum(gaps)
    chosen = _all(lives, "interval_chosen")
    runs = [event.run for life in lives for event in life.events if event.run]
    if lives and lives[-1].outcome is None:
        notes.append("the last life has no end: it goes on, or was killed and has no successor yet")
    return Figures(
        run=runs[0] if runs else None,
        elapsed_seconds=sum(life.end - life.start for life in lives) + sum(gaps),
        productive_seconds=productive,
        badput_seconds=badput,
        lives=lives,
        lost_spans=[
            None if at is None else (at, life.end)
            for life, at in zip(lives, lost_from, strict=True)
        ],
        interruptions=_interruptions(lives, lost_from),
        steps=lives[-1].step if lives else 0,
        saves=len(_all(lives, "save_finished")),
        failed_saves=len(_all(lives, "save_failed")),
        skipped=[
            f"{event.fields.get('name')}: {event.fields.get('why')}"
            for event in _all(lives, "checkpoint_skipped")
        ],
        interval=dict(chosen[-1].fields) if chosen else None,
        messages=message_counts(lives),
        message_seconds=message_seconds(lives),
        notes=[*reading.notes, *notes],
    )


def _all(lives: Sequence[Life], name: str) -> list[Event]:
    return [event for life in lives for event in life.of(name)]


def _lost_from(lives: Sequence[Life]) -> list[float | None]:
    """For each life, from when on its work was lost: what a later life did not start from."""
    found: list[float | None] = [None] * len(lives)
    for index, life in enumerate(lives):
        if not life.works and life.restored_at is None:
            continue
        for earlier in range(index):
            other = lives[earlier]
            if other.works and other.step > life.start_step:
                at = other.time_of(life.start_step)
                known = found[earlier]
                found[earlier] = at if known is None else min(at, known)
    return found


def _spend(life: Life, lost: float | None, badput: dict[BadputType, float]) -> float:
    """Adds the time of a life to `badput`; returns what was goodput."""
    restoring = min(life.restore_seconds, life.end - life.start)
    badput[BadputType.UNPRODUCTIVE_CHECKPOINT_RESTORE_TIME] += restoring
    if life.work_start is None:
        badput[BadputType.OTHER] += life.end - life.start - restoring
        return 0.0
    if life.restored_at is None:
        badput[BadputType.TRAINING_PREP] += life.work_start - life.start
    else:
        badput[BadputType.TRAINING_PREP] += life.restored_at - life.start - restoring
        badput[BadputType.PROGRAM_STARTUP] += life.work_start - life.restored_at
    saving = _within(life.saving, life.work_start, life.end)
    badput[BadputType.UNPRODUCTIVE_CHECKPOINT_SAVE_TIME] += saving
    stepping = life.end - life.work_start - saving
    wasted = _lost_seconds(life, lost)
    badput[BadputType.WASTED_PROGRESS_FROM_DISRUPTION] += wasted
    return stepping - wasted


def _lost_seconds(life: Life, lost: float | None) -> float:
    if lost is None:
        return 0.0
    return life.end - lost - _within(life.saving, lost, life.end)


def _within(spans: Sequence[Span], begin: float, end: float) -> float:
    return sum(max(min(to, end) - max(since, begin), 0.0) for since, to in spans)


def _interruptions(
    lives: Sequence[Life], lost_from: Sequence[float | None]
) -> list[InterruptionFigures]:
    found: list[InterruptionFigures] = []
    for index, life in enumerate(lives):
        if not life.interrupted:
            continue
        later = [other for other in lives[index + 1 :] if other.works or other.restored_at]
        next_step = later[0].start_step if later else life.step
        notices, ends = life.of("notice"), life.of("interrupted")
        resumed = later[0].work_start or later[0].restored_at if later else None
        found.append(
            InterruptionFigures(
                life=index + 1,
                time=life.end,
                outcome=life.outcome or "none",
                lost_steps=max(life.step - next_step, 0),
                lost_seconds=_lost_seconds(life, lost_from[index]),
                save_seconds=max(ends[-1].time - notices[0].time, 0) if notices and ends else None,
                resume_seconds=None if resumed is None else max(resumed - life.end, 0.0),
            )
        )
    return found
