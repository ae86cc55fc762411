"""IAM service accounts: Account."""

import re
from typing import Any, ClassVar

from sandbox.cloud.diff import Change
from sandbox.cloud.problems import ApiError
from sandbox.cloud.types.base import Cloud, Config, Kind
from sandbox.cloud.types.values import Properties, last_part, project_number
from sandbox.cloud.wire import UNKNOWN

ACCOUNT = "gcp:serviceaccount/account:Account"
_ACCOUNT_ID = r"^[a-z]([-a-z0-9]*[a-z0-9])?$"


def email_of(account_id: str, project: str) -> str:
    """The address of a service account."""
    return f"{account_id}@{project}.iam.gserviceaccount.com"


def missing_account(cloud: Cloud, email: str) -> bool:
    """Whether this would be an account of a project that the cloud knows, and is not there.

    Google's own agents and other projects' accounts are taken on trust.
    """
    match = re.fullmatch(r"[^@]+@([a-z][-a-z0-9]+)\.iam\.gserviceaccount\.com", email)
    if match is None or match.group(1) != cloud.config.project:
        return False
    return cloud.find(ACCOUNT, f"projects/{match.group(1)}/serviceAccounts/{email}") is None


def _account_id(path: str, value: Any) -> str | None:
    if not 6 <= len(value) <= 30:
        return f'"{path}" ("{value}") must be between 6 and 30 characters long'
    if not re.search(_ACCOUNT_ID, value):
        return f'"{path}" ("{value}") must match regex "{_ACCOUNT_ID}"'
    return None


class Account(Kind):
    """A service account."""

    token, table, called = ACCOUNT, "account", "service account"
    named_by = "accountId"
    local = ("createIgnoreAlreadyExists", "deletionPolicy")
    validators: ClassVar = {"accountId": _account_id}

    def identify(self, inputs: Properties) -> str:
        email = email_of(inputs["accountId"], inputs["project"])
        return f"projects/{inputs['project']}/serviceAccounts/{email}"

    def ids(self, identifier: str, config: Config) -> list[str]:
        email = last_part(identifier)
        project = email.partition("@")[2].partition(".")[0]
        return [f"projects/{project}/serviceAccounts/{email}"]

    def already_exists(self, identifier: str) -> ApiError:
        account, _, rest = last_part(identifier).partition("@")
        project = rest.partition(".")[0]
        return ApiError(
            409, f"Service account {account} already exists within project projects/{project}"
        )

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        identifier = self.identify(inputs)
        if inputs.get("createIgnoreAlreadyExists") and cloud.find(self.token, identifier):
            return identifier
        return super().create(cloud, inputs)

    def planned(self, inputs: Properties, config: Config) -> Properties:
        account = inputs.get("accountId")
        project = inputs.get("project") or config.project
        if account in (None, UNKNOWN) or project in (None, "", UNKNOWN):
            return {}
        email = email_of(account, project)
        return {"email": email, "member": f"serviceAccount:{email}"}

    def serve(self, cloud: Cloud, inputs: Properties, old: Properties | None) -> Properties:
        email = email_of(inputs["accountId"], inputs["project"])
        return {
            **inputs,
            "email": email,
            "member": f"serviceAccount:{email}",
            "name": self.identify(inputs),
            "uniqueId": f"1{project_number(email)}000000000"[:21],
        }

    def further_changes(
        self, changes: list[Change], old: Properties, inputs: Properties
    ) -> list[Change]:
        if not any(change.top in ("accountId", "project") for change in changes):
            return []
        return [Change("email", "update"), Change("member", "update")]


KINDS = (Account(),)
