"""A verdict: what to take and why, before it is put into words."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from spotproof_gke.capacity import Capacity
from spotproof_gke.strategy.words import Instead, Strategy


@dataclass(frozen=True)
class Because:
    """One reason: its name in `data/strategies.yaml`, and the words that are filled in."""

    name: str
    words: Mapping[str, object] = field(default_factory=dict)


def because(name: str, **words: object) -> Because:
    """A reason by its name."""
    return Because(name, words)


@dataclass(frozen=True)
class Verdict:
    """What to take and why.

    Attributes:
        strategy: What to take.
        reasons: Why, the first the most important.
        second: What comes next, None when nothing does.
        why_not: Why that was not taken.
        instead: What to do where the strategy is neither.
        chain: Kinds of capacity in order, where a compute class takes several.
        stretches: Whether the work runs in several nodes' lives, from save to save.
    """

    strategy: Strategy
    reasons: tuple[Because, ...]
    second: Strategy | None = None
    why_not: Because | None = None
    instead: Because | None = None
    chain: tuple[Capacity, ...] = ()
    stretches: bool = False


def neither(
    instead: Instead,
    *reasons: Because,
    second: Strategy | None = None,
    why_not: Because | None = None,
    **words: object,
) -> Verdict:
    """The verdict that neither Spot nor flex-start is right."""
    return Verdict(Strategy.NEITHER, reasons, second, why_not, Because(instead.value, words))
