"""Which values the provider takes, read from `tables/values/<table>.yaml`."""

import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

import yaml

from sandbox.cloud import validate
from sandbox.cloud.schema import TABLES
from sandbox.cloud.types import go_time
from sandbox.cloud.types.sameness import COMPARISONS, Same, unspecified
from sandbox.cloud.validate import Validator

VALUES = TABLES / "values"


@dataclass(frozen=True)
class Limits:
    """What a table says about values; all by path without indices.

    Attributes:
        validators: Validations of single values.
        allowed: The values that an enumeration takes, be it checked here or by the server.
        items: How few and how many items a list may have.
        at_least_one_of: Blocks, and the properties in them of which one must be set; None for all.
        served: Validations that the server makes, by the path it names.
        same: Whether two different values say the same to the provider.
    """

    validators: dict[str, Validator] = field(default_factory=dict)
    allowed: dict[str, tuple[str, ...]] = field(default_factory=dict)
    items: dict[str, tuple[float, float]] = field(default_factory=dict)
    at_least_one_of: dict[str, list[str] | None] = field(default_factory=dict)
    served: dict[str, Validator] = field(default_factory=dict)
    same: dict[str, Same] = field(default_factory=dict)


@cache
def limits(table: str) -> Limits:
    """The limits of a table; none where it has no file."""
    path = VALUES / f"{table}.yaml"
    if not path.is_file():
        return Limits()
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    written = yaml.load(path.read_text(), Loader=loader)
    found = Limits()
    for prefix, other in (written.get("in") or {}).items():
        _add(found, limits(other), f"{prefix}.")
    for name, rule in (written.get("values") or {}).items():
        words = shlex.split(rule)
        found.validators[name] = _validator(words)
        if words[0] == "one_of":
            found.allowed[name] = tuple(words[1:])
    for name, rule in (written.get("items") or {}).items():
        found.items[name] = _range(rule.split())
    for each in written.get("at_least_one_of") or []:
        found.at_least_one_of[each["of"]] = each.get("members")
    for name, rule in (written.get("served") or {}).items():
        words = shlex.split(rule)
        found.served[name] = _validator(words)
        if words[0] == "one_of":
            found.allowed[name] = tuple(words[1:])
    for name, rule in (written.get("same") or {}).items():
        found.same[name] = _comparison(rule.split())
    return found


def _add(found: Limits, other: Limits, prefix: str) -> None:
    for name in ("validators", "allowed", "items", "served", "same"):
        into, each = getattr(found, name), getattr(other, name)
        into.update({prefix + path: rule for path, rule in each.items()})


def paths(table: str) -> Iterator[str]:
    """All paths that the limits of a table name."""
    found = limits(table)
    yield from (*found.validators, *found.items, *found.at_least_one_of)
    yield from (*found.served, *found.same)


def _number(word: str) -> float:
    return float(word) if "." in word else int(word)


def _range(words: list[str]) -> tuple[float, float]:
    kind, *numbers = words
    if kind == "between":
        return _number(numbers[0]), _number(numbers[1])
    return {
        "at_least": (_number(numbers[0]), float("inf")),
        "at_most": (0, _number(numbers[0])),
    }[kind]


def _comparison(words: list[str]) -> Same:
    return unspecified(words[1]) if words[0] == "unspecified" else COMPARISONS[words[0]]


def _date(path: str, value: Any) -> str | None:
    return go_time.complaint(value)


def _rfc1035(low: int, high: int) -> Validator:
    return validate.matches(f"^[a-z](?:[-a-z0-9]{{{low - 2},{high - 2}}}[a-z0-9])$")


_PLAIN: dict[str, Validator] = {
    "cluster_name": validate.cluster_name,
    "compute_name": validate.compute_name,
    "date": _date,
    "full_hour": validate.full_hour,
    "ip_range": validate.ip_range,
    "private_asn": validate.private_asn,
    "time_of_day": validate.clock_time,
}
_WITH_NUMBERS: dict[str, Callable[..., Validator]] = {
    "at_least": validate.at_least,
    "between": validate.between,
    "network": validate.network_of_bits,
    "rfc1035_name": _rfc1035,
    "rfc1918": partial(validate.network_of_bits, private=True),
}


def _validator(words: list[str]) -> Validator:
    kind, *rest = words
    if kind == "empty_or":
        inner = _validator(rest)
        return lambda path, value: None if value == "" else inner(path, value)
    if kind == "one_of":
        return validate.one_of(*rest)
    if kind == "regexp":
        return validate.matches(rest[0])
    if kind in _PLAIN:
        return _PLAIN[kind]
    return _WITH_NUMBERS[kind](*map(_number, rest))
