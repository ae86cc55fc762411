"""GKE: NodePool."""

from typing import Any, ClassVar

from sandbox.cloud.diff import Change
from sandbox.cloud.problems import ApiError, ProviderError
from sandbox.cloud.types import node_pool_rules
from sandbox.cloud.types.base import Cloud, Config, Kind
from sandbox.cloud.types.cluster import CLUSTER, NODE_POOL, SCOPES
from sandbox.cloud.types.sameness import full_scope
from sandbox.cloud.types.values import Properties, path_of
from sandbox.cloud.wire import UNKNOWN
from spotproof_gke.locations import region_of

GPU_TAINT = {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}
QUEUED_TAINT = {"key": "cloud.google.com/gke-queued", "value": "true", "effect": "NO_SCHEDULE"}
LEGACY_ENDPOINTS = {"disable-legacy-endpoints": "true"}


def _same_account(old: Any, new: Any) -> bool:
    return isinstance(old, str) and old == new


class NodePool(Kind):
    """A node pool of a Standard cluster."""

    token, table, called = NODE_POOL, "node_pool", "NodePool"
    local = ("namePrefix", "deletionPolicy", "ignoreNodeCountChanges")
    same_if: ClassVar = {"nodeConfig.serviceAccount": _same_account}

    def complete(self, inputs: Properties, config: Config) -> Properties:
        full = super().complete(inputs, config)
        cluster = inputs.get("cluster")
        if not full.get("location"):
            parts = path_of(cluster).split("/") if isinstance(cluster, str) else []
            if "locations" in parts:
                full["location"] = parts[parts.index("locations") + 1]
            elif cluster is UNKNOWN:
                full["location"] = UNKNOWN
            elif config.zone:
                full["location"] = config.zone
            else:
                raise ProviderError(
                    "Cannot determine zone: set in this resource, or set provider-level zone."
                )
        return full

    def before_call(self, inputs: Properties, old: Properties | None) -> None:
        if old is None and inputs.get("name") and inputs.get("namePrefix"):
            raise ProviderError("Cannot specify both name and name_prefix for a node_pool")
        if old is None and inputs.get("initialNodeCount") and inputs.get("nodeCount"):
            raise ProviderError(
                f"Cannot set both initial_node_count and node_count on node pool {inputs['name']}"
            )
        settings = inputs.get("upgradeSettings") or {}
        strategy = settings.get("strategy")
        if strategy != "SURGE" and (settings.get("maxSurge") or settings.get("maxUnavailable")):
            raise ProviderError(
                "Surge upgrade settings may not be changed when surge strategy is not enabled"
            )
        blue_green = settings.get("blueGreenSettings")
        if strategy != "BLUE_GREEN" and blue_green is not None:
            raise ProviderError(
                "Blue-green upgrade settings may not be changed when blue-green strategy is not "
                "enabled"
            )
        if {"standardRolloutPolicy", "autoscaledRolloutPolicy"} <= set(blue_green or {}):
            raise ProviderError(
                "`standard_rollout_policy` and `autoscaled_rollout_policy` cannot be set at the "
                "same time"
            )

    def changes(self, old: Properties, inputs: Properties) -> list[Change]:
        return super().changes(old, without_empty_accelerators(inputs))

    def already_exists(self, identifier: str) -> ProviderError:
        return ProviderError(f"resource - {identifier} - already exists")

    def identify(self, inputs: Properties) -> str:
        return f"{cluster_id(inputs)}/nodePools/{inputs['name']}"

    def ids(self, identifier: str, config: Config) -> list[str]:
        path = path_of(identifier)
        parts = path.split("/")
        if path.startswith("projects/"):
            return [path]
        if len(parts) == 3:
            parts = [config.project, *parts]
        project, location, cluster, name = parts if len(parts) == 4 else [""] * 4
        return [f"projects/{project}/locations/{location}/clusters/{cluster}/nodePools/{name}"]

    def refuse(self, cloud: Cloud, inputs: Properties, old: Properties | None) -> list[str]:
        identifier = cluster_id(inputs)
        cluster = cloud.find(CLUSTER, identifier)
        if cluster is None:
            raise ApiError(404, f"Not found: {identifier}")
        if cluster.get("enableAutopilot"):
            raise ApiError(400, "Node pools cannot be created in an Autopilot cluster (cluster)")
        return node_pool_rules.refuse(cloud, inputs, cluster, old)

    def serve(self, cloud: Cloud, inputs: Properties, old: Properties | None) -> Properties:
        cluster = cloud.find(CLUSTER, cluster_id(inputs)) or {}
        inputs = without_empty_accelerators(inputs)
        served = dict(inputs)
        served["cluster"] = cluster["name"]
        zones = inputs.get("nodeLocations") or cluster_zones(cluster)
        served["nodeLocations"] = sorted(zones)
        served["nodeConfig"] = self._node_config(cloud, inputs, old)
        flex = node_pool_rules.lets_nodes_run_out(inputs)
        served["upgradeSettings"] = _upgrade_settings(inputs, flex)
        served["management"] = {"autoRepair": True, "autoUpgrade": True} | (
            inputs.get("management") or {}
        )
        count = inputs.get("nodeCount") or inputs.get("initialNodeCount") or 0
        if old is None:
            served["initialNodeCount"] = count
            served["nodeCount"] = count
        else:
            served["nodeCount"] = inputs.get("nodeCount", old["nodeCount"])
        served.setdefault("version", cluster.get("nodeVersion"))
        served.setdefault("maxPodsPerNode", cluster.get("defaultMaxPodsPerNode", 110))
        private = bool((cluster.get("privateClusterConfig") or {}).get("enablePrivateNodes"))
        served["networkConfig"] = {
            "enablePrivateNodes": private,
            "podIpv4CidrBlock": cluster.get("clusterIpv4Cidr"),
            "podRange": (cluster.get("ipAllocationPolicy") or {}).get(
                "clusterSecondaryRangeName", ""
            ),
            **(inputs.get("networkConfig") or {}),
        }
        if inputs.get("autoscaling"):
            any_zone = node_pool_rules.interruptible(inputs)
            policy = "ANY" if any_zone else "BALANCED"
            served["autoscaling"] = {"locationPolicy": policy, **inputs["autoscaling"]}
        groups = [
            f"https://www.googleapis.com/compute/v1/projects/{inputs['project']}/zones/{zone}/"
            f"instanceGroupManagers/gke-{cluster['name']}-{inputs['name']}"
            for zone in served["nodeLocations"]
        ]
        served["instanceGroupUrls"] = groups
        served["managedInstanceGroupUrls"] = [
            group.replace("instanceGroupManagers", "instanceGroups") for group in groups
        ]
        return served

    def _node_config(self, cloud: Cloud, inputs: Properties, old: Properties | None) -> Properties:
        given = dict(inputs.get("nodeConfig") or {})
        taints = given.pop("taints", None) or []
        config: Properties = {
            "diskSizeGb": 100,
            "diskType": "pd-balanced",
            "imageType": "COS_CONTAINERD",
            "machineType": "e2-medium",
            "oauthScopes": SCOPES,
            "serviceAccount": "default",
            "loggingVariant": "DEFAULT",
            "shieldedInstanceConfig": {
                "enableIntegrityMonitoring": True,
                "enableSecureBoot": False,
            },
            **given,
        }
        config["metadata"] = {**LEGACY_ENDPOINTS, **(given.get("metadata") or {})}
        config["oauthScopes"] = sorted(map(full_scope, config["oauthScopes"]))
        if old is None:
            config["effectiveTaints"] = _taints_at_creation(cloud, inputs, taints)
        elif taints != (old["nodeConfig"].get("givenTaints") or []):
            config["effectiveTaints"] = taints
        else:
            config["effectiveTaints"] = old["nodeConfig"]["effectiveTaints"]
        config["givenTaints"] = taints
        return config

    def read(self, properties: Properties, prior: Properties, config: Config) -> Properties:
        state = super().read(properties, prior, config)
        # The provider keeps the cluster as the program gives it, by name or by id.
        state["cluster"] = prior.get("cluster") or state["cluster"]
        nodes = state["nodeConfig"]
        nodes.pop("givenTaints", None)
        mine = [taint.get("key") for taint in (prior.get("nodeConfig") or {}).get("taints") or []]
        effective = nodes.get("effectiveTaints") or []
        # Only taints whose keys the program manages are reported back to it, in its order.
        nodes["taints"] = [
            taint for key in dict.fromkeys(mine) for taint in effective if taint["key"] == key
        ]
        return state


def without_empty_accelerators(inputs: Properties) -> Properties:
    """The inputs without accelerators of which there are none: the provider does not send them."""
    config = inputs.get("nodeConfig")
    if not isinstance(config, dict) or not isinstance(config.get("guestAccelerators"), list):
        return inputs
    given = config["guestAccelerators"]
    kept = [each for each in given if not isinstance(each, dict) or each.get("count") != 0]
    if len(kept) == len(given):
        return inputs
    left = {name: value for name, value in config.items() if name != "guestAccelerators"}
    return {**inputs, "nodeConfig": {**left, "guestAccelerators": kept} if kept else left}


def cluster_id(inputs: Properties) -> str:
    """The id of a pool's cluster, which may be given by name or by id."""
    cluster = path_of(inputs["cluster"])
    if cluster.startswith("projects/"):
        return cluster
    return f"projects/{inputs['project']}/locations/{inputs['location']}/clusters/{cluster}"


def cluster_zones(cluster: Properties) -> list[str]:
    """The zones of a pool that names none: all of the cluster's."""
    zones = cluster.get("nodeLocations") or []
    location = cluster["location"]
    return zones if region_of(location) == location else [location, *zones]


def _upgrade_settings(inputs: Properties, flex: bool) -> Properties:
    given = inputs.get("upgradeSettings") or {}
    if flex:
        return {"strategy": "SHORT_LIVED"}
    if given.get("strategy") == "BLUE_GREEN":
        return {**given, "maxSurge": 0, "maxUnavailable": 0} if given.get("maxSurge") else given
    surge = {"maxSurge": 1, "maxUnavailable": 0, "strategy": "SURGE", **given}
    if not surge["maxSurge"] and not surge["maxUnavailable"]:
        surge["maxSurge"] = 1
    surge.pop("blueGreenSettings", None)
    return surge


def _taints_at_creation(cloud: Cloud, inputs: Properties, given: list[Any]) -> list[Any]:
    """The program's taints and GKE's own; the GPU taint only beside a pool without GPUs."""
    taints = list(given)
    keys = {taint["key"] for taint in taints}
    gpus = (inputs.get("nodeConfig") or {}).get("guestAccelerators")
    if gpus and GPU_TAINT["key"] not in keys and _has_plain_pool(cloud, cluster_id(inputs)):
        taints.append(GPU_TAINT)
    queued = (inputs.get("queuedProvisioning") or {}).get("enabled")
    if queued and QUEUED_TAINT["key"] not in keys:
        taints.append(QUEUED_TAINT)
    return taints


def _has_plain_pool(cloud: Cloud, cluster: str) -> bool:
    found = cloud.find(CLUSTER, cluster) or {}
    if found.get("defaultPool"):
        return True
    pools = [
        pool
        for identifier, pool in cloud.all(NODE_POOL)
        if identifier.startswith(f"{cluster}/nodePools/")
    ]
    return any(
        not (pool.get("nodeConfig") or {}).get("guestAccelerators")
        for pool in [*pools, *(found.get("nodePools") or [])]
    )


KINDS = (NodePool(),)
