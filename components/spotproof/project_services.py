"""The Google APIs that a project must have enabled."""

from typing import TypedDict

import pulumi
from pulumi_gcp import projects
from typing_extensions import NotRequired

from spotproof.options import child_of
from spotproof.places import read_project
from spotproof.reader import Reader

SERVICES = (
    "compute.googleapis.com",
    "container.googleapis.com",
    "iam.googleapis.com",
    "logging.googleapis.com",
    "monitoring.googleapis.com",
    "storage.googleapis.com",
)
"""What a cluster with private nodes and a checkpoint bucket needs."""


class ProjectServicesArgs(TypedDict):
    project: str
    """Project id."""

    services: NotRequired[list[str]]
    """Full names of the APIs, for example `compute.googleapis.com`; what our components need when omitted."""


class ProjectServices(pulumi.ComponentResource):
    """Enables Google APIs and leaves them enabled when it is destroyed, since others may use them."""

    services: pulumi.Output[list[str]]
    """The APIs that are enabled."""

    def __init__(
        self,
        name: str,
        args: ProjectServicesArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        read = Reader(args, ProjectServicesArgs.__annotations__)
        project = read_project(read)
        services = read.texts("services", default=SERVICES)
        for service in services:
            if not service.endswith(".googleapis.com"):
                fix = f'did you mean "{service}.googleapis.com"?'
                read.problem("services", service, "an API is named by its domain", fix)
        read.finish(f"ProjectServices {name}")
        super().__init__("spotproof:index:ProjectServices", name, None, opts)
        enabled = [
            projects.Service(
                f"{name}-{service.removesuffix('.googleapis.com')}",
                project=project,
                service=service,
                disable_on_destroy=False,
                opts=child_of(self),
            )
            for service in sorted(services)
        ]
        self.services = pulumi.Output.all(*[s.service for s in enabled]).apply(list)
        self.register_outputs({"services": self.services})
