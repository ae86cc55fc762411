"""The arguments of node pools for work: what they share, and what each kind of capacity adds."""

from enum import Enum
from typing import TypedDict

import pulumi
from typing_extensions import NotRequired

from spotproof_gke.capacity import Capacity


class GpuDriverVersion(str, Enum):
    """Which NVIDIA driver GKE installs."""

    DEFAULT = "DEFAULT"
    """The one that GKE recommends for the version of the node."""

    LATEST = "LATEST"
    """The newest that there is for the version of the node."""


class LocationPolicy(str, Enum):
    """In which zone the autoscaler makes the next node."""

    ANY = "ANY"
    """Where there is capacity now."""

    BALANCED = "BALANCED"
    """Where there are fewest, so that the zones have about as many."""


class TaintEffect(str, Enum):
    """What a taint does to pods that do not tolerate it."""

    NO_SCHEDULE = "NoSchedule"
    """They are not placed there."""

    PREFER_NO_SCHEDULE = "PreferNoSchedule"
    """They are placed there only where there is no other room."""

    NO_EXECUTE = "NoExecute"
    """They are not placed there, and those that run there are evicted."""


class NodeTaintArgs(TypedDict):
    key: str
    """Key of the taint, for example `team.example.com/dedicated`."""

    value: NotRequired[str]
    """Value of the taint; `true` when omitted."""

    effect: NotRequired[TaintEffect]
    """What it does to pods that do not tolerate it; `NoSchedule` when omitted."""


class WorkPoolArgs(TypedDict):
    """What every pool for work takes."""

    project: str
    """Project id."""

    cluster: pulumi.Input[str]
    """Name or id of the cluster, which may be one that this program does not own."""

    cluster_location: str
    """Region or zone of the cluster."""

    node_service_account: pulumi.Input[str]
    """Email of the service account that nodes run as."""

    machine_type: str
    """Machine type, for example `g2-standard-8`; a GPU machine type decides accelerator and count."""

    node_pool_name: NotRequired[str]
    """Fixed name, for a pool that exists and is imported; the component's name with a suffix when omitted. A pool of a fixed name goes before its replacement comes."""

    zones: NotRequired[list[str]]
    """Zones of the nodes; all of the cluster's that have the machine type when omitted."""

    disk_size_gb: NotRequired[int]
    """Boot disk of a node in GB; 200 when omitted."""

    disk_type: NotRequired[str]
    """Boot disk type; the first that the machine type takes when omitted."""

    node_labels: NotRequired[dict[str, str]]
    """Kubernetes labels of the nodes besides GKE's own."""

    node_taints: NotRequired[list[NodeTaintArgs]]
    """Taints of the nodes besides those that follow from capacity and GPU."""

    save_estimate_seconds: NotRequired[int]
    """How long the work takes to save itself; an error when nodes leave it less."""

    tables_out_of_date: NotRequired[bool]
    """Whether machine types, zones and regions that our tables do not list are taken on trust, with a warning; false when omitted."""


class GpuArgs(TypedDict):
    """What every GPU pool takes besides."""

    accelerator: NotRequired[str]
    """GPU as GKE names it, for example `nvidia-tesla-t4`; needed on N1 machines alone, which have none built in."""

    gpus_per_node: NotRequired[int]
    """GPUs of one node; needed on N1 machines alone, 1 there when omitted."""

    gpu_driver_version: NotRequired[GpuDriverVersion]
    """Driver that GKE installs; `DEFAULT` when omitted."""


class ScaledArgs(TypedDict):
    """The size of a pool that the autoscaler alone decides."""

    max_nodes: int
    """Most nodes in all zones together, at least 1; the pool starts at 0 and returns to 0."""


class LifetimeArgs(TypedDict):
    """When nodes end by themselves."""

    max_node_lifetime_seconds: NotRequired[int]
    """How long a node (not a job) lives, 600 to 604800 s; GKE's own limit when omitted."""


class ShutdownArgs(TypedDict):
    """How long a Spot node has for its pods when it is taken away."""

    shutdown_grace_seconds: NotRequired[int]
    """Extended shutdown of Spot nodes: 0 (GKE's 30 s), 30 or 120 s. Needs GKE 1.35.0-gke.1171000, and a change makes all nodes anew; 0 when omitted."""

    critical_shutdown_grace_seconds: NotRequired[int]
    """The share of an extended shutdown that system-critical pods get, in seconds; 15 when omitted."""


class PlacementArgs(TypedDict):
    """How near to each other nodes are."""

    compact_placement: NotRequired[bool]
    """Whether nodes are placed near to each other, in exactly one zone; false when omitted."""


class SpotGpuPoolArgs(WorkPoolArgs, GpuArgs, ScaledArgs, LifetimeArgs, ShutdownArgs):
    """Arguments of `SpotGpuPool`."""


class FlexStartPoolArgs(WorkPoolArgs, GpuArgs, ScaledArgs, LifetimeArgs, PlacementArgs):
    """Arguments of `FlexStartPool`."""

    queued: NotRequired[bool]
    """Whether all nodes of a job come at once through a ProvisioningRequest; false when omitted."""


class GpuPoolArgs(WorkPoolArgs, GpuArgs, LifetimeArgs, ShutdownArgs, PlacementArgs):
    """Arguments of `GpuPool`."""

    capacity: Capacity
    """How the nodes are obtained."""

    max_nodes: NotRequired[int]
    """Most nodes in all zones together, at least 1; required unless `nodes_per_zone` is given."""

    min_nodes: NotRequired[int]
    """Least nodes in all zones together; 0 when omitted."""

    nodes_per_zone: NotRequired[int]
    """A fixed number of nodes in each zone, instead of `max_nodes`."""

    initial_nodes_per_zone: NotRequired[int]
    """Nodes in each zone when the pool is made; 0, or what `min_nodes` needs, when omitted."""

    location_policy: NotRequired[LocationPolicy]
    """In which zone the next node is made; `ANY` when omitted."""

    reservation: NotRequired[str]
    """Reservation that the nodes come from: its name, or `projects/PROJECT/reservations/NAME` of another project."""

    auto_repair: NotRequired[bool]
    """Whether GKE repairs nodes; true, but on flex-start false, when omitted."""

    max_surge: NotRequired[int]
    """Nodes that an upgrade adds at a time; 0 when omitted."""

    max_unavailable: NotRequired[int]
    """Nodes that an upgrade takes away at a time; 1 when omitted."""


class CpuPoolArgs(WorkPoolArgs, ScaledArgs, LifetimeArgs, ShutdownArgs):
    """Arguments of `CpuPool`."""

    capacity: Capacity
    """How the nodes are obtained: `spot`, `flex-start` or `on-demand`."""

    min_nodes: NotRequired[int]
    """Least nodes in all zones together; 0 when omitted."""
