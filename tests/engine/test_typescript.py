"""Programs in TypeScript: the SDK is generated from the schema, compiled, and used.

It needs Node.js and packages from npm, which are fetched once (about 10 s).
"""

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from sandbox.engine import lookup
from sandbox.sdks import generate, node
from tests.docs.pages import block
from tests.engine.handmade import NODES, PROJECT, REGION

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples"
NAME = "existing-cluster-typescript"
CONFIG = {"clusterName": "base", "clusterLocation": REGION, "nodeServiceAccount": NODES}


def _run(command: Sequence[str | Path], folder: Path, modules: Path) -> str:
    path = os.pathsep.join([str(modules / ".bin"), os.environ["PATH"]])
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _generate(folder: Path) -> None:
    if lookup().origin == "build" or shutil.which("go"):
        generate("nodejs", folder)
        return
    command = [lookup().pulumi, "package", "gen-sdk", HERE.parents[1] / "components"]
    subprocess.run([*command, "--language", "nodejs", "-o", folder.parent], check=True)
    (folder.parent / "nodejs").rename(folder)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example's folder after `pulumi install`: with SDK, packages and compiled program."""
    folder = tmp_path_factory.mktemp("typescript") / NAME
    shutil.copytree(EXAMPLES / NAME, folder, ignore=shutil.ignore_patterns("node_modules", "sdks"))
    try:
        modules = node.modules(folder / "package.json")
    except node.NodeError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(error))
    sdk = folder / "sdks" / "spotproof"
    sdk.parent.mkdir()
    _generate(sdk)
    node.link(folder / "node_modules", modules, {"spotproof": sdk})
    _run(["node", "scripts/postinstall.js"], sdk, modules)
    shutil.copyfile(HERE / "typescript_refused.ts", folder / "refused.ts")
    shown = block("components/README.md", 'import * as spotproof from "spotproof";')
    (folder / "shown.ts").write_text(shown.text, encoding="utf-8")
    settings = json.loads((folder / "tsconfig.json").read_text(encoding="utf-8"))
    settings["files"] += ["refused.ts", "shown.ts"]
    (folder / "tsconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    _run(["tsc", "-p", "."], folder, modules)
    return folder


def _yaml_example() -> dict[str, dict[str, Any]]:
    text = (EXAMPLES / "existing-cluster-yaml" / "Pulumi.yaml").read_text(encoding="utf-8")
    for name, value in {**CONFIG, "project": PROJECT}.items():
        text = text.replace(f"${{{name}}}", value)
    resources = yaml.safe_load(text)["resources"].values()
    return {one["type"].replace(":", ":index:"): one["properties"] for one in resources}


def test_a_typescript_program_compiles_and_declares_what_the_yaml_program_declares(
    program: Path,
) -> None:
    config = {f"{NAME}:{name}": value for name, value in CONFIG.items()} | {"gcp:project": PROJECT}
    shutil.copyfile(HERE / "typescript_mocks.js", program / "mocks.js")

    declared = json.loads(_run(["node", "mocks.js", NAME, json.dumps(config)], program, program))

    assert {one["type"]: one["properties"] for one in declared} == _yaml_example()


def test_the_sdk_says_what_a_registry_and_an_engine_ask_of_it(program: Path) -> None:
    package = json.loads((program / "sdks/spotproof/package.json").read_text(encoding="utf-8"))
    assert package["name"] == "spotproof"
    assert package["license"] == "Apache-2.0"
    assert package["pulumi"] == {
        "resource": True,
        "name": "spotproof",
        "version": package["version"],
    }
