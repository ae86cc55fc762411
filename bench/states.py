"""The policy packs on states of many resources, as `make policy-state` judges them."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from bench.report import Row
from bench.setting import Run, Setting, seconds
from bench.timing import Sample, ratio, timed
from sandbox.environment import Sandbox
from sandbox.judging import pack_flags
from sandbox.paths import ALL_POLICY_PACKS, policy_pack

REGION = "us-central1"
SPOT = "cloud.google.com/gke-spot"
MOST_SECONDS = 10.0
MOST_GROWTH = 1.2
_EMPTY, _EMPTIES, _OURS = "one empty pack", "three empty packs", "our three packs"


def write_state(file: Path, number: int) -> Path:
    """Writes the state of a program of so many resources, which breaks no policy."""
    made = _resources()
    resources = [next(made) for _ in range(number)]
    manifest = {"time": "2026-11-30T00:00:00Z", "magic": "", "version": "v3.274.1"}
    deployment = {"manifest": manifest, "resources": resources}
    file.write_text(json.dumps({"version": 3, "deployment": deployment}))
    return file


def _resources() -> Iterator[dict[str, Any]]:
    """Endless resources: a cluster for each 50 groups, and in a group one of each other type."""
    for group in range(10**6):
        cluster = f"c{group // 50}"
        where = {"cluster": cluster, "location": REGION}
        if group % 50 == 0:
            yield _of(
                "gcp:container/cluster:Cluster",
                cluster,
                {"name": cluster, "location": REGION, "removeDefaultNodePool": True},
            )
            machine = {"machineType": "e2-standard-4"}
            yield _of(
                "gcp:container/nodePool:NodePool",
                f"{cluster}-system",
                {**where, "nodeCount": 2, "nodeConfig": machine},
            )
        yield _of("gcp:container/nodePool:NodePool", f"pool{group}", {**where, **_spot_pool()})
        bucket = f"acme-checkpoints-{group}"
        labels = {"spotproof-cluster": cluster, "spotproof-cluster-location": REGION}
        rules = [{"action": {"type": "Delete"}, "condition": {"age": 30}}]
        yield _of(
            "gcp:storage/bucket:Bucket",
            f"bucket{group}",
            {
                "name": bucket,
                "location": REGION.upper(),
                "labels": labels,
                "lifecycleRules": rules,
                "softDeletePolicy": {"retentionDurationSeconds": 0},
            },
        )
        role = {"role": "roles/storage.objectUser", "member": "serviceAccount:x@y.example"}
        yield _of(
            "gcp:storage/bucketIAMMember:BucketIAMMember",
            f"writer{group}",
            {"bucket": bucket, **role},
        )
        yield _of("kubernetes:batch/v1:Job", f"job{group}", _job(f"job{group}", bucket))
        settings = {f"key{number}": "value " * 10 for number in range(10)}
        yield _of(
            "kubernetes:core/v1:ConfigMap",
            f"settings{group}",
            {"metadata": {"name": f"settings{group}", "namespace": "training"}, "data": settings},
        )
        yield _of(
            "gcp:serviceaccount/account:Account",
            f"account{group}",
            {"accountId": f"trainer-{group}", "displayName": "Trainer"},
        )


def _spot_pool() -> dict[str, Any]:
    return {
        "nodeLocations": [f"{REGION}-a", f"{REGION}-b"],
        "autoscaling": {"totalMinNodeCount": 0, "totalMaxNodeCount": 8, "locationPolicy": "ANY"},
        "management": {"autoRepair": True, "autoUpgrade": True},
        "nodeConfig": {
            "machineType": "g2-standard-8",
            "spot": True,
            "diskSizeGb": 200,
            "oauthScopes": ["https://www.googleapis.com/auth/cloud-platform"],
            "guestAccelerators": [{"type": "nvidia-l4", "count": 1}],
            "taints": [{"key": SPOT, "value": "true", "effect": "NO_SCHEDULE"}],
        },
    }


def _job(name: str, bucket: str) -> dict[str, Any]:
    container = {
        "name": "train",
        "image": "registry.example/train:1",
        "args": ["--checkpoints", f"gs://{bucket}/{name}"],
        "resources": {"limits": {"nvidia.com/gpu": "1", "memory": "16Gi"}},
    }
    lost = {"type": "DisruptionTarget", "status": "True"}
    toleration = {"key": SPOT, "operator": "Equal", "value": "true", "effect": "NoSchedule"}
    pod = {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 15,
        "nodeSelector": {SPOT: "true"},
        "tolerations": [toleration],
        "containers": [container],
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "training"},
        "spec": {
            "backoffLimit": 3,
            "activeDeadlineSeconds": 86_400,
            "podFailurePolicy": {"rules": [{"action": "Ignore", "onPodConditions": [lost]}]},
            "template": {"spec": pod},
        },
    }


def _of(type_: str, name: str, inputs: dict[str, Any]) -> dict[str, Any]:
    return {
        "urn": f"urn:pulumi:prod::acme::{type_}::{name}",
        "custom": True,
        "id": name,
        "type": type_,
        "inputs": inputs,
        "outputs": inputs,
        "propertyDependencies": {key: None for key in inputs},
    }


def judging(setting: Setting, state: Path, packs: Sequence[Path]) -> Run:
    """A run of packs on a state file, in a sandbox of the case's own."""
    sandbox = Sandbox(setting.folder / "sandbox")
    sandbox.prepare(setting.engine)
    flags = pack_flags([str(one) for one in packs])
    command = [setting.engine.pulumi, "--non-interactive", "--color", "never"]
    command += ["policy", "analyze", "--file", state, *flags]
    environment = sandbox.environment(setting.engine)
    return lambda: timed(command, setting.folder, environment, setting.folder / "output.txt")


def state(setting: Setting, idle_pack: Callable[[Path], Path]) -> list[Row]:
    """The packs on states of 500 and of 5,000 resources, against packs that judge nothing."""
    sizes = setting.sizes
    numbers = (sizes.start, sizes.few_in_state, sizes.many_in_state)
    states = {one: write_state(setting.folder / f"{one}.json", one) for one in numbers}
    idle = [idle_pack(setting.folder / "idle" / name) for name in ("one", "two", "three")]
    ours = [policy_pack(one) for one in ALL_POLICY_PACKS]
    sides = {f"{_OURS}, {one}": judging(setting, states[one], ours) for one in numbers}
    many = sizes.many_in_state
    sides[f"{_EMPTY}, {many}"] = judging(setting, states[many], idle[:1])
    sides[f"{_EMPTIES}, {many}"] = judging(setting, states[many], idle)
    for name, pack in zip(ALL_POLICY_PACKS, ours, strict=True):
        sides[f"{name}, {many}"] = judging(setting, states[many], [pack])
    samples = setting.interleaved(sides)

    def more(which: str, than: str, goal: float | None = None) -> Row:
        return _more(
            many, (which, samples[f"{which}, {many}"]), (than, samples[f"{than}, {many}"]), goal
        )

    return [
        *(more(name, _EMPTY, MOST_SECONDS) for name in ALL_POLICY_PACKS),
        more(_OURS, _EMPTIES, MOST_SECONDS),
        more(_OURS, _EMPTY),
        _growth(samples, numbers),
    ]


def _more(
    many: int, which: tuple[str, list[Sample]], than: tuple[str, list[Sample]], goal: float | None
) -> Row:
    sides = dict((which, than))
    pairs = zip(*sides.values(), strict=True)
    shown = " / ".join(f"{median(one.wall for one in side):.2f}" for side in sides.values())
    return Row(
        f"state of {many}: {which[0]} over {than[0]}",
        len(which[1]),
        goal=goal,
        seconds=median(a.wall - b.wall for a, b in pairs),
        detail=shown,
        data={name: seconds(side) for name, side in sides.items()},
    )


def _growth(samples: dict[str, list[Sample]], numbers: Sequence[int]) -> Row:
    """Time for each resource of many over that of few, what the start costs taken off both."""
    start, few, many = numbers
    sides = [samples[f"{_OURS}, {one}"] for one in numbers]
    row = Row(
        f"state: time for each resource with {_OURS}, {many} over {few}",
        len(sides[0]),
        goal=MOST_GROWTH,
        detail="; ".join(f"{median(one.wall for one in side):.2f}" for side in sides),
        data={f"{one}": seconds(side) for one, side in zip(numbers, sides, strict=True)},
    )

    def pairs(kind: str) -> list[tuple[float, float]]:
        rounds = [[getattr(one, kind) for one in each] for each in zip(*sides, strict=True)]
        return [((m - s) / (many - start), (f - s) / (few - start)) for s, f, m in rounds]

    # A round in which few took no longer than the start has no ratio.
    wall, cpu = ([pair for pair in pairs(kind) if pair[1] > 0] for kind in ("wall", "cpu"))
    if not wall or not cpu:
        return replace(row, value="lost in the noise")
    return replace(row, samples=len(wall), wall=ratio(wall), cpu=ratio(cpu))
