"""How the emulated provider and server word their refusals."""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Refusal:
    """What the provider refuses in Check: the input (as Pulumi spells it, with indices) and why."""

    at: str
    reason: str

    def text(self, resource: str) -> str:
        """As the provider words it for the resource of this logical name."""
        where = f"{resource}.{self.at}" if self.at else resource
        return f"{self.reason}. Examine values at '{where}'."


class ProviderError(Exception):
    """The provider refuses to plan or to make a call; the message is the user's."""


class ApiError(Exception):
    """Google's server refuses a call."""

    def __init__(self, code: int, message: str, reason: str = "") -> None:
        self.code = code
        self.reason = reason or _REASONS.get(code, "badRequest")
        super().__init__(f"googleapi: Error {code}: {message.rstrip('.')}., {self.reason}")


_REASONS = {400: "badRequest", 403: "forbidden", 404: "notFound", 409: "alreadyExists"}


def bad_request(problems: Iterable[str]) -> None:
    """Raise a 400 that names all `problems`; nothing to name, nothing happens."""
    found = [problem.rstrip(".") for problem in problems]
    if found:
        raise ApiError(400, "; ".join(found))


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`did you mean "x"?` for the nearest known name, or all known names when none is near."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    near = near or difflib.get_close_matches(name.lower(), [n.lower() for n in names], n=1)
    if near:
        match = next(n for n in names if n.lower() == near[0].lower())
        return f'did you mean "{match}"?'
    return "known are " + ", ".join(names)
