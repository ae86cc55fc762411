"""A compute class: take what capacity there is, in an order of one's own."""

import re
from dataclasses import dataclass
from typing import Any, TypedDict

import pulumi
from typing_extensions import NotRequired

from spotproof.places import read_location
from spotproof.pool_args import GpuDriverVersion
from spotproof.pool_machine import read_cpu_machine, read_gpu_machine
from spotproof.pool_reading import read_reservation
from spotproof.reader import REQUIRED, Reader
from spotproof.workloads.made import declare
from spotproof_gke import kubernetes_names, locations, versions
from spotproof_gke.accelerators import MACHINE_TYPES
from spotproof_gke.capacity import Capacity
from spotproof_gke.rules.class_priorities import class_conflicts
from spotproof_gke.rules.pool_capacity import NODE_LIFETIME_SECONDS
from spotproof_gke.workloads.compute_class import (
    Priority,
    WhenUnsatisfiable,
    compute_class,
    needed_features,
)

_FAMILY = re.compile(r"[a-z][a-z0-9]{0,15}")
_GPU_FAMILIES = frozenset(name.partition("-")[0] for name in MACHINE_TYPES)


_ARGUMENT_OF = {
    "spot": "capacity",
    "reservations": "reservation",
    "maxRunDurationSeconds": "max_node_lifetime_seconds",
}
"""Which argument decides a field that a rule of classes speaks of."""


class CapacityPriorityArgs(TypedDict):
    capacity: Capacity
    """How a node is obtained: `on-demand`, `spot`, `flex-start` or `reservation`."""

    machine_type: NotRequired[str]
    """Machine type, for example `g2-standard-8`; required unless `machine_family` is given."""

    machine_family: NotRequired[str]
    """Machine family of nodes without GPUs, for example `n2`; none when omitted."""

    accelerator: NotRequired[str]
    """GPU as GKE names it; needed on N1 machines alone, which have none built in."""

    gpus_per_node: NotRequired[int]
    """GPUs of one node; needed on N1 machines alone, 1 there when omitted."""

    zones: NotRequired[list[str]]
    """Zones to try; left to GKE when omitted."""

    max_node_lifetime_seconds: NotRequired[int]
    """How long a node (not a job) lives, 600 to 604800 s; GKE's own limit when omitted."""

    reservation: NotRequired[str]
    """Reservation that the nodes come from: its name, or `projects/PROJECT/reservations/NAME` of another project."""


class CapacityClassArgs(TypedDict):
    """Arguments of `CapacityClass`."""

    cluster_location: str
    """Region or zone of the cluster."""

    priorities: list[CapacityPriorityArgs]
    """The ways to obtain a node, the preferred one first; 1 to 10."""

    class_name: NotRequired[str]
    """Fixed name of the class; the component's name when omitted."""

    when_unsatisfiable: NotRequired[WhenUnsatisfiable]
    """What happens when no priority can be had: pods wait, or get any node; `DoNotScaleUp` when omitted."""

    auto_create_pools: NotRequired[bool]
    """Whether GKE makes the pools; true when omitted."""

    consolidation_delay_minutes: NotRequired[int]
    """How long an idle node is kept, 1 to 1440 minutes; GKE's own when omitted."""

    node_service_account: NotRequired[pulumi.Input[str]]
    """Email of the service account that nodes run as; GKE's default when omitted."""

    gpu_driver_version: NotRequired[GpuDriverVersion]
    """Driver that GKE installs; `DEFAULT` when omitted."""

    cluster_version: NotRequired[str]
    """Version of the cluster's control plane, to refuse what it does not know; not judged when omitted."""

    tables_out_of_date: NotRequired[bool]
    """Whether machine types, zones and regions that our tables do not list are taken on trust, with a warning; false when omitted."""


@dataclass(frozen=True)
class CapacityClassPlan:
    """Checked arguments of a `CapacityClass`."""

    name: str
    minimum_version: str
    manifest: dict[str, Any]


def plan_capacity_class(read: Reader, name: str) -> CapacityClassPlan:
    """Judge the arguments of a `CapacityClass`; problems are noted on `read`."""
    location = read_location(read, "cluster_location")
    given = read.mappings("priorities")
    priorities = [_priority(read, f"priorities[{n}]", one, location) for n, one in enumerate(given)]
    delay = None
    if read.has("consolidation_delay_minutes"):
        delay = read.integer("consolidation_delay_minutes", least=1, most=1440)
    creates = read.boolean("auto_create_pools", default=True)
    driver = read.choice("gpu_driver_version", GpuDriverVersion, GpuDriverVersion.DEFAULT)
    class_name = read.name("class_name", kubernetes_names.object_name_problems, default=name)
    manifest = compute_class(
        class_name,
        priorities,
        when_unsatisfiable=read.choice(
            "when_unsatisfiable", WhenUnsatisfiable, WhenUnsatisfiable.DO_NOT_SCALE_UP
        ),
        auto_create_pools=creates,
        consolidation_delay_minutes=delay,
        node_service_account=read.given("node_service_account", default=None),
        gpu_driver_version=driver.value.lower(),
    )
    if not any(problem.key.startswith(f"{read.path}priorities") for problem in read.problems):
        for found in class_conflicts(manifest["spec"]):
            above, _, last = found.key.rpartition(".")
            key = f"{above}.{_ARGUMENT_OF[last]}" if above else last
            read.problem(key, found.value, found.rule, found.fix)
    features = needed_features(priorities, creates)
    _judge_version(read, features)
    return CapacityClassPlan(class_name, versions.FEATURES[features[-1]].version, manifest)


def _priority(read: Reader, key: str, given: object, location: str) -> Priority:
    inner = Reader(
        given, CapacityPriorityArgs.__annotations__, f"{read.path}{key}.", read.spell,
        read.problems,
    )  # fmt: skip
    inner.trust_like(read)
    before = len(inner.problems)
    kind = inner.choice("capacity", Capacity)
    capacity = kind if len(inner.problems) == before else None
    if capacity is Capacity.FLEX_START_QUEUED:
        rule = "a class obtains nodes pod by pod, and queued ones come all at once"
        inner.problem("capacity", kind.value, rule, "use flex-start, or a FlexStartJob with queue")
        capacity = None
    lifetime = None
    if inner.has("max_node_lifetime_seconds"):
        least, most = NODE_LIFETIME_SECONDS
        lifetime = inner.integer("max_node_lifetime_seconds", least=least, most=most)
    found = Priority(
        capacity or Capacity.ON_DEMAND,
        node_lifetime_seconds=lifetime,
        reservation=read_reservation(inner, capacity),
    )
    return _with_machine(inner, found, capacity, location)


def _with_machine(
    read: Reader, found: Priority, capacity: Capacity | None, location: str
) -> Priority:
    parts = dict(vars(found))
    if read.has("machine_family"):
        return Priority(**{**parts, **_family(read, location)})
    name = read.text("machine_type", default=REQUIRED)
    wants_gpu = read.has("accelerator") or read.has("gpus_per_node")
    if name in MACHINE_TYPES or wants_gpu or name.partition("-")[0] in _GPU_FAMILIES:
        machine = read_gpu_machine(read, capacity, location)
        gpu = machine.gpu
        parts |= {
            "machine_type": machine.name,
            "accelerator": gpu.accelerator if gpu else None,
            "gpus": gpu.gpus if gpu else 0,
        }
    else:
        machine = read_cpu_machine(read, location, REQUIRED) if name else None
        parts["machine_type"] = name
    zones = machine.zones if machine else ()
    return Priority(**{**parts, "zones": zones if read.has("zones") else ()})


def _family(read: Reader, location: str) -> dict[str, Any]:
    family = read.text("machine_family")
    for key in ("machine_type", "accelerator", "gpus_per_node"):
        if read.has(key):
            rule = "a machine family stands for nodes without GPUs of any type"
            read.problem(key, read.shown(key), rule, "keep the family, or the machine type")
    if family and (not _FAMILY.fullmatch(family) or family in _GPU_FAMILIES):
        rule = "this is no family of machines without GPUs"
        read.problem("machine_family", family, rule, "name one like n2, or give machine_type")
    zones = read.texts("zones", default=())
    here = locations.zones_of(locations.region_of(location)) if location else ()
    wrong = [zone for zone in zones if here and zone not in here]
    if wrong:
        rule = f"these are not zones of {location}"
        read.problem("zones", wrong, rule, "use " + ", ".join(here))
    return {"machine_family": family, "zones": zones}


def _judge_version(read: Reader, features: list[str]) -> None:
    version = read.text("cluster_version", default=None)
    if not version:
        return
    for feature in reversed(features):
        wrong = versions.version_problems("cluster_version", version, feature)
        if wrong:
            read.extend(wrong)
            return


class CapacityClass(pulumi.ComponentResource):
    """A compute class: GKE takes the first of several kinds of capacity that there is."""

    class_name: pulumi.Output[str]
    """Name of the class, for workloads that take it as `compute_class`."""

    minimum_version: pulumi.Output[str]
    """The least GKE version of the control plane that has all that the class uses."""

    def __init__(
        self, name: str, args: CapacityClassArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        read = Reader(args, CapacityClassArgs.__annotations__)
        plan = plan_capacity_class(read, name)
        read.finish(f"CapacityClass {name}")
        super().__init__("spotproof:index:CapacityClass", name, None, opts)
        read.warn(self)
        made = declare(self, f"{name}-class", plan.manifest)
        self.class_name = made.metadata["name"]  # pyright: ignore[reportAttributeAccessIssue]
        self.minimum_version = pulumi.Output.from_input(plan.minimum_version)
        self.register_outputs(
            {"className": self.class_name, "minimumVersion": self.minimum_version}
        )
