"""What a drill found: each promise, whether it was kept, and what shows it."""

import json
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

WIDTH = 80


@dataclass(frozen=True)
class Promise:
    """Something that users rely on.

    Attributes:
        name: Its short name, such as `spot-job-comes-back`.
        says: The promise in a few words.
    """

    name: str
    says: str


@dataclass(frozen=True)
class Outcome:
    """What became of a promise.

    Attributes:
        kept: Whether it was kept; None when it could not be tried.
        evidence: What was seen, in a sentence.
        seconds: How long it took to see it.
    """

    promise: Promise
    kept: bool | None
    evidence: str
    seconds: float = 0.0

    @property
    def word(self) -> str:
        """`kept`, `BROKEN` or `not tried`."""
        return {True: "kept", False: "BROKEN", None: "not tried"}[self.kept]


@dataclass
class Report:
    """The outcomes of one run, in order.

    Attributes:
        subject: What was drilled, for people.
        facts: Further things to know by name, such as the engine.
    """

    subject: str
    outcomes: list[Outcome] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether all was tried and each promise was kept."""
        return bool(self.outcomes) and all(each.kept for each in self.outcomes)

    def text(self) -> str:
        """The report for people, at most 80 columns wide."""
        lines = [*_wrapped(self.subject, "", "  "), ""]
        for each in self.outcomes:
            first = f"{each.word:<9} {each.seconds:>6.1f} s  "
            margin = " " * len(first)
            lines += _wrapped(each.promise.says, first, margin)
            lines += _wrapped(each.evidence, margin, margin)
        for name, value in self.facts.items():
            lines += ["", *_wrapped(f"{name}: {value}", "", "  ")]
        return "\n".join([*lines, "", self.verdict()])

    def verdict(self) -> str:
        """One line with the counts."""
        counts = {
            word: sum(each.word == word for each in self.outcomes)
            for word in ("kept", "BROKEN", "not tried")
        }
        said = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
        return f"{len(self.outcomes)} promises: {said or 'nothing was tried'}"

    def data(self) -> dict[str, Any]:
        """The report for programs."""
        return {
            "subject": self.subject,
            "ok": self.ok,
            "promises": [
                {
                    "name": each.promise.name,
                    "promise": each.promise.says,
                    "kept": each.kept,
                    "evidence": each.evidence,
                    "seconds": round(each.seconds, 1),
                }
                for each in self.outcomes
            ],
            "facts": self.facts,
        }

    def write(self, path: Path) -> None:
        """Writes `data()` as JSON.

        Raises:
            OSError: the file cannot be written.
        """
        path.write_text(json.dumps(self.data(), indent=2) + "\n")


def _wrapped(text: str, first: str, rest: str) -> Iterable[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False
    ) or [first.rstrip()]
