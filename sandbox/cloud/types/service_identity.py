"""Google's own accounts in a project: ServiceIdentity."""

from sandbox.cloud.problems import ApiError
from sandbox.cloud.types.base import Cloud, Config, Kind
from sandbox.cloud.types.values import Properties, project_number

SERVICE_IDENTITY = "gcp:projects/serviceIdentity:ServiceIdentity"
# Domains of the accounts that do not have the service's own name.
DOMAINS = {
    "compute": "compute-system",
    "container": "container-engine-robot",
    "containerregistry": "containerregistry",
    "dataflow": "dataflow-service-producer-prod",
    "storage": "gs-project-accounts",
}


def agent_of(service: str, project: str) -> str:
    """The address of a service's account in a project."""
    name = service.removesuffix(".googleapis.com")
    domain = DOMAINS.get(name, f"gcp-sa-{name}")
    return f"service-{project_number(project)}@{domain}.iam.gserviceaccount.com"


class ServiceIdentity(Kind):
    """The account that a service acts as. Asking for it twice answers the same one.

    Source: the provider's resource has neither a read nor a delete ("There is no read endpoint for
    this API", terraform-provider-google, resource_project_service_identity.go).
    """

    token, table, called = SERVICE_IDENTITY, "service_identity", "service identity"
    named_by = ""
    idempotent = True

    def identify(self, inputs: Properties) -> str:
        return f"projects/{inputs['project']}/services/{inputs['service']}"

    def ids(self, identifier: str, config: Config) -> list[str]:
        return [identifier]

    def find(self, cloud: Cloud, identifier: str) -> tuple[str, Properties] | None:
        """What was asked for once: the API can't show it, so the provider never looks."""
        parts = identifier.split("/")
        if len(parts) != 4:
            return None
        made = self.serve(cloud, {"project": parts[1], "service": parts[3]}, None)
        return super().find(cloud, identifier) or (identifier, made)

    def refuse(self, cloud: Cloud, inputs: Properties, old: Properties | None) -> list[str]:
        service = inputs["service"]
        if not service.endswith(".googleapis.com"):
            raise ApiError(404, f"Service {service} not found: it ends with .googleapis.com")
        return []

    def serve(self, cloud: Cloud, inputs: Properties, old: Properties | None) -> Properties:
        email = agent_of(inputs["service"], inputs["project"])
        return {**inputs, "email": email, "member": f"serviceAccount:{email}"}


KINDS = (ServiceIdentity(),)
