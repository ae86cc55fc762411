"""The figures of a run as lines of text, and the words that all reports share."""

from datetime import datetime, timezone

from spotproof_runtime.goodput import Figures
from spotproof_runtime.lives import Life

_OUTCOMES = {
    "saved": "saved",
    "flushed": "only the save under way was finished",
    "too_late": "the save came too late",
    "none": "nothing saved",
}


def duration(seconds: float | None) -> str:
    """A duration as people say it, for example `7 min 30 s`; `-` for None."""
    if seconds is None:
        return "-"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    if whole < 86_400:
        return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
    return f"{whole // 86_400} d {whole % 86_400 // 3600:02d} h"


def moment(time: float) -> str:
    """A time in UTC, to the second."""
    try:
        return datetime.fromtimestamp(time, timezone.utc).strftime("%Y-%m-%d %H:%M:%S")
    except (OverflowError, ValueError, OSError):
        return f"{time:.0f}"


def percent(part: float, whole: float) -> str:
    """A share in per cent."""
    return f"{100 * part / whole:.2f} %" if whole else "-"


def how_it_ended(life: Life) -> str:
    """In a few words, how a life ended."""
    if life.outcome is None:
        return "no end yet"
    if life.interrupted:
        return f"interrupted, {_OUTCOMES.get(life.outcome, life.outcome)}"
    return life.outcome


def headline(figures: Figures) -> list[tuple[str, str]]:
    """The figures that come first, with their names."""
    goodput = figures.goodput
    lost = sum(each.lost_steps for each in figures.interruptions)
    lines = [
        ("goodput", "-" if goodput is None else f"{100 * goodput:.2f} %"),
        ("elapsed", duration(figures.elapsed_seconds)),
        ("lives", str(len(figures.lives))),
        ("interruptions", str(len(figures.interruptions))),
        ("steps done", str(figures.steps)),
        ("steps done again", str(lost)),
        ("saves", f"{figures.saves}, {figures.failed_saves} failed"),
    ]
    if figures.interval is not None:
        lines.append(("interval", _interval(figures.interval)))
    lines += _work_on_messages(figures)
    lines += [(f"messages {key.replace('_', ' ')}", str(n)) for key, n in figures.messages.items()]
    return lines


def _work_on_messages(figures: Figures) -> list[tuple[str, str]]:
    worked = sum(figures.message_seconds.values())
    return [
        (
            f"work {result.value.replace('_', ' ')}",
            f"{duration(seconds)}, {percent(seconds, worked)}",
        )
        for result, seconds in figures.message_seconds.items()
        if seconds
    ]


def _interval(chosen: dict[str, object]) -> str:
    estimate = chosen.get("estimate_seconds")
    text = f"{estimate:.0f} s" if isinstance(estimate, int | float) else "unknown"
    if chosen.get("fixed"):
        return f"fixed, {chosen['fixed']}; the estimate is {text}"
    return f"{text}, estimated"


def text(figures: Figures) -> str:
    """All figures for a terminal."""
    lines = [f"run {figures.run}" if figures.run else "run without a name"]
    lines += [f"  {name:<24} {value}" for name, value in headline(figures)]
    lines.append("badput")
    lines += [
        f"  {kind.value:<40} {duration(seconds):>14} {percent(seconds, figures.elapsed_seconds):>9}"
        for kind, seconds in figures.badput_seconds.items()
        if seconds
    ]
    if figures.interruptions:
        lines.append("interruptions")
        lines += [
            f"  life {each.life}, {moment(each.time)} UTC: {each.outcome.replace('_', ' ')}, "
            f"{each.lost_steps} steps lost ({duration(each.lost_seconds)}), save "
            f"{duration(each.save_seconds)}, resumed after {duration(each.resume_seconds)}"
            for each in figures.interruptions
        ]
    lines += [f"skipped checkpoint {each}" for each in figures.skipped]
    lines += [f"note: {note}" for note in figures.notes]
    return "\n".join(printable(line) for line in lines)


def printable(line: str) -> str:
    """`line` without characters that would break it or steer a terminal."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in line)
