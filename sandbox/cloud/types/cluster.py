"""GKE: Cluster."""

from typing import Any, ClassVar

from sandbox.cloud import versions
from sandbox.cloud.diff import Change
from sandbox.cloud.problems import ApiError, ProviderError
from sandbox.cloud.types import cluster_rules
from sandbox.cloud.types.base import Cloud, Config, Kind
from sandbox.cloud.types.network import (
    NETWORK,
    SUBNETWORK,
    network_path,
    not_found,
    subnetwork_path,
)
from sandbox.cloud.types.values import Properties, fingerprint, path_of, project_number, same_name
from sandbox.cloud.validate import (
    at_least,
    clock_time,
    network_of_bits,
    one_of,
    shorter_than,
)
from sandbox.cloud.wire import UNKNOWN
from spotproof_gke.locations import is_zone, region_of, zones_of

CLUSTER = "gcp:container/cluster:Cluster"
NODE_POOL = "gcp:container/nodePool:NodePool"
DEFAULT_POOL = "default-pool"
SCOPES = [
    "https://www.googleapis.com/auth/devstorage.read_only",
    "https://www.googleapis.com/auth/logging.write",
    "https://www.googleapis.com/auth/monitoring",
    "https://www.googleapis.com/auth/service.management.readonly",
    "https://www.googleapis.com/auth/servicecontrol",
    "https://www.googleapis.com/auth/trace.append",
]


def location_of(inputs: Properties, config: Config) -> str:
    """The location of a cluster or pool, else the provider's zone; raises ProviderError."""
    location = inputs.get("location") or config.zone
    if not location:
        raise ProviderError(
            "Cannot determine zone: set in this resource, or set provider-level zone."
        )
    return location


def same_scopes(old: Any, new: Any) -> bool:
    """Whether two lists of scopes are equal, aliases and order apart."""
    if not isinstance(old, list) or not isinstance(new, list):
        return False
    return sorted(map(full_scope, old)) == sorted(map(full_scope, new))


def full_scope(scope: Any) -> str:
    """A scope with its address: the provider takes `cloud-platform` for it."""
    if not isinstance(scope, str) or scope.startswith("https://"):
        return str(scope)
    return f"https://www.googleapis.com/auth/{_ALIASES.get(scope, scope)}"


_ALIASES = {
    "storage-ro": "devstorage.read_only",
    "storage-rw": "devstorage.read_write",
    "storage-full": "devstorage.full_control",
    "logging-write": "logging.write",
    "monitoring-write": "monitoring.write",
    "compute-rw": "compute",
    "compute-ro": "compute.readonly",
    "service-control": "servicecontrol",
    "service-management": "service.management.readonly",
    "trace": "trace.append",
}


class Cluster(Kind):
    """A GKE cluster, Standard or Autopilot."""

    token, table, called = CLUSTER, "cluster", "Cluster"
    labels = "resourceLabels"
    local = (
        "deletionProtection",
        "deletionPolicy",
        "removeDefaultNodePool",
        "minMasterVersion",
        "skipNodePoolRefresh",
        "ignoreNodeCountChanges",
        "disableL4LbFirewallReconciliation",
    )
    same_if: ClassVar = {
        "network": same_name,
        "subnetwork": same_name,
        "clusterAutoscaling.autoProvisioningDefaults.oauthScopes": same_scopes,
        "nodeConfig.oauthScopes": same_scopes,
        "dnsConfig": cluster_rules.same_dns,
        "clusterAutoscaling.resourceLimits": cluster_rules.same_limits,
    }
    validators: ClassVar = {
        "name": shorter_than(40),
        "releaseChannel.channel": one_of("UNSPECIFIED", "RAPID", "REGULAR", "STABLE", "EXTENDED"),
        "networkingMode": one_of("VPC_NATIVE", "ROUTES"),
        "datapathProvider": one_of(
            "DATAPATH_PROVIDER_UNSPECIFIED", "LEGACY_DATAPATH", "ADVANCED_DATAPATH"
        ),
        "clusterAutoscaling.resourceLimits.maximum": at_least(1),
        "clusterAutoscaling.autoscalingProfile": one_of("BALANCED", "OPTIMIZE_UTILIZATION"),
        "clusterAutoscaling.autoProvisioningDefaults.upgradeSettings.strategy": one_of(
            "SURGE", "BLUE_GREEN"
        ),
        "privateClusterConfig.masterIpv4CidrBlock": network_of_bits(28, 28),
        "maintenancePolicy.dailyMaintenanceWindow.startTime": clock_time,
        "maintenancePolicy.maintenanceExclusions.exclusionOptions.scope": one_of(
            "NO_UPGRADES", "NO_MINOR_UPGRADES", "NO_MINOR_OR_NODE_UPGRADES"
        ),
        "gatewayApiConfig.channel": one_of(
            "CHANNEL_DISABLED", "CHANNEL_EXPERIMENTAL", "CHANNEL_STANDARD"
        ),
        "dnsConfig.clusterDns": one_of(
            "PROVIDER_UNSPECIFIED", "PLATFORM_DEFAULT", "CLOUD_DNS", "KUBE_DNS"
        ),
        "dnsConfig.clusterDnsScope": one_of("DNS_SCOPE_UNSPECIFIED", "CLUSTER_SCOPE", "VPC_SCOPE"),
        "binaryAuthorization.evaluationMode": one_of(
            "DISABLED", "PROJECT_SINGLETON_POLICY_ENFORCE"
        ),
        "securityPostureConfig.mode": one_of("DISABLED", "BASIC", "ENTERPRISE", "MODE_UNSPECIFIED"),
        "loggingConfig.enableComponents": one_of(*cluster_rules.LOGGING),
        "monitoringConfig.enableComponents": one_of(*cluster_rules.MONITORING),
    }

    def complete(self, inputs: Properties, config: Config) -> Properties:
        full = super().complete(inputs, config)
        full["location"] = location_of(inputs, config)
        return full

    def plan(self, old: Properties | None, inputs: Properties) -> None:
        cluster_rules.plan(inputs)

    def before_call(self, inputs: Properties, old: Properties | None) -> None:
        cluster_rules.before_call(inputs)

    def further_changes(
        self, changes: list[Change], old: Properties, inputs: Properties
    ) -> list[Change]:
        if any(change.top == "enableAutopilot" for change in changes):
            return [Change("enableIntranodeVisibility", "update")]
        return []

    def needs_call(self, changes: list[Change]) -> bool:
        acting = {"removeDefaultNodePool", "minMasterVersion"}
        return super().needs_call(changes) or any(change.top in acting for change in changes)

    def identify(self, inputs: Properties) -> str:
        project, location = inputs["project"], inputs["location"]
        return f"projects/{project}/locations/{location}/clusters/{inputs['name']}"

    def ids(self, identifier: str, config: Config) -> list[str]:
        path = path_of(identifier).replace("/zones/", "/locations/")
        parts = path.split("/")
        if path.startswith("projects/"):
            return [path]
        if len(parts) == 2:
            parts = [config.project, *parts]
        project, location, name = parts if len(parts) == 3 else (config.project, config.zone, path)
        return [f"projects/{project}/locations/{location}/clusters/{name}"]

    def refuse(self, cloud: Cloud, inputs: Properties, old: Properties | None) -> list[str]:
        if not cluster_rules.known(inputs["location"]):
            raise ApiError(400, f"Location '{inputs['location']}' does not exist (location)")
        self._references(cloud, inputs)
        return cluster_rules.refuse(cloud, inputs, old)

    def _references(self, cloud: Cloud, inputs: Properties) -> None:
        network = network_path(inputs.get("network") or "default", inputs["project"])
        if not network.endswith("/networks/default") and cloud.find(NETWORK, network) is None:
            raise not_found(network)
        reference = inputs.get("subnetwork")
        if not reference:
            return
        region = region_of(inputs["location"])
        subnetwork = subnetwork_path(reference, inputs["project"], region)
        found = cloud.find(SUBNETWORK, subnetwork)
        if found is None:
            raise not_found(subnetwork)
        if f"/regions/{region}/" not in subnetwork:
            raise ApiError(400, f"Subnetwork '{subnetwork}' is not in region '{region}'")
        if path_of(found["network"]) != network:
            raise ApiError(400, f"Subnetwork '{subnetwork}' is not in network '{network}'")
        policy = inputs.get("ipAllocationPolicy") or {}
        ranges = {each["rangeName"] for each in found.get("secondaryIpRanges") or []}
        for what, field in (("Pod", "cluster"), ("Services", "services")):
            name = policy.get(f"{field}SecondaryRangeName")
            if name and name not in ranges:
                raise ApiError(
                    400,
                    f"{what} secondary range '{name}' does not exist in subnetwork "
                    f"'{found['name']}' (ipAllocationPolicy.{field}SecondaryRangeName)",
                )

    def serve(self, cloud: Cloud, inputs: Properties, old: Properties | None) -> Properties:
        served = {**cluster_rules.defaults(inputs), **inputs}
        identifier = self.identify(inputs)
        region = region_of(inputs["location"])
        project = inputs["project"]
        served["network"] = network_path(inputs.get("network") or "default", project)
        served["subnetwork"] = subnetwork_path(
            inputs.get("subnetwork") or "default", project, region
        )
        served["selfLink"] = f"https://container.googleapis.com/v1/{identifier}"
        served["labelFingerprint"] = fingerprint(served.get("effectiveLabels"))[:8]
        served["endpoint"] = _address(identifier)
        served["masterAuth"] = {
            "clientCertificateConfig": {"issueClientCertificate": False},
            "clusterCaCertificate": "RU1VTEFURUQ=",
            **(inputs.get("masterAuth") or {}),
        }
        return cluster_rules.answer(served, identifier, project_number(project))

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        identifier = super().create(cloud, inputs)
        properties = cloud.find(self.token, identifier) or {}
        version = versions.resolve(
            inputs.get("minMasterVersion"), (inputs.get("releaseChannel") or {}).get("channel")
        )
        properties["masterVersion"] = version
        properties["nodeVersion"] = inputs.get("nodeVersion") or version
        # The default pool, kept or not, decides about GKE's GPU taint and the node configuration.
        kept = not inputs.get("removeDefaultNodePool") and not inputs.get("enableAutopilot")
        properties["defaultPool"] = bool(kept and not inputs.get("nodePools"))
        if not kept:
            properties.pop("nodeConfig", None)
        elif "nodeConfig" not in properties:
            properties["nodeConfig"] = {"machineType": "e2-medium", "oauthScopes": SCOPES}
        cloud.store.put(self.token, identifier, properties)
        return identifier

    def update(self, cloud: Cloud, identifier: str, inputs: Properties, state: Properties) -> None:
        super().update(cloud, identifier, inputs, state)
        properties = cloud.find(self.token, identifier) or {}
        if inputs.get("removeDefaultNodePool") and properties.get("defaultPool"):
            properties["defaultPool"] = False
            properties.pop("nodeConfig", None)
        wanted = inputs.get("minMasterVersion")
        if wanted and wanted != state.get("minMasterVersion"):
            properties["masterVersion"] = versions.resolve(wanted, None)
        cloud.store.put(self.token, identifier, properties)

    def read(self, properties: Properties, prior: Properties, config: Config) -> Properties:
        state = super().read(properties, prior, config)
        state.pop("defaultPool", None)
        return state

    def before_delete(self, cloud: Cloud, identifier: str, state: Properties) -> None:
        if state.get("deletionProtection", True):
            raise ProviderError(
                "Cannot destroy cluster because deletion_protection is set to true. "
                "Set it to false to proceed with cluster deletion."
            )

    def delete(self, cloud: Cloud, identifier: str, state: Properties) -> None:
        super().delete(cloud, identifier, state)
        for pool, _ in cloud.all(NODE_POOL):
            if pool.startswith(f"{identifier}/nodePools/"):
                cloud.store.remove(NODE_POOL, pool)

    def planned(self, inputs: Properties, config: Config) -> Properties:
        location = inputs.get("location")
        if location in (None, UNKNOWN):
            return {}
        return {"location": location}


def _address(identifier: str) -> str:
    """An address of a range that is nobody's (RFC 2544)."""
    number = int(project_number(identifier))
    return f"198.18.{number % 256}.{number // 256 % 254 + 1}"


def zones_for(inputs: Properties) -> list[str]:
    """The zones of a cluster's nodes when the program names none."""
    location = inputs["location"]
    return [location] if is_zone(location) else list(zones_of(location)[:3])


KINDS = (Cluster(),)
