"""What becomes of each interrupted create: by its fixed name, by the person's word, or dropped."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from sandbox.recovery.identity import Identity, identify
from spotproof_gke.stack_state.operations import Pending, Resource

Asker = Callable[[Pending, str], str]
"""Asks for the id of a resource, given the reason why it is asked; empty: drop it."""


class ChoiceError(Exception):
    """An argument names nothing here, or an id is needed and not given; the text says which."""


@dataclass(frozen=True)
class Words:
    """What the person said beforehand: `URN=ID` and `URN`, or the program's name for a URN."""

    ids: Sequence[str] = ()
    drops: Sequence[str] = ()


@dataclass(frozen=True)
class Choices:
    """Creates to look for by their ids, and creates to drop with the reason."""

    look: list[tuple[Pending, str]] = field(default_factory=list)
    drop: list[tuple[Pending, str]] = field(default_factory=list)


def choose(
    creates: Sequence[Pending],
    there: Sequence[Resource],
    words: Words,
    ask: Asker | None,
) -> Choices:
    """Decides on each create that may have left something in a cloud.

    Args:
        creates: the interrupted creates.
        there: the resources in the state.
        words: ids and drops that were given.
        ask: asks the person where neither names nor words tell; None: there is nobody to ask.

    Raises:
        ChoiceError: a word fits no create, or an id is missing and there is nobody to ask.
    """
    given = dict(_given(words.ids, creates))
    dropped = {_meant(word, creates, "--drop").urn for word in words.drops}
    choices = Choices()
    unclear = []
    for one in creates:
        if one.urn in dropped:
            choices.drop.append((one, "as you said"))
            continue
        found = Identity(given[one.urn]) if one.urn in given else identify(one.resource, there)
        if found.identifier:
            choices.look.append((one, found.identifier))
        elif found.again:
            choices.drop.append((one, found.reason))
        elif ask is None:
            unclear.append((one, found.reason))
        elif answer := ask(one, found.reason):
            choices.look.append((one, answer))
        else:
            choices.drop.append((one, "as you said"))
    if unclear:
        raise ChoiceError(_help(unclear))
    return choices


def _given(ids: Sequence[str], creates: Sequence[Pending]) -> Iterator[tuple[str, str]]:
    for word in ids:
        # Names may have the sign in them: the longest name that fits is meant.
        starts = [
            (start, one)
            for one in creates
            for start in (f"{one.urn}=", f"{one.name}=")
            if word.startswith(start) and len(word) > len(start)
        ]
        if not starts:
            raise ChoiceError(
                f"--id {word}: this is no interrupted create with `=` and an id behind it. "
                + _names(creates)
            )
        start = max(start for start, _ in starts)
        one = _meant(start[:-1], creates, "--id")
        yield one.urn, word[len(start) :]


def _meant(word: str, creates: Sequence[Pending], option: str) -> Pending:
    urns = {one.urn: one for one in creates if word in (one.urn, one.name)}
    if len(urns) == 1:
        return next(iter(urns.values()))
    if not urns:
        raise ChoiceError(f"{option} {word}: this is no interrupted create. {_names(creates)}")
    raise ChoiceError(
        f"{option} {word}: several are called so; give one as a URN: {', '.join(urns)}"
    )


def _names(creates: Sequence[Pending]) -> str:
    if not creates:
        return "There is none."
    return "These are: " + ", ".join(dict.fromkeys(one.urn for one in creates))


def _help(unclear: Sequence[tuple[Pending, str]]) -> str:
    lines = ["whether these were created cannot be looked up:"]
    for one, reason in unclear:
        lines.append(f"  {one.resource['type']} {one.name!r}: {reason}\n    {one.urn}")
    lines.append(
        "Look for each in the cloud. For one that is there give its id, "
        "ARGS=\"--id 'URN=ID'\"; for one that is not, ARGS=\"--drop 'URN'\"."
    )
    return "\n".join(lines)
