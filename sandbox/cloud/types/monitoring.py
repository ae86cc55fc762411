"""What Cloud Monitoring's types share: the server names them."""

from sandbox.cloud.types.base import Cloud, Config, Kind
from sandbox.cloud.types.values import Properties, last_part, project_number


class MonitoringKind(Kind):
    """A type whose resources the server numbers; two may look the same."""

    named_by = ""
    local = ("deletionPolicy",)
    collection = ""

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        return super().create(cloud, {**inputs, "name": self._free_name(cloud, inputs["project"])})

    def _free_name(self, cloud: Cloud, project: str) -> str:
        number = len(cloud.all(self.token))
        while True:
            number += 1
            digits = project_number(f"{project}/{self.collection}/{number}")
            name = f"projects/{project}/{self.collection}/{digits}"
            if cloud.find(self.token, name) is None:
                return name

    def identify(self, inputs: Properties) -> str:
        return inputs["name"]

    def ids(self, identifier: str, config: Config) -> list[str]:
        if identifier.startswith("projects/"):
            return [identifier]
        return [f"projects/{config.project}/{self.collection}/{last_part(identifier)}"]
