"""The command line of `spotproof audit`."""

import sys
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from spotproof_gke.audit import report
from spotproof_gke.audit.catalogue import Severity
from spotproof_gke.audit.evidence import InputError
from spotproof_gke.audit.judge import judge
from spotproof_gke.audit.kubectl import DEFAULT_TIMEOUT_SECONDS, Access
from spotproof_gke.audit.reading import NEVER, exit_code, gather, read_config
from spotproof_gke.commands.terminal import CommandError, Json


class FailOn(str, Enum):
    """Severities, and `never`."""

    CRITICAL = Severity.CRITICAL.value
    HIGH = Severity.HIGH.value
    MEDIUM = Severity.MEDIUM.value
    LOW = Severity.LOW.value
    NEVER = NEVER


class Format(str, Enum):
    """How the report is written."""

    TEXT = "text"
    JSON = "json"


EPILOG = "\n\n".join(
    (
        "examples:",
        "spotproof audit  # the cluster of the current context",
        "kubectl get nodes,pods,jobs.batch,namespaces -A -o json | spotproof audit -",
        "pulumi stack export | spotproof audit -",
        "spotproof audit --context prod state.json  # both, judged together",
        "exit codes: 0 nothing at or above --fail-on, 1 something, "
        "2 wrong usage or unreadable input",
    )
)


def audit(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE]...",
            help="Output of `kubectl get -o json` or of `pulumi stack export`; - is standard "
            "input. Without files the cluster is read. All dumps are taken as one cluster.",
        ),
    ] = None,
    live: Annotated[
        bool, typer.Option("--live", help="Read the cluster beside the files too.")
    ] = False,
    context: Annotated[str, typer.Option(metavar="NAME", help="For kubectl; means --live.")] = "",
    kubeconfig: Annotated[str, typer.Option(metavar="FILE", help="Likewise.")] = "",
    timeout_seconds: Annotated[
        float,
        typer.Option(metavar="N", min=1, max=3600, help="How long kubectl may take for each kind."),
    ] = DEFAULT_TIMEOUT_SECONDS,
    policy_config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Configuration of the policy packs (JSON), for example taint keys of your own.",
        ),
    ] = None,
    format_: Annotated[Format, typer.Option("--format")] = Format.TEXT,
    json_: Json = False,
    fail_on: Annotated[
        FailOn, typer.Option(help="Least severity that makes the exit code 1.")
    ] = FailOn.HIGH,
) -> None:
    """Find what would break on Spot nodes, in a cluster, a dump of one, or a Pulumi state.

    Looks for system pods on Spot and flex-start nodes, pools without their taint, buckets out of
    region, grace periods beyond the budget, Jobs that do not survive a lost node. Changes nothing.
    Of a cluster it asks `kubectl get` alone, and never for Secrets or ConfigMaps.
    """
    given = list(files or ())
    access = Access(context, kubeconfig, timeout_seconds)
    try:
        config, notes = read_config(str(policy_config) if policy_config else None)
        evidence = gather(given, access if live or context or kubeconfig or not given else None)
    except InputError as error:
        raise CommandError(str(error)) from None
    evidence.notes += notes
    result = judge(evidence, config)
    as_json = json_ or format_ is Format.JSON
    sys.stdout.write((report.as_json if as_json else report.as_text)(result))
    raise typer.Exit(exit_code(result, fail_on.value))
