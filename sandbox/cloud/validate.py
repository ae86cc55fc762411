"""Validations of single values, in the words of the provider."""

import ipaddress
import json
import re
from collections.abc import Callable
from typing import Any

Validator = Callable[[str, Any], "list[str] | str | None"]
"""Takes the Terraform path and the value; gives the complaint, several of them, or None."""
PRIVATE_NETWORKS = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")
PRIVATE_ASNS = ((64_512, 65_534), (4_200_000_000, 4_294_967_294))
PARTNER_ASN = 16_550


def quoted(text: str) -> str:
    """The text in double quotes, as Go writes it."""
    return json.dumps(text, ensure_ascii=False)


def found_wrong(validator: Validator, path: str, value: Any) -> list[str]:
    """All complaints of a validator about a value."""
    found = validator(path, value)
    return [found] if isinstance(found, str) else found or []


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


def between(minimum: float, maximum: float) -> Validator:
    """The number must be in this range, its ends included."""

    def check(path: str, value: Any) -> str | None:
        if minimum <= value <= maximum:
            return None
        low, high, got = (
            f"{number:f}" if isinstance(minimum, float) else number
            for number in (minimum, maximum, value)
        )
        return f"expected {path} to be in the range ({low} - {high}), got {got}"

    return check


def matches(pattern: str) -> Validator:
    """The text must match `pattern`, as the provider's own validations say it."""
    # In Go, a dollar sign is the very end of the text.
    compiled = re.compile(re.sub(r"\$$", r"\\Z", pattern), re.ASCII)

    def check(path: str, value: Any) -> str | None:
        if compiled.search(value):
            return None
        return f"{quoted(path)} ({quoted(value)}) doesn't match regexp {quoted(pattern)}"

    return check


def network_of_bits(low: int, high: int, private: bool = False) -> Validator:
    """The text must be a network whose prefix has between `low` and `high` bits.

    `private`: and it must be in a private range (RFC 1918).
    """

    def check(path: str, value: Any) -> list[str]:
        try:
            network = ipaddress.ip_network(value if "/" in value else "", strict=False)
        except ValueError:
            return [
                f"expected {path} to contain a valid Value, got: {value} with err: invalid CIDR "
                f"address: {value}"
            ]
        problems = []
        if value != str(network):
            problems.append(
                f"expected {path} to contain a valid network Value, expected {network}, got {value}"
            )
        if not low <= network.prefixlen <= high:
            problems.append(
                f'expected "{path}" to contain a network Value with between {low} and {high} '
                f"significant bits, got: {network.prefixlen}"
            )
        if private and not problems and not _is_private(network):
            problems.append(f'expected "{path}" to be an RFC1918-compliant CIDR, got: {value}')
        return problems

    return check


def _is_private(network: ipaddress.IPv4Network | ipaddress.IPv6Network) -> bool:
    first = network.network_address
    return any(first in ipaddress.ip_network(cidr) for cidr in PRIVATE_NETWORKS)


def ip_range(path: str, value: Any) -> str | None:
    """The text must be an address range in CIDR notation."""
    try:
        ipaddress.ip_network(value if "/" in value else "", strict=False)
    except ValueError:
        return f'"{path}" is not a valid IP CIDR range: invalid CIDR address: {value}'
    return None


def clock_time(path: str, value: Any) -> str | None:
    """The text must be a time of day."""
    if len(value) != 5 or value[2] != ":":
        return f'"{path}" ("{value}") must be in the format HH:mm (RFC3339)'
    for digits, what, most in ((value[:2], "hour", 23), (value[3:], "minute", 59)):
        if not re.fullmatch("[0-9]{2}", digits) or int(digits) > most:
            return f'"{path}" ("{value}") does not contain a valid {what} (00-{most})'
    return None


def full_hour(path: str, value: Any) -> list[str] | str | None:
    """The text must be a time of day without minutes."""
    hour, _, minutes = value.partition(":")
    if value.count(":") != 1:
        return f'"{path}" must be in the format HH:00, got: {value}'
    problems = []
    if minutes != "00":
        problems.append(
            f'"{path}" does not allow minutes, it must be in the format HH:00, got: {value}'
        )
    if not re.fullmatch(r"[+-]?[0-9]+", hour):
        problems.append(f'"{path}" cannot be parsed, it must be in the format HH:00, got: {value}')
    elif not 0 <= int(hour) <= 23:
        problems.append(
            f'"{path}" does not specify a valid hour, it must be in the format HH:00 where '
            f"HH : [00-23], got: {value}"
        )
    return problems


def private_asn(path: str, value: Any) -> str | None:
    """The number must be that of a private autonomous system, or the partners' one."""
    if value == PARTNER_ASN or any(low <= value <= high for low, high in PRIVATE_ASNS):
        return None
    ranges = ", ".join(f"[{low}..{high}]" for low, high in PRIVATE_ASNS)
    return (
        f'expected "{path}" to be a RFC6996-compliant Local ASN:\nmust be either in the private '
        f"ASN ranges: {ranges};\nor be the value of [{PARTNER_ASN}], got {value}"
    )


compute_name = matches(r"^(?:[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?)$")


def cluster_name(path: str, value: Any) -> list[str]:
    """The text must be a name as GKE's clusters have it."""
    rules = (
        (len(value) <= 40, "cannot be longer than 40 characters"),
        (
            re.search("^[a-z0-9-]+$", value),
            "can only contain lowercase letters, numbers and hyphens",
        ),
        (re.search("^[a-z]", value), "must start with a letter"),
        (re.search("[a-z0-9]$", value), "must end with a number or a letter"),
    )
    return [f'"{path}" {rule}' for kept, rule in rules if not kept]


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
