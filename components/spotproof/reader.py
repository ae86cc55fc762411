"""Reads a component's arguments: unknown keys refused, values coerced, all problems collected."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, TypeVar

import pulumi
from pulumi.errors import InputPropertyErrorDetails

from spotproof_gke.problems import Problem, ProblemsError, did_you_mean

E = TypeVar("E", bound=Enum)

REQUIRED: Any = object()
"""Default of an argument that has none."""


TABLES_OUT_OF_DATE = "tables_out_of_date"
"""The argument by which a caller vouches for what the tables do not list."""

KEYED_BY_THE_CALLER = (
    "accelerators", "annotations", "env", "labels", "node_labels", "secret_env",
)  # fmt: skip
"""Arguments that are mappings whose keys the caller chooses."""


def camel_case(path: str) -> str:
    """`max_nodes` as other languages and stack files spell it: `maxNodes`.

    A dotted path is spelt part by part; keys that the caller chose stay as they are.
    """
    spelt: list[str] = []
    parts = path.split(".")
    for index, part in enumerate(parts):
        head, *rest = part.split("_")
        spelt.append(head + "".join(word.capitalize() for word in rest))
        if part in KEYED_BY_THE_CALLER:
            return ".".join([*spelt, *parts[index + 1 :]])
    return ".".join(spelt)


class ArgumentsError(ProblemsError, pulumi.RunError, pulumi.InputPropertiesError):
    """Arguments that a component refuses; ends a program without a traceback, in any language."""

    def __init__(self, subject: str, problems: Sequence[Problem]) -> None:
        ProblemsError.__init__(self, subject, problems)
        self.message: str = str(self)
        self.errors: list[InputPropertyErrorDetails] | None = [
            {"property_path": camel_case(p.key), "reason": f"{p.rule}; {p.fix}"} for p in problems
        ]


class Reader:
    """One pass over a mapping of arguments.

    Each method returns a usable value even when it notes a problem, so that reading goes on and
    every problem is found; `finish` raises when there was any.

    Args:
        args: The arguments as the caller gave them.
        known: Names of all arguments that exist, for example the keys of a TypedDict.
        path: What stands before each key in a message, for example `spotPools.l4.`.
        spell: How a key is spelt in a message; as in Python unless told otherwise.
        problems: Where to note problems; a new list unless shared with another reader.
        hints: What to say of a key that does not exist, by key, where a hint helps.

    Attributes:
        warnings: What the caller should know although it is no problem.
    """

    def __init__(
        self,
        args: object,
        known: Iterable[str],
        path: str = "",
        spell: Callable[[str], str] = str,
        problems: list[Problem] | None = None,
        hints: Mapping[str, str] | None = None,
    ) -> None:
        self.path = path
        self.spell = spell
        self.problems: list[Problem] = [] if problems is None else problems
        self.warnings: list[str] = []
        self._args: Mapping[str, Any] = args if isinstance(args, Mapping) else {}
        self._trusting = False
        self._known = names = list(known)
        if not isinstance(args, Mapping):
            self.problem("", args, "this is a mapping of settings", "write key: value pairs")
        for key in self._args:
            if key not in names:
                spelt = [spell(name) for name in names]
                shown = spell(key) if isinstance(key, str) else key
                fix = (hints or {}).get(str(key)) or did_you_mean(shown, spelt)
                self.problem(str(key) or '""', "…", "there is no such key", fix)
        if TABLES_OUT_OF_DATE in names:
            self._trusting = self.boolean(TABLES_OUT_OF_DATE, default=False)

    def problem(self, key: str, value: object, rule: str, fix: str) -> None:
        """Note that `value` at `key` breaks `rule`."""
        name = f"{self.path}{self.spell(key)}" if key else self.path.rstrip(".") or "args"
        self.problems.append(Problem(name, value, rule, fix))

    def unlisted(self, key: str, value: object, rule: str, fix: str) -> bool:
        """Note that the tables do not know `value`: a problem, unless the caller vouches for it.

        Returns:
            Whether the caller vouches; then it is a warning.
        """
        if self._trusting:
            found = Problem(f"{self.path}{self.spell(key)}", value, rule, "taken on trust")
            self.warnings.append(str(found))
        else:
            way_out = f"set {self.spell(TABLES_OUT_OF_DATE)} if you know better"
            fix += f" Or {way_out}" if fix.endswith("?") else f", or {way_out}"
            self.problem(key, value, rule, fix)
        return self._trusting

    def warn(self, resource: pulumi.Resource) -> None:
        """Show the warnings at a resource."""
        for warning in self.warnings:
            pulumi.log.warn(warning, resource)

    def extend(self, problems: Iterable[Problem]) -> None:
        """Note problems that another function found, their keys spelt and prefixed as ours."""
        for found in problems:
            self.problem(found.key, found.value, found.rule, found.fix)

    def finish(self, subject: str) -> None:
        """Raise one error for all problems, or do nothing.

        Raises:
            ArgumentsError: At least one problem was noted.
        """
        if self.problems:
            raise ArgumentsError(subject, self.problems)

    def has(self, key: str) -> bool:
        """Whether the caller gave a value for `key`."""
        return self._args.get(key) is not None

    def knows(self, key: str) -> bool:
        """Whether there is such an argument."""
        return key in self._known

    def is_list(self, key: str) -> bool:
        """Whether the value for `key` has the form of a list."""
        value = self._args.get(key)
        return isinstance(value, Sequence) and not isinstance(value, str)

    def shown(self, key: str) -> object:
        """What the caller gave for `key`, for a message."""
        return _shown(self._args.get(key))

    def hidden(self, key: str) -> object:
        """What the caller gave for `key`, which is not judged and must not be shown."""
        return self._args.get(key)

    def is_right(self, key: str) -> bool:
        """Whether nothing is noted about `key` so far; what is wrong is not judged a second time."""
        name = f"{self.path}{self.spell(key)}"
        return all(problem.key != name for problem in self.problems)

    def _read(self, key: str, default: Any, kind: str) -> tuple[bool, Any]:
        value = self._args.get(key)
        if value is not None:
            return True, value
        if default is REQUIRED:
            self.problem(key, None, f"{kind} is required", "add it")
            return False, None
        return False, default

    def given(self, key: str, default: Any = REQUIRED) -> Any:
        """A text that may be an Output of another resource, passed on as it is."""
        found, value = self._read(key, default, "a text")
        if found and (not isinstance(value, (str, pulumi.Output)) or value == ""):
            self.problem(key, value, "this is a text that is not empty", "write one")
        return value

    def text(self, key: str, default: Any = REQUIRED) -> str:
        """A plain text."""
        found, value = self._read(key, default, "a text")
        if found and isinstance(value, pulumi.Output):
            rule = "this shapes the plan, so it is known before the update"
            self.problem(key, "an output", rule, "write a plain text")
            return ""
        if found and (not isinstance(value, str) or not value):
            self.problem(key, value, "this is a text that is not empty", "write one")
            return ""
        return "" if value is None else value

    def name(
        self,
        key: str,
        judge: Callable[[str, object], Iterable[Problem]],
        default: Any = REQUIRED,
    ) -> str:
        """A plain text with which `judge` finds nothing wrong."""
        value = self.text(key, default)
        if self.is_right(key):
            self.extend(judge(key, value))
        return value

    def integer(self, key: str, default: Any = REQUIRED, least: int = 0, most: int = 10**9) -> int:
        """A whole number from `least` to `most`; a float such as 3.0 counts as whole."""
        found, value = self._read(key, default, f"a whole number from {least} to {most}")
        if not found:
            return least if value is None else value
        whole = isinstance(value, (int, float)) and not isinstance(value, bool)
        if whole and value == value and abs(value) != float("inf") and int(value) == value:
            if least <= value <= most:
                return int(value)
            self.problem(key, value, f"this is from {least} to {most}", "choose a number in it")
            return least
        self.problem(key, _shown(value), "this is a whole number", "write a number without quotes")
        return least

    def boolean(self, key: str, default: Any = REQUIRED) -> bool:
        """True or false, nothing else (not the text "off")."""
        found, value = self._read(key, default, "true or false")
        if found and not isinstance(value, bool):
            self.problem(key, _shown(value), "this is true or false", "write true or false")
            return False
        return bool(value)

    def texts(self, key: str, default: Any = REQUIRED) -> tuple[str, ...]:
        """A list of different, non-empty texts."""
        found, value = self._read(key, default, "a list of texts")
        if not found:
            return tuple(value or ())
        right = isinstance(value, Sequence) and not isinstance(value, str)
        if not right or not all(isinstance(item, str) and item for item in value):
            self.problem(key, _shown(value), "this is a list of texts", "write - items")
            return ()
        if len(set(value)) != len(value):
            self.problem(key, list(value), "each item stands once", "remove the repeated ones")
        return tuple(dict.fromkeys(value))

    def choice(self, key: str, kind: type[E], default: Any = REQUIRED) -> E:
        """A member of an enum, given as the member or as its value."""
        first: E = next(iter(kind))
        found, value = self._read(key, default, "one of " + ", ".join(m.value for m in kind))
        if not found:
            return first if value is None else kind(value)
        try:
            return kind(value)
        except ValueError:
            known = [str(member.value) for member in kind]
            given = value.lower() if isinstance(value, str) else None
            hint = next((k for k in known if k.lower() == given), None)
            fix = f'did you mean "{hint}"?' if hint else did_you_mean(value, known)
            self.problem(key, _shown(value), f"this is one of {', '.join(known)}", fix)
            return first

    def items(self, key: str, default: Any = REQUIRED) -> dict[str, Any]:
        """A mapping with texts as keys; its values are not judged here."""
        found, value = self._read(key, default, "a mapping")
        if not found:
            return dict(value or {})
        if not isinstance(value, Mapping) or not all(isinstance(k, str) and k for k in value):
            self.problem(key, _shown(value), "this is a mapping", "write key: value pairs")
            return {}
        return dict(value)

    def mappings(self, key: str, default: Any = REQUIRED) -> tuple[Any, ...]:
        """A list of mappings; the mappings are not judged here."""
        found, value = self._read(key, default, "a list of settings")
        if found and not self.is_list(key):
            self.problem(key, _shown(value), "this is a list of settings", "write - items")
            return ()
        return tuple(value or ())

    def nested(self, key: str, known: Iterable[str]) -> "Reader":
        """A reader for the mapping at `key`, which shares this reader's list of problems."""
        value = self._args.get(key)
        path = f"{self.path}{self.spell(key)}."
        inner = Reader({} if value is None else value, known, path, self.spell, self.problems)
        inner.trust_like(self)
        return inner

    def trust_like(self, other: "Reader") -> None:
        """Take from a reader around this one what its caller vouches for, and warn there."""
        self.warnings, self._trusting = other.warnings, other._trusting


def _shown(value: object) -> object:
    return "an output" if isinstance(value, pulumi.Output) else value
