"""Where workloads say that their checkpoints go.

A place is named by the contract's variable, by a `gs://` address (or that of another object store)
behind a word that speaks of checkpoints, or by a mounted volume that outlives the pod.
"""

import re
from collections.abc import Iterator
from typing import Any

from spotproof_gke.contract import CHECKPOINT_LOCATION_VARIABLE
from spotproof_gke.rules.bucket_references import FUSE_DRIVER
from spotproof_gke.rules.reading import UNKNOWN, dig, items, mapping, number, text
from spotproof_gke.rules.workloads import containers

_GS_ADDRESS = re.compile(r"gs://([a-z0-9][a-z0-9._-]*[a-z0-9])", re.IGNORECASE)
_STORE_ADDRESS = re.compile(r"\b(?:gs|s3|gcs|hdfs|r2|oss|abfss?|az)://\S", re.IGNORECASE)
_STORE_TOOL = re.compile(r"\b(?:gsutil|gcsfuse|gcloud\s+storage)\b")
_SPEAKS_OF_STORE = re.compile(r"bucket|checkpoint|ckpt", re.IGNORECASE)
_IS_STORE = re.compile(r"bucket|(?:checkpoint|ckpt).*(?:ur[il]|location)$", re.IGNORECASE)
_SPEAKS_OF_CHECKPOINTS = re.compile(
    r"checkpoint|ckpt|(?<![a-z])(?:save|resume)[-_]?(?:dir|path|uri|url|location)",
    re.IGNORECASE,
)
_NAMED_FOR_CHECKPOINTS = re.compile(r"checkpoint|ckpt", re.IGNORECASE)
_NO_PLACE = re.compile(
    r"[/.~-]|(?:true|false|yes|no|on|off|none|latest|last|best|auto)$", re.IGNORECASE
)
_LASTING_VOLUMES = (
    "persistentVolumeClaim",
    "nfs",
    "gcePersistentDisk",
    "glusterfs",
    "cephfs",
    "rbd",
    "flexVolume",
    "iscsi",
)
_PASSING_DRIVERS = ("secrets-store", "secret", "csi.cert-manager", "spiffe", "workload-identity")


def is_named_for_checkpoints(name: object) -> bool:
    """Whether a name says that the thing holds checkpoints."""
    return bool(_NAMED_FOR_CHECKPOINTS.search(text(name)))


def names_a_place(spec: object) -> bool | None:
    """Whether a pod names any place that outlives it; None when that is not known.

    What a ConfigMap or Secret as a whole puts into the environment is not seen, and taken for one.
    """
    if any(_lasts(volume) for volume in items(mapping(spec).get("volumes"))):
        return True
    doubt = is_open(spec)
    for container in containers(spec):
        if container.get("envFrom"):
            return True
        for said, value in _said(container):
            if value is UNKNOWN:
                doubt = True
            if value is UNKNOWN and _IS_STORE.search(said):
                return True
            if _SPEAKS_OF_STORE.search(said) and _may_be_place(text(value)):
                return True
            if _STORE_ADDRESS.search(text(value)) or _STORE_TOOL.search(text(value)):
                return True
    return None if doubt else False


def _may_be_place(value: str) -> bool:
    """Whether a value can name a bucket; a path alone is on the node, and goes with it."""
    return bool(value) and number(value) is None and not _NO_PLACE.match(value)


def is_open(spec: object) -> bool:
    """Whether a part of a pod is not known that could name anything, single words aside."""
    parts = mapping(spec)
    seen = [spec, parts.get("containers"), parts.get("volumes")]
    seen += [*items(parts.get("containers")), *items(parts.get("volumes"))]
    for container in containers(spec):
        for key in ("env", "volumeMounts"):
            seen += items(container.get(key))
        seen += [container.get(key) for key in ("command", "args", "env", "volumeMounts")]
        seen += [mapping(variable).get("name") for variable in items(container.get("env"))]
        for mount in items(container.get("volumeMounts")):
            seen += [mapping(mount).get("name"), mapping(mount).get("mountPath")]
    for volume in items(parts.get("volumes")):
        source = mapping(volume).get("csi")
        seen += [mapping(volume).get("name"), source, dig(source, "driver")]
    return any(part is UNKNOWN for part in seen)


def _lasts(volume: object) -> bool:
    """Whether a volume certainly outlives the pod."""
    parts = mapping(volume)
    if any(parts.get(key) for key in _LASTING_VOLUMES):
        return True
    driver = text(dig(parts.get("csi"), "driver"))
    return bool(driver) and not any(part in driver for part in _PASSING_DRIVERS)


def _said(container: Any) -> Iterator[tuple[str, Any]]:
    """Arguments and variables: the name of the variable or option, and the value."""
    for key in ("command", "args"):
        listed = mapping(container).get(key)
        option = ""
        for word in [UNKNOWN] if listed is UNKNOWN else items(listed):
            name, joined, rest = text(word).partition("=")
            if joined and not any(blank in name for blank in " \n"):
                yield name, rest
                option = ""
            else:
                yield option, word
                option = name if name.startswith("-") else ""
    variables = mapping(container).get("env")
    for variable in [UNKNOWN] if variables is UNKNOWN else items(variables):
        parts = mapping(variable)
        value = UNKNOWN if variable is UNKNOWN else parts.get("value")
        if value is None and parts.get("valueFrom"):
            value = "(elsewhere)"
        yield text(parts.get("name")), value


def checkpoint_buckets_in(spec: object) -> Iterator[Any]:
    """Names of the buckets that a pod specification names as the place of checkpoints.

    `UNKNOWN` for one that stands in a value which is not known.
    """
    mounted: dict[str, list[str]] = {}
    for container in containers(spec):
        for said, value in _said(container):
            if said == CHECKPOINT_LOCATION_VARIABLE or _SPEAKS_OF_CHECKPOINTS.search(said):
                yield from [UNKNOWN] if value is UNKNOWN else _GS_ADDRESS.findall(text(value))
            elif value is UNKNOWN and not said:
                yield UNKNOWN
        for mount in items(mapping(container).get("volumeMounts")):
            parts = mapping(mount)
            mounted.setdefault(text(parts.get("name")), []).append(text(parts.get("mountPath")))
    for volume in items(mapping(spec).get("volumes")):
        name, source = text(mapping(volume).get("name")), mapping(volume).get("csi")
        if text(dig(source, "driver")) == FUSE_DRIVER:
            words = [name, *mounted.get(name, ())]
            if any(is_named_for_checkpoints(word) for word in words):
                bucket = dig(source, "volumeAttributes", "bucketName")
                yield UNKNOWN if bucket is UNKNOWN else text(bucket)
