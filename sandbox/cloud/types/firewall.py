"""Compute Engine's firewall rules: Firewall."""

import ipaddress
import re
from typing import Any, ClassVar

from sandbox.cloud.problems import ProviderError
from sandbox.cloud.types.base import Cloud, Config
from sandbox.cloud.types.network import (
    FIREWALL,
    NETWORK,
    ComputeKind,
    network_path,
    not_found,
)
from sandbox.cloud.types.values import COMPUTE_API, Properties, last_part, path_of

ANYWHERE = ["0.0.0.0/0"]
WITH_PORTS = ("tcp", "udp", "sctp")
PROTOCOLS = (*WITH_PORTS, "icmp", "esp", "ah", "ipip", "all")
SOURCES = ("sourceTags", "sourceRanges", "sourceServiceAccounts")
TAGS = ("sourceTags", "targetTags")
_TAG = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")


def _same_sources(old: Any, new: Any) -> bool:
    return old == ANYWHERE and not new


class Firewall(ComputeKind):
    """A firewall rule of a network."""

    token, table, called = FIREWALL, "firewall", "Firewall"
    local = ("deletionPolicy",)
    same_if: ClassVar = {"sourceRanges": _same_sources}

    def plan(self, old: Properties | None, inputs: Properties) -> None:
        if inputs.get("logConfig") and inputs.get("enableLogging") is False:
            raise ProviderError("log_config cannot be defined when enable_logging is false")
        if inputs.get("direction") == "EGRESS" or any(name in inputs for name in SOURCES):
            return
        raise ProviderError(
            "one of source_tags, source_ranges, or source_service_accounts must be defined"
        )

    def identify(self, inputs: Properties) -> str:
        return f"projects/{inputs['project']}/global/firewalls/{inputs['name']}"

    def ids(self, identifier: str, config: Config) -> list[str]:
        path = path_of(identifier)
        if path.startswith("projects/"):
            return [path]
        return [f"projects/{config.project}/global/firewalls/{last_part(path)}"]

    def refuse(self, cloud: Cloud, inputs: Properties, old: Properties | None) -> list[str]:
        network = network_path(inputs["network"], inputs["project"])
        if cloud.find(NETWORK, network) is None:
            raise not_found(network)
        problems = []
        if old is not None and path_of(old["network"]) != network:
            problems.append(
                f"Invalid value for field 'resource.network': '{inputs['network']}'. "
                "The network of a firewall rule cannot be changed"
            )
        for name in ("allows", "denies"):
            for index, rule in enumerate(inputs.get(name) or []):
                problems += _rule(f"resource.{name}[{index}]", rule)
        for name in ("sourceRanges", "destinationRanges"):
            problems += _ranges(name, inputs.get(name) or [])
        for name in TAGS:
            problems += _tags(name, inputs.get(name) or [])
        if inputs.get("direction") == "EGRESS":
            problems += [
                f"Invalid value for field 'resource.{name}': it is not allowed with EGRESS"
                for name in ("sourceTags", "sourceServiceAccounts")
                if inputs.get(name)
            ]
        return problems

    def serve(self, cloud: Cloud, inputs: Properties, old: Properties | None) -> Properties:
        identifier = self.identify(inputs)
        direction = inputs.get("direction") or "INGRESS"
        served: Properties = {
            **inputs,
            "direction": direction,
            "network": COMPUTE_API + network_path(inputs["network"], inputs["project"]),
            "selfLink": COMPUTE_API + identifier,
            "creationTimestamp": "2026-11-29T00:00:00.000-08:00",
            "enableLogging": _logs(inputs, old or {}),
        }
        for name in ("allows", "denies"):
            if name in inputs:
                served[name] = [_served_rule(rule) for rule in inputs[name]]
        if direction == "EGRESS":
            served["destinationRanges"] = served.get("destinationRanges") or ANYWHERE
        elif not any(served.get(name) for name in SOURCES):
            served["sourceRanges"] = ANYWHERE
        return served


def _served_rule(rule: Properties) -> Properties:
    return {**rule, "protocol": rule["protocol"].lower()}


def _logs(inputs: Properties, old: Properties) -> bool:
    """Whether connections are logged: `logConfig` says so, or the older `enableLogging`."""
    if inputs.get("logConfig"):
        return True
    return bool(inputs.get("enableLogging")) and not old.get("logConfig")


def _rule(where: str, rule: Properties) -> list[str]:
    protocol = rule["protocol"].lower()
    number = protocol.isdecimal() and int(protocol) <= 255
    if protocol not in PROTOCOLS and not number:
        return [
            f"Invalid value for field '{where}.IPProtocol': '{rule['protocol']}'. It is one of "
            f"{', '.join(PROTOCOLS)}, or a protocol's number"
        ]
    ports = rule.get("ports") or []
    if ports and protocol not in (*WITH_PORTS, "6", "17", "132"):
        return [f"Invalid value for field '{where}.ports': the protocol {protocol} has no ports"]
    return [
        f"Invalid value for field '{where}.ports[{index}]': '{port}'. It is a port or a range of "
        "ports, such as 22 or 8000-8080"
        for index, port in enumerate(ports)
        if not _is_port(port)
    ]


def _is_port(text: str) -> bool:
    match = re.fullmatch(r"(\d{1,5})(?:-(\d{1,5}))?", text, re.ASCII)
    if match is None:
        return False
    low = int(match.group(1))
    return low <= int(match.group(2) or low) <= 65535


def _ranges(name: str, ranges: list[str]) -> list[str]:
    return [
        f"Invalid value for field 'resource.{name}[{index}]': '{cidr}'. It is an address range "
        "in CIDR notation"
        for index, cidr in enumerate(ranges)
        if not _is_range(cidr)
    ]


def _is_range(cidr: str) -> bool:
    try:
        ipaddress.ip_network(cidr, strict=False)
    except ValueError:
        return False
    return True


def _tags(name: str, tags: list[str]) -> list[str]:
    return [
        f"Invalid value for field 'resource.{name}[{index}]': '{tag}'. A network tag has "
        "lower-case letters, digits and hyphens, and begins with a letter"
        for index, tag in enumerate(tags)
        if not _TAG.fullmatch(tag)
    ]


KINDS = (Firewall(),)
