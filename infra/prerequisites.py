"""What a stack's objects need of its cluster, as JSON, without an engine.

`python infra/prerequisites.py stacks/Pulumi.dev.yaml`
"""

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import settings
import stack_file
from spotproof.reader import Reader
from spotproof_gke.problems import ProblemsError
from spotproof_gke.workloads import controllers
from workload_sections import GUARD


def of(loaded: settings.Settings) -> dict[str, Any]:
    """The controllers by name, the least version of GKE, and what the guard watches, or None."""
    wanted = controllers.needed(loaded.manifests)
    return {
        "workloads": loaded.workloads.value,
        "controllers": [one.name for one in wanted],
        "leastVersion": loaded.least_version,
        "guard": _guard(loaded.sections[GUARD.key]),
    }


def _guard(args: Mapping[str, Any]) -> dict[str, Any] | None:
    if not args:
        return None
    plan = GUARD.plan(Reader(args, GUARD.args.__annotations__), GUARD.component_name())
    return asdict(plan.guard)


def main(arguments: list[str]) -> int:
    """Print it for one stack file; 0, or 1 with one error on stderr, 2 for a wrong call."""
    if len(arguments) != 1:
        print("usage: python infra/prerequisites.py stacks/Pulumi.<stack>.yaml", file=sys.stderr)
        return 2
    try:
        values, secrets = stack_file.read(Path(arguments[0]))
        project = stack_file.project_name()
        print(json.dumps(of(settings.load(values, arguments[0], secrets, project))))
    except (ProblemsError, stack_file.UnreadableStackFileError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
