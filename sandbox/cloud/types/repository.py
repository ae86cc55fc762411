"""Artifact Registry: Repository, RepositoryIamMember."""

import re
from typing import ClassVar

from sandbox.cloud.problems import ApiError, ProviderError
from sandbox.cloud.types.base import Cloud, Config, Kind
from sandbox.cloud.types.durations import normal, outside
from sandbox.cloud.types.iam import Member, same_member
from sandbox.cloud.types.values import Properties, block, last_part, path_of, same_name
from spotproof_gke.locations import zones_of

REPOSITORY = "gcp:artifactregistry/repository:Repository"
REPOSITORY_MEMBER = "gcp:artifactregistry/repositoryIamMember:RepositoryIamMember"
FORMATS = ("DOCKER", "MAVEN", "NPM", "PYTHON", "APT", "YUM", "GO", "KFP", "GENERIC", "RUBY")
MULTI_REGIONS = ("us", "europe", "asia")
_ID = re.compile(r"[a-z]([a-z0-9-]{0,61}[a-z0-9])?")


def with_location(inputs: Properties, config: Config) -> Properties:
    """The inputs with the location as the provider's configuration has it."""
    if inputs.get("location"):
        return inputs
    location = config.region or config.zone
    if not location:
        raise ProviderError(
            "Cannot determine location: set in this resource, or set provider-level "
            "'region' or 'zone'."
        )
    return {**inputs, "location": location}


class Repository(Kind):
    """A repository of packages or images."""

    token, table, called = REPOSITORY, "repository", "Repository"
    named_by = ""
    labels = "labels"
    local = ("deletionPolicy",)

    def complete(self, inputs: Properties, config: Config) -> Properties:
        return with_location(super().complete(inputs, config), config)

    def identify(self, inputs: Properties) -> str:
        place = f"projects/{inputs['project']}/locations/{inputs['location']}"
        return f"{place}/repositories/{inputs['repositoryId']}"

    def ids(self, identifier: str, config: Config) -> list[str]:
        parts = identifier.split("/")
        if "projects" in parts:
            return [path_of(identifier)]
        location = config.region or config.zone
        project, location = [*[config.project, location][: 3 - len(parts)], *parts[:-1]][:2]
        return [f"projects/{project}/locations/{location}/repositories/{parts[-1]}"]

    def already_exists(self, identifier: str) -> ApiError:
        return ApiError(409, "the repository already exists", "alreadyExists")

    def refuse(self, cloud: Cloud, inputs: Properties, old: Properties | None) -> list[str]:
        location, name = inputs["location"], inputs["repositoryId"]
        problems = []
        if not _ID.fullmatch(name):
            problems.append(
                f"Invalid value for repository_id '{name}': it has lower-case letters, digits and "
                "hyphens, begins with a letter, and has 63 characters at most"
            )
        known = location == location.lower() and zones_of(location)
        if location not in MULTI_REGIONS and not known:
            problems.append(
                f"Location '{location}' is not a known region or multi-region, in lower case"
            )
        if inputs["format"].upper() not in FORMATS:
            problems.append(f"format '{inputs['format']}' is none of {', '.join(FORMATS)}")
        return [*problems, *_configs(inputs), *_cleanup(inputs.get("cleanupPolicies") or [])]

    def serve(self, cloud: Cloud, inputs: Properties, old: Properties | None) -> Properties:
        kind = inputs["format"].upper()
        place = f"{inputs['location']}-{kind.lower()}.pkg.dev"
        served: Properties = {
            "vulnerabilityScanningConfig": {},
            **inputs,
            "format": kind,
            "name": inputs["repositoryId"],
            "registryUri": f"{place}/{inputs['project']}/{inputs['repositoryId']}",
            "createTime": "2026-11-29T00:00:00.000000Z",
            "updateTime": "2026-11-29T00:00:00.000000Z",
        }
        served["vulnerabilityScanningConfig"] = {
            **served["vulnerabilityScanningConfig"],
            "enablementState": "SCANNING_DISABLED",
            "enablementStateReason": "API containerscanning.googleapis.com is not enabled.",
        }
        # A false flag is not sent, and the server answers no configuration without one.
        if not block(inputs, "dockerConfig").get("immutableTags"):
            served.pop("dockerConfig", None)
        if "cleanupPolicies" in inputs:
            served["cleanupPolicies"] = [_served_policy(each) for each in inputs["cleanupPolicies"]]
        return served

    def delete(self, cloud: Cloud, identifier: str, state: Properties) -> None:
        super().delete(cloud, identifier, state)
        for member, properties in cloud.all(REPOSITORY_MEMBER):
            if properties["repository"] == identifier:
                cloud.store.remove(REPOSITORY_MEMBER, member)


def _served_policy(policy: Properties) -> Properties:
    if not policy.get("condition"):
        return policy
    condition = dict(policy["condition"])
    for name in ("olderThan", "newerThan"):
        if condition.get(name):
            condition[name] = normal(condition[name])
    return {**policy, "condition": condition}


def _configs(inputs: Properties) -> list[str]:
    """What of the configuration does not fit the format or the mode."""
    kind, mode = inputs["format"].upper(), inputs["mode"]
    problems = [
        f"{name} is for repositories of format {wanted} only, not {kind}"
        for name, wanted in (("dockerConfig", "DOCKER"), ("mavenConfig", "MAVEN"))
        if name in inputs and kind != wanted
    ]
    for name, wanted in (
        ("remoteRepositoryConfig", "REMOTE_REPOSITORY"),
        ("virtualRepositoryConfig", "VIRTUAL_REPOSITORY"),
    ):
        if name in inputs and mode != wanted:
            problems.append(f"{name} needs mode {wanted}, not {mode}")
    if mode == "REMOTE_REPOSITORY" and "remoteRepositoryConfig" not in inputs:
        problems.append("mode REMOTE_REPOSITORY needs remoteRepositoryConfig")
    return problems


def _cleanup(policies: list[Properties]) -> list[str]:
    problems = []
    ids = [policy["id"] for policy in policies]
    for policy in policies:
        where = f"cleanup_policies[{policy['id']}]"
        if ids.count(policy["id"]) > 1:
            problems.append(f"{where}: another policy has this id")
        recent = policy.get("mostRecentVersions")
        if recent and policy.get("action") != "KEEP":
            problems.append(f"{where}: most_recent_versions is for action KEEP only")
        if not recent and not policy.get("condition"):
            problems.append(f"{where}: it needs condition or most_recent_versions")
        for name in ("olderThan", "newerThan"):
            value = block(policy, "condition").get(name)
            problems += outside(f"{where}.condition.{name}", value, 0)
    return list(dict.fromkeys(problems))


class RepositoryMember(Member):
    """A role on a repository."""

    token, table = REPOSITORY_MEMBER, "repository_iam_member"
    called = "artifactregistry repository IAM member"
    same_if: ClassVar = {"member": same_member, "repository": same_name}

    def complete(self, inputs: Properties, config: Config) -> Properties:
        full = super().complete(inputs, config)
        parts = str(full["repository"]).split("/")
        if parts[0] == "projects" and len(parts) == 6 and not full.get("location"):
            return {**full, "location": parts[3]}
        return with_location(full, config)

    def target(self, inputs: Properties) -> str:
        reference = path_of(inputs["repository"])
        if reference.startswith("projects/"):
            return reference
        place = f"projects/{inputs['project']}/locations/{inputs['location']}"
        return f"{place}/repositories/{last_part(reference)}"

    def refuse(self, cloud: Cloud, inputs: Properties, old: Properties | None) -> list[str]:
        target = self.target(inputs)
        if cloud.find(REPOSITORY, target) is None:
            raise ApiError(404, f"Requested entity was not found: {target}")
        return super().refuse(cloud, inputs, old)

    def serve(self, cloud: Cloud, inputs: Properties, old: Properties | None) -> Properties:
        served = super().serve(cloud, inputs, old)
        served["repository"] = self.target(inputs)
        return served


KINDS = (Repository(), RepositoryMember())
