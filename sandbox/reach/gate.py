"""Before a preview or an update applies objects: is the cluster there, and what does it lack?

A preview says nothing of an unreachable cluster or of a kind that the cluster does not know: it is
green, and the update fails after the cloud has been changed.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sandbox.paths import BRIEFLY, ROOT
from sandbox.progress import say
from sandbox.reach.login import token
from sandbox.reach.server import NoAnswerError, Server
from sandbox.recovery.command import Pulumi
from sandbox.recovery.state import UnreadableStateError, exported
from spotproof_gke.versions import parse
from spotproof_gke.workloads.controllers import CONTROLLERS, Controller, in_the_way, missing

ASKED_BEFORE = ("up", "preview", "policy")
"""A refresh and a destroy say themselves that they can't reach a cluster."""

_CLUSTERS = ("spotproof:index:GkeCluster", "spotproof:index:AutopilotCluster")


class NotReadyError(Exception):
    """Objects can't be applied; the text says why, and what to do."""


def gate(pulumi: Pulumi, file: Path) -> None:
    """Let a command on a stack pass whose objects can be applied.

    A stack without a cluster passes with a note: its first update makes one.

    Args:
        pulumi: The stack.
        file: Its stack file, which says `workloads: apply`.

    Raises:
        NotReadyError: The cluster can't be reached, or lacks what the objects need.
    """
    needs = prerequisites(file)
    wanted = [CONTROLLERS[name] for name in needs["controllers"]]
    endpoint = endpoint_of(pulumi)
    if endpoint is None:
        for line in _note(wanted):
            say(line)
        return
    try:
        server = Server(f"https://{endpoint}", token(pulumi.environment))
        lacking = lacks(server, wanted, needs["leastVersion"])
    except NoAnswerError as error:
        raise NotReadyError(
            f"stack {pulumi.stack!r} applies objects to its cluster, which can't be asked: {error}"
            + _way_out(pulumi)
        ) from None
    if lacking:
        lines = "".join(f"\n  - {one}" for one in lacking)
        raise NotReadyError(
            f"the cluster of stack {pulumi.stack!r} ({endpoint}) is not ready for the objects that "
            f"the stack applies:{lines}" + _way_out(pulumi)
        )


def prerequisites(file: Path) -> dict[str, Any]:
    """What the objects of a stack need, by the program's own judgement.

    Raises:
        NotReadyError: The stack file is not right.
    """
    judge = [sys.executable, BRIEFLY, "infra/prerequisites.py", str(file)]
    ended = subprocess.run(judge, cwd=ROOT, capture_output=True, text=True)
    if ended.returncode != 0:
        raise NotReadyError(ended.stderr.strip().removeprefix("error: "))
    return json.loads(ended.stdout)


def endpoint_of(pulumi: Pulumi) -> str | None:
    """Where the last update left the cluster's control plane; None before there is one."""
    try:
        resources = exported(pulumi).get("deployment", {}).get("resources") or ()
    except UnreadableStateError:
        return None  # The engine says itself that there is no such stack.
    for one in resources:
        if one.get("type") in _CLUSTERS:
            return (one.get("outputs") or {}).get("dnsEndpoint") or None
    return None


def lacks(server: Server, wanted: Sequence[Controller], least_version: str) -> list[str]:
    """What a cluster lacks, one text each with what mends it.

    Raises:
        NoAnswerError: It can't be asked.
    """
    server.check_ready()
    found: list[str] = []
    version = server.version()
    if least_version and _older(version, least_version):
        found.append(
            f"its version {version} is too old: what the stack uses needs GKE {least_version}. "
            "Upgrade it: gcloud container clusters upgrade CLUSTER --master "
            f"--cluster-version={least_version}"
        )
    kinds = dict.fromkeys(group for one in wanted for group in one.serves)
    served = server.served(kinds)
    found += map(str, missing(wanted, served))
    if (reason := in_the_way(wanted, served)) is not None:
        found.append(reason)
    return found


def _older(version: str, least: str) -> bool:
    try:
        return parse(version) < parse(least)
    except ValueError:
        return False  # Not a version of GKE: what it serves is judged all the same.


def _note(wanted: Sequence[Controller]) -> list[str]:
    lines = ["note: the stack has no cluster yet, so nothing is known of what it lacks"]
    for one in wanted:
        if not one.version.startswith("GKE"):
            lines.append(
                f"  its objects need {one.what}, or the update ends in an error when the cluster "
                f"is there; then install it and go on: {one.install}"
            )
    return lines


def _way_out(pulumi: Pulumi) -> str:
    return f"\nTo go on without asking the cluster: pulumi up -s {pulumi.stack}"
