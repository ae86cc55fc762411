"""Pages of what is known about GKE, out of its tables and rules."""

from collections.abc import Mapping
from typing import Any

from spotproof.pool_args import FlexStartPoolArgs, GpuPoolArgs
from spotproof.pool_plan import PoolPlan
from spotproof.pool_reading import plan_pool
from spotproof.reader import Reader
from spotproof_gke.accelerators import MACHINE_TYPES
from spotproof_gke.capacity import Capacity, scheduling
from spotproof_gke.locations import region_of
from spotproof_gke.tables import table as facts
from spotproof_gke.versions import FEATURES
from tools.markdown import GENERATED, table

EXAMPLE: Mapping[str, Any] = {
    "project": "example",
    "cluster": "example",
    "cluster_location": "us-central1",
    "node_service_account": "nodes@example.iam.gserviceaccount.com",
    "machine_type": "g2-standard-8",
    "max_nodes": 4,
    "reservation": "example",
}


def capacities_page() -> str:
    """What follows from each capacity, read off the plan of a pool."""
    columns = [_follows(capacity) for capacity in Capacity]
    rows = [(key, *(column[key] for column in columns)) for key in columns[0]]
    return "\n\n".join([
        GENERATED,
        "# Capacities",
        "How a node is obtained is one word, the capacity; the rest follows from it. This is what "
        "a `GpuPool` declares unless its arguments say otherwise, and what a pod must say.",
        table(("", *(f"`{capacity.value}`" for capacity in Capacity)), rows),
        "`-` means that nothing is declared. The GPU toleration is added by Kubernetes itself to "
        "pods that request GPUs.",
    ]) + "\n"  # fmt: skip


def _plan(capacity: Capacity) -> PoolPlan:
    args = dict(EXAMPLE)
    if capacity is not Capacity.RESERVATION:
        del args["reservation"]
    read = Reader(args, [*GpuPoolArgs.__annotations__, *FlexStartPoolArgs.__annotations__])
    plan = plan_pool(read, "example", capacity, gpu=True)
    read.finish("the example of the documentation")
    return plan


def _follows(capacity: Capacity) -> dict[str, str]:
    plan = _plan(capacity)
    assert plan.gpu is not None
    where = scheduling(capacity, plan.gpu.accelerator)
    taints = [f"`{t.key}={t.value}:{t.effect}`" for t in plan.taints]
    affinity = (plan.affinity or {}).get("consumeReservationType")
    return {
        "taints": ", ".join(taints),
        "labels besides GKE's own": ", ".join(f"`{k}={v}`" for k, v in plan.labels.items()) or "-",
        "starts with, least": "0",
        "location policy": f"`{plan.location_policy.value}`",
        "reservation affinity": f"`{affinity}`" if affinity else "-",
        "auto-repair": "on" if plan.auto_repair else "off",
        "upgrade": "GKE's own (nodes run out)" if plan.surge is None else
        f"surge {plan.surge[0]}, unavailable {plan.surge[1]}",
        "taken away with notice of": "never" if plan.termination.seconds is None else
        f"{plan.termination.seconds} s for a pod",
        "node selector of a pod": ", ".join(f"`{k}: {v}`" for k, v in where.node_selector.items()),
        "tolerations of a pod": ", ".join(f"`{t['key']}`" for t in where.tolerations) or "-",
    }  # fmt: skip


def machine_types_page() -> str:
    """The GPU machine types, how they are sold, and where."""
    rows = [
        (
            f"`{machine.name}`",
            f"{machine.gpus} x `{machine.accelerator}`",
            str(machine.gpu_memory_gb),
            f"{machine.vcpus} / {machine.memory_gb}",
            ", ".join(f"`{kind}`" for kind in machine.boot_disks),
            ", ".join(sorted(kind.value for kind in machine.obtainable)),
        )
        for machine in MACHINE_TYPES.values()
    ]
    zones = [
        (f"`{series}`", row["from"], ", ".join(_short(row["zones"])))
        for series, row in facts("zones")["series"].items()
    ]
    attached = [
        (
            f"`{name}`",
            str(row["gpu_memory_gb"]),
            ", ".join(f"{count}: {vcpus}" for count, vcpus in row["most_vcpus"].items()),
            ", ".join(_short(row["zones"])) or "not known",
        )
        for name, row in facts("attachable_gpus")["accelerators"].items()
    ]
    sold = ("machine type", "GPUs", "GPU memory, GB", "vCPU / memory, GB", "boot disks", "sold as")
    return "\n\n".join([
        GENERATED,
        "# GPU machine types and zones",
        _source("machine_types"),
        table(sold, rows),
        "## Zones",
        _source("zones"),
        table(("series", "from", "zones"), zones),
        "## GPUs that are attached to N1 machines",
        _source("attachable_gpus"),
        table(("accelerator", "memory of one, GB", "count: most vCPUs", "zones"), attached),
    ]) + "\n"  # fmt: skip


def _short(zones: list[str]) -> list[str]:
    """Zones as `region-a,b`."""
    by_region: dict[str, list[str]] = {}
    for zone in zones:
        by_region.setdefault(region_of(zone), []).append(zone.rpartition("-")[2])
    return [f"{region}-{','.join(sorted(letters))}" for region, letters in by_region.items()]


def _source(name: str) -> str:
    found = facts(name)
    return f"Source, read on {found['read_on']}: {found['source']}."


def versions_page() -> str:
    """The least GKE version of each feature."""
    rows = [(feature.what, f"`{feature.version}`") for feature in FEATURES.values()]
    return "\n\n".join([
        GENERATED,
        "# Least GKE versions",
        _source("minimum_versions"),
        table(("feature", "control plane"), rows),
    ]) + "\n"  # fmt: skip


def index_page() -> str:
    """The index of the reference."""
    return "\n\n".join([
        GENERATED,
        "# Reference",
        "- [Components](components.md): arguments, defaults and outputs\n"
        "- [The stack file](stack-file.md): every key\n"
        "- [Strategies](strategies.md): which work takes which capacity, and by what guidance\n"
        "- [Capacities](capacities.md): what follows from how a node is obtained\n"
        "- [Changes](changes.md): which argument updates in place, and which replaces\n"
        "- [GPU machine types and zones](machine-types.md)\n"
        "- [Least GKE versions](versions.md)\n"
        "- [Prices](prices.md): what `spotproof cost` reckons with\n"
        "- [Quotas](quotas.md): their names\n"
        "- [Policies](../policies)",
    ]) + "\n"  # fmt: skip
