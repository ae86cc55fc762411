"""`spotproof doctor` finds what is missing, and the command that mends it; it changes nothing."""

import json
import os
import socket
import stat
from pathlib import Path
from typing import Any

import pytest

from spotproof_gke.cli import main
from tests.unit.fake_pulumi import dead_process

SECRET = "ya29.do-not-print"
TOOLS = ("kubectl", "gcloud", "gke-gcloud-auth-plugin", "pulumi-language-python")


def program(file: Path, script: str = "exit 0") -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)


def write(file: Path, content: Any) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content if isinstance(content, str) else json.dumps(content))


class Here:
    """A machine and a project on which nothing is missing, until a test takes something away."""

    def __init__(self, base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.bin, self.home, self.backend = base / "bin", base / "home", base / "backend"
        self.project, self.monkeypatch = base / "project", monkeypatch
        self.google = self.home / ".config/gcloud/application_default_credentials.json"
        self.plugins = self.home / ".pulumi" / "plugins"
        for name in list(os.environ):
            if name.startswith(("PULUMI_", "GOOGLE_", "CLOUDSDK_")):
                monkeypatch.delenv(name)
        monkeypatch.setenv("HOME", str(self.home))
        monkeypatch.setenv("PATH", str(self.bin))
        monkeypatch.setenv("PULUMI_BACKEND_URL", f"file://{self.backend}")
        for name in TOOLS:
            program(self.bin / name)
        program(self.bin / "pulumi", "echo v3.280.0")
        write(self.google, {"type": "authorized_user", "refresh_token": SECRET})
        options = "{name: python, options: {virtualenv: venv}}"
        write(
            self.project / "Pulumi.yaml",
            f"name: shop\nruntime: {options}\nrequiredPulumiVersion: '>=3.272.0'\n",
        )
        write(self.project / "Pulumi.live.yaml", "config: {shop:token: {secure: v1:xyz}}\n")
        site = self.project / "venv/lib/python3.11/site-packages"
        program(self.project / "venv/bin/python")
        write(site / "pulumi/__init__.py", "")
        plugin = {"resource": True, "name": "gcp", "version": "10.2.0"}
        write(site / "pulumi_gcp/pulumi-plugin.json", plugin)
        program(self.plugins / "resource-gcp-v10.2.0/pulumi-resource-gcp")
        self.state()
        monkeypatch.chdir(self.project)

    def state(self, *resources: Any, pending: Any = ()) -> Path:
        deployment = {"resources": list(resources), "pending_operations": list(pending)}
        file = self.backend / ".pulumi/stacks/shop/live.json"
        write(file, {"version": 3, "checkpoint": {"latest": deployment}})
        return file

    def lock(self, pid: int, host: str) -> None:
        content = {
            "pid": pid,
            "username": "ann",
            "hostname": host,
            "timestamp": "2099-01-01T00:00:00Z",
        }
        write(self.backend / ".pulumi/locks/organization/shop/live/one.json", content)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Here:
    return Here(tmp_path, monkeypatch)


def rows(capsys, *arguments: str, code: int) -> dict[str, dict[str, str]]:
    assert main(["doctor", "--stack", "live", "--json", *arguments]) == code
    out = capsys.readouterr().out
    assert SECRET not in out
    return {each["name"]: each for each in json.loads(out)["rows"]}


def resource(type_: str, name: str, **more: Any) -> dict[str, Any]:
    return {"urn": f"urn:pulumi:live::shop::{type_}::{name}", "type": type_, "custom": True, **more}


BUCKET = resource("gcp:storage/bucket:Bucket", "data", inputs={"project": "acme"})


def test_where_nothing_is_missing_all_is_fine(here: Here, capsys) -> None:
    found = rows(capsys, code=0)

    assert {each["status"] for each in found.values()} == {"ok"}
    assert "v3.280.0" in found["pulumi"]["found"]
    assert found["plugin gcp"]["found"] == "10.2.0"


TAKEN = {
    "pulumi": (lambda h: (h.bin / "pulumi").unlink(), "pulumi", "install the Pulumi CLI"),
    "old pulumi": (
        lambda h: program(h.bin / "pulumi", "echo v3.100.0"),
        "pulumi",
        "install the Pulumi CLI",
    ),
    "pulumi that the project finds too old": (
        lambda h: write(
            h.project / "Pulumi.yaml",
            "name: shop\nruntime: python\nrequiredPulumiVersion: '>=3.281.0'\n",
        ),
        "pulumi",
        "install the Pulumi CLI",
    ),
    "broken pulumi": (
        lambda h: program(h.bin / "pulumi", "exit 3"),
        "pulumi",
        "install the Pulumi CLI",
    ),
    "language host": (
        lambda h: (h.bin / "pulumi-language-python").unlink(),
        "pulumi-language-python",
        "install the Pulumi CLI",
    ),
    "kubectl": (
        lambda h: (h.bin / "kubectl").unlink(),
        "kubectl",
        "gcloud components install kubectl",
    ),
    "auth plugin": (
        lambda h: (h.bin / "gke-gcloud-auth-plugin").unlink(),
        "gke-gcloud-auth-plugin",
        "gcloud components install gke-gcloud-auth-plugin",
    ),
    "provider": (
        lambda h: (h.plugins / "resource-gcp-v10.2.0").rename(h.plugins / "resource-gcp-v9.0.0"),
        "plugin gcp",
        "pulumi plugin install resource gcp 10.2.0",
    ),
    "google login": (
        lambda h: h.google.unlink(),
        "google credentials",
        "gcloud auth application-default login",
    ),
    "backend": (
        lambda h: h.monkeypatch.delenv("PULUMI_BACKEND_URL"),
        "login",
        "pulumi login",
    ),
    "token": (
        lambda h: h.monkeypatch.setenv("PULUMI_BACKEND_URL", "https://api.example.com"),
        "login",
        "pulumi login https://api.example.com",
    ),
    "virtualenv": (
        lambda h: (h.project / "venv").rename(h.project / "elsewhere"),
        "virtualenv",
        "pulumi install",
    ),
    "sdk": (
        lambda h: (h.project / "venv/lib").rename(h.project / "venv/gone"),
        "virtualenv",
        "pulumi install",
    ),
    "stack file": (
        lambda h: (h.project / "Pulumi.live.yaml").rename(h.project / "Pulumi.alive.yaml"),
        "stack file",
        "pulumi stack init live",
    ),
    "stack file's form": (
        lambda h: write(h.project / "Pulumi.live.yaml", "a: ["),
        "stack file",
        "mend Pulumi.live.yaml",
    ),
    "project file": (
        lambda h: write(h.project / "Pulumi.yaml", "[]"),
        "project",
        "mend Pulumi.yaml",
    ),
    "passphrase": (
        lambda h: write(h.project / "Pulumi.live.yaml", "encryptionsalt: v1:abc\n"),
        "passphrase",
        "export PULUMI_CONFIG_PASSPHRASE_FILE=FILE",
    ),
}


@pytest.mark.parametrize(("take", "name", "fix"), TAKEN.values(), ids=TAKEN)
def test_what_is_missing_has_a_reason_and_one_command(
    here: Here, take: Any, name: str, fix: str, capsys
) -> None:
    take(here)
    found = rows(capsys, code=1)[name]

    assert found["status"] == "missing"
    assert found["why"]
    assert found["fix"].startswith(fix)
    assert "\n" not in found["fix"]


def test_an_interrupted_update_is_named_with_what_it_was_doing(here: Here, capsys) -> None:
    here.state(
        resource("gcp:storage/bucket:Bucket", "sick", initErrors=["it did not answer"]),
        resource("gcp:container/cluster:Cluster", "old", delete=True),
        resource("gcp:container/cluster:Cluster", "new", protect=True),
        pending=[{"type": "creating", "resource": resource("gcp:storage/bucket:Bucket", "half")}],
    )
    found = rows(capsys, code=1)

    assert found["pending operation"]["found"] == "creating gcp:storage/bucket:Bucket 'half'"
    assert found["pending operation"]["fix"] == "pulumi refresh --stack live"
    assert found["unfinished start"]["found"] == "sick"
    assert found["unfinished replacement"]["found"] == "old"
    assert found["protection"]["found"] == "1 resource that `pulumi destroy` refuses"


def test_locks_tell_whose_they_are(here: Here, capsys) -> None:
    here.lock(os.getpid(), socket.gethostname())
    assert rows(capsys, code=1)["lock"]["fix"] == "wait for the end of that update"

    here.lock(dead_process(), socket.gethostname())
    assert rows(capsys, code=1)["lock"]["fix"] == "pulumi cancel --stack live"

    here.lock(7, "another-host")
    assert "if it is dead, pulumi cancel" in rows(capsys, code=1)["lock"]["fix"]


def test_apis_are_asked_for_only_online(here: Here, capsys) -> None:
    here.state(BUCKET)
    called = here.home / "called"
    program(here.bin / "gcloud", f": > '{called}'; echo '[]'")

    assert rows(capsys, code=0)["APIs of acme"]["status"] == "unknown"
    assert not called.exists()
    found = rows(capsys, "--online", code=1)["APIs of acme"]
    assert called.exists()
    assert found["fix"] == "gcloud services enable storage.googleapis.com --project acme"

    enabled = [{"config": {"name": "storage.googleapis.com"}}]
    program(here.bin / "gcloud", f"echo '{json.dumps(enabled)}'")
    assert rows(capsys, "--online", code=0)["APIs of acme"]["status"] == "ok"


def test_a_command_to_copy_holds_names_of_others_as_words(here: Here, capsys) -> None:
    nasty = "acme; rm -rf ~ \x1b[31m"
    here.state(resource("gcp:storage/bucket:Bucket", "data", inputs={"project": nasty}))

    (found,) = [v for k, v in rows(capsys, code=0).items() if k.startswith("APIs of")]
    assert found["fix"].endswith("--project 'acme; rm -rf ~ ?[31m'")


def test_apis_that_the_stack_enables_itself_are_fine(here: Here, capsys) -> None:
    service = {"project": "acme", "service": "storage.googleapis.com"}
    here.state(BUCKET, resource("gcp:projects/service:Service", "api", inputs=service))

    assert rows(capsys, code=0)["APIs of acme"]["status"] == "ok"


def test_a_state_of_another_backend_is_given_as_a_file(here: Here, tmp_path: Path, capsys) -> None:
    here.monkeypatch.setenv("PULUMI_BACKEND_URL", "gs://acme-state?secret=no")
    file = tmp_path / "state.json"
    write(file, {"version": 3, "deployment": {"resources": [BUCKET]}})

    unread = rows(capsys, code=0)
    assert unread["state"]["status"] == unread["lock"]["status"] == "unknown"
    assert "secret" not in unread["login"]["found"]
    assert rows(capsys, "--state", str(file), code=0)["state"]["found"].startswith("1 resource ")


def test_in_an_empty_folder_the_machine_alone_is_judged(here: Here, tmp_path: Path, capsys) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()

    found = rows(capsys, "--project", str(folder), code=0)
    assert found["project"]["status"] == "unknown"
    assert "state" not in found


def test_from_a_folder_inside_the_project_it_is_found(here: Here, capsys) -> None:
    (here.project / "deep/er").mkdir(parents=True)

    assert "shop" in rows(capsys, "--project", "deep/er", code=0)["project"]["found"]


def test_what_is_not_needed_here_can_be_left_out(here: Here, capsys) -> None:
    (here.bin / "kubectl").unlink()

    assert "kubectl" not in rows(capsys, "--skip", "kubectl", code=0)


def test_our_own_program_judges_the_stack_file(here: Here, capsys) -> None:
    write(here.project / "infra/settings.py", "")
    write(here.project / "infra/stack_file.py", "")
    write(here.project / "Makefile", "")
    said = "error: Pulumi.live.yaml: 1 problem\\n  - spotproof:region: what is this"
    program(here.project / "venv/bin/python", f"printf '{said}' >&2; exit 1")

    found = rows(capsys, code=1)["stack file"]
    assert "spotproof:region: what is this" in found["found"]
    assert found["fix"] == "make check STACK=live"


def test_text_is_for_people_and_has_no_broken_commands(here: Here, capsys) -> None:
    (here.bin / "gke-gcloud-auth-plugin").unlink()
    here.monkeypatch.setenv("COLUMNS", "40")

    assert main(["doctor"]) == 1
    out = capsys.readouterr().out
    assert "  missing  gke-gcloud-auth-plugin: not on PATH\n" in out
    assert "           fix  gcloud components install gke-gcloud-auth-plugin\n" in out
    assert out.endswith("10 ok, 1 missing, 2 unknown.\n")
    assert SECRET not in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--project", "nowhere"], "--project nowhere: not a folder"),
        (["--state", "nowhere.json"], "nowhere.json: No such file or directory; name a file"),
        (["--state", "Pulumi.yaml"], "Pulumi.yaml: no state of a Pulumi stack"),
        (["surplus"], "surplus"),
    ],
)
def test_a_mistake_is_said_in_one_line(
    here: Here, arguments: list[str], words: str, capsys
) -> None:
    assert main(["doctor", *arguments]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert err.startswith("spotproof doctor: ")
    assert words in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "content",
    [
        {"deployment": {}},
        {"deployment": {"resources": [7, {}, {"urn": 1, "type": []}]}},
        {"deployment": {"resources": None, "pending_operations": [None, {"type": "creating"}]}},
        {"checkpoint": {"latest": None}},
    ],
)
def test_odd_states_end_in_no_traceback(here: Here, content: Any, capsys) -> None:
    write(here.project / "odd.json", content)

    assert rows(capsys, "--state", "odd.json", code=0)["state"]["found"].startswith("0 resources")


def test_nothing_is_written_anywhere(here: Here, tmp_path: Path, capsys) -> None:
    before = sorted(str(each) for each in tmp_path.rglob("*"))
    rows(capsys, code=0)

    assert sorted(str(each) for each in tmp_path.rglob("*")) == before


def test_user_without_a_home_is_told_what_is_missing(here: Here, capsys) -> None:
    def nobody(_: object = None) -> Path:
        raise RuntimeError("Could not determine home directory.")

    here.monkeypatch.setattr(Path, "home", nobody)
    here.monkeypatch.setattr(Path, "expanduser", nobody)

    found = rows(capsys, code=1)

    assert found["google credentials"]["status"] == "missing"
    assert found["lock"]["status"] == "ok"


def test_folder_of_settings_outside_the_project_is_looked_into(
    here: Here, tmp_path: Path, capsys
) -> None:
    settings, file = tmp_path / "settings", here.project / "Pulumi.yaml"
    write(file, f"{file.read_text()}stackConfigDir: {settings}\n")

    found = rows(capsys, code=1)["stack file"]
    assert found["found"].startswith(f"{settings}/Pulumi.live.yaml is not there")
    write(settings / "Pulumi.live.yaml", "config: {}\n")
    assert rows(capsys, code=0)["stack file"]["status"] == "ok"


def test_virtualenv_with_a_pth_that_cannot_be_read_is_looked_at(here: Here, capsys) -> None:
    (here.project / "venv/lib/python3.11/site-packages/odd.pth").mkdir()

    assert rows(capsys, code=0)["virtualenv"]["status"] == "ok"


@pytest.mark.parametrize("content", ["{}", "[]", "no json", '{"type": ""}'])
def test_file_that_holds_no_google_credentials_is_missing(here: Here, content: str, capsys) -> None:
    write(here.google, content)

    assert rows(capsys, code=1)["google credentials"]["status"] == "missing"


def test_token_of_another_backend_is_none_of_this_one(here: Here, capsys) -> None:
    here.monkeypatch.setenv("PULUMI_BACKEND_URL", "https://pulumi.example")
    logins = {"accounts": {"https://other.example": {"accessToken": SECRET}}}
    write(here.home / ".pulumi/credentials.json", logins)

    assert rows(capsys, code=1)["login"]["found"] == "https://pulumi.example, without a token"
    logins["accounts"]["https://pulumi.example"] = {"accessToken": SECRET}
    write(here.home / ".pulumi/credentials.json", logins)
    assert rows(capsys, code=0)["login"]["status"] == "ok"
