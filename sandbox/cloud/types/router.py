"""Compute Engine's way out of a network: Router, RouterNat."""

from typing import Any

from sandbox.cloud.problems import ProviderError
from sandbox.cloud.types.base import Cloud, Config
from sandbox.cloud.types.network import (
    NETWORK,
    ROUTER,
    SUBNETWORK,
    ComputeKind,
    network_path,
    not_found,
    subnetwork_path,
    unknown_region,
)
from sandbox.cloud.types.values import COMPUTE_API, Properties, block, last_part, path_of

ROUTER_NAT = "gcp:compute/routerNat:RouterNat"


class Router(ComputeKind):
    """A Cloud Router."""

    token, table, called = ROUTER, "router", "Router"
    needs_region = True
    local = ("deletionPolicy",)

    def plan(self, old: Properties | None, inputs: Properties) -> None:
        bgp = block(inputs, "bgp")
        if bgp.get("advertiseMode") != "DEFAULT":
            return
        for name, field in (
            ("advertisedGroups", "advertised_groups"),
            ("advertisedIpRanges", "advertised_ip_ranges"),
        ):
            if bgp.get(name):
                raise ProviderError(
                    f"Error in bgp: {field} cannot be specified when using advertise_mode DEFAULT"
                )

    def identify(self, inputs: Properties) -> str:
        project, region = inputs["project"], inputs["region"]
        return f"projects/{project}/regions/{region}/routers/{inputs['name']}"

    def ids(self, identifier: str, config: Config) -> list[str]:
        path = path_of(identifier)
        if path.startswith("projects/"):
            return [path]
        return [f"projects/{config.project}/regions/{config.region}/routers/{last_part(path)}"]

    def refuse(self, cloud: Cloud, inputs: Properties, old: Properties | None) -> list[str]:
        if inputs.get("network"):
            network = network_path(inputs["network"], inputs["project"])
            if cloud.find(NETWORK, network) is None:
                raise not_found(network)
        return unknown_region(inputs)

    def serve(self, cloud: Cloud, inputs: Properties, old: Properties | None) -> Properties:
        served: Properties = {
            **inputs,
            "selfLink": COMPUTE_API + self.identify(inputs),
            "creationTimestamp": "2026-11-29T00:00:00.000-08:00",
        }
        if inputs.get("network"):
            network = network_path(inputs["network"], inputs["project"])
            served["network"] = COMPUTE_API + network
        return served

    def delete(self, cloud: Cloud, identifier: str, state: Properties) -> None:
        super().delete(cloud, identifier, state)
        name = last_part(identifier)
        for nat, properties in cloud.all(ROUTER_NAT):
            if properties["router"] == name and f"/regions/{properties['region']}/" in identifier:
                cloud.store.remove(ROUTER_NAT, nat)


def _names(references: Any) -> list[str]:
    """The names at the ends of references that are known."""
    given = references if isinstance(references, list) else []
    return [last_part(each) for each in given if isinstance(each, str)]


class RouterNat(ComputeKind):
    """A NAT configuration of a Cloud Router."""

    token, table, called = ROUTER_NAT, "router_nat", "RouterNat"
    needs_region = True
    local = ("deletionPolicy",)

    def plan(self, old: Properties | None, inputs: Properties) -> None:
        drained = _names(inputs.get("drainNatIps"))
        added = [name for name in drained if name not in _names((old or {}).get("drainNatIps"))]
        if not added:
            return
        if old is None:
            raise ProviderError(
                f"New RouterNat cannot have drain_nat_ips, got values [{' '.join(added)}]"
            )
        before, after = (_names(values.get("natIps")) for values in (old, inputs))
        for name in added:
            if name not in before:
                raise ProviderError(
                    f'drain_nat_ip "{name}" was not previously set in nat_ips [{" ".join(before)}]'
                )
            if name in after:
                raise ProviderError(
                    f'drain_nat_ip "{name}" cannot be drained if still set in nat_ips '
                    f"[{' '.join(after)}]"
                )

    def identify(self, inputs: Properties) -> str:
        router = last_part(inputs["router"])
        return f"{inputs['project']}/{inputs['region']}/{router}/{inputs['name']}"

    def ids(self, identifier: str, config: Config) -> list[str]:
        parts = identifier.split("/")
        if "projects" in parts:
            parts = [parts[i + 1] for i in range(0, len(parts) - 1, 2)] + parts[-1:]
            parts = [*parts[:3], parts[-1]]
        if len(parts) == 3:
            parts = [config.project, *parts]
        if len(parts) == 2:
            parts = [config.project, config.region, *parts]
        return ["/".join(parts)]

    def refuse(self, cloud: Cloud, inputs: Properties, old: Properties | None) -> list[str]:
        project, region = inputs["project"], inputs["region"]
        router = f"projects/{project}/regions/{region}/routers/{last_part(inputs['router'])}"
        if cloud.find(ROUTER, router) is None:
            raise not_found(router)
        problems = []
        listed = inputs["sourceSubnetworkIpRangesToNat"] == "LIST_OF_SUBNETWORKS"
        if listed and not inputs.get("subnetworks"):
            problems.append(
                "Invalid value for field 'resource.nats[0].subnetworks': LIST_OF_SUBNETWORKS "
                "needs at least one subnetwork"
            )
        for each in inputs.get("subnetworks") or []:
            subnetwork = subnetwork_path(each["name"], project, region)
            if cloud.find(SUBNETWORK, subnetwork) is None:
                raise not_found(subnetwork)
        if inputs.get("natIpAllocateOption") == "MANUAL_ONLY" and not inputs.get("natIps"):
            problems.append(
                "Invalid value for field 'resource.nats[0].natIps': MANUAL_ONLY needs addresses"
            )
        return problems

    def serve(self, cloud: Cloud, inputs: Properties, old: Properties | None) -> Properties:
        return {
            "enableEndpointIndependentMapping": False,
            "enableDynamicPortAllocation": False,
            "autoNetworkTier": "PREMIUM",
            "endpointTypes": ["ENDPOINT_TYPE_VM"],
            **inputs,
            "router": last_part(inputs["router"]),
        }

    def read(self, properties: Properties, prior: Properties, config: Config) -> Properties:
        state = super().read(properties, prior, config)
        # The provider keeps the router as the program gives it.
        return {**state, "router": prior.get("router") or state["router"]}


KINDS = (Router(), RouterNat())
