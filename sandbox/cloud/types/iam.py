"""IAM members of projects, buckets and service accounts: who has which role on what."""

import re
from typing import Any, ClassVar

from sandbox.cloud.problems import ApiError
from sandbox.cloud.types.base import Cloud, Config, Kind
from sandbox.cloud.types.bucket import BUCKET
from sandbox.cloud.types.service_account import ACCOUNT, missing_account
from sandbox.cloud.types.values import Properties, fingerprint, path_of
from sandbox.cloud.validate import iam_member

_PROJECT = (
    r"(?:(?:[-a-z0-9]{1,63}\\.)*(?:[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?):)?"
    r"(?:[0-9]{1,19}|(?:[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?)"
)
ACCOUNT_LINK = (
    rf"projects/{_PROJECT}|-)/serviceAccounts/({_PROJECT})@[a-z]+.gserviceaccount.com$|"
    r"[0-9]{1,20}-compute@developer.gserviceaccount.com|"
    r"[a-z]([-a-z0-9]{4,28}[a-z0-9])?@[-a-z0-9\\.]{1,63}\\.iam\\.gserviceaccount\\.com$)"
)
_REAL_LINK = re.compile(r"^projects/[^/]+/serviceAccounts/[^/@]+@[^/]+\.gserviceaccount\.com$")
_ROLE = re.compile(r"^(roles/|(projects|organizations)/[^/]+/roles/)[A-Za-z0-9_.]+$")
_POOL_MEMBER = re.compile(r"^serviceAccount:([^\[\]]+\.svc\.id\.goog)\[[^/\]]+/[^/\]]+\]$")


def _account_link(path: str, value: Any) -> str | None:
    if _REAL_LINK.match(value):
        return None
    return f'"{path}" ("{value}") doesn\'t match regexp "{ACCOUNT_LINK}"'


def normal_member(member: str) -> str:
    """A member as the server answers it: addresses in lower case, principals as they are."""
    kind, _, value = member.partition(":")
    if kind in ("user", "group", "domain", "serviceAccount"):
        return f"{kind}:{value.lower()}"
    return member


def same_member(old: Any, new: Any) -> bool:
    """Whether two members differ in letter case only."""
    return (
        isinstance(old, str) and isinstance(new, str) and normal_member(old) == normal_member(new)
    )


class Member(Kind):
    """One member with one role on something."""

    named_by = ""
    idempotent = True
    same_if: ClassVar = {"member": same_member}
    validators: ClassVar = {"member": iam_member}
    on = ""

    def target(self, inputs: Properties) -> str:
        """The id's first part: what the role is on."""
        raise NotImplementedError

    def identify(self, inputs: Properties) -> str:
        parts = [self.target(inputs), inputs["role"], normal_member(inputs["member"])]
        if inputs.get("condition"):
            parts.append(inputs["condition"]["title"])
        return "/".join(parts)

    def ids(self, identifier: str, config: Config) -> list[str]:
        return [identifier, identifier.replace(" ", "/"), f"b/{identifier.replace(' ', '/')}"]

    def refuse(self, cloud: Cloud, inputs: Properties, old: Properties | None) -> list[str]:
        role, member = inputs["role"], inputs["member"]
        problems = []
        if not _ROLE.match(role):
            problems.append(f"Role '{role}' is not supported for this resource: it has no roles/")
        pool = _POOL_MEMBER.match(member)
        if pool:
            problems += _missing_pool(cloud, pool.group(1))
        elif member.startswith("serviceAccount:"):
            email = member.partition(":")[2].lower()
            if missing_account(cloud, email):
                problems.append(f"Service account {email} does not exist")
        return problems

    def serve(self, cloud: Cloud, inputs: Properties, old: Properties | None) -> Properties:
        member = normal_member(inputs["member"])
        return {**inputs, "member": member, "etag": f"BwY{fingerprint(inputs)}"}


def _missing_pool(cloud: Cloud, pool: str) -> list[str]:
    for _, cluster in cloud.all("gcp:container/cluster:Cluster"):
        if (cluster.get("workloadIdentityConfig") or {}).get("workloadPool") == pool:
            return []
    return [
        f"Identity Pool does not exist ({pool}). Please check that you specified a valid "
        "resource name as returned in the `name` attribute in the configuration API"
    ]


class ProjectMember(Member):
    """A role on a project."""

    token = "gcp:projects/iAMMember:IAMMember"
    table, called = "project_iam_member", "project IAM member"
    same_if: ClassVar = {
        "member": same_member,
        "project": lambda old, new: (
            str(old).removeprefix("projects/") == str(new).removeprefix("projects/")
        ),
    }

    def target(self, inputs: Properties) -> str:
        return inputs["project"].removeprefix("projects/")

    def ids(self, identifier: str, config: Config) -> list[str]:
        return [identifier.replace(" ", "/")]


def _same_bucket(old: Any, new: Any) -> bool:
    return str(old).removeprefix("b/") == str(new).removeprefix("b/")


class BucketMember(Member):
    """A role on a bucket."""

    token = "gcp:storage/bucketIAMMember:BucketIAMMember"
    table, called = "bucket_iam_member", "bucket IAM member"
    has_project = False
    same_if: ClassVar = {"member": same_member, "bucket": _same_bucket}

    def target(self, inputs: Properties) -> str:
        return f"b/{inputs['bucket'].removeprefix('b/')}"

    def refuse(self, cloud: Cloud, inputs: Properties, old: Properties | None) -> list[str]:
        name = inputs["bucket"].removeprefix("b/")
        bucket = cloud.find(BUCKET, name)
        if bucket is None:
            raise ApiError(404, f"The specified bucket does not exist: {name}")
        public = inputs["member"] in ("allUsers", "allAuthenticatedUsers")
        if public and bucket.get("publicAccessPrevention") == "enforced":
            latest = ApiError(
                412,
                "The member bindings allUsers and allAuthenticatedUsers are not allowed since "
                "public access prevention is enforced.",
                "conditionNotMet",
            )
            raise ApiError(412, f"Too many conflicts. Latest error: {latest}", "conditionNotMet")
        return super().refuse(cloud, inputs, old)

    def serve(self, cloud: Cloud, inputs: Properties, old: Properties | None) -> Properties:
        served = super().serve(cloud, inputs, old)
        served["bucket"] = self.target(inputs)
        return served


class AccountMember(Member):
    """A role on a service account."""

    token = "gcp:serviceaccount/iAMMember:IAMMember"
    table, called = "account_iam_member", "service account IAM member"
    has_project = False
    validators: ClassVar = {"member": iam_member, "serviceAccountId": _account_link}

    def target(self, inputs: Properties) -> str:
        return inputs["serviceAccountId"]

    def refuse(self, cloud: Cloud, inputs: Properties, old: Properties | None) -> list[str]:
        identifier = path_of(inputs["serviceAccountId"])
        email = identifier.rpartition("/")[2]
        if cloud.find(ACCOUNT, identifier) is None and missing_account(cloud, email):
            raise ApiError(404, f"Service account {identifier} does not exist")
        return super().refuse(cloud, inputs, old)


KINDS = (ProjectMember(), BucketMember(), AccountMember())
