"""Projects that run on our own language host for Python, whichever engine there is."""

import os
from pathlib import Path
from typing import Any

from sandbox.engine.assemble import write_python_host
from sandbox.engine.build import RUNNER
from tests.engine.support import EmulatedProject, emulated_project, engine


def project_on_own_host(tmp_path: Path, program: str | Path, *args: Any, **kwargs: Any):
    """As `emulated_project`. An official CLI brings a host of its own, so ours goes before it."""
    project = emulated_project(tmp_path, program, *args, **kwargs)
    if engine().origin == "build":
        return project
    hosts = tmp_path / "own-host"
    hosts.mkdir()
    write_python_host(hosts, engine().bin_dir / RUNNER)
    path = project.sandbox.environment(engine())["PATH"]
    env = {**project.env, "PATH": os.pathsep.join([str(hosts), path])}
    return EmulatedProject(project.folder, project.sandbox, project.packs, env)
