"""Which buckets hold checkpoints, and how certain that is."""

from typing import Any

import pytest

from spotproof_gke.rules.checkpoint_buckets import checkpoint_buckets, lifecycle, soft_delete
from spotproof_gke.rules.finding import Resource, Stack
from spotproof_gke.rules.reading import UNKNOWN

CLUSTER = Resource("gcp:container/cluster:Cluster", "train", "urn:train", {"name": "train"})
ROLE = "spotproof-role"


def _bucket(name: str, cloud_name: Any = None, **props: Any) -> Resource:
    given = {"name": name if cloud_name is None else cloud_name, **props}
    stated = {key: ("urn:elsewhere",) for key in given}
    return Resource("gcp:storage/bucket:Bucket", name, f"urn:{name}", given, stated)


def _job(args: Any, depends: tuple[str, ...] = ("urn:elsewhere",), key: str = "spec") -> Resource:
    spec = {"template": {"spec": {"containers": [{"name": "a", "args": args}]}}}
    return Resource("kubernetes:batch/v1:Job", "job", "urn:job", {"spec": spec}, {key: depends})


def _held(*resources: Resource) -> dict[str, bool]:
    return {bucket.name: certain for bucket, certain in checkpoint_buckets(Stack(resources))}


@pytest.mark.parametrize(
    ("bucket", "expected"),
    [
        (_bucket("a", labels={ROLE: "checkpoints"}), {"a": True}),
        (_bucket("ckpt", labels={ROLE: "logs"}), {}),
        (_bucket("a", labels={"spotproof-cluster": "train"}), {"a": True}),
        (_bucket("a", labels={"spotproof-cluster-location": "us-east4"}), {"a": True}),
        (_bucket("a", labels={"use": "checkpoints"}), {"a": True}),
        (_bucket("a", "acme-ckpt"), {"a": True}),
        (_bucket("checkpoints", "acme-runs"), {"checkpoints": True}),
        (_bucket("a", labels=UNKNOWN), {"a": False}),
        (_bucket("a", labels={ROLE: UNKNOWN}), {"a": False}),
        (_bucket("ckpt", labels={ROLE: UNKNOWN}), {"ckpt": False}),
        (_bucket("a", UNKNOWN), {}),
        (_bucket("a"), {}),
    ],
    ids=lambda each: None if isinstance(each, Resource) else str(each),
)
def test_bucket_of_a_stack_with_a_cluster_is_judged_by_labels_and_names(bucket, expected) -> None:
    assert _held(bucket, CLUSTER) == expected


def test_without_clusters_and_workloads_a_label_alone_counts() -> None:
    named, unknown = _bucket("ckpt"), _bucket("a", labels=UNKNOWN)
    labelled = _bucket("b", labels={ROLE: "checkpoints"})

    assert _held(named, unknown, labelled) == {"b": True}
    assert _held(named, _job([])) == {"ckpt": True}
    assert _held(CLUSTER) == {}


def test_bucket_that_a_workload_names_for_checkpoints_is_one() -> None:
    job = _job(["--checkpoint-dir=gs://runs/a", "--data=gs://data/a"])

    assert _held(_bucket("r", "runs"), _bucket("d", "data"), job) == {"r": True}


def test_bucket_without_a_known_name_may_be_the_one_that_is_named() -> None:
    job = _job(["--checkpoint-dir=gs://runs/a"])
    late = _bucket("late", UNKNOWN)

    assert _held(late, _bucket("d", "data"), job) == {"late": False}
    assert _held(late, _bucket("r", "runs"), job) == {"r": True}


def test_unknown_place_may_be_what_the_workload_depends_on_else_any() -> None:
    buckets = _bucket("r"), _bucket("d")
    args = ["--checkpoint-dir", UNKNOWN]

    assert _held(*buckets, _job(args, ("urn:r", "urn:x"))) == {"r": False}
    assert _held(*buckets, _job(args)) == {"r": False, "d": False}
    assert _held(*buckets, _job(["--data", UNKNOWN])) == {}
    assert _held(*buckets, _job(UNKNOWN)) == {"r": False, "d": False}


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        (None, "no lifecycle rule deletes anything"),
        ([], "no lifecycle rule deletes anything"),
        ([{"action": {"type": "SetStorageClass"}}], "no lifecycle rule deletes anything"),
        (UNKNOWN, "its lifecycle rules"),
        ([{"action": {"type": UNKNOWN}}], "its lifecycle rules"),
        ([{"action": {"type": "Delete"}}, UNKNOWN], None),
        ([{"action": {"type": "AbortIncompleteMultipartUpload"}}], None),
    ],
    ids=str,
)
def test_lifecycle_is_judged_by_what_its_actions_end(rules: Any, words: str | None) -> None:
    bucket = _bucket("a", labels={ROLE: "checkpoints"}, lifecycleRules=rules)

    found = list(lifecycle(Stack([bucket])))
    assert [each.value for each in found] == ([words] if words else [])
    assert all(each.certain == (words == "no lifecycle rule deletes anything") for each in found)


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (None, "for 7 days"),
        ({}, "for 7 days"),
        ({"retentionDurationSeconds": 604800.0}, "is 604800"),
        ({"retentionDurationSeconds": UNKNOWN}, "(unknown)"),
        (UNKNOWN, "(unknown)"),
        ({"retentionDurationSeconds": 0}, None),
        ({"retentionDurationSeconds": "0"}, None),
    ],
    ids=str,
)
def test_soft_delete_is_judged_by_how_long_it_keeps(policy: Any, words: str | None) -> None:
    bucket = _bucket("a", labels={ROLE: "checkpoints"}, softDeletePolicy=policy)

    found = list(soft_delete(Stack([bucket])))
    assert len(found) == bool(words)
    for each in found:
        assert words
        assert words in each.value
        assert each.certain == ("unknown" not in words)
