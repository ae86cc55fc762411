"""What the provider and the server refuse in a cluster, and what the server fills in."""

import datetime
import re
from typing import Any

from sandbox.cloud import versions
from sandbox.cloud.problems import ProviderError, did_you_mean
from sandbox.cloud.types.base import Cloud
from sandbox.cloud.types.service_account import missing_account
from sandbox.cloud.types.values import Properties, block, fingerprint
from sandbox.cloud.wire import UNKNOWN
from spotproof_gke.accelerators import ACCELERATORS
from spotproof_gke.locations import is_zone, region_of, zones_of

OLDER_ACCELERATORS = (
    "nvidia-tesla-t4",
    "nvidia-tesla-v100",
    "nvidia-tesla-p100",
    "nvidia-tesla-p4",
)
_SHORTEST_WINDOW = datetime.timedelta(hours=4)


def same_dns(old: Any, new: Any) -> bool:
    """A DNS configuration that says nothing is none."""
    empty = {"clusterDns": "PROVIDER_UNSPECIFIED"}
    return (old or empty) == (new or empty)


def same_limits(old: Any, new: Any) -> bool:
    """Limits in any order say the same."""
    if not isinstance(old, list) or not isinstance(new, list):
        return False
    return sorted(map(_limit, old)) == sorted(map(_limit, new))


def _limit(limit: Any) -> tuple[str, str, str]:
    if not isinstance(limit, dict):
        return ("", "", repr(limit))
    keys = ("resourceType", "minimum", "maximum")
    kind, low, high = (str(limit.get(key) or 0) for key in keys)
    return (kind, low, high)


def plan(inputs: Properties, old: Properties | None) -> None:
    """Refuse what the provider refuses while it plans."""
    settings = block(inputs, "clusterAutoscaling", "autoProvisioningDefaults", "upgradeSettings")
    surge = settings.get("maxSurge") or settings.get("maxUnavailable")
    if surge and settings.get("strategy") not in (None, "", "SURGE", UNKNOWN):
        raise ProviderError(
            "Surge upgrade settings max_surge/max_unavailable can only be used when strategy is "
            "set to SURGE"
        )
    node, master = inputs.get("nodeVersion"), inputs.get("minMasterVersion")
    if old is not None or not node:
        return
    if inputs.get("removeDefaultNodePool") is True:
        raise ProviderError(
            "node_version can only be specified if remove_default_node_pool is not true"
        )
    if master and UNKNOWN not in (node, master) and _number(node) != _number(master):
        raise ProviderError(
            f"Resource argument node_version (value: {node}) must either be unset or set to the "
            f"same value as min_master_version (value: {master}) on create."
        )


def _number(version: str) -> str:
    return version.partition("-")[0]


def before_call(inputs: Properties, old: Properties | None) -> None:
    """Refuse what the provider refuses during the update."""
    node, master = inputs.get("nodeVersion"), inputs.get("minMasterVersion") or ""
    if old is None and node and _number(node) != _number(master):
        raise ProviderError(
            "node_version and min_master_version must be set to equivalent values on create"
        )
    automatic = inputs.get("nodePoolAutoConfig") or {}
    provisioning = (inputs.get("clusterAutoscaling") or {}).get("enabled")
    if (automatic.get("networkTags") or {}).get("tags") and not (
        inputs.get("enableAutopilot") or provisioning
    ):
        raise ProviderError(
            "node_pool_auto_config network tags can only be set if enable_autopilot or "
            "cluster_autoscaling is enabled"
        )
    if is_zone(inputs["location"]) and inputs["location"] in (inputs.get("nodeLocations") or []):
        raise ProviderError(
            "when using a multi-zonal cluster, node_locations should not contain the original "
            "'zone'"
        )


def refuse(cloud: Cloud, inputs: Properties, old: Properties | None) -> list[str]:
    """Everything that the server finds wrong."""
    location = inputs["location"]
    problems = [
        *_name(inputs["name"]),
        *outside("nodeLocations", inputs.get("nodeLocations"), location),
        *_version(inputs),
        *_provisioning(cloud, inputs),
        *_windows(inputs.get("maintenancePolicy") or {}),
    ]
    autopilot = inputs.get("enableAutopilot")
    if autopilot and is_zone(location):
        problems.append("Autopilot clusters must be regional clusters (location)")
    pools = inputs.get("nodePools")
    if old is None and not autopilot and not pools and not inputs.get("initialNodeCount"):
        problems.append("Cluster.initial_node_count must be greater than zero (initialNodeCount)")
    pool = (inputs.get("workloadIdentityConfig") or {}).get("workloadPool")
    if pool and pool != f"{inputs['project']}.svc.id.goog":
        problems.append(
            f"workloadIdentityConfig.workloadPool '{pool}' is not the project's pool "
            f"'{inputs['project']}.svc.id.goog'"
        )
    return problems


def known(location: str) -> bool:
    """Whether GKE has this region or zone."""
    try:
        zones = zones_of(region_of(location))
    except ValueError:
        return False
    return location in zones if is_zone(location) else bool(zones)


def _name(name: str) -> list[str]:
    if re.fullmatch(r"[a-z]([-a-z0-9]{0,38}[a-z0-9])?", name):
        return []
    return [f"Invalid value for field cluster.name: '{name}' must match [a-z]([-a-z0-9]*[a-z0-9])?"]


def outside(field: str, zones: list[str] | None, location: str) -> list[str]:
    """A complaint for each zone that is not one of the location's region."""
    region = region_of(location)
    known = zones_of(region)
    return [
        f"{field}: zone '{zone}' is not in region '{region}', whose zones are {', '.join(known)}"
        for zone in zones or []
        if zone not in known
    ]


def _version(inputs: Properties) -> list[str]:
    problems = []
    for field in ("minMasterVersion", "nodeVersion"):
        wanted = inputs.get(field)
        if wanted and versions.resolve(wanted, None) is None:
            problems.append(
                f"{field}: version '{wanted}' is not supported; valid are "
                f"{', '.join(versions.VERSIONS)}"
            )
    return problems


def _provisioning(cloud: Cloud, inputs: Properties) -> list[str]:
    autoscaling = inputs.get("clusterAutoscaling") or {}
    zones = autoscaling.get("autoProvisioningLocations")
    field = "clusterAutoscaling.autoProvisioningLocations"
    problems = outside(field, zones, inputs["location"])
    limits = autoscaling.get("resourceLimits") or []
    given = {limit["resourceType"] for limit in limits}
    if autoscaling.get("enabled") and not inputs.get("enableAutopilot"):
        missing = [kind for kind in ("cpu", "memory") if kind not in given]
        if missing:
            problems.append(
                "clusterAutoscaling.resourceLimits: node auto-provisioning needs limits for cpu "
                f"and memory; missing: {', '.join(missing)}"
            )
    known = ("cpu", "memory", *ACCELERATORS, *OLDER_ACCELERATORS)
    for limit in limits:
        kind = limit["resourceType"]
        if kind not in known and not kind.startswith("tpu-"):
            hint = did_you_mean(kind, known)
            problems.append(
                f"clusterAutoscaling.resourceLimits: unknown resourceType '{kind}'; {hint}"
            )
        if (limit.get("minimum") or 0) > limit.get("maximum", 0):
            problems.append(f"clusterAutoscaling.resourceLimits: {kind} minimum exceeds maximum")
    account = (autoscaling.get("autoProvisioningDefaults") or {}).get("serviceAccount")
    if account and missing_account(cloud, account):
        problems.append(
            "clusterAutoscaling.autoProvisioningDefaults.serviceAccount: service account "
            f"'{account}' does not exist"
        )
    return problems


def _windows(policy: Properties) -> list[str]:
    window = policy.get("recurringWindow")
    if not window:
        return []
    try:
        start, end = (
            datetime.datetime.fromisoformat(window[key].replace("Z", "+00:00"))
            for key in ("startTime", "endTime")
        )
        length = end - start
    except (ValueError, TypeError):
        return ["maintenancePolicy.recurringWindow: startTime and endTime must be RFC 3339 times"]
    if length < _SHORTEST_WINDOW:
        return [f"maintenancePolicy.recurringWindow lasts {length}: it must be at least 4 hours"]
    return []


def defaults(inputs: Properties) -> Properties:
    """What the server answers where nothing was asked for."""
    location = inputs["location"]
    autopilot = bool(inputs.get("enableAutopilot"))
    zones = [] if is_zone(location) else list(zones_of(location)[:3])
    served: Properties = {
        "addonsConfig": {},
        "clusterIpv4Cidr": "10.4.0.0/14",
        "servicesIpv4Cidr": "10.8.0.0/20",
        "databaseEncryption": {"state": "DECRYPTED"},
        "datapathProvider": "ADVANCED_DATAPATH" if autopilot else "LEGACY_DATAPATH",
        "defaultMaxPodsPerNode": 110,
        "defaultSnatStatus": {"disabled": False},
        "enableIntranodeVisibility": autopilot,
        "enableL4IlbSubsetting": False,
        "enableShieldedNodes": True,
        "loggingService": "logging.googleapis.com/kubernetes",
        "monitoringService": "monitoring.googleapis.com/kubernetes",
        "networkingMode": "VPC_NATIVE",
        "nodeLocations": zones,
        "releaseChannel": {"channel": "REGULAR"},
        "verticalPodAutoscaling": {"enabled": autopilot},
        "notificationConfig": {"pubsub": {"enabled": False, "topic": ""}},
        "securityPostureConfig": {"mode": "BASIC", "vulnerabilityMode": "VULNERABILITY_DISABLED"},
        "gatewayApiConfig": {"channel": "CHANNEL_DISABLED"},
        "ipAllocationPolicy": {},
        "loggingConfig": {"enableComponents": ["SYSTEM_COMPONENTS", "WORKLOADS"]},
        "monitoringConfig": {
            "enableComponents": ["SYSTEM_COMPONENTS"],
            "managedPrometheus": {"enabled": True},
        },
    }
    if autopilot:
        served["workloadIdentityConfig"] = {"workloadPool": f"{inputs['project']}.svc.id.goog"}
    return served


def answer(served: Properties, identifier: str, number: str) -> Properties:
    """Fill in what the server computes inside of the blocks."""
    private = {
        "enablePrivateEndpoint": False,
        "enablePrivateNodes": False,
        "privateEndpoint": "172.16.0.2",
        "publicEndpoint": served["endpoint"],
        "masterGlobalAccessConfig": {"enabled": False},
    }
    served["privateClusterConfig"] = {**private, **(served.get("privateClusterConfig") or {})}
    endpoints = dict(served.get("controlPlaneEndpointsConfig") or {})
    location = served["location"]
    endpoints["dnsEndpointConfig"] = {
        "endpoint": f"gke-{fingerprint(identifier)[:10]}-{number}.{location}.gke.goog",
        "allowExternalTraffic": False,
        **(endpoints.get("dnsEndpointConfig") or {}),
    }
    endpoints.setdefault("ipEndpointsConfig", {"enabled": True})
    served["controlPlaneEndpointsConfig"] = endpoints
    policy = {
        "clusterIpv4CidrBlock": served["clusterIpv4Cidr"],
        "servicesIpv4CidrBlock": served["servicesIpv4Cidr"],
        "stackType": "IPV4",
        **(served.get("ipAllocationPolicy") or {}),
    }
    served["ipAllocationPolicy"] = policy
    served["clusterAutoscaling"] = _autoscaling(served.get("clusterAutoscaling") or {})
    if served.get("nodeLocations"):
        served["nodeLocations"] = sorted(served["nodeLocations"])
    return served


def _autoscaling(given: Properties) -> Properties:
    autoscaling = {"enabled": False, "autoscalingProfile": "BALANCED", **given}
    defaults_given = autoscaling.get("autoProvisioningDefaults")
    if autoscaling["enabled"] or defaults_given is not None:
        autoscaling["autoProvisioningDefaults"] = {
            "diskSize": 100,
            "diskType": "pd-standard",
            "imageType": "COS_CONTAINERD",
            "serviceAccount": "default",
            "oauthScopes": [
                "https://www.googleapis.com/auth/logging.write",
                "https://www.googleapis.com/auth/monitoring",
            ],
            "management": {"autoRepair": True, "autoUpgrade": True},
            **(defaults_given or {}),
        }
    return autoscaling
