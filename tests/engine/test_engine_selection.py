"""Which engine is taken, what is kept, and what is said when there is none. Runs no real engine."""

import os
import shutil
import stat
import subprocess
import sys
import urllib.error
from pathlib import Path

import pulumi.automation
import pytest

from sandbox import engine as engines
from sandbox.engine import EngineError, select, versions
from sandbox.paths import ROOT

FAKE_GO = """#!/bin/sh
# Stands for a Go toolchain; `build` writes a program that prints the version it was linked with.
case "$1" in
  env) printf 'go1.99.0\\nlinux\\namd64\\n' ;;
  list) echo "$FAKE_GO/modules" ;;
  build)
    echo "$*" >> "$FAKE_GO/builds"
    sleep "${FAKE_GO_SECONDS:-0}"
    case "$*" in *"${FAKE_GO_FAILS_AT:-nowhere}"*) echo no space left >&2; exit 1 ;; esac
    printf '#!/bin/sh\\necho v3.274.1\\n' > "$6"; chmod +x "$6" ;;
esac
"""


def _executable(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


class Machine:
    """A machine without internet, pulumi or Go, to which a test adds what it needs."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self._monkeypatch = monkeypatch
        self.tools = folder / "tools"
        self.tools.mkdir()
        for tool in ("sh", "chmod", "sleep", "env"):
            found = shutil.which(tool)
            assert found
            (self.tools / tool).symlink_to(found)
        for name in ("SPOTPROOF_ENGINE", "PULUMI_HOME"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("HOME", str(folder / "home"))
        monkeypatch.setenv("PATH", str(self.tools))
        monkeypatch.setenv("SPOTPROOF_ENGINE_CACHE", str(folder / "cache"))
        monkeypatch.setattr(select, "assembled", lambda: folder / "bin")
        self.installer(urllib.error.URLError("no route to host"))

    def pulumi(self, version: str, folder: str = "users") -> Path:
        path = _executable(self.folder / folder / "pulumi", f"#!/bin/sh\necho {version}\n")
        self._monkeypatch.setenv("PATH", f"{path.parent}:{os.environ['PATH']}")
        return path

    def go(self) -> None:
        runner = self.folder / "modules" / "python" / "cmd" / "pulumi-language-python-exec"
        _executable(runner, "# the SDK's runner\n")
        embedded = self.folder / "modules" / "cmd" / "pulumi-resource-kubernetes"
        _executable(embedded / "schema.json", "{}")
        _executable(self.tools / "go", FAKE_GO)
        self._monkeypatch.setenv("FAKE_GO", str(self.folder))

    def builds(self) -> int:
        log = self.folder / "builds"
        return len(log.read_text().splitlines()) if log.exists() else 0

    def installer(self, outcome: Exception | str) -> None:
        def install(root: str, **_: object) -> None:
            if isinstance(outcome, Exception):
                raise outcome
            _executable(Path(root) / "bin" / "pulumi", f"#!/bin/sh\necho {outcome}\n")

        self._monkeypatch.setattr(pulumi.automation.PulumiCommand, "install", install)

    def leftovers(self) -> list[str]:
        names = {path.name for path in (self.folder / "cache").glob("*")}
        return sorted(one for one in names if not one.endswith(".lock"))


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


def test_a_sufficient_pulumi_on_path_is_taken_and_nothing_is_built(machine, capsys):
    users = machine.pulumi("v3.280.0")
    machine.go()

    engine = engines.ensure()

    assert (engine.pulumi, engine.origin) == (users, "path")
    assert machine.builds() == 0
    said = [one for one in capsys.readouterr().err.splitlines() if one.startswith("engine:")]
    assert len(said) == 1
    assert "v3.280.0" in said[0]
    assert "satisfies >=3.272.0" in said[0]


@pytest.mark.parametrize("version", ["v3.271.9", "v2.99.0", "not-a-version"])
def test_an_insufficient_pulumi_on_path_is_passed_over_with_the_reason(machine, version, capsys):
    users = machine.pulumi(version)
    machine.go()

    assert engines.ensure().origin == "build"

    assert str(users) in capsys.readouterr().err.splitlines()[-1]


def test_a_pulumi_that_cannot_be_run_is_passed_over(machine):
    machine.pulumi("v3.280.0").write_text("#!/nowhere/sh\n")
    machine.go()

    assert engines.ensure().origin == "build"


def test_the_installer_comes_before_a_build_and_runs_once(machine, monkeypatch):
    machine.installer("v3.272.0")
    machine.go()

    assert engines.ensure().origin == "install"

    machine.installer(AssertionError("installed a second time"))
    assert engines.ensure().origin == "install"
    assert machine.builds() == 0


def test_without_internet_the_build_follows_and_says_why(machine, capsys):
    machine.go()

    engine = engines.ensure()

    assert engine.origin == "build"
    said = capsys.readouterr().err.splitlines()[-1]
    assert "no `pulumi` on PATH" in said
    assert "no route to host" in said
    assert engine.kubernetes_plugin is not None
    assert engine.kubernetes_plugin.is_file()


def test_a_failed_installation_leaves_nothing_behind(machine):
    machine.go()

    engines.ensure()

    assert [one for one in machine.leftovers() if one.startswith("cli-")] == []


def test_a_second_run_builds_nothing(machine):
    machine.go()
    first = engines.ensure()
    built = machine.builds()

    assert engines.ensure().pulumi == first.pulumi
    assert built == machine.builds() == 3


def test_a_change_of_the_modules_is_a_new_build(machine, monkeypatch, tmp_path):
    machine.go()
    engines.ensure()
    changed = tmp_path / "changed"
    shutil.copytree(select.build.MODULES, changed)
    with (changed / "pulumi" / "go.sum").open("a") as file:
        file.write("example.org/module v1.0.0 h1:x\n")
    monkeypatch.setattr(select.build, "MODULES", changed)

    engines.ensure()

    assert machine.builds() == 6


def test_an_interrupted_build_goes_on_where_it_stopped(machine, monkeypatch):
    machine.go()
    monkeypatch.setenv("FAKE_GO_FAILS_AT", "pulumi-resource-kubernetes")
    with pytest.raises(EngineError, match="no space left"):
        engines.ensure()
    assert machine.builds() == 3
    monkeypatch.delenv("FAKE_GO_FAILS_AT")

    engine = engines.ensure()

    assert engine.origin == "build"
    assert machine.builds() == 4
    assert len(machine.leftovers()) == 1


def test_two_processes_build_once(machine, tmp_path):
    machine.go()
    program = (
        "from pathlib import Path; from sandbox import engine; from sandbox.engine import select;"
        f"select.assembled = lambda: Path({str(tmp_path / 'bin')!r}); engine.ensure()"
    )
    env = {
        **os.environ,
        "FAKE_GO_SECONDS": "0.3",
        "PYTHONPATH": str(ROOT),
        "SPOTPROOF_ENGINE": "build",
    }
    command = [sys.executable, "-c", program]
    processes = [
        subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True) for _ in range(2)
    ]
    said = [process.communicate(timeout=120)[1] for process in processes]

    assert [process.returncode for process in processes] == [0, 0], said
    assert machine.builds() == 3
    assert any("another process" in one for one in said)


def test_the_build_is_found_when_go_is_gone(machine):
    machine.go()
    engines.ensure()
    (machine.tools / "go").unlink()

    assert engines.lookup().origin == "build"


def test_lookup_makes_nothing_and_says_what_would(machine):
    machine.go()

    with pytest.raises(EngineError, match="make engine"):
        engines.lookup()

    assert machine.builds() == 0


def test_without_any_way_the_error_has_each_one_and_what_to_do(machine):
    machine.pulumi("v3.100.0")

    with pytest.raises(EngineError) as caught:
        engines.ensure()

    text = str(caught.value)
    assert "v3.100.0" in text
    assert ">=3.272.0" in text
    assert "no route to host" in text
    assert "no `go` on PATH" in text
    assert "https://www.pulumi.com/docs/install/" in text
    assert "https://go.dev/doc/install" in text


def test_a_forced_way_forbids_the_others(machine, monkeypatch):
    machine.pulumi("v3.280.0")
    machine.go()
    monkeypatch.setenv("SPOTPROOF_ENGINE", "build")

    assert engines.ensure().origin == "build"


def test_an_unknown_forced_way_names_the_ways(machine, monkeypatch):
    monkeypatch.setenv("SPOTPROOF_ENGINE", "docker")

    with pytest.raises(EngineError, match=r"'docker'.*path, install, build"):
        engines.ensure()


def test_our_own_engine_on_path_is_not_taken_for_the_users(machine, monkeypatch, tmp_path):
    machine.go()
    engines.ensure()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")

    assert engines.ensure().origin == "build"


def test_language_hosts_lie_beside_the_built_engine(machine):
    machine.go()

    folder = engines.ensure().bin_dir

    for name in ("pulumi", "pulumi-language-python", "pulumi-language-yaml"):
        assert (folder / name).stat().st_mode & stat.S_IXUSR
    assert not (folder / "pulumi").is_symlink()
    assert (folder / "pulumi-language-python-exec").read_text() == "# the SDK's runner\n"


@pytest.mark.parametrize(
    ("version", "requirement", "expected"),
    [
        ("v3.272.0", ">=3.272.0", True),
        ("3.271.9", ">=3.272.0", False),
        ("v3.1000.0", ">=3.272.0", True),
        ("v3.280.0-alpha.1", ">=3.272.0", True),
        ("v4.0.0", ">=3.272.0 <4.0.0", False),
        ("v3.272.0", ">= 3.272.0, < 4.0.0", True),
        ("v3.272.0", "3.272.0", True),
        ("", ">=3.272.0", False),
    ],
)
def test_versions_are_compared_as_numbers(version, requirement, expected):
    assert versions.satisfies(version, requirement) is expected


def test_a_requirement_of_another_form_is_named():
    with pytest.raises(ValueError, match=r"'~>3\.2' is not a comparison"):
        versions.satisfies("v3.272.0", "~>3.2")
