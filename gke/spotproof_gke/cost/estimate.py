"""The estimate of a plan: its lines, their sum, and the quotas that it needs."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date

from spotproof_gke import prices
from spotproof_gke.audit.evidence import printable
from spotproof_gke.cost import lines
from spotproof_gke.cost.auto import Limits, auto_lines, limits_of
from spotproof_gke.cost.lines import Line, Use
from spotproof_gke.cost.nodes import NodeGroup, groups_of
from spotproof_gke.cost.plans import Plan
from spotproof_gke.locations import REGIONS
from spotproof_gke.prices import Source
from spotproof_gke.problems import Problem, did_you_mean, raise_if_any
from spotproof_gke.quotas import AutoGpus, Demand, Need, needs
from spotproof_gke.rules.bucket_references import BUCKET
from spotproof_gke.rules.clusters import CLUSTER, NODE_POOL, Clusters, clusters_of
from spotproof_gke.rules.finding import Stack
from spotproof_gke.rules.reading import is_true

NAT = "gcp:compute/routerNat:RouterNat"
DISK = "gcp:compute/disk:Disk"
TOPIC = "gcp:pubsub/topic:Topic"
SUBSCRIPTION = "gcp:pubsub/subscription:Subscription"


@dataclass(frozen=True)
class Estimate:
    """What a plan costs in a month, and what it needs.

    Attributes:
        plan: What was read.
        use: What was taken for granted.
        lines: The parts.
        not_priced: How many resources of each type were left out of account.
        free: How many cost nothing by themselves.
        needs: Quotas at the most nodes.
        surge: Further nodes while pools are upgraded, at most.
        today: The day by which prices are called old.
    """

    plan: Plan
    use: Use
    lines: tuple[Line, ...]
    not_priced: Mapping[str, int]
    free: int
    needs: tuple[Need, ...]
    surge: int
    today: date

    @property
    def low(self) -> float:
        """The least that all lines cost together."""
        return sum(line.low for line in self.lines)

    @property
    def high(self) -> float:
        """The most that the lines cost whose most is known."""
        return sum(line.low if line.high is None else line.high for line in self.lines)

    @property
    def unknown(self) -> tuple[Line, ...]:
        """The lines whose most is not known."""
        return tuple(line for line in self.lines if line.high is None)

    @property
    def sources(self) -> tuple[Source, ...]:
        """Where the prices come from that were used."""
        used = {name for line in self.lines for name in line.sources}
        return tuple(source for name, source in prices.SOURCES.items() if name in used)

    @property
    def old(self) -> tuple[Source, ...]:
        """Those of `sources` that are old."""
        return tuple(source for source in self.sources if source.is_old(self.today))


def estimate(
    plan: Plan,
    use: Use,
    today: date,
    nodes: Mapping[str, float] = {},
    region: str | None = None,
) -> Estimate:
    """Estimate a plan.

    Args:
        plan: What was read.
        use: What the plan does not tell.
        today: The day by which prices are called old.
        nodes: Numbers of nodes by pool, in the place of what its limits allow.
        region: Where pools are whose region the plan does not tell.

    Raises:
        ProblemsError: A pool in `nodes` is not in the plan, or the region is none.
    """
    clusters = clusters_of(Stack(plan.resources))
    pools = [
        group for resource in plan.resources for group in groups_of(resource, clusters, region)
    ]
    raise_if_any("cost", [*_node_problems(nodes, pools), *_region_problems(region)])
    pools = [_counted(group, nodes) for group in pools]
    priced = _lines(plan, clusters, pools, use, region)
    others = [each for each in plan.resources if each.type not in _PRICED]
    paid = [each for each in others if not prices.is_free(each.type)]
    return Estimate(
        plan=plan,
        use=use,
        lines=tuple(priced),
        not_priced=dict(sorted(Counter(printable(each.type) for each in paid).items())),
        free=len(others) - len(paid),
        needs=tuple(needs(map(_demand, pools), _added(clusters, region))),
        surge=sum(group.most_added for group in pools),
        today=today,
    )


_PRICED = frozenset((CLUSTER, NODE_POOL, BUCKET, NAT, DISK, TOPIC, SUBSCRIPTION))


def _lines(
    plan: Plan, clusters: Clusters, pools: Iterable[NodeGroup], use: Use, region: str | None
) -> Iterator[Line]:
    stack = Stack(plan.resources)
    fees = lines.cluster_lines(clusters)
    for cluster, fee in zip(clusters, fees, strict=True):
        yield fee
        if is_true(cluster.resource.get("enableAutopilot")):
            yield lines.autopilot_line(cluster.resource)
        yield from auto_lines(cluster.resource, cluster.region or region, pools, use)
    for group in pools:
        yield from lines.node_lines(group, use)
    for bucket in stack.of_type(BUCKET):
        yield lines.bucket_line(bucket, use.stored_gib)
    for disk in stack.of_type(DISK):
        yield lines.disk_line(disk)
    for gateway in stack.of_type(NAT):
        yield from lines.nat_lines(gateway, use.traffic_gib)
    topics, subscriptions = stack.of_type(TOPIC), stack.of_type(SUBSCRIPTION)
    if topics or subscriptions:
        yield lines.message_line(topics, subscriptions, use.messages_gib)


def _counted(group: NodeGroup, nodes: Mapping[str, float]) -> NodeGroup:
    for name in group.names:
        if name in nodes:
            return group.with_nodes(nodes[name])
    return group


def _node_problems(nodes: Mapping[str, float], pools: Iterable[NodeGroup]) -> Iterator[Problem]:
    names = [group.name for group in pools]
    every = {name for group in pools for name in group.names}
    for name, count in nodes.items():
        if name not in every:
            fix = did_you_mean(name, names) if names else "leave it out"
            yield Problem(f"--nodes {name}", count, "the plan has no pool of this name", fix)


def _region_problems(region: str | None) -> Iterator[Problem]:
    if region is not None and region not in REGIONS:
        yield Problem("--region", region, "is no known region", did_you_mean(region, REGIONS))


def _demand(group: NodeGroup) -> Demand:
    return Demand(
        name=group.name,
        region=group.region,
        nodes=group.most,
        capacity=group.capacity,
        machine_type=group.machine_type or "",
        vcpus=group.vcpus,
        accelerator=group.accelerator,
        gpus=group.gpus,
        disk_type=group.disk_type or "",
        disk_gb=group.disk_gb,
        public=bool(group.public),
    )


def _added(clusters: Clusters, region: str | None) -> Iterator[AutoGpus]:
    for cluster in clusters:
        limits = limits_of(cluster.resource)
        for accelerator, most in limits.gpus.items() if isinstance(limits, Limits) else ():
            yield AutoGpus(cluster.resource.name, cluster.region or region, accelerator, most)
