"""Boxes, texts and signs as SVG, in colours that follow the reader's light or dark mode."""

from collections.abc import Mapping
from xml.sax.saxutils import escape

from spotproof_gke.picture import lettering
from spotproof_gke.picture.overview import Kind, Tone, Verdict

FONTS = "'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"

_LIGHT: Mapping[str, Mapping[str, str]] = {
    ".page": {"fill": "#ffffff"},
    ".frame": {"fill": "#f6f8fa", "stroke": "#8c959f"},
    ".card": {"fill": "#ffffff", "stroke": "#afb8c1"},
    ".ink": {"fill": "#1f2328"},
    ".soft": {"fill": "#4d555e"},
    ".stroke": {"stroke": "#59636e"},
    ".on-demand": {"fill": "#e3f1ff", "stroke": "#0969da"},
    ".reservation": {"fill": "#e2f6e6", "stroke": "#1a7f37"},
    ".spot": {"fill": "#fff0e0", "stroke": "#bc4c00"},
    ".flex-start": {"fill": "#f6edff", "stroke": "#8250df"},
    ".queued": {"fill": "#ffecf5", "stroke": "#bf3989"},
    ".grey": {"fill": "#eff2f5", "stroke": "#59636e"},
    ".bad": {"fill": "#ffebe9", "stroke": "#cf222e"},
    ".warn": {"fill": "#a40e26"},
    ".good": {"fill": "#116329"},
}
_DARK: Mapping[str, Mapping[str, str]] = {
    ".page": {"fill": "#0d1117"},
    ".frame": {"fill": "#151b23", "stroke": "#656c76"},
    ".card": {"fill": "#0d1117", "stroke": "#4c555f"},
    ".ink": {"fill": "#f0f6fc"},
    ".soft": {"fill": "#b1bac4"},
    ".stroke": {"stroke": "#9198a1"},
    ".on-demand": {"fill": "#10243f", "stroke": "#4493f8"},
    ".reservation": {"fill": "#10281a", "stroke": "#3fb950"},
    ".spot": {"fill": "#33200b", "stroke": "#f0883e"},
    ".flex-start": {"fill": "#271d3d", "stroke": "#ab7df8"},
    ".queued": {"fill": "#351728", "stroke": "#db61a2"},
    ".grey": {"fill": "#212830", "stroke": "#9198a1"},
    ".bad": {"fill": "#3b1418", "stroke": "#f85149"},
    ".warn": {"fill": "#ff9492"},
    ".good": {"fill": "#7ee787"},
}
KIND_CLASS: Mapping[Kind, str] = {
    Kind.ON_DEMAND: "on-demand",
    Kind.RESERVATION: "reservation",
    Kind.SPOT: "spot",
    Kind.FLEX_START: "flex-start",
    Kind.QUEUED: "queued",
    Kind.AUTO: "grey",
    Kind.UNKNOWN: "grey",
    Kind.NOWHERE: "bad",
}
_DASHES = {Kind.SPOT: "7 4", Kind.FLEX_START: "10 3 2 3", Kind.QUEUED: "2 3", Kind.AUTO: "4 4"}

# Signs in a square of 16, so that nothing is told by colour alone.
_KIND_SIGNS: Mapping[Kind, str] = {
    Kind.ON_DEMAND: "M2 2h12v12h-12z",
    Kind.RESERVATION: "M2 2h12v12h-12z M4.5 8l2.5 3 4.5-6",
    Kind.SPOT: "M8 1.5a6.5 6.5 0 0 1 6.5 6.5 M14 10.5a6.5 6.5 0 0 1-5 3.9"
    " M6 14.2a6.5 6.5 0 0 1-4.2-4.2 M1.6 6.5a6.5 6.5 0 0 1 3.9-4.5 M8 4.5v3.8l2.6 1.6",
    Kind.FLEX_START: "M3 1.5h10 M3 14.5h10 M4 1.5c0 4 4 4.5 4 6.5s-4 2.5-4 6.5"
    " M12 1.5c0 4-4 4.5-4 6.5s4 2.5 4 6.5",
    Kind.QUEUED: "M2 3h12v2.6h-12z M2 7h12v2.6h-12z M2 11h12v2.6h-12z",
    Kind.AUTO: "M8 2v12 M2 8h12",
    Kind.UNKNOWN: "M5 5.5a3 3 0 1 1 3 3v2 M8 13v1",
    Kind.NOWHERE: "M3 3l10 10 M13 3l-10 10",
}
_TONE_SIGNS: Mapping[Tone, str] = {
    Tone.SYSTEM: "M8 5a3 3 0 1 0 .01 0 M8 1v3 M8 12v3 M1 8h3 M12 8h3 M3.2 3.2l2 2 M10.8 10.8l2 2"
    " M3.2 12.8l2-2 M10.8 5.2l2-2",
    Tone.ANY: "M2 8a1.5 1.5 0 1 0 3 0a1.5 1.5 0 1 0-3 0 M6.5 8a1.5 1.5 0 1 0 3 0a1.5 1.5 0 1 0-3 0"
    " M11 8a1.5 1.5 0 1 0 3 0a1.5 1.5 0 1 0-3 0",
    Tone.ASKING: "M1.5 8a3 3 0 1 0 6 0a3 3 0 1 0-6 0 M7.5 8h7 M11.5 8v3 M14.2 8v3",
    Tone.WORK: "M4 2.5l9 5.5-9 5.5z",
    Tone.WARNING: "M8 1.8l6.8 12.4h-13.6z M8 6v4 M8 11.6v1",
}
_VERDICT_SIGNS: Mapping[Verdict, str] = {
    Verdict.MATCH: "M2.5 8.5l3.5 4 7.5-9",
    Verdict.MISMATCH: "M3 3l10 10 M13 3l-10 10",
    Verdict.OPEN: "M5 8a3 3 0 1 0 6 0a3 3 0 1 0-6 0",
}


def _rules(theme: Mapping[str, Mapping[str, str]]) -> str:
    return "".join(
        f"{name}{{{';'.join(f'{key}:{value}' for key, value in colours.items())}}}"
        for name, colours in theme.items()
    )


class Paper:
    """What is drawn so far, in the order in which it lies on the page."""

    def __init__(self) -> None:
        self._parts: list[str] = []

    def mark(self) -> int:
        """A place that `box` can put a box at later, under all that comes in between."""
        self._parts.append("")
        return len(self._parts) - 1

    def box(
        self,
        corner: tuple[float, float],
        size: tuple[float, float],
        look: str,
        *,
        at: int | None = None,
        dashes: str = "",
        radius: float = 6,
    ) -> None:
        """A box; with `at` it lies where `mark` was called."""
        (x, y), (wide, high) = corner, size
        dash = f' stroke-dasharray="{dashes}"' if dashes else ""
        part = (
            f'<rect class="{look}" x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}" '
            f'rx="{radius:g}"{dash}/>'
        )
        if at is None:
            self._parts.append(part)
        else:
            self._parts[at] = part

    def write(
        self,
        corner: tuple[float, float],
        text: str,
        room: float,
        size: float,
        *,
        look: str = "ink",
        bold: bool = False,
        most: int = 2,
    ) -> float:
        """Text under `corner`, at most `room` wide; returns the y of its lower edge.

        What had to be cut is there in full as the title that a mouse shows.
        """
        x, y = corner
        shown = lettering.lines(text, room, size, bold=bold, most=most)
        step = size * lettering.LINE_HEIGHT
        weight = ' font-weight="600"' if bold else ""
        spans = "".join(
            f'<tspan x="{x:.1f}" y="{y + size + row * step:.1f}">{_escaped(line)}</tspan>'
            for row, line in enumerate(shown)
        )
        is_cut = bool(shown) and shown[-1].endswith(lettering.ELLIPSIS)
        title = f"<title>{_escaped(text[:500])}</title>" if is_cut else ""
        self._parts.append(
            f'<text class="{look}" font-size="{size:g}"{weight}>{title}{spans}</text>'
        )
        return y + step * len(shown)

    def sign(self, sign: Kind | Tone | Verdict, corner: tuple[float, float], side: float) -> None:
        """The sign of a kind, a sort of pods or a verdict, in a square."""
        path, look = _sign(sign)
        x, y = corner
        self._parts.append(
            f'<path class="{look}" d="{path}" style="fill:none" stroke-width="1.6" '
            'stroke-linecap="round" stroke-linejoin="round" '
            f'transform="translate({x:.1f} {y:.1f}) scale({side / 16:.3f})"/>'
        )

    def arrow(self, start: tuple[float, float], length: float) -> None:
        """An arrow to the right."""
        x, y = start
        self._parts.append(
            f'<path class="stroke" d="M{x:.1f} {y:.1f}h{length:.1f} m-6 -5l6 5l-6 5" fill="none" '
            'stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round"/>'
        )

    def svg(self, size: tuple[float, float], title: str, description: str) -> str:
        """The whole picture, which needs nothing beside itself."""
        wide, high = size
        style = (
            f"text{{font-family:{FONTS}}}rect{{stroke-width:1.2}}.page{{stroke:none}}"
            f"{_rules(_LIGHT)}@media (prefers-color-scheme:dark){{{_rules(_DARK)}}}"
        )
        lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:g} {high:.0f}" '
            f'width="{wide:g}" height="{high:.0f}" role="img" aria-labelledby="title desc">',
            f'<title id="title">{_escaped(title)}</title>',
            f'<desc id="desc">{_escaped(description)}</desc>',
            f"<style>{style}</style>",
            f'<rect class="page" width="{wide:g}" height="{high:.0f}" rx="8"/>',
            *filter(None, self._parts),
            "</svg>",
        ]
        return "\n".join(lines) + "\n"


def _sign(sign: Kind | Tone | Verdict) -> tuple[str, str]:
    if isinstance(sign, Kind):
        return _KIND_SIGNS[sign], KIND_CLASS[sign]
    if isinstance(sign, Tone):
        return _TONE_SIGNS[sign], "bad" if sign is Tone.WARNING else "stroke"
    looks = {Verdict.MATCH: "reservation", Verdict.MISMATCH: "bad", Verdict.OPEN: "stroke"}
    return _VERDICT_SIGNS[sign], looks[sign]


def dashes_of(kind: Kind) -> str:
    """How the border of a kind is dashed; "" where it is not."""
    return _DASHES.get(kind, "")


def _escaped(text: str) -> str:
    return escape("".join(char if char.isprintable() else " " for char in text))
