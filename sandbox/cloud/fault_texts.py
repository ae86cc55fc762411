"""What Google's servers say when they refuse for reasons outside the request: quota and the like.

The wording was seen in public reports of the real errors; where each is from stands beside it.
What follows `To mend` is the emulated cloud's own: Google seldom says what to do.
"""

import json
import re
from typing import Any

from sandbox.cloud.problems import ApiError, ProviderError
from sandbox.cloud.types.base import Kind
from sandbox.cloud.types.values import Properties, project_number
from spotproof_gke.locations import is_zone
from spotproof_gke.quotas import gpu_quota

_CONSOLE = "https://console.cloud.google.com"
_SERVICES = {
    # The SDK's module: the API, its title, and a role that may do everything there.
    "container": ("container", "Kubernetes Engine API", "roles/container.admin"),
    "compute": ("compute", "Compute Engine API", "roles/compute.networkAdmin"),
    "storage": ("storage", "Cloud Storage API", "roles/storage.admin"),
    "serviceaccount": ("iam", "Identity and Access Management (IAM) API",
                       "roles/iam.serviceAccountAdmin"),
    "projects": ("cloudresourcemanager", "Cloud Resource Manager API",
                 "roles/resourcemanager.projectIamAdmin"),
    "pubsub": ("pubsub", "Cloud Pub/Sub API", "roles/pubsub.admin"),
    "artifactregistry": ("artifactregistry", "Artifact Registry API",
                         "roles/artifactregistry.admin"),
    "monitoring": ("monitoring", "Cloud Monitoring API", "roles/monitoring.editor"),
}  # fmt: skip
_SERVICE_USAGE = ("serviceusage", "Service Usage API", "roles/serviceusage.serviceUsageAdmin")
_SERVICE_TYPES = {"gcp:projects/service:Service", "gcp:projects/serviceIdentity:ServiceIdentity"}
_PERMISSIONS = {
    "gcp:container/nodePool:NodePool": ("container.clusters.{0}", {"create": "update",
                                                                   "delete": "update"}),
    "gcp:projects/service:Service": ("serviceusage.services.{0}", {"create": "enable",
                                                                   "delete": "disable",
                                                                   "update": "enable"}),
    "gcp:serviceaccount/account:Account": ("iam.serviceAccounts.{0}", {}),
    "gcp:compute/routerNat:RouterNat": ("compute.routers.{0}", {"create": "update",
                                                                "delete": "update"}),
}  # fmt: skip
STARTS_ENABLED = frozenset({"serviceusage", "storage", "logging", "monitoring"})
"""APIs that a new project has (of those that programs here use)."""


def service_of(token: str) -> tuple[str, str, str]:
    """API, title and role for a type or function of the SDK."""
    if token in _SERVICE_TYPES:
        return _SERVICE_USAGE
    module = token.split(":")[1].partition("/")[0]
    return _SERVICES.get(module, (module, f"{module} API", "roles/editor"))


class Refused(ApiError):
    """A refusal as Google words it, and below it what to do; without `reason` as Pub/Sub's are."""

    def __init__(self, code: int, message: str, reason: str, mend: str) -> None:
        self.code, self.reason = code, reason
        said = f"googleapi: Error {code}: {message}" + (f", {reason}" if reason else "")
        Exception.__init__(self, f"{said}\n\t  To mend (says the emulated cloud): {mend}")


def quota_exceeded(kind: Kind, operation: str, identifier: str, properties: Properties) -> ApiError:
    """A quota of the project is used up.

    Storage and Pub/Sub limit requests, not resources; the provider asks again for a while, and this
    is what it ends with. Sources: googleapis/google-cloud-python#2161 and, for a change of a
    bucket, GoogleCloudPlatform/python-docs-samples#4033; teslamotors/fleet-telemetry#289 (pubsub);
    hashicorp/terraform-provider-google#15205 (a delete in container, which needs no machines).
    """
    project = str(properties.get("project", ""))
    quotas = f"{_CONSOLE}/iam-admin/quotas?usage=USED&project={project}"
    wait = f"wait a minute and run again for {identifier}; if it stays, look at {quotas}"
    service = service_of(kind.token)[0]
    if service == "storage":
        message = "The project exceeded the rate limit for creating and deleting buckets."
        return Refused(429, message, "rateLimitExceeded", wait)
    if service == "pubsub":
        message = (
            "Quota exceeded for quota metric 'Administrator operations' and limit 'Administrator "
            "operations per minute' of service 'pubsub.googleapis.com' for consumer "
            f"'project_number:{project_number(project)}'."
        )
        return Refused(429, message, "", wait)
    if service == "container" and operation == "delete":
        cluster = identifier.partition("/nodePools/")[0].rpartition("/")[2]
        message = (
            f'Too many operations: cluster "{cluster}" hits the concurrent operations quota 5, '
            "please try again later."
        )
        return Refused(429, message, "rateLimitExceeded", wait)
    raise_it = f"ask for more at {quotas}, or free what is used, for {identifier}; then run again"
    if service == "container":
        needed = float(properties.get("nodeCount") or properties.get("initialNodeCount") or 1)
        message = (
            f'Insufficient regional quota to satisfy request: resource "{_metric(properties)}": '
            f"request requires '{needed}' and is short '{needed}'. project has a quota of '0.0' "
            f"with '0.0' available. View and manage quotas at {quotas}."
        )
        return Refused(403, message, "forbidden", raise_it)
    message = f"Quota '{_collection(kind).upper()}' exceeded."
    return Refused(403, message, "quotaExceeded", raise_it)


def _metric(properties: Properties) -> str:
    nodes = properties.get("nodeConfig") or {}
    spot = bool(nodes.get("spot") or nodes.get("preemptible"))
    for gpu in nodes.get("guestAccelerators") or []:
        name = str(gpu.get("type", "gpu"))
        guessed = name.upper().replace("-", "_") + "_GPUS"
        return gpu_quota(name, spot or bool(nodes.get("flexStart"))) or guessed
    return "PREEMPTIBLE_CPUS" if spot else "CPUS"


def stock_out(kind: Kind, properties: Properties, doing: str) -> ProviderError:
    """A zone has no machines: what the operation ends with, once the provider has waited for it."""
    zones = properties.get("nodeLocations") or []
    location = str(properties.get("location", ""))
    zone = zones[0] if zones else location if is_zone(location) else f"{location}-a"
    name = properties.get("name", "")
    cluster = str(properties.get("cluster") or name).rpartition("/")[2]
    pool = name if properties.get("cluster") else "default-pool"
    return ProviderError(
        f"Error waiting for {doing} GKE {kind.called}: Google Compute Engine: Not all instances "
        "running in IGM after 35m. Expected 1, running 0, transitioning 1. Current errors: "
        f"[ZONE_RESOURCE_POOL_EXHAUSTED]: Instance 'gke-{cluster}-{pool}' creation failed: The "
        f"zone 'projects/{properties.get('project', '')}/zones/{zone}' does not have enough "
        "resources available to fulfill the request. Try a different zone, or try again later."
    )


def permission_denied(
    kind: Kind, operation: str, identifier: str, properties: Properties
) -> ApiError:
    """The caller may not do this: each API has its own words, and Pub/Sub does not say what."""
    service, _, role = service_of(kind.token)
    permission = _permission(kind, operation, service)
    project = str(properties.get("project", ""))
    mend = (
        f"ask an administrator of project {project or 'of the resource'} for a role with "
        f"{permission} on {identifier}, such as {role}, and run again"
    )
    message = _denied(service, permission, operation, identifier, project)
    return Refused(403, message, "" if service in _WITHOUT_REASON else "forbidden", mend)


_WITHOUT_REASON = ("pubsub", "artifactregistry")


def _denied(service: str, permission: str, operation: str, identifier: str, project: str) -> str:
    """Sources: pulumi/examples#150 and 2i2c-org/infrastructure#488 (container, project roles,
    artifactregistry), gruntwork-io/terraform-google-gke#53 (compute),
    data-integrations/google-cloud#1503 and substratusai/runbooks#31 (storage),
    hashicorp/terraform-provider-google#3967 (pubsub) and #1579 (serviceusage). None was found for
    iam and monitoring; they are given the words that artifactregistry has.
    """
    if service == "container":
        at = f"projects/{project}"
        if permission != "container.clusters.create":
            at = identifier.partition("/nodePools/")[0]
        return f'Required "{permission}" permission(s) for "{at}".'
    if service == "compute":
        return f"Required '{permission}' permission for '{identifier}'"
    if service == "storage":
        at = "project" if operation == "create" else "Storage bucket"
        return (
            f"caller@{project}.iam.gserviceaccount.com does not have {permission} access to the "
            f"Google Cloud {at}. Permission '{permission}' denied on resource (or it may not "
            "exist)."
        )
    if service == "pubsub":
        return "User not authorized to perform this action."
    if service in ("cloudresourcemanager", "serviceusage"):
        return "The caller does not have permission"
    at = f"//{service}.googleapis.com/{identifier}"
    return f"Permission '{permission}' denied on resource '{at}' (or it may not exist)."


def _permission(kind: Kind, operation: str, service: str) -> str:
    verb = {"read": "get"}.get(operation, operation)
    if kind.token in _PERMISSIONS:
        pattern, verbs = _PERMISSIONS[kind.token]
        return pattern.format(verbs.get(verb, verb))
    if kind.token.lower().endswith("iammember"):
        verb = "getIamPolicy" if operation == "read" else "setIamPolicy"
        if service == "cloudresourcemanager":
            return f"resourcemanager.projects.{verb}"
    return f"{service}.{_collection(kind)}.{verb}"


def _collection(kind: Kind) -> str:
    """The type in the plural, as permissions and quotas have it."""
    name = re.sub("(?i)iammember$", "", kind.token.rpartition(":")[2])
    name = name or {"projects": "project", "serviceaccount": "serviceAccount"}.get(
        kind.token.split(":")[1].partition("/")[0], "resource"
    )
    name = name[0].lower() + name[1:]
    if name.endswith("y"):
        return f"{name[:-1]}ies"
    return name if name.endswith("s") else f"{name}s"


def service_disabled(token: str, project: str) -> ApiError:
    """The API of a type or a function is not enabled in the project.

    Sources: banzaicloud/cloudinfo#378 (container), hashicorp/terraform-provider-google#4142
    (pubsub, which gives no reason), GoogleCloudPlatform/pbmm-on-gcp-onboarding#382 (compute, with
    the details that newer errors have); for the other APIs it is assumed to be the same.
    """
    service, title, _ = service_of(token)
    number = project_number(project)
    api = f"{service}.googleapis.com"
    page = f"https://console.developers.google.com/apis/api/{api}/overview?project={number}"
    message = (
        f"{title} has not been used in project {number} before or it is disabled. Enable it by "
        f"visiting {page} then retry. If you enabled this API recently, wait a few minutes for the "
        "action to propagate to our systems and retry."
    )
    details = [
        {
            "@type": "type.googleapis.com/google.rpc.Help",
            "links": [{"description": "Google developers console API activation", "url": page}],
        },
        {
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "domain": "googleapis.com",
            "metadata": {"consumer": f"projects/{number}", "service": api},
            "reason": "SERVICE_DISABLED",
        },
    ]
    message += f"\nDetails:\n{json.dumps(details, indent=2)}\n"
    reason = "" if service in _WITHOUT_REASON else "accessNotConfigured"
    mend = (
        f"declare a projects.Service for {api}, which the others depend on, or run "
        f"`gcloud services enable {api} --project={project}`; wait a few minutes and run again"
    )
    return Refused(403, message, reason, mend)


def unavailable() -> ApiError:
    """The server is not there for the moment."""
    message = "The service is currently unavailable."
    return Refused(503, message, "backendError", "wait a few minutes and run again")


def outcome(
    kind: Kind, fault: str, operation: str, identifier: str, properties: dict[str, Any]
) -> Exception:
    """The error of a fault that is one."""
    if fault == "quota-exceeded":
        return quota_exceeded(kind, operation, identifier, properties)
    if fault == "permission-denied":
        return permission_denied(kind, operation, identifier, properties)
    if fault == "stock-out":
        return stock_out(kind, properties, "creating" if operation == "create" else "updating")
    if fault == "service-disabled":
        return service_disabled(kind.token, str(properties.get("project", "")))
    return unavailable()
