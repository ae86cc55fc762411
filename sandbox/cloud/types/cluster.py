"""GKE: Cluster."""

from typing import ClassVar

from sandbox.cloud import versions
from sandbox.cloud.diff import Change
from sandbox.cloud.problems import ApiError, ProviderError
from sandbox.cloud.types import cluster_changes, cluster_rules
from sandbox.cloud.types.base import Cloud, Config, Kind
from sandbox.cloud.types.network import (
    NETWORK,
    SUBNETWORK,
    network_path,
    not_found,
    subnetwork_path,
)
from sandbox.cloud.types.values import Properties, fingerprint, path_of, project_number
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
        "dnsConfig": cluster_rules.same_dns,
        "clusterAutoscaling.resourceLimits": cluster_rules.same_limits,
        "fleet": cluster_changes.same_fleet,
        "networkPolicy": cluster_changes.same_when_off,
        "podSecurityPolicyConfig": cluster_changes.gone_when_off,
        "secretManagerConfig": cluster_changes.gone_when_off,
        "secretSyncConfig": cluster_changes.gone_when_off,
        "maintenancePolicy.recurringWindow.recurrence": cluster_changes.same_recurrence,
    }
    replaces_if: ClassVar = {
        "enableFqdnNetworkPolicy": cluster_changes.turned_off,
        "enableK8sBetaApis.enabledApis": cluster_changes.lost_one,
        "enableL4IlbSubsetting": cluster_changes.turned_off,
    }

    def complete(self, inputs: Properties, config: Config) -> Properties:
        full = super().complete(inputs, config)
        full["location"] = location_of(inputs, config)
        return full

    def plan(self, old: Properties | None, inputs: Properties) -> None:
        cluster_rules.plan(inputs, old)

    def changes(self, old: Properties, inputs: Properties) -> list[Change]:
        found = super().changes(old, inputs)
        return cluster_changes.of_autopilot(found) if inputs.get("enableAutopilot") else found

    def before_call(self, inputs: Properties, old: Properties | None) -> None:
        cluster_rules.before_call(inputs, old)

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
