"""One way to say what is wrong with an input: all problems at once, each with its mend."""

import difflib
import reprlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """One broken rule.

    Attributes:
        key: Where the value stands, as its author wrote it, for example `spotPools.l4.machineType`.
        value: The value found, None when there is none; printed, so never a secret.
        rule: What holds, in one clause.
        fix: What to do about it, in one imperative clause.
    """

    key: str
    value: object
    rule: str
    fix: str

    def __str__(self) -> str:
        key = _one_line(self.key)
        what = key if self.value is None else f"{key} = {_shown(self.value)}"
        return f"{what}: {self.rule}; {self.fix}"


_REPR = reprlib.Repr()
_REPR.maxstring = _REPR.maxother = _REPR.maxlong = 100
_REPR.maxlist = _REPR.maxdict = _REPR.maxtuple = 6


def _one_line(key: str) -> str:
    """`key` as it stands, but for characters that would break the line."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in key)


def _shown(value: object) -> str:
    """`value` in at most a line, whatever it is."""
    try:
        return _REPR.repr(value)
    except Exception:
        # An integer can be too long to be written out, and a foreign object's repr can fail.
        return f"a {type(value).__name__} that can't be shown"


class ProblemsError(ValueError):
    """Everything that is wrong with one input.

    Attributes:
        subject: What was judged, for example a component or a stack file.
        problems: All problems, in the order found; never empty.
    """

    def __init__(self, subject: str, problems: Sequence[Problem]) -> None:
        self.subject = subject
        self.problems: tuple[Problem, ...] = tuple(problems)
        count = len(self.problems)
        lines = [f"{subject}: {count} problem{'s' if count != 1 else ''}"]
        lines += [f"  - {problem}" for problem in self.problems]
        super().__init__("\n".join(lines))


def raise_if_any(subject: str, problems: Iterable[Problem]) -> None:
    """Raise one `ProblemsError` for all of `problems`, or do nothing when there are none."""
    found = list(problems)
    if found:
        raise ProblemsError(subject, found)


def nearest(name: object, known: Iterable[str]) -> str | None:
    """The known name closest in spelling to `name`, or None when nothing is close."""
    if not isinstance(name, str):
        return None
    close = difflib.get_close_matches(name.lower(), [k for k in known], n=1, cutoff=0.6)
    return close[0] if close else None


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """The clause `did you mean "x"?`, or a list of what is known when nothing is close."""
    names = list(known)
    close = nearest(name, names)
    if close:
        return f'did you mean "{close}"?'
    return "use one of " + ", ".join(names)
