"""What counts as a place for checkpoints, and which buckets workloads name as one."""

from typing import Any

import pytest

from spotproof_gke.rules.checkpoint_uses import (
    checkpoint_buckets_in,
    is_named_for_checkpoints,
    is_open,
    names_a_place,
)
from spotproof_gke.rules.reading import UNKNOWN


def _env(name: Any, value: Any) -> dict[str, Any]:
    return {"env": [{"name": name, "value": value}]}


def _named(container: Any = None, volumes: Any = ()) -> bool | None:
    return names_a_place({"containers": [container or {}], "volumes": volumes})


@pytest.mark.parametrize(
    "container",
    [
        {"args": ["--out=gs://runs/a"]},
        {"args": ["--out", "s3://runs/a"]},
        {"command": ["python", "-c", "save('gs://runs')"]},
        {"command": ["bash", "-c", "gsutil rsync /a $B && exec python x.py"]},
        {"command": ["bash", "-c", "gcloud storage cp a b; exec python x.py"]},
        {"args": ["--checkpoint-bucket=runs"]},
        {"args": ["--bucket", "runs"]},
        _env("SPOTPROOF_CHECKPOINT_LOCATION", "gs://runs/a"),
        _env("BUCKET", "runs"),
        _env("CKPT_URL", UNKNOWN),
        _env("BUCKET_NAME", UNKNOWN),
        {"env": [{"name": "CHECKPOINT_BUCKET", "valueFrom": {"secretKeyRef": {}}}]},
        {"envFrom": [{"secretRef": {"name": "a"}}]},
    ],
    ids=str,
)
def test_word_that_names_a_store_is_a_place(container: Any) -> None:
    assert _named(container) is True


@pytest.mark.parametrize(
    "volume",
    [
        {"persistentVolumeClaim": {"claimName": "a"}},
        {"nfs": {"server": "a"}},
        {"csi": {"driver": "gcsfuse.csi.storage.gke.io"}},
        {"csi": {"driver": "pd.csi.storage.gke.io"}},
    ],
    ids=str,
)
def test_volume_that_outlives_the_pod_is_a_place(volume: Any) -> None:
    assert _named(volumes=[{"emptyDir": {}}, volume]) is True


@pytest.mark.parametrize(
    "container",
    [
        {},
        {"args": ["--checkpoint-dir=/ckpt"]},
        {"args": ["--checkpoint-dir", "./ckpt"]},
        {"args": ["--save-checkpoints-every", "100"]},
        {"args": ["--resume-from-checkpoint=true", "--checkpoint=latest"]},
        {"args": ["--checkpoint", "--bucket-size"]},
        {"args": ["https://example.com/x"]},
        _env("CHECKPOINT_DIR", "/mnt/ckpt"),
        _env("CHECKPOINT_EVERY", "50"),
        _env("BUCKET", ""),
        {"env": [{"name": "CHECKPOINT_BUCKET"}]},
        {"env": [{"name": "CHECKPOINT_DIR", "value": "/a", "valueFrom": {"secretKeyRef": {}}}]},
        _env("NAME", "runs"),
        {"env": [{"name": "TOKEN", "valueFrom": {"secretKeyRef": {}}}]},
    ],
    ids=str,
)
def test_path_number_or_switch_is_no_place(container: Any) -> None:
    assert _named(container, [{"emptyDir": {}}, {"secret": {}}, {"hostPath": {}}]) is False


@pytest.mark.parametrize(
    "spec",
    [
        UNKNOWN,
        {"containers": UNKNOWN},
        {"containers": [UNKNOWN]},
        {"containers": [{"args": UNKNOWN}]},
        {"containers": [{"args": [UNKNOWN]}]},
        {"containers": [{"env": UNKNOWN}]},
        {"containers": [{"env": [UNKNOWN]}]},
        {"containers": [_env(UNKNOWN, "runs")]},
        {"containers": [_env("OUTPUT", UNKNOWN)]},
        {"containers": [{"args": ["--out", UNKNOWN]}]},
        {"containers": [{}], "volumes": UNKNOWN},
        {"containers": [{}], "volumes": [UNKNOWN]},
        {"containers": [{}], "volumes": [{"csi": UNKNOWN}]},
        {"containers": [{}], "volumes": [{"csi": {"driver": UNKNOWN}}]},
    ],
    ids=str,
)
def test_what_is_not_known_may_be_a_place(spec: Any) -> None:
    assert names_a_place(spec) is None


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (UNKNOWN, True),
        ({"containers": UNKNOWN}, True),
        ({"containers": [UNKNOWN]}, True),
        ({"volumes": UNKNOWN}, True),
        ({"volumes": [UNKNOWN]}, True),
        ({"volumes": [{"name": UNKNOWN}]}, True),
        ({"volumes": [{"name": "a", "csi": UNKNOWN}]}, True),
        ({"volumes": [{"name": "a", "csi": {"driver": UNKNOWN}}]}, True),
        ({"containers": [{"command": UNKNOWN}]}, True),
        ({"containers": [{"args": UNKNOWN}]}, True),
        ({"containers": [{"env": UNKNOWN}]}, True),
        ({"containers": [{"env": [UNKNOWN]}]}, True),
        ({"containers": [{"env": [{"name": UNKNOWN}]}]}, True),
        ({"containers": [{"volumeMounts": UNKNOWN}]}, True),
        ({"containers": [{"volumeMounts": [UNKNOWN]}]}, True),
        ({"containers": [{"volumeMounts": [{"name": UNKNOWN}]}]}, True),
        ({"containers": [{"volumeMounts": [{"mountPath": UNKNOWN}]}]}, True),
        ({"containers": [{}, {"args": UNKNOWN}]}, True),
        ({"containers": [{"args": [UNKNOWN]}]}, False),
        ({"containers": [{"command": [UNKNOWN]}]}, False),
        ({"containers": [{"env": [{"name": "A", "value": UNKNOWN}]}]}, False),
        ({"containers": [{"image": UNKNOWN}]}, False),
        ({"containers": [{}], "volumes": [{"name": "a", "emptyDir": {}}]}, False),
        ({}, False),
        (None, False),
    ],
    ids=str,
)
def test_only_a_part_that_could_name_anything_leaves_a_pod_open(spec: Any, expected: bool) -> None:
    assert is_open(spec) is expected


@pytest.mark.parametrize(
    ("container", "expected"),
    [
        ({"args": ["--checkpoint_dir=gs://runs/a"]}, ["runs"]),
        ({"args": ["--save-dir", "gs://Runs-1/a"]}, ["Runs-1"]),
        ({"args": ["--output-dir", "gs://results/a"]}, []),
        ({"args": ["--ckpt", "gs://runs", "--data", "gs://data/x"]}, ["runs"]),
        ({"args": ["--data=gs://data/x"]}, []),
        ({"args": ["gs://data/x"]}, []),
        (_env("SPOTPROOF_CHECKPOINT_LOCATION", "gs://runs/a"), ["runs"]),
        (_env("MODEL_DIR", "gs://models/a"), []),
        (_env("DATA", "gs://data/a"), []),
        (_env("SAVE_URI", UNKNOWN), [UNKNOWN]),
        (_env("DATA", UNKNOWN), []),
        ({"args": [UNKNOWN]}, [UNKNOWN]),
        ({"args": UNKNOWN}, [UNKNOWN]),
        ({"command": UNKNOWN}, [UNKNOWN]),
        ({"env": UNKNOWN}, [UNKNOWN]),
        ({"env": [UNKNOWN]}, [UNKNOWN]),
        ({"args": ["--ckpt", "--data", "gs://data/x"]}, []),
        ({"args": ["--ckpt=gs://runs", "gs://data/x"]}, ["runs"]),
        ({"args": ["--ckpt", "gs://runs", "gs://data/x"]}, ["runs"]),
        ({"args": ["--ckpt", "a=b", "gs://data/x"]}, []),
        ({"args": ["ckpt", "gs://data/x"]}, []),
        ({"args": ["save ckpt=x to gs://data/x"]}, []),
        ({"args": ["save\nckpt=gs://data/x"]}, []),
        ({"args": ["--data", UNKNOWN]}, []),
        ({"args": ["--data", UNKNOWN, "--ckpt", UNKNOWN]}, [UNKNOWN]),
    ],
    ids=str,
)
def test_bucket_is_named_as_the_place_by_the_word_before_it(container: Any, expected: Any) -> None:
    assert list(checkpoint_buckets_in({"containers": [container]})) == expected


@pytest.mark.parametrize(
    ("name", "path", "expected"),
    [("ckpt", "/a", ["runs"]), ("a", "/mnt/checkpoints", ["runs"]), ("a", "/data", [])],
)
def test_mounted_bucket_is_the_place_by_its_name_or_path(name, path, expected) -> None:
    source = {
        "driver": "gcsfuse.csi.storage.gke.io",
        "volumeAttributes": {"bucketName": "runs"},
    }
    spec = {
        "containers": [{"volumeMounts": [{"name": name, "mountPath": path}]}],
        "volumes": [{"name": name, "csi": source}],
    }

    assert list(checkpoint_buckets_in(spec)) == expected

    spec["volumes"][0]["csi"]["volumeAttributes"]["bucketName"] = UNKNOWN
    assert list(checkpoint_buckets_in(spec)) == [UNKNOWN] * len(expected)

    spec["volumes"][0]["csi"]["driver"] = "pd.csi.storage.gke.io"
    assert list(checkpoint_buckets_in(spec)) == []


def test_name_speaks_of_checkpoints_in_any_case() -> None:
    assert is_named_for_checkpoints("acme-CKPT")
    assert is_named_for_checkpoints("Checkpoints")
    assert not is_named_for_checkpoints("check-points")
    assert not is_named_for_checkpoints(None)
