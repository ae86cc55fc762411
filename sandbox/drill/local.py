"""A drill on this machine, from nothing to nothing."""

import contextlib
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from sandbox.cluster import binaries, jobset
from sandbox.cluster.control_plane import ControlPlane, ControlPlaneError, HTTPError
from sandbox.cluster.daemons import Daemons
from sandbox.cluster.offers import Cluster
from sandbox.drill.guard import guard_of
from sandbox.drill.play import play
from sandbox.drill.pools import cluster_of
from sandbox.drill.processes import end_children_in, interruptible, run_to_end
from sandbox.drill.report import Report
from sandbox.drill.terminal import Board
from sandbox.drill.workloads import BATCH, TRAINING, reference_workloads
from sandbox.emulated import EmulatedError, EmulatedStack
from sandbox.engine import ensure
from sandbox.environment import Sandbox
from sandbox.locks import only_run
from sandbox.paths import GENERATED, ROOT
from sandbox.progress import heartbeat, say

FOLDER = GENERATED / "drill"
MARK = "this-is-a-drill"
_LAST_LINES = 15


class FolderError(Exception):
    """The drill's folder holds what is not the drill's; the text says what to do."""


def drill(
    stack: str, board: Board, timeout_seconds: float, folder: Path = FOLDER, keep: bool = False
) -> Report:
    """Brings a stack up on the emulated cloud, and plays all scenes on a control plane.

    Args:
        stack: Short name of the stack.
        board: Shows how it goes.
        timeout_seconds: How long one thing may take that is to come by itself.
        folder: Holds all of it meanwhile; removed in the end.
        keep: Whether the folder, with all logs, stays.

    Raises:
        BinariesError, ControlPlaneError: there is no control plane.
        BusyError: another drill runs in the folder.
        EmulatedError: the stack cannot be brought up.
        EngineError: there is no engine.
        FolderError: the folder is somebody else's.
        UnfitClusterError: the stack has not what a drill needs.
    """
    folder = folder.resolve()
    with interruptible(), only_run(folder, "another drill"), own(folder, keep):
        engine, programs, manager = ensure(), binaries.ensure(), jobset.ensure()
        started = time.monotonic()
        emulated = EmulatedStack(Sandbox(folder / "sandbox"), stack, engine, ROOT)
        name, cluster = bring_up(emulated)
        workloads = reference_workloads(cluster, guard_of(emulated, (TRAINING, BATCH)))
        report = Report(f"drill of stack {stack}: cluster {name}, {len(cluster.pools)} node pools")
        with ControlPlane(folder / "plane", programs, manager) as plane:
            say("  control plane: started")
            with _answering(folder):
                play(plane.client(), cluster, report, board, timeout_seconds, workloads)
            board.close()
        report.facts["engine"] = engine.describe().removeprefix("engine: ")
        report.facts["control plane"] = programs.origin
        report.facts["whole drill"] = f"{time.monotonic() - started:.0f} s"
        if keep:
            report.facts["kept"] = str(folder)
        return report


def bring_up(emulated: EmulatedStack) -> tuple[str, Cluster]:
    """Name and pools of the cluster that a stack makes on a new emulated cloud.

    Raises:
        EmulatedError: it cannot be brought up.
        UnfitClusterError: it has no cluster that can be simulated.
    """
    emulated.prepare()
    command = [str(emulated.engine.pulumi), *emulated.command("up", "--skip-preview")[1:]]
    environment = emulated.sandbox.environment(emulated.engine)
    with heartbeat(f"stack {emulated.stack} on the emulated cloud"):
        code, output = run_to_end(command, emulated.sandbox.project, environment)
    if code != 0:
        last = "\n".join(output.rstrip().splitlines()[-_LAST_LINES:])
        raise EmulatedError(
            f"stack {emulated.stack} cannot be brought up on the emulated cloud; see "
            f"`python -m sandbox rehearse --stack {emulated.stack}`:\n{last}"
        )
    return cluster_of(emulated.in_cloud())


@contextlib.contextmanager
def _answering(folder: Path) -> Iterator[None]:
    try:
        yield
    except (HTTPError, OSError) as error:
        raise ControlPlaneError(
            f"the control plane answers no more ({error}); run the drill again with --keep, and "
            f"see the logs in {folder / 'plane'}"
        ) from error


@contextlib.contextmanager
def own(folder: Path, keep: bool) -> Iterator[None]:
    """A folder for the drill alone; what an earlier one left there, processes too, goes first."""
    mark = folder / MARK
    if folder.exists() and not mark.exists() and any(folder.iterdir()):
        raise FolderError(
            f"{folder} is not empty and no drill's: name a new folder, or an empty one"
        )
    _clear(folder)
    folder.mkdir(parents=True)
    mark.touch()
    try:
        yield
    finally:
        Daemons(folder / "plane").stop()
        end_children_in(folder)
        if not keep:
            _clear(folder)


def _clear(folder: Path) -> None:
    Daemons(folder / "plane").stop()
    shutil.rmtree(folder, ignore_errors=True)
