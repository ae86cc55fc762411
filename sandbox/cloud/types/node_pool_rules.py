"""What the server refuses in a node pool."""

import re

from sandbox.cloud.problems import did_you_mean
from sandbox.cloud.types.base import Cloud
from sandbox.cloud.types.cluster_rules import OLDER_ACCELERATORS, outside
from sandbox.cloud.types.resource_policy import RESOURCE_POLICY, policy_path
from sandbox.cloud.types.service_account import missing_account
from sandbox.cloud.types.values import Properties, last_part
from sandbox.cloud.versions import DEFAULT_VERSION, VERSIONS, older
from spotproof_gke.accelerators import ACCELERATORS, MACHINE_TYPES, MachineType
from spotproof_gke.locations import is_zone, region_of, zones_of

SHUTDOWN_SECONDS = (0, 30, 120)
FLEX_RUN_SECONDS = (600, 604_800)
GRACE_VERSION = "1.35.0-gke.1171000"
_RESERVED = re.compile(r"^([a-z0-9.-]+\.)?(kubernetes\.io|k8s\.io)/")
_ALLOWED_RESERVED = re.compile(r"^(node\.kubernetes\.io|kubelet\.kubernetes\.io)/")


def refuse(
    cloud: Cloud, inputs: Properties, cluster: Properties, old: Properties | None
) -> list[str]:
    """Everything that the server finds wrong."""
    config = inputs.get("nodeConfig") or {}
    location = cluster["location"]
    wrong_zones = outside("nodeLocations", inputs.get("nodeLocations"), location)
    problems = [
        *_name(inputs["name"]),
        *wrong_zones,
        *_autoscaling(inputs.get("autoscaling") or {}),
        *_capacity(inputs, config),
        *_reservation(config),
        *_management(inputs, cluster),
        *_labels(config.get("labels") or {}),
        *_grace(config, cluster),
        *_secondary_disks(config),
        *_placement(inputs, cluster, config),
        *_missing_policy(cloud, inputs, location),
        *_version(inputs, cluster),
    ]
    if not wrong_zones:
        problems += _machine(inputs, cluster, config)
    account = config.get("serviceAccount")
    if account and missing_account(cloud, account):
        problems.append(f"nodeConfig.serviceAccount: service account '{account}' does not exist")
    return problems


def interruptible(inputs: Properties) -> bool:
    """Whether the pool's nodes are Spot, preemptible or flex-start."""
    config = inputs.get("nodeConfig") or {}
    return any(config.get(key) for key in ("spot", "preemptible", "flexStart"))


def lets_nodes_run_out(inputs: Properties) -> bool:
    """Whether GKE always upgrades the pool by letting its nodes run out."""
    queued = (inputs.get("queuedProvisioning") or {}).get("enabled")
    return bool((inputs.get("nodeConfig") or {}).get("flexStart") or queued)


def _name(name: str) -> list[str]:
    if re.fullmatch(r"[a-z]([-a-z0-9]{0,38}[a-z0-9])?", name):
        return []
    return [
        f"Invalid value for field nodePool.name: '{name}' has {len(name)} characters; a name has "
        "at most 40: lower-case letters, digits and hyphens, the first a letter"
    ]


def _autoscaling(autoscaling: Properties) -> list[str]:
    if not autoscaling:
        return []
    total = [key for key in ("totalMinNodeCount", "totalMaxNodeCount") if key in autoscaling]
    zonal = [key for key in ("minNodeCount", "maxNodeCount") if autoscaling.get(key)]
    total_set = [key for key in total if autoscaling[key]]
    problems = []
    if total_set and zonal:
        problems.append(
            "autoscaling: per-zone limits (minNodeCount, maxNodeCount) and total limits "
            "(totalMinNodeCount, totalMaxNodeCount) exclude each other"
        )
    elif not autoscaling.get("totalMaxNodeCount") and not autoscaling.get("maxNodeCount"):
        what = "totalMaxNodeCount" if total else "maxNodeCount"
        problems.append(f"autoscaling.{what} must be greater than 0")
    for low, high in (("totalMinNodeCount", "totalMaxNodeCount"), ("minNodeCount", "maxNodeCount")):
        if autoscaling.get(high) and (autoscaling.get(low) or 0) > autoscaling[high]:
            problems.append(f"autoscaling.{low} exceeds {high}")
    return problems


def _capacity(inputs: Properties, config: Properties) -> list[str]:
    problems = []
    kinds = [key for key in ("spot", "preemptible", "flexStart") if config.get(key)]
    if len(kinds) > 1:
        names = " and ".join(f"nodeConfig.{kind}" for kind in kinds)
        problems.append(f"{names} exclude each other")
    flex = bool(config.get("flexStart"))
    duration = config.get("maxRunDuration")
    if duration:
        problems += _duration(duration, flex)
    if flex and inputs.get("nodeCount"):
        problems.append("nodeConfig.flexStart: a flex-start pool has no static nodeCount")
    if not (inputs.get("queuedProvisioning") or {}).get("enabled"):
        return problems
    return problems + _queued(inputs, config)


def _duration(duration: str, flex: bool) -> list[str]:
    match = re.fullmatch(r"(\d+)(\.\d+)?s", duration)
    if not match:
        return [f"nodeConfig.maxRunDuration '{duration}' must be seconds that end with s: 86400s"]
    low, high = FLEX_RUN_SECONDS
    if flex and not low <= int(match.group(1)) <= high:
        return [f"nodeConfig.maxRunDuration '{duration}' is not within {low}s to {high}s"]
    return []


def _queued(inputs: Properties, config: Properties) -> list[str]:
    problems = []
    affinity = (config.get("reservationAffinity") or {}).get("consumeReservationType")
    if affinity != "NO_RESERVATION":
        problems.append(
            "queuedProvisioning needs nodeConfig.reservationAffinity.consumeReservationType "
            "NO_RESERVATION"
        )
    if config.get("spot") or config.get("preemptible"):
        problems.append("queuedProvisioning and nodeConfig.spot exclude each other")
    autoscaling = inputs.get("autoscaling")
    if not autoscaling:
        problems.append("queuedProvisioning needs autoscaling")
    elif autoscaling.get("totalMinNodeCount") or autoscaling.get("minNodeCount"):
        problems.append("queuedProvisioning: autoscaling must start at 0 nodes")
    if (inputs.get("placementPolicy") or {}).get("type") == "COMPACT":
        problems.append("queuedProvisioning and placementPolicy COMPACT exclude each other")
    return problems


def _reservation(config: Properties) -> list[str]:
    affinity = config.get("reservationAffinity") or {}
    kind = affinity.get("consumeReservationType")
    field = "nodeConfig.reservationAffinity"
    problems = []
    if kind == "SPECIFIC_RESERVATION" and not (affinity.get("key") and affinity.get("values")):
        problems.append(f"{field}: SPECIFIC_RESERVATION needs key and values")
    if kind in ("ANY_RESERVATION", "SPECIFIC_RESERVATION"):
        taken = [key for key in ("spot", "preemptible", "flexStart") if config.get(key)]
        if taken:
            problems.append(f"{field}: nodeConfig.{taken[0]} nodes cannot consume a reservation")
    return problems


def _management(inputs: Properties, cluster: Properties) -> list[str]:
    channel = (cluster.get("releaseChannel") or {}).get("channel")
    management = inputs.get("management") or {}
    if management.get("autoUpgrade") is False and channel not in (None, "UNSPECIFIED"):
        return [f"Auto_upgrade must be true when release_channel {channel} is set "
                "(management.autoUpgrade)"]  # fmt: skip
    return []


def _labels(labels: dict[str, str]) -> list[str]:
    return [
        f"nodeConfig.labels: '{key}' is in a reserved domain (kubernetes.io, k8s.io)"
        for key in labels
        if _RESERVED.match(key) and not _ALLOWED_RESERVED.match(key)
    ]


def _grace(config: Properties, cluster: Properties) -> list[str]:
    kubelet = config.get("kubeletConfig") or {}
    total = kubelet.get("shutdownGracePeriodSeconds")
    critical = kubelet.get("shutdownGracePeriodCriticalPodsSeconds") or 0
    if total is None:
        return []
    field = "nodeConfig.kubeletConfig.shutdownGracePeriodSeconds"
    problems = []
    if total not in SHUTDOWN_SECONDS:
        allowed = ", ".join(map(str, SHUTDOWN_SECONDS))
        problems.append(f"{field} {total} is none of {allowed}")
    if total and critical >= total:
        problems.append(f"{field}: shutdownGracePeriodCriticalPodsSeconds must be less than it")
    if total and not config.get("spot"):
        problems.append(f"{field}: only Spot nodes can have it")
    master = cluster.get("masterVersion") or DEFAULT_VERSION
    if total and older(master, GRACE_VERSION):
        problems.append(f"{field} needs a control plane of {GRACE_VERSION}, not '{master}'")
    return problems


def _secondary_disks(config: Properties) -> list[str]:
    streaming = (config.get("gcfsConfig") or {}).get("enabled")
    if config.get("secondaryBootDisks") and not streaming:
        return ["nodeConfig.secondaryBootDisks needs nodeConfig.gcfsConfig.enabled"]
    return []


def _placement(inputs: Properties, cluster: Properties, config: Properties) -> list[str]:
    if (inputs.get("placementPolicy") or {}).get("type") != "COMPACT":
        return []
    zones = inputs.get("nodeLocations") or _zones(inputs, cluster)
    if len(zones) > 1:
        return [f"placementPolicy COMPACT needs one zone, not {len(zones)} (nodeLocations)"]
    return []


def _missing_policy(cloud: Cloud, inputs: Properties, location: str) -> list[str]:
    name = (inputs.get("placementPolicy") or {}).get("policyName")
    if not name:
        return []
    policy = policy_path(name, inputs["project"], region_of(location))
    if cloud.find(RESOURCE_POLICY, policy) is not None:
        return []
    return [f"placementPolicy.policyName: the resource policy '{policy}' does not exist"]


def _version(inputs: Properties, cluster: Properties) -> list[str]:
    wanted, master = inputs.get("version"), cluster.get("masterVersion")
    if not wanted:
        return []
    if wanted not in VERSIONS:
        return [f"version '{wanted}' is not supported; valid are {', '.join(VERSIONS)}"]
    if master in VERSIONS and VERSIONS.index(wanted) > VERSIONS.index(master):
        return [f"version '{wanted}' is newer than the cluster's '{master}'"]
    return []


def _zones(inputs: Properties, cluster: Properties) -> list[str]:
    location = cluster["location"]
    chosen = inputs.get("nodeLocations") or cluster.get("nodeLocations") or []
    if chosen:
        return list(chosen)
    return [location] if is_zone(location) else list(zones_of(location)[:3])


def _machine(inputs: Properties, cluster: Properties, config: Properties) -> list[str]:
    accelerators = config.get("guestAccelerators") or []
    name = config.get("machineType") or "e2-medium"
    machine = MACHINE_TYPES.get(name)
    series = name.partition("-")[0]
    if machine is None and series in {m.partition("-")[0] for m in MACHINE_TYPES}:
        hint = did_you_mean(name, MACHINE_TYPES)
        return [f"nodeConfig.machineType: there is no machine type '{name}'; {hint}"]
    problems = _accelerators(accelerators, name, machine)
    if machine is None:
        return problems
    problems += _disk(config, machine)
    zones = _zones(inputs, cluster)
    missing = [zone for zone in zones if zone not in machine.zones]
    if missing:
        named = "named" if inputs.get("nodeLocations") else "which are all used when none is named"
        problems.append(
            f"nodeLocations ({named}): {machine.accelerator} on {name} is not available in "
            f"{', '.join(missing)}"
        )
    return problems


def _accelerators(
    accelerators: list[Properties], name: str, machine: MachineType | None
) -> list[str]:
    problems = []
    known = (*ACCELERATORS, *OLDER_ACCELERATORS)
    for each in accelerators:
        kind, count = last_part(each["type"]), each["count"]
        if not count:
            continue
        field = "nodeConfig.guestAccelerators"
        if kind not in known:
            problems.append(f"{field}: unknown type '{kind}'; {did_you_mean(kind, known)}")
        elif machine is not None and kind != machine.accelerator:
            problems.append(f"{field}: {name} has {machine.accelerator}, not '{kind}'")
        elif machine is not None and count != machine.gpus:
            problems.append(f"{field}: {name} has {machine.gpus} of {kind}, not {count}")
        elif machine is None and (kind in ACCELERATORS or not name.startswith("n1-")):
            problems.append(f"{field}: machineType {name} does not take {kind}")
    return problems


def _disk(config: Properties, machine: MachineType) -> list[str]:
    disk = config.get("diskType")
    if disk and disk not in machine.boot_disks:
        allowed = ", ".join(machine.boot_disks)
        return [f"nodeConfig.diskType: {machine.name} does not take '{disk}', but {allowed}"]
    return []
