"""`python -m sandbox.cluster build|start|stop [FOLDER]`: a control plane for looking around."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from sandbox.cluster import jobset
from sandbox.cluster.binaries import BinariesError, ensure
from sandbox.cluster.control_plane import ControlPlane, ControlPlaneError
from sandbox.cluster.daemons import Daemons
from sandbox.paths import GENERATED

FOLDER = GENERATED / "cluster"


def main(arguments: Sequence[str] | None = None) -> int:
    """Builds, starts or stops; prints the path of the kubeconfig. Code 1 with one error."""
    parser = argparse.ArgumentParser(prog="python -m sandbox.cluster", description=__doc__)
    parser.add_argument("action", choices=["build", "start", "stop"])
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER, help="default: %(default)s")
    parser.add_argument("--jobset", action="store_true", help="start the JobSet manager as well")
    options = parser.parse_args(arguments)
    try:
        if options.action == "stop":
            Daemons(options.folder.resolve()).stop()
            return 0
        if options.action == "build":
            ensure()
            jobset.ensure()
            return 0
        manager = jobset.ensure() if options.jobset else None
        plane = ControlPlane(options.folder, ensure(), manager)
        plane.start()
    except (BinariesError, ControlPlaneError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(plane.kubeconfig)
    return 0


if __name__ == "__main__":
    sys.exit(main())
