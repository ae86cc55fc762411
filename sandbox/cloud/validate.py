"""Validations of single values, in the words of the provider."""

import ipaddress
import re
from collections.abc import Callable
from typing import Any

Validator = Callable[[str, Any], "str | None"]
"""Takes the Terraform path and the value; gives the complaint, or None."""


def one_of(*allowed: str) -> Validator:
    """The value must be one of `allowed`, in this letter case."""
    listed = "[" + " ".join(f'"{word}"' for word in allowed) + "]"

    def check(path: str, value: Any) -> str | None:
        return None if value in allowed else f"expected {path} to be one of {listed}, got {value}"

    return check


def at_least(minimum: int) -> Validator:
    """The number must not be less than `minimum`."""

    def check(path: str, value: Any) -> str | None:
        if value >= minimum:
            return None
        return f"expected {path} to be at least ({minimum}), got {value}"

    return check


def between(minimum: int, maximum: int) -> Validator:
    """The number must be in this range, its ends included."""

    def check(path: str, value: Any) -> str | None:
        if minimum <= value <= maximum:
            return None
        return f"expected {path} to be in the range ({minimum} - {maximum}), got {value}"

    return check


def matches(pattern: str) -> Validator:
    """The text must match `pattern`, as the provider's own validations say it."""

    def check(path: str, value: Any) -> str | None:
        if re.search(pattern, value):
            return None
        return f'"{path}" ("{value}") doesn\'t match regexp "{pattern}"'

    return check


def shorter_than(limit: int) -> Validator:
    """The text must have at most `limit` characters."""

    def check(path: str, value: Any) -> str | None:
        return None if len(value) <= limit else f'"{path}" cannot be longer than {limit} characters'

    return check


def network_of_bits(low: int, high: int) -> Validator:
    """The text must be a network whose prefix has between `low` and `high` bits."""

    def check(path: str, value: Any) -> str | None:
        try:
            network = ipaddress.ip_network(value)
        except ValueError as error:
            return f'expected "{path}" to be a valid network Value, got {value}: {error}'
        if low <= network.prefixlen <= high:
            return None
        return (
            f'expected "{path}" to contain a network Value with between {low} and {high} '
            f"significant bits, got: {network.prefixlen}"
        )

    return check


def ip_range(path: str, value: Any) -> str | None:
    """The text must be an address range in CIDR notation."""
    try:
        ipaddress.ip_network(value, strict=False)
    except ValueError:
        return f'"{path}" is not a valid IP CIDR range: invalid CIDR address: {value}'
    return None


def clock_time(path: str, value: Any) -> str | None:
    """The text must be a time of day."""
    if re.fullmatch(r"([0-1][0-9]|2[0-3]):[0-5][0-9]", value):
        return None
    return f'"{path}" ("{value}") must be in the format HH:mm (RFC3339)'


def compute_name(path: str, value: Any) -> str | None:
    """The text must be a name as Compute Engine allows it."""
    if re.fullmatch(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?", value):
        return None
    return f'"{path}" ("{value}") doesn\'t match regexp "^(?:[a-z](?:[-a-z0-9]{{0,61}}[a-z0-9])?)$"'


_MEMBER = re.compile(
    r"^(allUsers|allAuthenticatedUsers|(user|serviceAccount|group|domain|principal|principalSet|"
    r"projectOwner|projectEditor|projectViewer|deleted|iamMember):.+)$"
)


def iam_member(path: str, value: Any) -> str | None:
    """The text must be a member with its prefix."""
    if _MEMBER.match(value):
        return None
    return (
        f'invalid value "{value}" for {path} (IAM members must have one of the values outlined '
        "here: https://cloud.google.com/billing/docs/reference/rest/v1/Policy#Binding)"
    )
