"""Old names, which work on for one minor version and say what they are called now.

What was renamed in 0.3.0 works in all of 0.3 under both names, and is gone in 0.4.0. How to rename
an argument, a component or a resource is in docs/how-to/release.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi

from spotproof.reader import ArgumentsError
from spotproof_gke.problems import Problem


@dataclass(frozen=True)
class Renamed:
    """A name that has changed.

    Attributes:
        old: The name as it was.
        new: The name as it is.
        gone_in: The version in which the old name is gone, for example `0.4.0`.
    """

    old: str
    new: str
    gone_in: str

    def __str__(self) -> str:
        return f"`{self.old}` is called `{self.new}` now: rename it, it is gone in {self.gone_in}"


_said: set[tuple[str, Renamed]] = set()


def warn_once(what: str, renamed: Renamed) -> None:
    """Show a warning that names `what` was written, the first time in a program only."""
    if (what, renamed) not in _said:
        _said.add((what, renamed))
        pulumi.log.warn(f"{what}: {renamed}")


def with_new_names(
    component: str, name: str, args: Mapping[str, Any], renamed: Sequence[Renamed]
) -> dict[str, Any]:
    """Arguments under their new names; what has an old one is warned of once in a program.

    Args:
        component: The component's class, for example `SpotGpuPool`.
        name: The name of the one that is being made.
        args: The arguments as the caller gave them.
        renamed: The arguments that were renamed.

    Raises:
        ArgumentsError: an argument is given under both names.
    """
    found = dict(args)
    problems: list[Problem] = []
    for one in renamed:
        if one.old not in found:
            continue
        value = found.pop(one.old)
        if one.new in found:
            rule = f"this is the old name of {one.new}, which is given too"
            problems.append(Problem(one.old, None, rule, f"keep {one.new} alone"))
        else:
            found[one.new] = value
            warn_once(component, one)
    if problems:
        raise ArgumentsError(f"{component} {name!r}", problems)
    return found


def formerly(opts: pulumi.ResourceOptions | None, *types: str) -> pulumi.ResourceOptions:
    """Options under which a component takes over what an older one made, its children too.

    Args:
        opts: The options of the caller.
        types: Type tokens that the component had, for example `spotproof:index:GpuNodes`.
    """
    aliases = [pulumi.Alias(type_=token) for token in types]
    return pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(aliases=aliases))
