"""A VPC for private GKE nodes."""

import ipaddress
from dataclasses import dataclass
from typing import TypedDict

import pulumi
from pulumi_gcp import compute
from typing_extensions import NotRequired

from spotproof.options import child_of
from spotproof.places import read_project, read_region
from spotproof.reader import Reader
from spotproof_gke import names

PODS_RANGE = "pods"
SERVICES_RANGE = "services"


class NetworkArgs(TypedDict):
    project: str
    """Project id."""

    region: str
    """Region of the subnetwork, router and NAT, for example `us-central1`."""

    network_name: NotRequired[str]
    """Fixed name of the VPC, also the prefix of its parts, at most 54 characters; the component's name when omitted."""

    nodes_cidr: NotRequired[str]
    """IPv4 range of the nodes, /8 to /29; `10.0.0.0/20` when omitted."""

    pods_cidr: NotRequired[str]
    """IPv4 range of the pods, /9 to /21; `10.4.0.0/14` when omitted."""

    services_cidr: NotRequired[str]
    """IPv4 range of the services, /16 to /27; `10.8.0.0/20` when omitted."""

    tables_out_of_date: NotRequired[bool]
    """Whether a region that our tables do not list is taken on trust, with a warning; false when omitted."""


@dataclass(frozen=True)
class NetworkPlan:
    """Checked arguments of a `Network`."""

    project: str
    region: str
    network_name: str
    nodes_cidr: str
    pods_cidr: str
    services_cidr: str


def plan_network(read: Reader, name: str) -> NetworkPlan:
    """Judge the arguments of a `Network`; problems are noted on `read`."""
    project = read_project(read)
    network_name = read.name("network_name", names.network_name_problems, default=name)
    ranges = {
        "nodes_cidr": _range(read, "nodes_cidr", "10.0.0.0/20", 8, 29),
        "pods_cidr": _range(read, "pods_cidr", "10.4.0.0/14", 9, 21),
        "services_cidr": _range(read, "services_cidr", "10.8.0.0/20", 16, 27),
    }
    keys = list(ranges)
    for index, first in enumerate(keys):
        for second in keys[index + 1 :]:
            one, other = ranges[first], ranges[second]
            if one and other and one.overlaps(other):
                rule = f"this overlaps {read.spell(second)} {other}"
                read.problem(first, str(one), rule, "choose ranges that share no address")
    return NetworkPlan(
        project,
        read_region(read),
        network_name,
        *(str(ranges[key]) for key in keys),
    )


def _range(read: Reader, key: str, default: str, widest: int, narrowest: int):
    text = read.text(key, default=default)
    try:
        network = ipaddress.IPv4Network(text)
    except ValueError:
        if text:
            rule = "this is an IPv4 range whose address has no bits outside its prefix"
            read.problem(key, text, rule, f"write it like {default}")
        return None
    if not widest <= network.prefixlen <= narrowest:
        rule = f"its prefix is /{widest} to /{narrowest}"
        read.problem(key, text, rule, f"write it like {default}")
        return None
    return network


class Network(pulumi.ComponentResource):
    """A VPC of its own with one subnetwork, ranges for pods and services, and NAT for private nodes."""

    network_id: pulumi.Output[str]
    """Id of the VPC."""

    network_name: pulumi.Output[str]
    """Name of the VPC."""

    subnetwork_id: pulumi.Output[str]
    """Id of the subnetwork; a cluster that depends on this component starts no node before the NAT is there."""

    region: pulumi.Output[str]
    """Region of the subnetwork."""

    pods_range_name: pulumi.Output[str]
    """Name of the secondary range for pods."""

    services_range_name: pulumi.Output[str]
    """Name of the secondary range for services."""

    def __init__(
        self, name: str, args: NetworkArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        read = Reader(args, NetworkArgs.__annotations__)
        plan = plan_network(read, name)
        read.finish(f"Network {name}")
        super().__init__("spotproof:index:Network", name, None, opts)
        read.warn(self)
        vpc = compute.Network(
            f"{name}-network",
            name=plan.network_name,
            project=plan.project,
            auto_create_subnetworks=False,
            routing_mode="REGIONAL",
            # Load balancer leftovers of GKE hold a VPC for minutes after the cluster is gone.
            opts=child_of(self, timeout="20m"),
        )
        subnetwork = compute.Subnetwork(
            f"{name}-subnetwork",
            name=f"{plan.network_name}-nodes",
            project=plan.project,
            region=plan.region,
            network=vpc.id,
            ip_cidr_range=plan.nodes_cidr,
            private_ip_google_access=True,
            secondary_ip_ranges=[
                compute.SubnetworkSecondaryIpRangeArgs(
                    range_name=PODS_RANGE, ip_cidr_range=plan.pods_cidr
                ),
                compute.SubnetworkSecondaryIpRangeArgs(
                    range_name=SERVICES_RANGE, ip_cidr_range=plan.services_cidr
                ),
            ],
            opts=child_of(self, timeout="20m"),
        )
        router = compute.Router(
            f"{name}-router",
            name=f"{plan.network_name}-router",
            project=plan.project,
            region=plan.region,
            network=vpc.id,
            opts=child_of(self),
        )
        compute.RouterNat(
            f"{name}-nat",
            name=f"{plan.network_name}-nat",
            project=plan.project,
            region=plan.region,
            router=router.name,
            nat_ip_allocate_option="AUTO_ONLY",
            source_subnetwork_ip_ranges_to_nat="ALL_SUBNETWORKS_ALL_IP_RANGES",
            log_config=compute.RouterNatLogConfigArgs(enable=True, filter="ERRORS_ONLY"),
            opts=child_of(self),
        )
        self.network_id = vpc.id
        self.network_name = vpc.name
        self.subnetwork_id = subnetwork.id
        self.region = subnetwork.region
        self.pods_range_name = pulumi.Output.from_input(PODS_RANGE)
        self.services_range_name = pulumi.Output.from_input(SERVICES_RANGE)
        self.register_outputs(
            {
                "networkId": self.network_id,
                "networkName": self.network_name,
                "subnetworkId": self.subnetwork_id,
                "region": self.region,
                "podsRangeName": self.pods_range_name,
                "servicesRangeName": self.services_range_name,
            }
        )
