"""`make policy` and `make policy-state`: what they say, and the codes they end with."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sandbox import real
from sandbox.paths import ALL_POLICY_PACKS, ROOT
from tests.engine.policy_states import (
    BARE_SPOT_POOL,
    BROKEN,
    BROKEN_RULES,
    CLUSTER,
    SECRET,
    resource,
    write_state,
)
from tests.engine.support import emulated_project


def _launch(*arguments: str | Path, **env: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "sandbox", *map(str, arguments)],
        cwd=ROOT,
        env=os.environ | env,
        capture_output=True,
        text=True,
        timeout=300,
    )


def _error(run: "subprocess.CompletedProcess[str]") -> str:
    """The only line on standard error, which is an error."""
    (line,) = run.stderr.splitlines()
    assert line.startswith("error: ")
    assert run.returncode == 1
    return line


def test_the_sandbox_passes_every_pack() -> None:
    run = _launch("policy")

    assert run.returncode == 0, run.stderr
    for pack in ALL_POLICY_PACKS:
        assert f"✅ spotproof-{pack.replace('_', '-')}@" in run.stdout
    assert "pulumi preview --stack sandbox" in run.stderr


def test_a_real_stack_is_previewed_with_every_pack_at_the_levels_that_are_given() -> None:
    flags = [
        part
        for pack in ALL_POLICY_PACKS
        for part in ("--policy-pack", f"policies/{pack}", "--policy-pack-config", "levels.json")
    ]

    typed = real.command("policy", "acme/prod", ["--diff"], "levels.json")

    assert typed == ["pulumi", "preview", "-s", "acme/prod", *flags, "--diff"]


def test_a_state_is_judged_by_every_pack_without_a_login(tmp_path: Path) -> None:
    state = write_state(tmp_path / "state.json", BROKEN)
    users = {"PULUMI_HOME": str(tmp_path / "none"), "PULUMI_BACKEND_URL": "file:///nowhere"}

    run = _launch("policy-state", "--file", state, **users)

    assert run.returncode != 0
    assert all(rule in run.stdout for rule in BROKEN_RULES.values())
    assert SECRET not in run.stdout + run.stderr
    assert not (tmp_path / "none" / "credentials.json").exists()

    state = write_state(state, [CLUSTER])
    assert _launch("policy-state", "--file", state).returncode == 0


def test_levels_decide_the_exit_code(tmp_path: Path) -> None:
    state = write_state(tmp_path / "state.json", BROKEN)

    assert _launch("policy-state", "--file", state, "--levels", "dev").returncode == 0
    own = tmp_path / "own.json"
    own.write_text(json.dumps({"all": "disabled", "spot-pool-taint": "mandatory"}))
    run = _launch("policy-state", "--file", state, "--levels", own)
    assert run.returncode != 0
    assert re.findall(r"\[severity: \w+\]  (\S+)", run.stdout) == ["spot-pool-taint"]


def test_secrets_that_cannot_be_read_stop_nothing(tmp_path: Path) -> None:
    program = """
import pulumi
from pulumi_gcp import container, storage

cluster = {"name": "train", "location": "us-east4", "initial_node_count": 1}
container.Cluster("train", **cluster, description=pulumi.Output.secret("PASS"))
storage.Bucket("runs", location="US", labels={"spotproof-cluster": "train"})
""".replace("PASS", SECRET)
    other = {"PULUMI_CONFIG_PASSPHRASE": "somebody else's"}
    project = emulated_project(tmp_path, program, config={"gcp:project": "acme"}, env=other)
    project.up().check()
    state = tmp_path / "state.json"
    project.run("stack", "export", "--stack", "test", "--file", state).check()

    run = _launch("policy-state", "--file", state)

    assert "secret values redacted" in run.stderr
    assert "checkpoint-bucket-in-cluster-region" in run.stdout
    assert SECRET not in run.stdout + run.stderr


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "there is no such file"),
        ("config:\n  a: b\n", "this is no JSON"),
        ("", "this is no JSON"),
        ("[1]", "this is no state of a stack"),
        ("{}", "it has no deployment"),
        ('{"version": 3, "checkpoint": {}}', "a backend's own file"),
        ('{"version": 3, "deployment": {"resources": {}}}', "deployment.resources is no list"),
        ('{"version": 3, "deployment": {"resources": [{"urn": 1}]}}', "resources[0] has no urn"),
    ],
)
def test_a_file_that_is_no_state_is_one_line(
    tmp_path: Path, content: str | None, says: str
) -> None:
    state = tmp_path / "state.json"
    if content is not None:
        state.write_text(content)

    line = _error(_launch("policy-state", "--file", state))

    assert f"FILE={state}: " in line
    assert says in line
    assert "pulumi stack export" in line


def test_no_file_is_one_line() -> None:
    assert "make policy-state FILE=state.json" in _error(_launch("policy-state", "--file", ""))


@pytest.mark.parametrize(
    ("levels", "says"),
    [
        (None, "none of dev, prod, remediate, and no file"),
        ("{", "this is no JSON"),
        ("[]", "no mapping"),
        ({"spot-pol-taint": "advisory"}, "did you mean 'spot-pool-taint'?"),
        ({"version": 2, "policies": {"gone": "advisory"}}, "no policy is named 'gone'"),
        (
            {"version": 2, "exceptions": {"A": {"match": [{"policies": ["spot-pol-taint"]}]}}},
            "did you mean 'spot-pool-taint'?",
        ),
    ],
)
def test_levels_that_would_do_nothing_are_one_line(tmp_path: Path, levels: Any, says: str) -> None:
    file = tmp_path / "levels.json"
    if levels is not None:
        file.write_text(levels if isinstance(levels, str) else json.dumps(levels))
    state = write_state(tmp_path / "state.json", [CLUSTER])

    assert says in _error(_launch("policy-state", "--file", state, "--levels", file))
    assert says in _error(_launch("policy", "--levels", file))


def test_what_the_engine_refuses_is_no_traceback(tmp_path: Path) -> None:
    broken = resource("gcp:storage/bucket:Bucket", "x", {}) | {"urn": "x"}
    state = write_state(tmp_path / "state.json", [broken, BARE_SPOT_POOL])

    run = _launch("policy-state", "--file", state)

    assert run.returncode != 0
    assert "invalid URN" in run.stderr
    assert "Traceback" not in run.stdout + run.stderr
