"""Functions of the SDK that programs call: what they answer here."""

from collections.abc import Callable
from typing import Any

from sandbox.cloud.lookups import get_bucket, get_cluster, get_network, get_subnetwork
from sandbox.cloud.problems import ProviderError, did_you_mean
from sandbox.cloud.types.base import Cloud
from sandbox.cloud.types.cluster_rules import known
from sandbox.cloud.types.values import project_number
from sandbox.cloud.versions import CHANNELS, DEFAULT_VERSION, VERSIONS
from spotproof_gke.locations import zones_of

Answer = dict[str, Any]


def invoke(token: str, args: Answer, cloud: Cloud) -> Answer:
    """The answer of the function `token`.

    Raises:
        ProviderError: The function is not known here, or it lacks a value.
    """
    function = INVOKES.get(token)
    if function is None:
        near = did_you_mean(token, INVOKES)
        raise ProviderError(f"the emulated cloud does not know the function {token}; {near}")
    return function(args, cloud)


def _project(args: Answer, cloud: Cloud) -> str:
    project = args.get("project") or args.get("projectId") or cloud.config.project
    if not project:
        raise ProviderError("project: required field is not set")
    return project


def _get_project(args: Answer, cloud: Cloud) -> Answer:
    project = _project(args, cloud)
    return {
        "id": f"projects/{project}",
        "projectId": project,
        "name": project,
        "number": project_number(project),
        "orgId": "",
        "folderId": "",
        "billingAccount": "000000-000000-000000",
        "autoCreateNetwork": False,
        "deletionPolicy": "PREVENT",
        "labels": {},
        "effectiveLabels": {},
        "pulumiLabels": {},
        "tags": {},
    }


def _get_client_config(args: Answer, cloud: Cloud) -> Answer:
    config = cloud.config
    return {
        "id": f"projects/{config.project}/regions/{config.region}/zones/{config.zone}",
        "project": config.project,
        "region": config.region,
        "zone": config.zone,
        "accessToken": "emulated",
        "defaultLabels": {},
    }


def _get_zones(args: Answer, cloud: Cloud) -> Answer:
    region = args.get("region") or cloud.config.region
    names = sorted(zones_of(region))
    if not names:
        raise ProviderError(f"Error retrieving zones: there is no region {region!r}")
    project = _project(args, cloud)
    return {
        "id": f"projects/{project}/regions/{region}",
        "names": names,
        "project": project,
        "region": region,
        "status": args.get("status"),
    }


def _get_engine_versions(args: Answer, cloud: Cloud) -> Answer:
    location = args.get("location") or cloud.config.zone or cloud.config.region
    if not location or not known(location):
        raise ProviderError(
            f"Error retrieving available container cluster versions: no location {location!r}"
        )
    prefix = args.get("versionPrefix") or ""
    versions = [version for version in reversed(VERSIONS) if version.startswith(prefix)]
    return {
        "id": location,
        "location": location,
        "project": _project(args, cloud),
        "versionPrefix": prefix or None,
        "validMasterVersions": versions,
        "validNodeVersions": versions,
        "defaultClusterVersion": DEFAULT_VERSION,
        "latestMasterVersion": versions[0] if versions else "",
        "latestNodeVersion": versions[0] if versions else "",
        "releaseChannelDefaultVersion": dict(CHANNELS),
        "releaseChannelLatestVersion": dict(CHANNELS),
        "releaseChannelUpgradeTargetVersion": dict(CHANNELS),
    }


INVOKES: dict[str, Callable[[Answer, Cloud], Answer]] = {
    "gcp:organizations/getProject:getProject": _get_project,
    "gcp:organizations/getClientConfig:getClientConfig": _get_client_config,
    "gcp:compute/getZones:getZones": _get_zones,
    "gcp:container/getEngineVersions:getEngineVersions": _get_engine_versions,
    "gcp:container/getCluster:getCluster": get_cluster,
    "gcp:compute/getNetwork:getNetwork": get_network,
    "gcp:compute/getSubnetwork:getSubnetwork": get_subnetwork,
    "gcp:storage/getBucket:getBucket": get_bucket,
}
