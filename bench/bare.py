"""Writes the program that declares a stack's resources with bare pulumi-gcp.

What it declares is read from a plan and a state of the stack: the inputs that its program states,
the outputs that they refer to, the options, and an order in which the same comes first.
"""

import pprint
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bench.plan import Key, Resource, key_of, predecessors, provider_resources, stated
from bench.timing import BenchError
from sandbox.cloud.schema import sdk_shape, snake

UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
_SHORTEST_PART = 6


class Code:
    """Python that stands for itself where a value is printed."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def write_program(plan: Sequence[Resource], state: Sequence[Resource]) -> str:
    """The text of the program.

    Args:
        plan: a preview of the stack before it exists.
        state: the stack after it was brought up.

    Raises:
        BenchError: an input is known only after the update and is no output of another resource.
    """
    writer = _Writer(provider_resources(plan), provider_resources(state), predecessors(state))
    modules = sorted({_module(one) for one in provider_resources(state).values()})
    head = f"import pulumi\nfrom pulumi_gcp import {', '.join(modules)}\n"
    return "\n".join([head, *(writer.declaration(key) for key in writer.state)])


class _Writer:
    def __init__(
        self,
        plan: Mapping[Key, Resource],
        state: Mapping[Key, Resource],
        before: Mapping[Key, set[Key]],
    ) -> None:
        self.plan, self.state, self.before = plan, state, before

    def declaration(self, key: Key) -> str:
        """The statement that declares one resource."""
        resource = self.state[key]
        shape = sdk_shape(resource["type"])["inputs"]
        planned = self.plan[key]["inputs"]
        referred: set[Key] = set()
        arguments = {}
        for name, value in stated(resource["inputs"]).items():
            needed = [key_of(urn) for urn in resource["propertyDependencies"].get(name) or ()]
            place = f"{key[0]} {key[1]}, {name}"
            leaf = _Leaves(self, needed, referred, place)
            arguments[snake(name)] = leaf.value(value, planned.get(name), shape[name])
        options = self._options(key, referred)
        lines = [f"    {name}={_code(value)}," for name, value in arguments.items()]
        lines += [f"    opts=pulumi.ResourceOptions({options}),"] if options else []
        class_name = resource["type"].rpartition(":")[2]
        call = f"{_variable(key)} = {_module(resource)}.{class_name}(\n    {key[1]!r},"
        return "\n".join([call, *lines, ")\n"])

    def _options(self, key: Key, referred: set[Key]) -> str:
        resource, options = self.state[key], []
        if resource.get("protect"):
            options.append("protect=True")
        if needed := self._further(key, referred):
            options.append(f"depends_on=[{', '.join(_variable(one) for one in needed)}]")
        if ignored := resource.get("ignoreChanges"):
            options.append(f"ignore_changes={ignored!r}")
        if timeouts := resource.get("customTimeouts"):
            seconds = ", ".join(f"{name}='{value}s'" for name, value in timeouts.items())
            options.append(f"custom_timeouts=pulumi.CustomTimeouts({seconds})")
        return ", ".join(options)

    def _further(self, key: Key, referred: set[Key]) -> list[Key]:
        """The fewest resources that keep the order where the references alone do not."""
        covered = referred.union(*(self.before[one] for one in referred))
        rest = self.before[key] - covered
        return [one for one in self.state if one in rest and not self._is_behind(one, rest)]

    def _is_behind(self, one: Key, others: set[Key]) -> bool:
        return any(one in self.before[other] for other in others)

    def outputs(self, key: Key, known: bool) -> Iterator[tuple[str, str]]:
        """The outputs of a resource that a preview may know, or not know: code, value as text."""
        resource, planned = self.state[key], self.plan[key]["inputs"]
        if not known:
            yield f"{_variable(key)}.id", resource["id"]
        for name, value in sorted(resource["outputs"].items()):
            if name == "id" or isinstance(value, bool) or not isinstance(value, (str, int, float)):
                continue
            # What is no input may be either: providers tell some outputs in advance.
            if name not in planned or (planned[name] != UNKNOWN) == known:
                yield f"{_variable(key)}.{snake(name)}", _text(value)


class _Leaves:
    """Turns the values of one property into code that gives them."""

    def __init__(self, writer: _Writer, needed: list[Key], referred: set[Key], place: str) -> None:
        self.writer, self.needed, self.referred = writer, needed, referred
        self.place = place

    def value(self, value: Any, planned: Any, shape: Mapping[str, Any]) -> Any:
        """`value` with Python's names, and with references in the place of others' outputs."""
        if isinstance(value, dict):
            fields = shape.get("fields")
            return {
                (snake(name) if fields else name): self.value(
                    item,
                    planned.get(name) if isinstance(planned, dict) else planned,
                    fields[name] if fields else {},
                )
                for name, item in value.items()
            }
        if isinstance(value, list):
            below = planned if isinstance(planned, list) else [planned] * len(value)
            return [self.value(*pair, shape) for pair in zip(value, below, strict=True)]
        found = self._reference(value, planned != UNKNOWN) if self.needed else None
        if found is None and planned == UNKNOWN:
            raise BenchError(f"{self.place}: {value!r} is no output of {self.needed}")
        return value if found is None else found

    def _reference(self, value: Any, known: bool) -> Code | None:
        if not isinstance(value, str):
            return None
        parts = []
        for key in self.needed:
            for code, text in self.writer.outputs(key, known):
                if text == value:
                    self.referred.add(key)
                    return Code(code)
                if len(text) >= _SHORTEST_PART and text in value:
                    parts.append((len(text), text, code, key))
        if not parts:
            return None
        _, text, code, key = max(parts)
        self.referred.add(key)
        head, _, tail = value.partition(text)
        return Code(f"pulumi.Output.concat({head!r}, {code}, {tail!r})")


def _code(value: Any) -> str:
    shown = pprint.pformat(value, sort_dicts=False, width=90, compact=False)
    return shown.replace("\n", "\n    ")


def _text(value: str | int | float) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _module(resource: Resource) -> str:
    return resource["type"].split(":")[1].split("/")[0]


def _variable(key: Key) -> str:
    return re.sub(r"\W", "_", key[1])
