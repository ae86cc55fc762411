"""APIs of a project: Service."""

import re
from typing import Any, ClassVar

from sandbox.cloud.types.base import Cloud, Config, Kind
from sandbox.cloud.types.values import Properties, last_part

SERVICE = "gcp:projects/service:Service"


def _domain(path: str, value: Any) -> str | None:
    if re.fullmatch(r"[a-z0-9-]+(\.[a-z0-9-]+)+", value):
        return None
    return f"expected {value} to be a domain like serviceusage.googleapis.com"


class Service(Kind):
    """An enabled API. Enabling one that is enabled changes nothing."""

    token, table, called = SERVICE, "service", "project service"
    named_by = ""
    idempotent = True
    local = (
        "disableDependentServices",
        "disableOnDestroy",
        "checkIfServiceHasUsageOnDestroy",
        "deletionPolicy",
    )
    validators: ClassVar = {"service": _domain}

    def identify(self, inputs: Properties) -> str:
        return f"{inputs['project']}/{inputs['service']}"

    def ids(self, identifier: str, config: Config) -> list[str]:
        if "/" not in identifier:
            return [f"{config.project}/{identifier}"]
        project = identifier.removeprefix("projects/").partition("/")[0]
        return [f"{project}/{last_part(identifier)}"]

    def refuse(self, cloud: Cloud, inputs: Properties, old: Properties | None) -> list[str]:
        if inputs["service"].endswith(".googleapis.com"):
            return []
        return [f"Not found or permission denied for service(s): {inputs['service']}"]


KINDS = (Service(),)
