"""Plays all scenes on a control plane and a cluster."""

import time
from collections.abc import Callable

from lightkube import Client
from lightkube.core.exceptions import ApiError

from sandbox.cluster.offers import Cluster
from sandbox.drill.report import Outcome, Promise, Report
from sandbox.drill.scenes import ALWAYS, SCENES, always
from sandbox.drill.stage import BrokenPromise, stage
from sandbox.drill.terminal import Board
from sandbox.drill.workloads import Workloads, reference_workloads

TIMEOUT_SECONDS = 180.0
"""How long one thing may take that is to come by itself; the longest is the Job controller's
delay, which is 10 s after a first interruption."""


def play(
    client: Client,
    cluster: Cluster,
    report: Report,
    board: Board,
    timeout_seconds: float = TIMEOUT_SECONDS,
    workloads: Workloads | None = None,
) -> Report:
    """Plays all scenes and puts the outcomes into the report.

    Args:
        client: A client with all rights on a control plane of the drill's own.
        cluster: What the cluster of the emulated cloud has.
        report: Takes the outcomes.
        board: Shows them.
        timeout_seconds: How long one thing may take that is to come by itself.
        workloads: What runs; the reference workloads when None.

    Raises:
        UnfitClusterError: the cluster has not what the workloads need.
    """
    workloads = workloads or reference_workloads(cluster)
    on = stage(client, cluster, workloads, board, timeout_seconds)
    scenes = [scene for scene in SCENES if scene.concerns(on)]
    board.begin([*(scene.promise for scene in scenes), ALWAYS])
    kept: set[str] = set()
    for scene in scenes:
        lacking = [name for name in scene.needs if name not in kept]
        if lacking:
            outcome = Outcome(scene.promise, None, f"needs {', '.join(lacking)}")
        else:
            board.start(scene.promise)
            outcome = _outcome(scene.promise, lambda scene=scene: scene.play(on))
        _add(report, board, outcome)
        if outcome.kept:
            kept.add(scene.promise.name)
    board.start(ALWAYS)
    _add(report, board, _outcome(ALWAYS, lambda: always(on)))
    return report


def _add(report: Report, board: Board, outcome: Outcome) -> None:
    report.outcomes.append(outcome)
    board.end(outcome)


def _outcome(promise: Promise, shown: Callable[[], str]) -> Outcome:
    started = time.monotonic()
    try:
        evidence, kept = shown(), True
    except BrokenPromise as error:
        evidence, kept = str(error), False
    except ApiError as error:
        evidence, kept = f"the API server refused: {error}", False
    return Outcome(promise, kept, evidence, time.monotonic() - started)
