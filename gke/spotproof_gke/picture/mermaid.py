"""A picture as a Mermaid flowchart, which GitHub and others draw inside Markdown.

Source of the escapes in texts: mermaid.js.org/syntax/flowchart.html (entity codes), read on
2026-11-30.
"""

from collections.abc import Iterator, Sequence
from itertools import count

from spotproof_gke.picture.overview import Cluster, Item, Kind, Lane, Overview, Pods, Tone
from spotproof_gke.picture.paper import KIND_CLASS
from spotproof_gke.picture.words import MEANING

MOST = 12
"""How many things of one sort are drawn; of the rest there is the number."""

_LONGEST = 120
_SHAPES = {
    Kind.ON_DEMAND: ("[", "]"),
    Kind.RESERVATION: ("[[", "]]"),
    Kind.SPOT: ("{{", "}}"),
    Kind.FLEX_START: ("([", "])"),
    Kind.QUEUED: ("[/", "/]"),
    Kind.AUTO: ("(", ")"),
    Kind.UNKNOWN: (">", "]"),
    Kind.NOWHERE: ("[", "]"),
}
_LOOKS = {
    "on-demand": "fill:#e3f1ff,stroke:#0969da,color:#1f2328",
    "reservation": "fill:#e2f6e6,stroke:#1a7f37,color:#1f2328",
    "spot": "fill:#fff0e0,stroke:#bc4c00,color:#1f2328",
    "flex-start": "fill:#f6edff,stroke:#8250df,color:#1f2328",
    "queued": "fill:#ffecf5,stroke:#bf3989,color:#1f2328",
    "grey": "fill:#eff2f5,stroke:#59636e,color:#1f2328",
    "bad": "fill:#ffebe9,stroke:#cf222e,color:#1f2328",
}


def draw(overview: Overview) -> str:
    """The picture of an overview as the text of a Mermaid diagram."""
    return "\n".join(_lines(overview)) + "\n"


def _lines(overview: Overview) -> Iterator[str]:
    names = (f"n{number}" for number in count(1))
    yield "flowchart LR"
    yield f"  accTitle: {_plain(overview.title)}"
    yield f"  accDescr: {_plain(overview.summary())}"
    for cluster in overview.clusters[:MOST]:
        yield from _cluster(cluster, names)
    yield from _more(len(overview.clusters) - MOST, "clusters", names)
    for head, found in (
        ("Buckets", overview.buckets),
        ("Queues", overview.queues),
        ("Identities", overview.identities),
    ):
        yield from _items(head, found, names)
    for name, look in _LOOKS.items():
        yield f"  classDef {_class(name)} {look}"


def _cluster(cluster: Cluster, names: Iterator[str]) -> Iterator[str]:
    head = f"Cluster {cluster.name}, {cluster.about}" if cluster.about else cluster.name
    yield f"  subgraph {next(names)}[{_quoted(head)}]"
    yield "    direction LR"
    for lane in cluster.lanes[: 2 * MOST]:
        yield from _lane(lane, names)
    yield from _more(len(cluster.lanes) - 2 * MOST, "kinds of pools", names)
    yield "  end"


def _lane(lane: Lane, names: Iterator[str]) -> Iterator[str]:
    """Pods, an arrow to the sign of the capacity, and arrows from there to the pools."""
    sign, (opening, closing) = next(names), _SHAPES[lane.kind]
    words = [MEANING[lane.kind], *([lane.gate] if lane.gate else [])]
    yield f"    {sign}{opening}{_quoted(lane.kind.value, *words)}{closing}"
    yield f"    class {sign} {_class(KIND_CLASS[lane.kind])}"
    for card in lane.pools[:MOST]:
        yield f"    {sign} --> {next(names)}[{_quoted(card.name, *card.lines[:MOST])}]"
    left = len(lane.pools) - MOST
    if left > 0:
        yield f"    {sign} --> {next(names)}[{_quoted(f'and {left:,} more pools')}]"
    for pods in lane.pods[:MOST]:
        yield from _pods(pods, sign, names)
    left = len(lane.pods) - MOST
    if left > 0:
        yield f"    {next(names)}({_quoted(f'and {left:,} more workloads')}) --> {sign}"


def _pods(pods: Pods, sign: str, names: Iterator[str]) -> Iterator[str]:
    name = next(names)
    is_bad = pods.tone is Tone.WARNING
    words = f"⚠ {pods.name}" if is_bad else pods.name
    arrow = "-->" if pods.certain else "-. perhaps .->"
    detail = [pods.detail] if pods.detail else []
    yield f"    {name}({_quoted(words, *detail)}) {arrow} {sign}"
    if is_bad:
        yield f"    class {name} bad"


def _items(head: str, found: Sequence[Item], names: Iterator[str]) -> Iterator[str]:
    if not found:
        return
    yield f"  subgraph {next(names)}[{_quoted(head)}]"
    yield "    direction TB"
    for item in found[:MOST]:
        sign = {"match": "✓ ", "mismatch": "✗ "}.get(item.verdict.value, "")
        name = next(names)
        yield f"    {name}[{_quoted(sign + item.name, *item.lines[:MOST])}]"
        if item.verdict.value == "mismatch":
            yield f"    class {name} bad"
    yield from _more(len(found) - MOST, head.lower(), names)
    yield "  end"


def _more(number: int, noun: str, names: Iterator[str]) -> Iterator[str]:
    if number > 0:
        yield f"    {next(names)}[{_quoted(f'and {number:,} more {noun}')}]"


def _class(name: str) -> str:
    return name.replace("-", "")


def _quoted(head: str, *further: str) -> str:
    """A text in quotes: the first line, and further ones under it."""
    return f'"{"<br/>".join(map(_text, (head, *further)))}"'


def _text(words: str) -> str:
    """A text in which nothing is markup: all but letters, digits and a few marks as entities."""
    short = words if len(words) <= _LONGEST else words[: _LONGEST - 1] + "…"
    kept = " .,:=/_-()+…✓✗⚠"
    return "".join(char if char.isalnum() or char in kept else f"#{ord(char)};" for char in short)


def _plain(words: str) -> str:
    """A text for a line of its own, which ends the statement and takes no entities."""
    return "".join(char if char.isalnum() or char in " .,:/_-()" else " " for char in words)
