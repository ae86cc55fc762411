"""A live cluster is read through `kubectl get` alone; what goes wrong is said with what to do.

In the place of kubectl stands a program that answers from files and refuses every other verb.
"""

import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from spotproof_gke.audit.kubectl import CUSTOM_KINDS, KINDS
from spotproof_gke.cli import main
from tests.audit import examples

_KUBECTL = """#!{python}
import json, os, sys, time
from pathlib import Path

here = Path({here!r})
arguments = sys.argv[1:]
with open(here / "calls", "a") as calls:
    calls.write(json.dumps(arguments) + "\\n")
verbs = [each for each in arguments if not each.startswith("-")]
if not verbs or verbs[0] != "get" or len(verbs) != 2:
    sys.exit("kubectl: this one only gets")
if not any(each in ("-o=json", "--output=json") for each in arguments):
    sys.exit("kubectl: this one only writes JSON")
if "secret" in verbs[1].lower() or "configmap" in verbs[1].lower():
    sys.exit("kubectl: these are nobody's business")
answer = json.loads((here / "answers.json").read_text()).get(verbs[1], {{}})
time.sleep(answer.get("seconds", 0))
sys.stderr.write(answer.get("stderr", ""))
sys.stdout.write(answer.get("stdout", ""))
sys.exit(answer.get("code", 0))
"""
NO_SUCH_KIND = 'error: the server doesn\'t have a resource type "{}"\n'
FORBIDDEN = (
    'Error from server (Forbidden): {0} is forbidden: User "ci@acme.example" cannot list resource '
    '"{0}" in API group "" at the cluster scope\n'
)


class Kubectl:
    """A program on PATH that answers as a cluster does."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.answers: dict[str, dict[str, Any]] = {}
        program = folder / "kubectl"
        program.write_text(_KUBECTL.format(python=sys.executable, here=str(folder)))
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        (folder / "calls").touch()

    def serve(self, cluster: Any) -> None:
        by_kind: dict[str, list[Any]] = {}
        for item in cluster["items"]:
            by_kind.setdefault(item["kind"].lower() + "s", []).append(item)
        for kind in KINDS:
            found = by_kind.get(kind.partition(".")[0], [])
            document = {"apiVersion": "v1", "kind": "List", "items": found}
            self.answers[kind] = {"stdout": json.dumps(document)}
        for kind in CUSTOM_KINDS:
            self.fail(kind, NO_SUCH_KIND.format(kind))

    def fail(self, kind: str, stderr: str) -> None:
        self.answers[kind] = {"stderr": stderr, "code": 1}

    def write(self) -> None:
        (self.folder / "answers.json").write_text(json.dumps(self.answers))

    def calls(self) -> list[list[str]]:
        return [json.loads(line) for line in (self.folder / "calls").read_text().splitlines()]


@pytest.fixture
def kubectl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kubectl:
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}/nowhere")
    made = Kubectl(folder)
    made.serve(examples.faulty_cluster())
    return made


def run(kubectl: Kubectl, *arguments: str) -> int:
    kubectl.write()
    return main(["audit", *arguments])


def test_faulty_cluster_has_exactly_the_planted_faults(kubectl: Kubectl, capsys) -> None:
    assert run(kubectl, "--format", "json") == 1

    report = json.loads(capsys.readouterr().out)
    found = {(each["rule"], each["where"]) for each in report["findings"]}
    assert found == examples.CLUSTER_FAULTS
    assert {each["source"] for each in report["findings"]} == {"cluster (current context)"}


def test_innocent_cluster_has_no_findings(kubectl: Kubectl, capsys) -> None:
    kubectl.serve(examples.innocent_cluster())

    assert run(kubectl) == 0
    assert capsys.readouterr().out.endswith("Nothing found.\n")


def test_only_gets_and_never_secrets(kubectl: Kubectl, capsys) -> None:
    run(kubectl)

    calls = kubectl.calls()
    assert [each[0] for each in calls] == ["get"] * len(calls)
    assert [each[1] for each in calls] == [*KINDS, *CUSTOM_KINDS]
    assert not any("secret" in word or "configmap" in word for call in calls for word in call)


def test_context_kubeconfig_and_timeout_reach_kubectl(kubectl: Kubectl, capsys) -> None:
    run(kubectl, "--context", "prod", "--kubeconfig", "/k/config", "--timeout-seconds", "90")

    for call in kubectl.calls():
        assert call[:3] == ["--kubeconfig=/k/config", "--context=prod", "get"]
        assert "--request-timeout=90s" in call
    assert "Read cluster (context prod): " in capsys.readouterr().out


def test_context_that_looks_like_an_option_stays_a_name(kubectl: Kubectl, capsys) -> None:
    run(kubectl, "--context=--all")

    assert all("--context=--all" in call for call in kubectl.calls())


def test_cluster_and_state_are_judged_together(kubectl: Kubectl, tmp_path: Path, capsys) -> None:
    path = tmp_path / "state.json"
    path.write_text(json.dumps(examples.faulty_state()))

    assert run(kubectl, str(path), "--live", "--format", "json") == 1
    report = json.loads(capsys.readouterr().out)
    found = {(each["rule"], each["where"]) for each in report["findings"]}
    assert found == examples.CLUSTER_FAULTS | examples.STATE_FAULTS
    assert [each["kind"] for each in report["sources"]] == ["state", "cluster"]


def test_file_alone_asks_no_cluster(kubectl: Kubectl, tmp_path: Path, capsys) -> None:
    path = tmp_path / "state.json"
    path.write_text(json.dumps(examples.innocent_state()))

    assert run(kubectl, str(path)) == 0
    assert not kubectl.calls()


@pytest.mark.parametrize("kind", ["persistentvolumes", "nodes", "pods", "jobs.batch"])
def test_kind_that_may_not_be_listed_is_said_and_the_rest_judged(
    kubectl: Kubectl, kind: str, capsys
) -> None:
    kubectl.fail(kind, FORBIDDEN.format(kind))

    assert run(kubectl) == 1
    out = " ".join(capsys.readouterr().out.split())
    assert f"no permission to list {kind}; what depends on them was not judged" in out
    assert "system-workload-off-spot" in out


def test_compute_classes_are_read_where_there_are_some(kubectl: Kubectl, capsys) -> None:
    innocent = examples.innocent_cluster()
    for each in innocent["items"]:
        if each["kind"] == "Deployment" and each["metadata"]["name"] == "kube-dns":
            spec = each["spec"]["template"]["spec"]
            spec["nodeSelector"] = {"cloud.google.com/compute-class": "cheap"}
    kubectl.serve(innocent)
    cheap = {
        "apiVersion": "cloud.google.com/v1",
        "kind": "ComputeClass",
        "metadata": {"name": "cheap"},
        "spec": {"priorities": [{"machineFamily": "n2", "spot": True}]},
    }
    kubectl.answers[CUSTOM_KINDS[0]] = {"stdout": json.dumps({"kind": "List", "items": [cheap]})}

    assert run(kubectl, "--format", "json") == 1
    report = json.loads(capsys.readouterr().out)
    assert [(each["rule"], each["where"]) for each in report["findings"]] == [
        ("compute-class-off-spot-for-system-pods", "Deployment kube-system/kube-dns")
    ]


class TestErrors:
    """One line that names what was asked and what to do; exit code 2, nothing on stdout."""

    def error(self, kubectl: Kubectl, capsys, *arguments: str) -> str:
        assert run(kubectl, *arguments) == 2
        out, err = capsys.readouterr()
        assert not out
        assert err.startswith("spotproof audit: ")
        assert err.count("\n") == 1
        assert "Traceback" not in err
        return err

    def test_no_kubectl(self, kubectl: Kubectl, monkeypatch, capsys) -> None:
        monkeypatch.setenv("PATH", "/nowhere")

        err = self.error(kubectl, capsys)
        assert "kubectl is not on PATH: install it, or give files" in err

    def test_cluster_that_is_not_reachable(self, kubectl: Kubectl, capsys) -> None:
        said = "Unable to connect to the server: dial tcp 34.1.2.3:443: i/o timeout\n"
        kubectl.fail("nodes", said)

        err = self.error(kubectl, capsys)
        assert "kubectl get nodes --all-namespaces (cluster (current context)) failed" in err
        assert "check the context, the network and the credentials" in err
        assert "dial tcp" in err
        assert len(kubectl.calls()) == 1

    def test_not_logged_in(self, kubectl: Kubectl, capsys) -> None:
        said = "error: You must be logged in to the server (Unauthorized)\n"
        kubectl.fail("nodes", said)

        assert "gcloud container clusters get-credentials" in self.error(kubectl, capsys)

    def test_nothing_may_be_listed(self, kubectl: Kubectl, capsys) -> None:
        for kind in (*KINDS, *CUSTOM_KINDS):
            kubectl.fail(kind, FORBIDDEN.format(kind))

        err = self.error(kubectl, capsys)
        assert "kubectl may list none of nodes, pods," in err
        assert "ask for a role" in err

    def test_no_answer_in_time(self, kubectl: Kubectl, capsys) -> None:
        kubectl.answers["pods"]["seconds"] = 20

        err = self.error(kubectl, capsys, "--timeout-seconds", "1")
        assert "kubectl get pods --all-namespaces" in err
        assert "no answer within 1 s" in err
        assert "--timeout-seconds" in err

    def test_answer_that_is_no_json(self, kubectl: Kubectl, capsys) -> None:
        kubectl.answers["nodes"]["stdout"] = "NAME STATUS\n"

        assert "the answer is no JSON" in self.error(kubectl, capsys)

    def test_cluster_without_an_ordinary_kind(self, kubectl: Kubectl, capsys) -> None:
        kubectl.fail("deployments.apps", NO_SUCH_KIND.format("deployments.apps"))

        assert "does not know this kind" in self.error(kubectl, capsys)

    def test_what_kubectl_says_cannot_change_the_terminal(self, kubectl: Kubectl, capsys) -> None:
        kubectl.fail("nodes", "error: \x1b[31mred\x07\n")

        err = self.error(kubectl, capsys)
        assert "\x1b" not in err
        assert "\x07" not in err

    def test_kubectl_that_cannot_be_started(self, kubectl: Kubectl, capsys) -> None:
        (kubectl.folder / "kubectl").write_bytes(b"\x00not a program")

        assert "kubectl get nodes" in self.error(kubectl, capsys)
