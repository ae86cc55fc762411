"""Compute Engine's placements and schedules: ResourcePolicy."""

import re

from sandbox.cloud.types.base import Cloud, Config
from sandbox.cloud.types.network import ComputeKind, in_use, not_found, unknown_region
from sandbox.cloud.types.values import COMPUTE_API, Properties, block, last_part, path_of
from spotproof_gke.locations import region_of

RESOURCE_POLICY = "gcp:compute/resourcePolicy:ResourcePolicy"
POLICIES = (
    "groupPlacementPolicy",
    "snapshotSchedulePolicy",
    "instanceSchedulePolicy",
    "diskConsistencyGroupPolicy",
    "workloadPolicy",
)
_NAME = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")


def policy_path(reference: str, project: str, region: str) -> str:
    """The id of a resource policy given by name or id."""
    return f"projects/{project}/regions/{region}/resourcePolicies/{last_part(reference)}"


class ResourcePolicy(ComputeKind):
    """A placement of instances, or a schedule of snapshots or instances."""

    token, table, called = RESOURCE_POLICY, "resource_policy", "ResourcePolicy"
    needs_region = True
    local = ("deletionPolicy",)

    def identify(self, inputs: Properties) -> str:
        return policy_path(inputs["name"], inputs["project"], inputs["region"])

    def ids(self, identifier: str, config: Config) -> list[str]:
        path = path_of(identifier)
        if path.startswith("projects/"):
            return [path]
        return [policy_path(path, config.project, config.region)]

    def refuse(self, cloud: Cloud, inputs: Properties, old: Properties | None) -> list[str]:
        name = inputs["name"]
        # The provider plans a new name as a change in place, and sends it to the new name.
        if old is not None and old["name"] != name:
            raise not_found(self.identify(inputs))
        problems = unknown_region(inputs)
        if not _NAME.fullmatch(name):
            problems.append(
                f"Invalid value for field 'resource.name': '{name}'. It has lower-case letters, "
                "digits and hyphens, and begins with a letter"
            )
        if not any(policy in inputs for policy in POLICIES):
            problems.append(f"Invalid value for field 'resource': one of {', '.join(POLICIES)}")
        return [*problems, *_placement(inputs), *_snapshots(inputs)]

    def serve(self, cloud: Cloud, inputs: Properties, old: Properties | None) -> Properties:
        return {**inputs, "selfLink": COMPUTE_API + self.identify(inputs)}

    def before_delete(self, cloud: Cloud, identifier: str, state: Properties) -> None:
        for pool, properties in cloud.all("gcp:container/nodePool:NodePool"):
            name = block(properties, "placementPolicy").get("policyName")
            region = region_of(properties["location"])
            if name and policy_path(name, properties["project"], region) == identifier:
                raise in_use(identifier, pool)


def _placement(inputs: Properties) -> list[str]:
    policy = block(inputs, "groupPlacementPolicy")
    where = "resource.groupPlacementPolicy"
    problems = []
    for name, low, high in (
        ("vmCount", 1, 1500),
        ("availabilityDomainCount", 1, 8),
        ("maxDistance", 1, 3),
    ):
        value = policy.get(name)
        if value and not low <= value <= high:
            problems.append(
                f"Invalid value for field '{where}.{name}': '{value}'. Must be {low} to {high}"
            )
    if policy.get("collocation") and policy.get("availabilityDomainCount"):
        problems.append(
            f"Invalid value for field '{where}': collocation and availabilityDomainCount exclude "
            "each other"
        )
    return problems


def _snapshots(inputs: Properties) -> list[str]:
    policy = block(inputs, "snapshotSchedulePolicy")
    daily = block(policy, "schedule", "dailySchedule")
    problems = []
    if daily and daily["daysInCycle"] != 1:
        problems.append(
            "Invalid value for field 'resource.snapshotSchedulePolicy.schedule.dailySchedule."
            f"daysInCycle': '{daily['daysInCycle']}'. Must be 1"
        )
    hourly = block(policy, "schedule", "hourlySchedule")
    if hourly and not 1 <= hourly["hoursInCycle"] <= 23:
        problems.append(
            "Invalid value for field 'resource.snapshotSchedulePolicy.schedule.hourlySchedule."
            f"hoursInCycle': '{hourly['hoursInCycle']}'. Must be 1 to 23"
        )
    days = block(policy, "retentionPolicy").get("maxRetentionDays", 1)
    if days < 1:
        problems.append(
            "Invalid value for field 'resource.snapshotSchedulePolicy.retentionPolicy."
            f"maxRetentionDays': '{days}'. Must be at least 1"
        )
    return problems


KINDS = (ResourcePolicy(),)
