"""Puts reasons into words, each with the guidance that it follows."""

from dataclasses import dataclass
from typing import Any

from spotproof_gke.strategy.verdict import Because
from spotproof_gke.tables import table


@dataclass(frozen=True)
class Source:
    """Guidance that an answer follows.

    Attributes:
        name: Its name in `data/strategies.yaml`.
        address: Where it stands.
        read_on: The day on which we read it, `YYYY-MM-DD`.
        says: What the answer leans on, in our words.
    """

    name: str
    address: str
    read_on: str
    says: str


@dataclass(frozen=True)
class Statement:
    """One sentence of an answer.

    Attributes:
        name: Its name in `data/strategies.yaml`.
        text: The sentence.
        sources: The guidance that it follows; empty where there is none.
        opinion: Why it is our opinion, where guidance is silent; None where it is not.
    """

    name: str
    text: str
    sources: tuple[Source, ...]
    opinion: str | None


def guidance(name: str) -> Source:
    """The guidance of this name."""
    row = facts("guidance")[name]
    return Source(name, row["address"], str(row["read_on"]), row["says"])


def reason(because: Because) -> Statement:
    """A reason in words."""
    return _statement("reasons", because)


def condition(because: Because) -> Statement:
    """A condition in words."""
    return _statement("conditions", because)


def instead(because: Because) -> str:
    """What to do where neither Spot nor flex-start is right, in words."""
    return facts("instead")[because.name].format(**because.words)


def facts(section: str) -> dict[str, Any]:
    """One section of `data/strategies.yaml`."""
    return table("strategies")[section]


def _statement(section: str, because: Because) -> Statement:
    row = facts(section)[because.name]
    opinion = row.get("opinion")
    return Statement(
        because.name,
        row["text"].format(**because.words),
        tuple(guidance(name) for name in row.get("guidance", ())),
        opinion.format(**because.words) if opinion else None,
    )
