"""Programs in TypeScript: the SDK is generated from the schema, compiled, and used.

It needs Node.js and packages from npm, which are fetched once (about 10 s).
"""

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml

from sandbox.sdks import generate, node
from tests.cloud import plain
from tests.docs.pages import block
from tests.engine.handmade import NODES, PROJECT, REGION, make_cluster
from tests.engine.support import STACK, EmulatedProject, emulated_project, engine

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
NAME = "existing-cluster-typescript"
SETTINGS = {"clusterName": "base", "clusterLocation": REGION, "nodeServiceAccount": NODES}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> EmulatedProject:
    """The example after `pulumi install`: with SDK, packages and compiled program."""
    config = {f"{NAME}:{name}": value for name, value in SETTINGS.items()}
    project = emulated_project(
        tmp_path_factory.mktemp("typescript"),
        ROOT / "examples" / NAME,
        {"gcp:project": PROJECT, **config},
    )
    make_cluster(project.sandbox.folder)
    program = project.folder / "Pulumi.yaml"
    content = yaml.safe_load(program.read_text(encoding="utf-8"))
    content["packages"]["spotproof"] = str(ROOT / "components")
    program.write_text(yaml.safe_dump(content), encoding="utf-8")
    _install(project)
    return project


def _install(project: EmulatedProject) -> None:
    try:
        modules = node.modules(project.folder / "package.json")
    except node.NodeError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(error))
    sdk = project.folder / "sdks" / "spotproof"
    _generate(sdk)
    node.link(project.folder / "node_modules", modules, {"spotproof": sdk})
    _run(project, ["node", "scripts/postinstall.js"], sdk)


def _generate(folder: Path) -> None:
    if engine().origin == "build" or shutil.which("go"):
        generate("nodejs", folder)
        return
    command = [engine().pulumi, "package", "gen-sdk", ROOT / "components", "--language", "nodejs"]
    subprocess.run([*command, "-o", folder.parent], check=True)
    (folder.parent / "nodejs").rename(folder)


def _run(project: EmulatedProject, command: Sequence[str | Path], folder: Path) -> str:
    env = project.sandbox.environment(engine())
    commands = project.folder / "node_modules" / ".bin"
    env["PATH"] = os.pathsep.join([str(commands), env["PATH"]])
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_typescript_program_compiles_and_lives_on_the_emulated_cloud(
    project: EmulatedProject,
) -> None:
    _run(project, ["tsc", "-p", "."], project.folder)
    shutil.copyfile(HERE / "typescript_life.js", project.folder / "life.js")

    outputs = json.loads(_run(project, ["node", "life.js", NAME, STACK], project.folder))

    assert outputs["nodeSelector"]["cloud.google.com/gke-spot"] == "true"
    assert outputs["checkpoints"] == f"gs://{PROJECT}-team-checkpoints"
    left = project.cloud()
    assert len(left[plain.CLUSTER]) == len(left[plain.NODE_POOL]) == 1
    assert not left.get(plain.BUCKET)


def test_the_compiler_takes_what_the_page_shows_and_refuses_wrong_arguments(
    project: EmulatedProject,
) -> None:
    shown = block("components/README.md", 'import * as spotproof from "spotproof";')
    (project.folder / "shown.ts").write_text(shown.text, encoding="utf-8")
    shutil.copyfile(HERE / "typescript_refused.ts", project.folder / "refused.ts")
    settings = json.loads((project.folder / "tsconfig.json").read_text(encoding="utf-8"))
    settings["files"] = ["shown.ts", "refused.ts"]
    (project.folder / "others.json").write_text(json.dumps(settings), encoding="utf-8")

    _run(project, ["tsc", "--noEmit", "-p", "others.json"], project.folder)


def test_the_sdk_says_what_a_registry_and_an_engine_ask_of_it(project: EmulatedProject) -> None:
    text = (project.folder / "sdks" / "spotproof" / "package.json").read_text(encoding="utf-8")
    package = json.loads(text)
    assert package["name"] == "spotproof"
    assert package["license"] == "Apache-2.0"
    plugin = {"resource": True, "name": "spotproof", "version": package["version"]}
    assert package["pulumi"] == plugin
