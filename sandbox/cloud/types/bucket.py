"""Cloud Storage: Bucket."""

import re
from typing import Any, ClassVar

from sandbox.cloud.problems import ApiError
from sandbox.cloud.types.base import Cloud, Config, Kind
from sandbox.cloud.types.values import Properties, project_number
from spotproof_gke.locations import placement_of_bucket, region_of, zones_of

BUCKET = "gcp:storage/bucket:Bucket"
CLASSES = ("STANDARD", "NEARLINE", "COLDLINE", "ARCHIVE", "MULTI_REGIONAL", "REGIONAL")
SOFT_DELETE_SECONDS = (604_800, 7_776_000)
LONGEST_RETENTION_SECONDS = 3_155_760_000  # 100 years
_LABEL_KEY = re.compile(r"[a-z0-9_-]{1,63}")


def _same_namespace(old: Any, new: Any) -> bool:
    return not (old or {}).get("enabled") and not (new or {}).get("enabled")


def _same_autoclass(old: Any, new: Any) -> bool:
    """Turned off is the same as left out."""
    return None in (old, new) and not (old or new or {}).get("enabled")


def _kept(old: Any, new: Any) -> bool:
    """A page that is left out stays."""
    return bool(old) and not new


def _unlocked(old: Any, new: Any) -> bool:
    """A locked policy cannot be unlocked."""
    return bool(old) and not new


def _same_number(old: Any, new: Any) -> bool:
    return str(old) == str(new)


def _label_keys(path: str, labels: Any) -> str | None:
    wrong = [key for key in labels if not _LABEL_KEY.fullmatch(key)]
    where = "https://cloud.google.com/storage/docs/tags-and-labels#bucket-labels"
    return f'"{wrong[0]}" is an invalid label key. See {where}' if wrong else None


class Bucket(Kind):
    """A bucket. Bucket names are shared by all projects."""

    token, table, called = BUCKET, "bucket", "Bucket"
    labels = "labels"
    local = ("forceDestroy", "deletionPolicy")
    same_if: ClassVar = {
        "autoclass": _same_autoclass,
        "hierarchicalNamespace": _same_namespace,
        "website.mainPageSuffix": _kept,
        "website.notFoundPage": _kept,
        "retentionPolicy.retentionPeriod": _same_number,
    }
    validators: ClassVar = {
        "labels": _label_keys,
    }

    replaces_if: ClassVar = {"retentionPolicy.isLocked": _unlocked}

    def identify(self, inputs: Properties) -> str:
        return inputs["name"]

    def ids(self, identifier: str, config: Config) -> list[str]:
        return [identifier.rpartition("/")[2]]

    def already_exists(self, identifier: str) -> ApiError:
        return ApiError(
            409,
            "The requested bucket name is not available. The bucket namespace is shared by all "
            f"users of the system. Please select a different name and try again ({identifier})",
            "conflict",
        )

    def refuse(self, cloud: Cloud, inputs: Properties, old: Properties | None) -> list[str]:
        return [
            *_name(inputs["name"]),
            *_location(inputs),
            *_storage_class("storageClass", inputs.get("storageClass")),
            *_namespace(inputs),
            *_soft_delete(inputs),
            *_retention(inputs),
            *_lifecycle(inputs.get("lifecycleRules") or []),
        ]

    def serve(self, cloud: Cloud, inputs: Properties, old: Properties | None) -> Properties:
        name = inputs["name"]
        served: Properties = {
            "publicAccessPrevention": "inherited",
            "uniformBucketLevelAccess": False,
            "softDeletePolicy": {"retentionDurationSeconds": SOFT_DELETE_SECONDS[0]},
            "hierarchicalNamespace": {"enabled": False},
            **inputs,
            "location": inputs["location"].upper(),
            "url": f"gs://{name}",
            "selfLink": f"https://www.googleapis.com/storage/v1/b/{name}",
            "projectNumber": int(project_number(inputs["project"])),
            "timeCreated": "2026-11-29T00:00:00.000Z",
            "updated": "2026-11-29T00:00:00.000Z",
        }
        placement = placement_of_bucket(inputs["location"])
        if placement.kind in ("dual-region", "multi-region"):
            served.setdefault("rpo", "DEFAULT")
        autoclass = served.get("autoclass")
        if autoclass and autoclass.get("enabled"):
            served["autoclass"] = {"terminalStorageClass": "NEARLINE", **autoclass}
        soft_delete = dict(served["softDeletePolicy"])
        soft_delete["effectiveTime"] = "2026-11-29T00:00:00.000Z"
        served["softDeletePolicy"] = soft_delete
        return served

    def before_delete(self, cloud: Cloud, identifier: str, state: Properties) -> None:
        properties = cloud.find(self.token, identifier) or {}
        if properties.get("objects") and not state.get("forceDestroy"):
            raise ApiError(409, f"Error trying to delete bucket {identifier} containing objects "
                           "without `force_destroy` set to true", "conflict")  # fmt: skip

    def read(self, properties: Properties, prior: Properties, config: Config) -> Properties:
        state = super().read(properties, prior, config)
        state.pop("objects", None)
        return state

    def delete(self, cloud: Cloud, identifier: str, state: Properties) -> None:
        super().delete(cloud, identifier, state)
        token = "gcp:storage/bucketIAMMember:BucketIAMMember"
        for member, properties in cloud.all(token):
            if properties["bucket"] == f"b/{identifier}":
                cloud.store.remove(token, member)


def _name(name: str) -> list[str]:
    if re.fullmatch(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]", name) and "goog" not in name[:4]:
        return []
    return [
        f"Invalid bucket name: '{name}'. It has 3 to 63 lower-case letters, digits and hyphens, "
        "and begins and ends with a letter or digit"
    ]


def _location(inputs: Properties) -> list[str]:
    location = inputs["location"]
    placement = placement_of_bucket(location)
    if placement.kind in ("dual-region", "multi-region"):
        return []
    known = placement.kind == "region" and zones_of(region_of(location))
    if known:
        return []
    return [f"The specified location constraint is not valid: location '{location}'"]


def _storage_class(field: str, value: str | None) -> list[str]:
    if value in (None, "", *CLASSES, "DURABLE_REDUCED_AVAILABILITY"):
        return []
    return [f"Invalid argument: {field} '{value}' is none of {', '.join(CLASSES)}, in capitals"]


def _namespace(inputs: Properties) -> list[str]:
    if not (inputs.get("hierarchicalNamespace") or {}).get("enabled"):
        return []
    problems = []
    if not inputs.get("uniformBucketLevelAccess"):
        problems.append(
            "hierarchicalNamespace: a bucket with a hierarchical namespace needs "
            "uniformBucketLevelAccess"
        )
    if (inputs.get("versioning") or {}).get("enabled"):
        problems.append("versioning: object versioning is not supported with hierarchicalNamespace")
    return problems


def _retention(inputs: Properties) -> list[str]:
    period = str((inputs.get("retentionPolicy") or {}).get("retentionPeriod", "1"))
    if period.isdecimal() and 1 <= int(period) <= LONGEST_RETENTION_SECONDS:
        return []
    return [
        f"retentionPolicy.retentionPeriod '{period}' is not within 1 to "
        f"{LONGEST_RETENTION_SECONDS} seconds"
    ]


def _soft_delete(inputs: Properties) -> list[str]:
    policy = inputs.get("softDeletePolicy") or {}
    seconds = policy.get("retentionDurationSeconds", 0)
    low, high = SOFT_DELETE_SECONDS
    if seconds == 0 or low <= seconds <= high:
        return []
    return [
        f"softDeletePolicy.retentionDurationSeconds {seconds} is neither 0 nor within {low} "
        f"to {high}"
    ]


def _lifecycle(rules: list[Properties]) -> list[str]:
    problems = []
    for index, rule in enumerate(rules):
        action = rule.get("action") or {}
        where = f"lifecycle.rule[{index}]"
        kind = action.get("type")
        if kind not in ("Delete", "SetStorageClass", "AbortIncompleteMultipartUpload"):
            problems.append(f"{where}.action.type '{kind}' is not known")
        if kind == "SetStorageClass":
            storage_class = action.get("storageClass")
            if not storage_class:
                problems.append(f"{where}.action: SetStorageClass needs a storageClass")
            problems += _storage_class(f"{where}.action.storageClass", storage_class)
        if not _conditions(rule.get("condition") or {}):
            problems.append(f"{where} has no condition: a rule needs at least one")
    return problems


def _conditions(condition: Properties) -> list[str]:
    """The conditions that reach the server: zeros and empty ones do not, unless age is forced."""
    sent = [name for name, value in condition.items() if value and not name.startswith("send")]
    if condition.get("sendAgeIfZero") and "age" in condition:
        sent.append("age")
    return [name for name in sent if condition.get(name) != "ANY"]


KINDS = (Bucket(),)
