"""What Google's servers say when they refuse for reasons outside the request: quota and the like.

The wording of quota and stock-out was seen in public reports of the real provider's errors. That of
a disabled API and of a denied permission, and which permission it is, was not checked against a
source.
"""

import re
from typing import Any

from sandbox.cloud.problems import ApiError, ProviderError
from sandbox.cloud.types.base import Kind
from sandbox.cloud.types.values import Properties, project_number
from spotproof_gke.locations import is_zone

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


def called(identifier: str, properties: Properties) -> str:
    """The resource as Google's messages name it."""
    if identifier.startswith("projects/") or not properties.get("project"):
        return identifier
    return f"projects/{properties['project']}: {identifier}"


def quota_exceeded(kind: Kind, identifier: str, properties: Properties) -> ApiError:
    """A quota of the project is used up."""
    project = properties.get("project", "")
    manage = f"View and manage quotas at {_CONSOLE}/iam-admin/quotas?usage=USED&project={project}"
    if service_of(kind.token)[0] == "container":
        needed = float(properties.get("nodeCount") or properties.get("initialNodeCount") or 1)
        return ApiError(
            403,
            f'Insufficient regional quota to satisfy request: resource "{_metric(properties)}": '
            f"request requires '{needed}' and is short '{needed}'. project has a quota of '0.0' "
            f"with '0.0' available (for {identifier}). {manage}",
        )
    metric = _collection(kind).upper()
    return ApiError(
        403,
        f"Quota '{metric}' exceeded for project {project} (creating or changing "
        f"{called(identifier, properties)}). {manage}",
        "quotaExceeded",
    )


def _metric(properties: Properties) -> str:
    nodes = properties.get("nodeConfig") or {}
    cheap = "PREEMPTIBLE_" if nodes.get("spot") or nodes.get("preemptible") else ""
    for gpu in nodes.get("guestAccelerators") or []:
        return cheap + str(gpu.get("type", "gpu")).upper().replace("-", "_") + "_GPUS"
    return f"{cheap}CPUS"


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
    """The caller may not do this."""
    service, _, role = service_of(kind.token)
    permission = _permission(kind, operation, service)
    return ApiError(
        403,
        f"Required '{permission}' permission for '{called(identifier, properties)}'. Permission "
        "denied on resource (or it may not exist). Ask an administrator of the project for a "
        f"role with this permission, such as {role}",
    )


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
    """The API of a type or a function is not enabled in the project."""
    service, title, _ = service_of(token)
    number = project_number(project)
    return ApiError(
        403,
        f"{title} has not been used in project {number} before or it is disabled. Enable it by "
        f"visiting https://console.developers.google.com/apis/api/{service}.googleapis.com/"
        f"overview?project={number} then retry. If you enabled this API recently, wait a few "
        "minutes for the action to propagate to our systems and retry",
        "accessNotConfigured",
    )


def unavailable() -> ApiError:
    """The server is not there for the moment."""
    return ApiError(503, "The service is currently unavailable. Try again later", "backendError")


def outcome(
    kind: Kind, fault: str, operation: str, identifier: str, properties: dict[str, Any]
) -> Exception:
    """The error of a fault that is one."""
    if fault == "quota-exceeded":
        return quota_exceeded(kind, identifier, properties)
    if fault == "permission-denied":
        return permission_denied(kind, operation, identifier, properties)
    if fault == "stock-out":
        return stock_out(kind, properties, "creating" if operation == "create" else "updating")
    if fault == "service-disabled":
        return service_disabled(kind.token, str(properties.get("project", "")))
    return unavailable()
