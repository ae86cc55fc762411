"""The README of the runtime: its examples run, and its tables are what the code says."""

import ast
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from spotproof_gke import contract
from spotproof_runtime import Item
from tests.runtime.program import running
from tests.runtime.queues import new_queue
from tests.runtime.services import Postgres

ROOT = Path(__file__).parents[2]
RUNTIME = ROOT / "runtime"
README = (RUNTIME / "README.md").read_text(encoding="utf-8")
TRAINING, WORKER = re.findall(r"^```python\n(.*?)^```$", README, flags=re.M | re.S)


def _section(title: str) -> str:
    return README.split(f"\n## {title}\n")[1].split("\n## ")[0]


def _named_in_first_column(title: str) -> list[str]:
    rows = [line for line in _section(title).splitlines() if line.startswith("| `")]
    return [name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])]


def _run(program: str, env: dict[str, str], folder: Path) -> str:
    file = folder / "example.py"
    file.write_text(program)
    done = subprocess.run(
        [sys.executable, file], env=os.environ | env, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_training_loop_runs_and_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    env = {contract.CHECKPOINT_LOCATION_VARIABLE: str(tmp_path / "run")}
    whole = _run(TRAINING, env, tmp_path)
    resumed = {contract.CHECKPOINT_LOCATION_VARIABLE: str(tmp_path / "resumed")}
    half = TRAINING.replace("STEPS = 400", "STEPS = 210")
    assert half != TRAINING
    assert _run(half, resumed, tmp_path) != whole
    assert _run(TRAINING, resumed, tmp_path) == whole


def test_the_queue_worker_runs(tmp_path: Path, emulator: str, database: Postgres) -> None:
    queue = new_queue()
    queue.publish([Item("a", "four"), Item("b", "eleven")])
    env = {
        "PUBSUB_EMULATOR_HOST": emulator,
        contract.SUBSCRIPTION_VARIABLE: queue.subscription,
        contract.DATABASE_URL_VARIABLE: database.url,
    }
    assert "stored=2" in _run(WORKER, env, tmp_path)


def test_the_queue_worker_waits_for_a_database_that_is_away_when_it_starts(
    tmp_path: Path, emulator: str, database: Postgres
) -> None:
    queue = new_queue()
    queue.publish([Item("c", "four"), Item("d", "eleven")])
    env = {
        "PUBSUB_EMULATOR_HOST": emulator,
        contract.SUBSCRIPTION_VARIABLE: queue.subscription,
        contract.DATABASE_URL_VARIABLE: database.url,
    }
    database.stop()
    with running(WORKER, **env) as program:
        try:
            program.read_until_error("waiting for the database")
        finally:
            database.start()
        ended = program.end()
    assert (ended.code, "stored=2" in ended.output[-1]) == (0, True), ended
    assert "Traceback" not in ended.errors
    assert ended.errors.count("waiting for the database") <= 3, "a line for each reason"


def test_the_commands_for_a_laptop_run(tmp_path: Path) -> None:
    commands = re.findall(r"^\$ (.*)$", _section("On a laptop"), flags=re.M)
    assert len(commands) == 3
    folder = ROOT
    for command in commands:
        words = shlex.split(command.replace("/tmp/", f"{tmp_path}/"))
        if words[0] == "cd":
            folder = ROOT / words[1]
            continue
        assert words[0] == "python"
        done = subprocess.run(
            [sys.executable, *words[1:]], cwd=folder, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr


def test_the_table_of_exit_codes_is_that_of_the_contract() -> None:
    told = re.findall(r"^\| (\d+) \| `(EXIT_\w+)` \|", _section("Exit codes"), flags=re.M)
    names = sorted(name for name in vars(contract) if name.startswith("EXIT_"))
    assert sorted((str(getattr(contract, name)), name) for name in names) == sorted(told)


def test_the_table_of_variables_is_what_the_library_reads() -> None:
    read = {
        getattr(contract, alias.name)
        for path in (RUNTIME / "spotproof_runtime").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module == "spotproof_gke.contract"
        for alias in node.names
        if alias.name.endswith("_VARIABLE")
    }
    assert set(_named_in_first_column("Environment variables")) == read


def test_the_table_of_events_names_each_that_the_library_records() -> None:
    recorded = {
        node.args[0].value
        for path in (RUNTIME / "spotproof_runtime").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "record"
        and node.args
        and isinstance(node.args[0], ast.Constant)
    }
    told = _named_in_first_column("Events")
    assert sorted(told) == sorted(recorded)


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\(([^)#]+)\)", README))))
def test_its_links_lead_somewhere(target: str) -> None:
    assert (RUNTIME / target).exists()
