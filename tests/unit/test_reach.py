"""What the launcher says of a cluster that can't be used, before the engine says nothing of it."""

import json
import os
import socket
import ssl
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from sandbox import real
from sandbox.reach import gate, server
from sandbox.reach.login import token
from sandbox.reach.server import NoAnswerError, Server
from sandbox.recovery.command import Pulumi
from spotproof_gke.workloads.controllers import CONTROLLERS

ROOT = Path(__file__).parents[2]
STACK = """config:
  gcp:project: spotproof-test
  spotproof:region: us-central1
  spotproof:clusterName: train
  spotproof:mode: autopilot
  spotproof:workloads: apply
  spotproof:checkpoints: {workloads: [training/trainer]}
  spotproof:capacityClasses: {spot: {priorities: [{capacity: spot, machineType: g2-standard-8}]}}
  spotproof:spotJobs:
    a: {namespace: training, image: "trainer:1", command: [python], deadlineSeconds: 100}
"""

Answers = Callable[[str], tuple[int, str]]


@contextmanager
def _answering(answers: Answers, tls: ssl.SSLContext | None = None) -> Iterator[str]:
    """A small server that answers each path; its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            code, body = answers(self.path)
            self.send_response(code)
            if code == 302:
                self.send_header("Location", "/login")
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: Any) -> None:
            pass

    serving = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if tls is not None:
        serving.socket = tls.wrap_socket(serving.socket, server_side=True)
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    scheme = "https" if tls else "http"
    try:
        yield f"{scheme}://127.0.0.1:{serving.server_port}"
    finally:
        serving.shutdown()
        serving.server_close()


def _why(url: str) -> str:
    with pytest.raises(NoAnswerError) as caught:
        Server(url, "hush").check_ready()
    text = str(caught.value)
    assert "hush" not in text
    assert "\n" not in text
    return text


def test_a_name_that_is_not_known() -> None:
    assert "the name nowhere.invalid is not known" in _why("https://nowhere.invalid")


def test_a_connection_that_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
    assert f"127.0.0.1:{port} refuses connections" in _why(f"https://127.0.0.1:{port}")


def test_a_server_that_never_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "TIMEOUT_SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        text = _why(f"https://127.0.0.1:{silent.getsockname()[1]}")
    assert "does not answer within" in text
    assert "firewall" in text


def test_a_server_without_tls() -> None:
    with _answering(lambda _: (200, "ok")) as url:
        text = _why(url.replace("http:", "https:"))
    assert "does not speak TLS" in text


STATUS = json.dumps({"kind": "Status", "message": "who are you"})


@pytest.mark.parametrize(
    ("code", "body", "words"),
    [
        (401, STATUS, "does not know who asks (401)"),
        (401, STATUS, "It says: who are you"),
        (401, "", "gcloud auth login"),
        (403, STATUS, "roles/container.developer"),
        (403, "[1]", "does not let them (403, /readyz)"),
        (404, "<html>", "this is no API server of Kubernetes"),
        (302, "", "this is no API server of Kubernetes"),
        (429, "", "is not ready (429, /readyz)"),
        (500, "[+]ping ok\n[-]etcd failed: reason withheld\n", "It says: [-]etcd failed"),
        (503, "\x1b[31mred", "is not ready (503, /readyz)"),
        (418, "", "answers /readyz with 418"),
    ],
)
def test_a_server_that_refuses(code: int, body: str, words: str) -> None:
    with _answering(lambda _: (code, body)) as url:
        text = _why(url)
    assert words in text
    assert text.isprintable()


def test_a_page_for_logins_is_not_taken_for_a_cluster_that_is_ready() -> None:
    with _answering(lambda path: (302, "") if path == "/readyz" else (200, "welcome")) as url:
        assert "this is no API server of Kubernetes" in _why(url)


@pytest.mark.parametrize("body", ["", "ok", "[]", "{"])
def test_a_server_that_answers_something_else(body: str) -> None:
    with _answering(lambda _: (200, body)) as url, pytest.raises(NoAnswerError) as caught:
        Server(url).version()
    assert "this is no API server of Kubernetes" in str(caught.value)


def test_a_server_that_hangs_up() -> None:
    def hang_up(listening: socket.socket) -> None:
        connection, _ = listening.accept()
        connection.close()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=hang_up, args=(listening,), daemon=True).start()
        text = _why(f"https://127.0.0.1:{listening.getsockname()[1]}")
    assert "127.0.0.1" in text


def _kubernetes(version: str, groups: dict[str, list[str]]) -> Answers:
    def answer(path: str) -> tuple[int, str]:
        if path == "/readyz":
            return 200, "ok"
        if path == "/version":
            return 200, json.dumps({"gitVersion": f"v{version}"})
        if path == "/apis":
            found = [{"versions": [{"groupVersion": one}]} for one in groups]
            return 200, json.dumps({"groups": found})
        kinds = groups.get(path.removeprefix("/apis/"))
        if kinds is None:
            return 404, ""
        listed = [{"name": kind.lower(), "kind": kind} for kind in kinds]
        return 200, json.dumps({"resources": listed})

    return answer


JOBSET = {"jobset.x-k8s.io/v1alpha2": ["JobSet"]}
CLASSES = {"cloud.google.com/v1": ["ComputeClass"]}


@pytest.mark.parametrize(
    ("version", "groups", "words"),
    [
        ("1.34.1-gke.1000000", CLASSES, ["JobSet is missing", "kubectl apply --server-side -f"]),
        ("1.34.1-gke.1000000", {**CLASSES, "jobset.x-k8s.io/v1": ["JobSet"]}, ["another version"]),
        ("1.34.1-gke.1000000", {**CLASSES, "jobset.x-k8s.io/v1alpha2": []}, ["v1alpha2 JobSet"]),
        ("1.34.1-gke.1000000", JOBSET, ["compute classes of GKE is missing"]),
        ("1.30.1-gke.1000000", {}, ["version 1.30.1-gke.1000000 is too old", "JobSet is missing"]),
    ],
)
def test_what_a_cluster_lacks_is_said_with_what_mends_it(
    version: str, groups: dict[str, list[str]], words: list[str]
) -> None:
    wanted = [CONTROLLERS["jobset"], CONTROLLERS["compute-classes"]]
    with _answering(_kubernetes(version, groups)) as url:
        found = "\n".join(gate.lacks(Server(url), wanted, "1.33.3-gke.1136000"))
    for word in words:
        assert word in found


def test_a_controller_that_is_installed_and_down_is_not_said_to_be_missing() -> None:
    version = "external.metrics.k8s.io/v1beta1"
    serving = _kubernetes("1.34.1-gke.1000000", {version: []})

    def down(path: str) -> tuple[int, str]:
        return (503, "service unavailable") if version in path else serving(path)

    with _answering(down) as url, pytest.raises(NoAnswerError) as caught:
        gate.lacks(Server(url), [CONTROLLERS["metrics-adapter"]], "")
    assert f"knows {version}, but what serves it does not answer (503)" in str(caught.value)
    assert "kubectl get apiservice v1beta1.external.metrics.k8s.io" in str(caught.value)


def test_a_cluster_that_has_all_lacks_nothing() -> None:
    wanted = [CONTROLLERS["jobset"], CONTROLLERS["compute-classes"]]
    with _answering(_kubernetes("1.34.1-gke.1000000", {**CLASSES, **JOBSET})) as url:
        assert gate.lacks(Server(url), wanted, "1.33.3-gke.1136000") == []


def _script(folder: Path, name: str, text: str) -> None:
    folder.mkdir(exist_ok=True)
    file = folder / name
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)


PLUGIN = "gke-gcloud-auth-plugin"
TOKEN = json.dumps({"status": {"token": "hush"}})


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (None, "is not on PATH"),
        ("echo first >&2; echo 'no active account' >&2; exit 1", "no active account. Log in"),
        ("exit 3", "it does not say why"),
        ("echo hush", "gives something that is no token"),
        ("echo '{\"status\": {}}'", "gives something that is no token"),
    ],
)
def test_a_login_that_gives_no_token(script: str | None, words: str, tmp_path: Path) -> None:
    if script is not None:
        _script(tmp_path, PLUGIN, script)
    with pytest.raises(NoAnswerError) as caught:
        token({"PATH": str(tmp_path)})
    assert words in str(caught.value)
    assert "hush" not in str(caught.value)


def test_a_login_that_gives_a_token(tmp_path: Path) -> None:
    _script(tmp_path, PLUGIN, f"echo '{TOKEN}'")
    assert token({"PATH": str(tmp_path)}) == "hush"


def _stack(folder: Path, endpoint: str | None, stack: str = STACK) -> tuple[Pulumi, Path]:
    """A stack whose last update left a cluster at this endpoint."""
    file = folder / "Pulumi.x.yaml"
    file.write_text(stack)
    cluster = {"type": "spotproof:index:AutopilotCluster", "outputs": {"dnsEndpoint": endpoint}}
    state = {"deployment": {"resources": [] if endpoint is None else [cluster]}}
    (folder / "state.json").write_text(json.dumps(state))
    _script(folder / "bin", "pulumi", f"cat {folder / 'state.json'}")
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    made = Pulumi(
        stack="x",
        executable=folder / "bin" / "pulumi",
        project=folder,
        project_name="spotproof",
        environment={**os.environ, "PATH": path},
        preview=[],
        backups=folder,
    )
    return made, file


def test_a_first_update_passes_with_a_note_of_what_will_be_needed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gate.gate(*_stack(tmp_path, None))
    said = "".join(capsys.readouterr())
    assert "the stack has no cluster yet" in said
    assert "jobset/releases/download" in said


def test_an_error_names_the_stack_the_reason_and_the_way_around(tmp_path: Path) -> None:
    pulumi, file = _stack(tmp_path, "nowhere.invalid")
    _script(tmp_path / "bin", PLUGIN, f"echo '{TOKEN}'")
    with pytest.raises(gate.NotReadyError) as caught:
        gate.gate(pulumi, file)
    text = str(caught.value)
    assert "stack 'x' applies objects to its cluster, which can't be asked: the name" in text
    assert "pulumi up -s x" in text
    assert "hush" not in text


def test_a_missing_plugin_is_an_error_too(tmp_path: Path) -> None:
    pulumi, file = _stack(tmp_path, "nowhere.invalid")
    if (tmp_path / "bin" / PLUGIN).exists():
        pytest.fail("the plugin is there")
    environment = {**pulumi.environment, "PATH": str(tmp_path / "bin")}
    # `cat` of the stand-in for the engine is found all the same.
    _script(tmp_path / "bin", "cat", f"exec /bin/cat {tmp_path / 'state.json'}")
    alone = Pulumi(**{**vars(pulumi), "environment": environment})
    with pytest.raises(gate.NotReadyError) as caught:
        gate.gate(alone, file)
    assert f"gcloud components install {PLUGIN}" in str(caught.value)


def test_a_wrong_stack_file_is_the_programs_own_error(tmp_path: Path) -> None:
    pulumi, file = _stack(tmp_path, None, STACK.replace("us-central1", "nowhere"))
    with pytest.raises(gate.NotReadyError) as caught:
        gate.gate(pulumi, file)
    assert "region = 'nowhere'" in str(caught.value)


@pytest.fixture
def launched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, str]]:
    """Launches an action on a real stack; the environment that the engine would have got."""

    def launch(action: str, layer: str, endpoint: str | None) -> dict[str, str]:
        pulumi, file = _stack(tmp_path, endpoint, STACK.replace("apply", layer))
        run: list[dict[str, str]] = []
        monkeypatch.setattr(real, "pulumi", lambda stack: pulumi)
        monkeypatch.setattr(real, "guard", lambda *_: None)
        monkeypatch.setattr(real.stacks, "stack_file", lambda stack: file)
        monkeypatch.setattr(real.os, "chdir", lambda folder: None)
        monkeypatch.setattr(real.os, "execve", lambda *command: run.append(command[2]))
        real.run(action, "x")
        return run[0]

    return launch


@pytest.mark.parametrize("action", ["up", "preview", "policy"])
def test_what_applies_objects_is_not_begun_on_a_cluster_that_can_not_be_asked(
    launched: Callable[..., dict[str, str]], action: str
) -> None:
    with pytest.raises(gate.NotReadyError):
        launched(action, "apply", "nowhere.invalid")


@pytest.mark.parametrize(
    ("action", "layer"),
    [("up", "render"), ("up", "none"), ("refresh", "apply"), ("destroy", "apply")],
)
def test_all_else_asks_no_cluster(
    launched: Callable[..., dict[str, str]], action: str, layer: str
) -> None:
    assert "PULUMI_K8S_SKIP_UPDATE_UNREACHABLE" not in launched(action, layer, "nowhere.invalid")


def test_a_refresh_of_rendered_objects_needs_no_cluster(
    launched: Callable[..., dict[str, str]],
) -> None:
    assert launched("refresh", "render", None)["PULUMI_K8S_SKIP_UPDATE_UNREACHABLE"] == "true"
