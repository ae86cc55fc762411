"""How long a Spot training stands still after each preemption, by the kind of workload.

`python -m bench.restart_delay --preemptions 10` preempts one pod of each kind again and again on a
real control plane and measures how long its replacement takes to be there. Nodes come at once, so
what is left is the controllers' own delay. Ten preemptions take about an hour, because the Job
controller waits up to 10 minutes.
"""

import argparse
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from lightkube import Client
from lightkube.codecs import from_dict
from lightkube.resources.core_v1 import Pod

from sandbox.cluster import jobset
from sandbox.cluster.autoscaler import Autoscaler
from sandbox.cluster.binaries import ensure
from sandbox.cluster.control_plane import ControlPlane
from sandbox.cluster.eviction import take_away
from sandbox.cluster.offers import Cluster
from sandbox.progress import say
from spotproof_gke.capacity import SPOT_TAINT, Capacity, pool_taints, scheduling
from spotproof_gke.contract import EXIT_INTERRUPTED
from spotproof_gke.workloads.job_sets import job_set
from spotproof_gke.workloads.jobs import Checkpoints, JobLimits
from spotproof_gke.workloads.pod import Program

LONGEST_SECONDS = 1200.0
DAY_SECONDS = 86_400
EVERY_HOURS = (2.3, 6.0)
"""How often a node is taken, for the share of a day that is lost: often, and now and then."""

_NTH = (1, 5, 10)
_POLICY = {
    "rules": [
        {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]},
        {"action": "Ignore", "onExitCodes": {"operator": "In", "values": [EXIT_INTERRUPTED]}},
    ]
}


def kinds() -> dict[str, dict[str, Any]]:
    """A training as each kind of workload, by name."""
    return {
        "job": _thing("batch/v1", "Job", "job", {"podFailurePolicy": _POLICY, "backoffLimit": 0}),
        "indexed-job": _thing(
            "batch/v1",
            "Job",
            "indexed-job",
            {
                "completionMode": "Indexed",
                "completions": 1,
                "parallelism": 1,
                "backoffLimitPerIndex": 1,
                "podFailurePolicy": _POLICY,
            },
        ),
        "deployment": _thing(
            "apps/v1",
            "Deployment",
            "deployment",
            {"strategy": {"type": "Recreate"}, "selector": _selector("deployment")},
            "Always",
        ),
        "statefulset": _thing(
            "apps/v1",
            "StatefulSet",
            "statefulset",
            {"serviceName": "statefulset", "selector": _selector("statefulset")},
            "Always",
        ),
        "jobset": spot_job("jobset"),
    }


def spot_job(name: str) -> dict[str, Any]:
    """A training as `SpotJob` makes it: a JobSet of one Job, made anew after each preemption."""
    program = Program(
        name=name,
        namespace="default",
        image="example.invalid/train",
        gpus=1,
        labels={"app": name},
    )
    where = scheduling(Capacity.SPOT, "nvidia-l4")
    return job_set(program, where, Checkpoints("gs://bucket/run", 15), JobLimits(10 * DAY_SECONDS))


def _thing(
    version: str, kind: str, name: str, spec: dict[str, Any], restart: str = "Never"
) -> dict[str, Any]:
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": name, "namespace": "default"},
        "spec": {**spec, "template": _template(name, restart)},
    }


def _selector(name: str) -> dict[str, Any]:
    return {"matchLabels": {"app": name}}


def _template(name: str, restart: str = "Never") -> dict[str, Any]:
    wanted = scheduling(Capacity.SPOT, "nvidia-l4")
    container = {
        "name": "train",
        "image": "example.invalid/train",
        "resources": {"limits": {"nvidia.com/gpu": "1"}},
    }
    return {
        "metadata": {"labels": {"app": name}},
        "spec": {
            "restartPolicy": restart,
            "nodeSelector": wanted.node_selector,
            "tolerations": list(wanted.tolerations),
            "containers": [container],
        },
    }


def spot_pool(nodes: int) -> dict[str, Any]:
    taints = [taint.provider_taint() for taint in pool_taints(Capacity.SPOT, gpu=True)]
    assert any(taint["key"] == SPOT_TAINT.key for taint in taints)
    return {
        "name": "l4-spot",
        "nodeConfig": {"machineType": "g2-standard-8", "spot": True, "taints": taints},
        "nodeLocations": ["us-central1-a"],
        "autoscaling": {"totalMaxNodeCount": nodes},
    }


def measure(
    client: Client, name: str, preemptions: int, tell: Callable[[str], None]
) -> list[float]:
    """Seconds from each preemption of `name`'s pod until its replacement runs."""
    seen: set[str] = set()
    delays = []
    pod = _running(client, name, seen)
    for number in range(1, preemptions + 1):
        seen.add(str(pod.metadata.uid))
        take_away(client, pod.spec.nodeName, sleep=lambda seconds: None)
        began = time.monotonic()
        pod = _running(client, name, seen)
        delays.append(round(time.monotonic() - began, 1))
        tell(f"{name}: {delays[-1]:.1f} s after preemption {number}")
    return delays


def _running(client: Client, name: str, but_not: set[str]) -> Any:
    deadline = time.monotonic() + LONGEST_SECONDS
    while time.monotonic() < deadline:
        for pod in client.list(Pod, namespace="default", labels={"app": name}):
            about, runs = pod.metadata, pod.status and pod.status.phase == "Running"
            if runs and about and not about.deletionTimestamp and about.uid not in but_not:
                return pod
        time.sleep(0.2)
    raise TimeoutError(f"{name}: no pod within {LONGEST_SECONDS:.0f} s")


def lost_percent(delays: Sequence[float], every_hours: float) -> tuple[float, float]:
    """Percent of a day that a training stands still: on the first day, and on each later one.

    Args:
        delays: Seconds after each preemption; from the last one on they stay the same.
        every_hours: How often its node is taken.
    """
    each_day = 24 / every_hours
    whole = int(each_day)
    known = [*delays[:whole], *[delays[-1]] * (whole - len(delays))]
    first = sum(known) + (each_day - whole) * delays[min(whole, len(delays) - 1)]
    return 100 * first / DAY_SECONDS, 100 * each_day * delays[-1] / DAY_SECONDS


def table(measured: Mapping[str, Sequence[float]]) -> str:
    """The measurement as a table in Markdown."""
    heads = ["kind", *(f"after preemption {nth}" for nth in _NTH)]
    heads += [f"every {hours:g} h: first day, later days" for hours in EVERY_HOURS]
    rows = [heads, ["---"] * len(heads)]
    for name, delays in measured.items():
        seconds = [f"{delays[nth - 1]:.1f} s" if nth <= len(delays) else "" for nth in _NTH]
        lost = [lost_percent(delays, hours) for hours in EVERY_HOURS]
        rows.append([name, *seconds, *(f"{first:.2f} %, {later:.2f} %" for first, later in lost)])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, and prints a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.restart_delay", description=__doc__)
    parser.add_argument("--preemptions", type=int, default=10)
    parser.add_argument("--kinds", nargs="+", choices=list(kinds()), default=list(kinds()))
    options = parser.parse_args(arguments)
    things = {name: thing for name, thing in kinds().items() if name in options.kinds}
    manager = jobset.ensure() if "jobset" in things else None
    with (
        tempfile.TemporaryDirectory(prefix="spotproof-delay-") as folder,
        ControlPlane(Path(folder) / "plane", ensure(), manager) as plane,
    ):
        print(table(_measure_all(plane, things, options.preemptions)))
    return 0


def _measure_all(
    plane: ControlPlane, things: Mapping[str, dict[str, Any]], preemptions: int
) -> dict[str, list[float]]:
    client = plane.client()
    stopped = threading.Event()
    pools = [spot_pool(2 * len(things))]
    autoscaler = Autoscaler(client, Cluster(("us-central1-a",), pools), idle_seconds=60)
    nodes = threading.Thread(target=autoscaler.run, args=(stopped,), daemon=True)
    nodes.start()
    for thing in things.values():
        client.create(from_dict(thing))
    with ThreadPoolExecutor(len(things)) as pool:
        running = {
            name: pool.submit(measure, plane.client(), name, preemptions, say) for name in things
        }
        measured = {name: each.result() for name, each in running.items()}
    stopped.set()
    nodes.join()
    return measured


if __name__ == "__main__":
    sys.exit(main())
