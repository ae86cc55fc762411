"""The figures of a run and its timeline as one HTML file that needs nothing else."""

from html import escape

from spotproof_runtime.goodput import Figures
from spotproof_runtime.lives import Life, Span
from spotproof_runtime.report_text import duration, headline, how_it_ended, moment, percent

_WIDTH = 1000
_HEIGHT = 20
_SMALLEST = 2.0
"""A save is at least this wide, so that it can be seen."""

_COLOURS = {
    "kept": ("kept work", "#2e7d5b"),
    "lost": ("lost work", "#c0392b"),
    "saving": ("save", "#1f4e8c"),
    "restoring": ("restore", "#d98e04"),
    "starting": ("start", "#9aa3ad"),
}

_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 72rem; padding: 1rem; }
h1 { font-size: 1.4rem; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin-top: 2rem; }
dl { display: grid; gap: .75rem; grid-template-columns: repeat(auto-fill, minmax(9.5rem, 1fr)); }
dt { font-size: .85rem; opacity: .75; }
dd { font-weight: 600; margin: 0; overflow-wrap: anywhere; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; }
th, td { border-bottom: 1px solid #8886; padding: .3rem .8rem .3rem 0; text-align: right;
  white-space: nowrap; }
th:first-child, td:first-child { text-align: left; white-space: normal; }
.life { margin: 0 0 .8rem; }
.life p { font-size: .85rem; margin: 0 0 .15rem; overflow-wrap: anywhere; }
svg { display: block; height: 20px; width: 100%; }
.key { display: flex; flex-wrap: wrap; font-size: .85rem; gap: .3rem 1rem; list-style: none;
  padding: 0; }
.key span { display: inline-block; height: .8rem; margin-right: .35rem; width: .8rem; }
li { overflow-wrap: anywhere; }
"""


def html(figures: Figures) -> str:
    """The whole page."""
    name = figures.run or "without a name"
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'\">",
        f"<title>Run {escape(name)}</title><style>{_STYLE}</style></head><body>",
        f"<h1>Run {escape(name)}</h1>",
        _headline(figures),
        _timeline(figures),
        _badput(figures),
        _interruptions(figures),
        _list("Checkpoints passed over", figures.skipped),
        _list("Notes", figures.notes),
        "</body></html>",
    ]
    return "\n".join(part for part in parts if part) + "\n"


def _headline(figures: Figures) -> str:
    items = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>"
        for name, value in headline(figures)
    )
    return f"<dl>{items}</dl>"


def _timeline(figures: Figures) -> str:
    longest = max((life.end - life.start for life in figures.lives), default=0.0)
    key = "".join(
        f'<li><span style="background:{colour}"></span>{words}</li>'
        for words, colour in _COLOURS.values()
    )
    rows = [
        _row(number, life, lost, longest)
        for number, (life, lost) in enumerate(
            zip(figures.lives, figures.lost_spans, strict=True), start=1
        )
    ]
    return (
        "<h2>Timeline</h2><p>One bar for each life, all to one scale; the longest is "
        f'{duration(longest)}.</p><ul class="key">{key}</ul>{"".join(rows)}'
    )


def _row(number: int, life: Life, lost: Span | None, longest: float) -> str:
    steps = f", steps {life.start_step} to {life.step}" if life.works else ""
    words = (
        f"Life {number}: {moment(life.start)} UTC, {duration(life.end - life.start)}{steps}; "
        f"{how_it_ended(life)}"
    )
    scale = _WIDTH / longest if longest > 0 else 0.0
    shapes = "".join(_shapes(life, lost, scale))
    return (
        f'<div class="life"><p>{escape(words)}</p>'
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(words)}">{shapes}</svg></div>'
    )


def _shapes(life: Life, lost: Span | None, scale: float) -> list[str]:
    def box(kind: str, span: Span, least: float = 0.0) -> str:
        left = (span[0] - life.start) * scale
        width = max((span[1] - span[0]) * scale, least)
        left = min(left, _WIDTH - width)
        return (
            f'<rect x="{left:.1f}" y="0" width="{width:.1f}" height="{_HEIGHT}" '
            f'fill="{_COLOURS[kind][1]}"/>'
        )

    shapes = [box("starting", (life.start, life.end), _SMALLEST)]
    if life.restored_at is not None:
        shapes.append(box("restoring", (life.restored_at - life.restore_seconds, life.restored_at)))
    if life.work_start is not None:
        shapes.append(box("kept", (life.work_start, life.end)))
    if lost is not None:
        shapes.append(box("lost", lost, _SMALLEST))
    # Thousands of saves in one bar would be drawn on top of each other.
    seen: set[int] = set()
    for span in life.saving:
        pixel = int((span[0] - life.start) * scale / _SMALLEST)
        if pixel not in seen:
            seen.add(pixel)
            shapes.append(box("saving", span, _SMALLEST))
    return shapes


def _badput(figures: Figures) -> str:
    elapsed = figures.elapsed_seconds
    rows = [("GOODPUT", figures.productive_seconds)] if figures.goodput is not None else []
    rows += [(kind.value, seconds) for kind, seconds in figures.badput_seconds.items() if seconds]
    cells = [[name, duration(seconds), percent(seconds, elapsed)] for name, seconds in rows]
    return "<h2>Time</h2>" + _table(["what", "time", "share"], cells)


def _interruptions(figures: Figures) -> str:
    if not figures.interruptions:
        return ""
    cells = [
        [
            str(each.life),
            moment(each.time),
            each.outcome.replace("_", " "),
            str(each.lost_steps),
            duration(each.lost_seconds),
            duration(each.save_seconds),
            duration(each.resume_seconds),
        ]
        for each in figures.interruptions
    ]
    heads = ["life", "end, UTC", "outcome", "steps lost", "time lost", "to save", "to resume"]
    return "<h2>Interruptions</h2>" + _table(heads, cells)


def _table(heads: list[str], rows: list[list[str]]) -> str:
    head = "".join(f"<th>{escape(each)}</th>" for each in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{_breakable(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f'<div class="wide"><table><tr>{head}</tr>{body}</table></div>'


def _breakable(text: str) -> str:
    """`text` escaped, so that a narrow screen can break a long name at its underscores."""
    return escape(text).replace("_", "_<wbr>")


def _list(title: str, lines: list[str]) -> str:
    if not lines:
        return ""
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<h2>{escape(title)}</h2><ul>{items}</ul>"
