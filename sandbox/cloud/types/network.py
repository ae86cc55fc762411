"""Compute Engine's networks: Network, Subnetwork."""

import ipaddress
from typing import Any, ClassVar

from sandbox.cloud.diff import Change
from sandbox.cloud.problems import ApiError
from sandbox.cloud.types.base import Cloud, Config, Kind
from sandbox.cloud.types.values import (
    COMPUTE_API,
    Properties,
    fingerprint,
    last_part,
    path_of,
    project_number,
)
from spotproof_gke.locations import zones_of

NETWORK = "gcp:compute/network:Network"
SUBNETWORK = "gcp:compute/subnetwork:Subnetwork"
ROUTER = "gcp:compute/router:Router"
FIREWALL = "gcp:compute/firewall:Firewall"


def network_path(reference: str, project: str) -> str:
    """The id of a network given by name, id or self link."""
    path = path_of(reference)
    return path if path.startswith("projects/") else f"projects/{project}/global/networks/{path}"


def subnetwork_path(reference: str, project: str, region: str) -> str:
    """The id of a subnetwork given by name, id or self link."""
    path = path_of(reference)
    if path.startswith("projects/"):
        return path
    return f"projects/{project}/regions/{region}/subnetworks/{last_part(path)}"


def not_found(identifier: str) -> ApiError:
    """What Compute Engine says of a resource that it does not have."""
    return ApiError(404, f"The resource '{identifier}' was not found")


def in_use(identifier: str, user: str) -> ApiError:
    """What Compute Engine says to the deletion of a resource that `user` needs."""
    what = identifier.split("/")[-2].removesuffix("s")
    message = f"The {what} resource '{identifier}' is already being used by '{user}'"
    return ApiError(400, message, "resourceInUseByAnotherResource")


def unknown_region(inputs: Properties) -> list[str]:
    """A complaint when there is no such region."""
    region = inputs["region"]
    if zones_of(region):
        return []
    return [f"Invalid value for field 'region': '{region}'. Unknown region"]


class ComputeKind(Kind):
    """What Compute Engine's types share."""

    def already_exists(self, identifier: str) -> ApiError:
        return ApiError(409, f"The resource '{identifier}' already exists")


class Network(ComputeKind):
    """A VPC network."""

    token, table, called = NETWORK, "network", "Network"
    local = ("deleteDefaultRoutesOnCreate", "deletionPolicy", "deleteBgpAlwaysCompareMed")

    def identify(self, inputs: Properties) -> str:
        return f"projects/{inputs['project']}/global/networks/{inputs['name']}"

    def ids(self, identifier: str, config: Config) -> list[str]:
        return [network_path(identifier, config.project)]

    def refuse(self, cloud: Cloud, inputs: Properties, old: Properties | None) -> list[str]:
        mtu = inputs.get("mtu")
        if mtu and not 1300 <= mtu <= 8896:
            return [f"Invalid value for field 'resource.mtu': '{mtu}'. Must be 1300 to 8896"]
        return []

    def serve(self, cloud: Cloud, inputs: Properties, old: Properties | None) -> Properties:
        identifier = self.identify(inputs)
        number = str(int(project_number(identifier)) * 7)
        return {
            "routingMode": "REGIONAL",
            "mtu": 1460,
            "bgpBestPathSelectionMode": "LEGACY",
            **inputs,
            "selfLink": COMPUTE_API + identifier,
            "networkId": number,
            "numericId": number,
        }

    def before_delete(self, cloud: Cloud, identifier: str, state: Properties) -> None:
        for token in (SUBNETWORK, ROUTER, FIREWALL):
            for user, properties in cloud.all(token):
                if path_of(properties.get("network", "")) == identifier:
                    raise in_use(identifier, user)
        for user, properties in cloud.all("gcp:container/cluster:Cluster"):
            if path_of(properties.get("network", "")) == identifier:
                raise in_use(identifier, user)


def _not_wider(old: Any, new: Any) -> bool:
    """A subnetwork can grow in place, to a range with the old one in it, and no other."""
    try:
        before, after = (ipaddress.ip_network(cidr, strict=False) for cidr in (old, new))
        return not before.subnet_of(after)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False


def _same_ranges(old: Any, new: Any) -> bool:
    """Secondary ranges in another order are the same."""
    if not isinstance(old, list) or not isinstance(new, list):
        return False
    return sorted(map(repr, old)) == sorted(map(repr, new))


class Subnetwork(ComputeKind):
    """A subnetwork with its secondary ranges."""

    token, table, called = SUBNETWORK, "subnetwork", "Subnetwork"
    needs_region = True
    local = ("deletionPolicy", "sendSecondaryIpRangeIfEmpty")
    same_if: ClassVar = {"secondaryIpRanges": _same_ranges}
    replaces_if: ClassVar = {"ipCidrRange": _not_wider}

    def changes(self, old: Properties, inputs: Properties) -> list[Change]:
        found = super().changes(old, inputs)
        given = inputs.get("secondaryIpRanges")
        if inputs.get("sendSecondaryIpRangeIfEmpty") and not given and old.get("secondaryIpRanges"):
            found = [change for change in found if change.top != "secondaryIpRanges"]
            found.append(Change("secondaryIpRanges", "delete"))
        return found

    def identify(self, inputs: Properties) -> str:
        project, region = inputs["project"], inputs["region"]
        return f"projects/{project}/regions/{region}/subnetworks/{inputs['name']}"

    def ids(self, identifier: str, config: Config) -> list[str]:
        parts = identifier.split("/")
        if "projects" not in parts and len(parts) == 3:
            project, region, name = parts
            return [subnetwork_path(name, project, region)]
        return [subnetwork_path(identifier, config.project, config.region)]

    def refuse(self, cloud: Cloud, inputs: Properties, old: Properties | None) -> list[str]:
        network = network_path(inputs["network"], inputs["project"])
        if cloud.find(NETWORK, network) is None:
            raise not_found(network)
        problems = unknown_region(inputs)
        if not inputs.get("ipCidrRange") and not inputs.get("reservedInternalRange"):
            problems.append("Required field 'resource.ipCidrRange' not specified")
        taken = _ranges_of_others(cloud, network, self.identify(inputs))
        own: list[tuple[str, str]] = []
        for cidr in _ranges(inputs):
            for other, user in [*taken, *own]:
                if _overlap(cidr, other):
                    problems.append(
                        f"Invalid IPCidrRange: {cidr} conflicts with existing subnetwork "
                        f"'{user}' in region '{inputs['region']}'"
                    )
            own.append((cidr, inputs["name"]))
        return problems

    def serve(self, cloud: Cloud, inputs: Properties, old: Properties | None) -> Properties:
        identifier = self.identify(inputs)
        network = network_path(inputs["network"], inputs["project"])
        primary = inputs.get("ipCidrRange")
        return {
            "purpose": "PRIVATE",
            "stackType": "IPV4_ONLY",
            "privateIpGoogleAccess": False,
            "privateIpv6GoogleAccess": "DISABLE_GOOGLE_ACCESS",
            **inputs,
            "network": COMPUTE_API + network,
            "selfLink": COMPUTE_API + identifier,
            "creationTimestamp": "2026-11-29T00:00:00.000-08:00",
            "subnetworkId": int(project_number(identifier)),
            "fingerprint": fingerprint(inputs),
            "gatewayAddress": str(ipaddress.ip_network(primary, strict=False)[1])
            if primary
            else "",
        }

    def before_delete(self, cloud: Cloud, identifier: str, state: Properties) -> None:
        for user, properties in cloud.all("gcp:container/cluster:Cluster"):
            if path_of(properties.get("subnetwork", "")) == identifier:
                raise in_use(identifier, user)


def _ranges(properties: Properties) -> list[str]:
    secondary = [each.get("ipCidrRange") for each in properties.get("secondaryIpRanges") or []]
    return [cidr for cidr in [properties.get("ipCidrRange"), *secondary] if cidr]


def _ranges_of_others(cloud: Cloud, network: str, me: str) -> list[tuple[str, str]]:
    return [
        (cidr, properties["name"])
        for identifier, properties in cloud.all(SUBNETWORK)
        if identifier != me and path_of(properties["network"]) == network
        for cidr in _ranges(properties)
    ]


def _overlap(one: str, other: str) -> bool:
    a, b = (ipaddress.ip_network(cidr, strict=False) for cidr in (one, other))
    return isinstance(a, ipaddress.IPv4Network) == isinstance(
        b, ipaddress.IPv4Network
    ) and a.overlaps(b)


KINDS = (Network(), Subnetwork())
