"""What a section of a stack file is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from spotproof.reader import Reader


@dataclass(frozen=True)
class Section:
    """One section of a stack file.

    Attributes:
        key: Its key, spelt as an argument (`spot_pools`).
        args: The TypedDict of its settings.
        supplied: Arguments that the program supplies, so that a stack file can't contradict it.
        plan: Judges the settings of one component, given a reader and the component's name.
        prefix: What stands before a key in the name of a component; the name itself when the
            section holds the settings of one component alone.
        many: Whether the section is a mapping from names to settings.
        standard_only: Whether an Autopilot cluster has no such thing.
        more: The TypedDict of settings that the program itself makes something of, None without.
    """

    key: str
    args: Any
    supplied: frozenset[str]
    plan: Callable[[Reader, str], Any]
    prefix: str
    many: bool = False
    standard_only: bool = False
    more: Any = None

    @property
    def own_fields(self) -> list[str]:
        """The settings that a stack file may hold."""
        own = [field for field in self.args.__annotations__ if field not in self.supplied]
        return [*own, *self.more_fields]

    @property
    def more_fields(self) -> list[str]:
        """The settings that are no arguments of the component."""
        return list(self.more.__annotations__) if self.more is not None else []

    def component_name(self, key: str = "") -> str:
        """The program's name of the component that the settings under `key` are for."""
        return f"{self.prefix}-{key}" if self.many else self.prefix
