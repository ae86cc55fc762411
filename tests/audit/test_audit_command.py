"""The command line: what it accepts, what it prints and how it ends."""

import codecs
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from spotproof_gke.audit.catalogue import ENTRIES
from spotproof_gke.cli import main
from tests.audit import examples
from tests.audit.objects import SPOT_LABELS, listed, node, other, pod_spec, workload

ROOT = Path(__file__).parents[2]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    # No test here may reach a cluster.
    monkeypatch.setenv("PATH", "/nowhere")
    return tmp_path


def write(folder: Path, name: str, content: Any) -> str:
    (folder / name).write_text(json.dumps(content), encoding="utf-8")
    return name


def error(capsys, *arguments: str) -> str:
    assert main(["audit", *arguments]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert err.startswith("spotproof audit: ")
    assert err.count("\n") == 1
    return err


def faults(capsys, *arguments: str) -> set[tuple[str, str]]:
    main(["audit", "--format", "json", *arguments])
    report = json.loads(capsys.readouterr().out)
    return {(each["rule"], each["where"]) for each in report["findings"]}


class TestExitCode:
    @pytest.mark.parametrize(
        ("arguments", "code"),
        [
            ([], 1),
            (["--fail-on", "critical"], 0),
            (["--fail-on", "high"], 1),
            (["--fail-on", "low"], 1),
            (["--fail-on", "never"], 0),
        ],
    )
    def test_follows_fail_on(self, folder: Path, arguments: list[str], code: int, capsys) -> None:
        assert (
            main(["audit", write(folder, "c.json", examples.faulty_cluster()), *arguments]) == code
        )

    @pytest.mark.parametrize(("fail_on", "code"), [("high", 0), ("medium", 1)])
    def test_medium_finding_is_below_high(
        self, folder: Path, fail_on: str, code: int, capsys
    ) -> None:
        labels = {"cloud.google.com/gke-flex-start": "true"}
        dump = listed(node("home", "system"), node("f", "flex", labels))

        assert main(["audit", write(folder, "c.json", dump), "--fail-on", fail_on]) == code

    def test_what_cannot_be_known_does_not_fail(self, folder: Path, capsys) -> None:
        config = {"spot": True, "taints": examples.SECRET}
        hidden = examples.row(examples.POOL, "hidden", {"name": "h", "nodeConfig": config})
        path = write(folder, "s.json", examples.state(hidden))

        assert main(["audit", path, "--fail-on", "low"]) == 0
        out = capsys.readouterr().out
        assert "Cannot be known from what was read" in out
        assert "   1  spot-pool-taint" in out
        assert out.endswith("Nothing found; 1 cannot be known from what was read.\n")

    @pytest.mark.parametrize(
        "arguments",
        [
            ["audit", "--format", "xml"],
            ["audit", "--timeout-seconds", "0"],
            ["audit", "--timeout-seconds", "1m"],
            ["audit", "--timeout-seconds", "nan"],
            ["audit", "--fail-on", "bad"],
            [],
            ["adit"],
        ],
        ids=str,
    )
    def test_wrong_usage_is_2(self, folder: Path, arguments: list[str], capsys) -> None:
        assert main(arguments) == 2

        out, err = capsys.readouterr()
        assert not out
        assert err.startswith("spotproof")
        assert "--help`" in err
        assert "Traceback" not in err


class TestFiles:
    """What may be given, and what one line says of what may not."""

    def test_json_list_of_items_is_a_dump(self, folder: Path, capsys) -> None:
        path = write(folder, "items.json", examples.faulty_cluster()["items"])

        assert faults(capsys, path) == examples.CLUSTER_FAULTS

    def test_json_documents_one_after_the_other_are_one_dump(self, folder: Path, capsys) -> None:
        items = examples.faulty_cluster()["items"]
        (folder / "c.json").write_text("\n".join(json.dumps(each) for each in items))

        assert faults(capsys, "c.json") == examples.CLUSTER_FAULTS

    def test_yaml_documents_are_one_dump(self, folder: Path, capsys) -> None:
        items = examples.faulty_cluster()["items"]
        (folder / "c.yaml").write_text("".join(f"---\n{json.dumps(each)}\n" for each in items))

        assert faults(capsys, "c.yaml") == examples.CLUSTER_FAULTS

    @pytest.mark.parametrize(
        ("mark", "encoding"),
        [(codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le")],
        ids=["UTF-8", "PowerShell"],
    )
    def test_byte_order_mark_is_no_hindrance(
        self, folder: Path, mark: bytes, encoding: str, capsys
    ) -> None:
        content = json.dumps(examples.faulty_cluster())
        (folder / "c.json").write_bytes(mark + content.encode(encoding))

        assert faults(capsys, "c.json") == examples.CLUSTER_FAULTS

    def test_standard_input(self, folder: Path, monkeypatch, capsys) -> None:
        content = json.dumps(examples.faulty_state()).encode()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

        assert faults(capsys, "-") == examples.STATE_FAULTS

    def test_standard_input_twice_is_refused(self, folder: Path, capsys) -> None:
        assert "can be read once only" in error(capsys, "-", "-")

    def test_state_and_dump_together(self, folder: Path, capsys) -> None:
        state = write(folder, "state.json", examples.faulty_state())
        dump = write(folder, "cluster.json", examples.faulty_cluster())

        assert faults(capsys, state, dump) == examples.CLUSTER_FAULTS | examples.STATE_FAULTS

    def test_files_of_one_name_are_told_apart(self, folder: Path, capsys) -> None:
        (folder / "a").mkdir()
        write(folder / "a", "state.json", examples.innocent_state())
        write(folder, "state.json", examples.innocent_state())
        main(["audit", "a/state.json", "state.json"])

        out = capsys.readouterr().out
        assert "Read state.json (state)" in out
        assert "Read state.json (2) (state)" in out

    def test_dump_of_nothing_is_no_clean_cluster(self, folder: Path, capsys) -> None:
        path = write(folder, "empty.json", {"apiVersion": "v1", "kind": "List", "items": []})

        assert "empty.json: no object that the audit judges" in error(capsys, path)

    @pytest.mark.parametrize("latest", [None, {"manifest": {}}], ids=["never", "destroyed"])
    def test_state_of_an_empty_stack_is_innocent(self, folder: Path, latest: Any, capsys) -> None:
        state = {"version": 3, "checkpoint": {"stack": "organization/a/b", "latest": latest}}

        assert main(["audit", write(folder, "s.json", state)]) == 0
        assert "nothing to judge" in capsys.readouterr().out

    @pytest.mark.parametrize(
        ("content", "words"),
        [
            ("", "neither a Kubernetes dump nor a Pulumi state"),
            ("[]", "neither a Kubernetes dump nor a Pulumi state"),
            ('{"steps": []}', "the plan of a preview, which the policy packs judge"),
            ("NAME STATUS\nkube-dns Running", "neither"),
            ("42", "neither a Kubernetes dump nor a Pulumi state"),
            ('{"kind": "List", "items": [', "broken JSON (line 1, column 28; was it cut off?)"),
            ('{"deployment": {"resources": 3}}', "without a list of resources"),
            ('{"a": ' + "9" * 5000 + "}", "number that is too long"),
            ("[" * 100_000, "nested too deeply"),
            ("a: " + "[" * 300 + "]" * 300, "nested too deeply"),
            ("a: &a [x]\nb: [*a, *a]", "YAML aliases"),
            ("a: !!python/name:os.system", "neither JSON nor YAML"),
            ("a: [}", "neither JSON nor YAML"),
        ],
        ids=[
            "empty",
            "list",
            "plan",
            "table",
            "number",
            "cut",
            "rows",
            "long number",
            "deep",
            "deep YAML",
            "aliases",
            "tags",
            "broken YAML",
        ],
    )
    def test_file_that_is_neither_is_one_error(
        self, folder: Path, content: str, words: str, capsys
    ) -> None:
        (folder / "given").write_text(content)

        err = error(capsys, "given")
        assert err.startswith("spotproof audit: given: ")
        assert words in err

    def test_file_that_is_not_there(self, folder: Path, capsys) -> None:
        assert "none.json: No such file or directory" in error(capsys, "none.json")

    def test_folder(self, folder: Path, capsys) -> None:
        assert "Is a directory" in error(capsys, ".")

    def test_file_that_is_no_text(self, folder: Path, capsys) -> None:
        (folder / "image").write_bytes(bytes(range(256)))

        assert "not a text file" in error(capsys, "image")

    def test_dump_and_state_in_one_file_are_refused(self, folder: Path, capsys) -> None:
        both = json.dumps(examples.innocent_state()) + json.dumps(examples.innocent_cluster())
        (folder / "both").write_text(both)

        assert "neither a Kubernetes dump nor a Pulumi state" in error(capsys, "both")


class TestPolicyConfig:
    """The file of the packs configures the audit too."""

    def test_both_versions_are_read(self, folder: Path, capsys) -> None:
        dump = listed(
            node("home", "system"),
            node("a", "spot", SPOT_LABELS, [{"key": "own", "value": "1", "effect": "NoSchedule"}]),
        )
        path = write(folder, "c.json", dump)
        first = {"spot-pool-taint": {"acceptedTaintKeys": ["own"]}}
        second = {"version": 2, "policies": first}

        assert len(faults(capsys, path)) == 1
        for config in (first, second, {"spot-pool-taint": "disabled"}):
            write(folder, "config.json", config)
            assert not faults(capsys, path, "--policy-config", "config.json")

    def test_the_level_of_all_holds_where_a_rule_has_none(self, folder: Path, capsys) -> None:
        write(folder, "config.json", {"all": "disabled", "spot-pool-taint": "mandatory"})
        path = write(folder, "cluster.json", examples.faulty_cluster())
        main(["audit", path, "--policy-config", "config.json", "--format", "json"])
        report = json.loads(capsys.readouterr().out)

        assert {each["rule"] for each in report["findings"]} == {"spot-pool-taint"}
        assert not [note for note in report["notJudged"] if "rule of the audit" in note]

    def test_what_is_passed_over_is_said(self, folder: Path, capsys) -> None:
        policies = {"spot-pool-taints": "disabled", "spot-pool-taint-unknown": "advisory"}
        config = {"version": 2, "policies": policies, "exceptions": {"E-1": {}}}
        write(folder, "config.json", config)
        path = write(folder, "s.json", examples.innocent_state())
        main(["audit", path, "--policy-config", "config.json"])

        out = " ".join(capsys.readouterr().out.split())
        said = (
            "config.json: spot-pool-taints is no rule of the audit; did you mean spot-pool-taint?"
        )
        assert out.count("is no rule of the audit") == 1
        assert said in out
        assert "config.json: its exceptions were not applied" in out

    @pytest.mark.parametrize("content", ["[1]", "{", "3", '{"version": 2, "policies": []}'])
    def test_other_files_are_refused(self, folder: Path, content: str, capsys) -> None:
        (folder / "config.json").write_text(content)
        path = write(folder, "s.json", examples.innocent_state())

        assert "config.json: not" in error(capsys, path, "--policy-config", "config.json")

    @pytest.mark.parametrize("content", [None, b"\xff\x00"])
    def test_file_that_cannot_be_read_is_called_what_it_should_be(
        self, folder: Path, content: bytes | None, capsys
    ) -> None:
        if content is not None:
            (folder / "config.json").write_bytes(content)
        path = write(folder, "s.json", examples.innocent_state())

        said = error(capsys, path, "--policy-config", "config.json")
        assert said.endswith("; --policy-config takes a policy pack's file\n")
        assert "kubectl" not in said

    @pytest.mark.parametrize(
        ("policy", "says"),
        [
            (
                {"acceptedTaintkeys": ["own"]},
                "spot-pool-taint has no property acceptedTaintkeys; did you mean acceptedTaintKeys",
            ),
            ({"buckets": {}}, "spot-pool-taint has no property buckets"),
            ("off", "spot-pool-taint.enforcementLevel is none of advisory, mandatory, remediate"),
            (7, "spot-pool-taint is not a level or an object"),
            ({"enforcementLevel": ["disabled"]}, "spot-pool-taint.enforcementLevel is none of"),
        ],
    )
    def test_a_slip_in_a_property_or_a_level_is_refused(
        self, folder: Path, policy: Any, says: str, capsys
    ) -> None:
        write(folder, "config.json", {"spot-pool-taint": policy})
        path = write(folder, "s.json", examples.innocent_state())

        assert f"config.json: {says}" in error(capsys, path, "--policy-config", "config.json")

    @pytest.mark.parametrize("odd", [None, 3, "x", [None, 3], {"a": 1}, True, 1e999], ids=repr)
    @pytest.mark.parametrize("entry", ENTRIES, ids=lambda each: f"{each.name}-{each.over.value}")
    def test_value_of_another_type_is_refused(
        self, folder: Path, entry: Any, odd: Any, capsys
    ) -> None:
        path = write(folder, "s.json", examples.innocent_state())
        for key in entry.options:
            write(folder, "config.json", {entry.name: {key: odd}})
            if odd is True and key == "exemptDaemonSets":
                assert main(["audit", path, "--policy-config", "config.json"]) == 0
                capsys.readouterr()
                continue
            err = error(capsys, path, "--policy-config", "config.json")
            assert f"config.json: {entry.name}.{key} is not " in err


class TestReport:
    """What the report says of a finding."""

    def test_text_groups_by_severity_and_says_what_where_why_fix_and_page(
        self, folder: Path, capsys
    ) -> None:
        main(["audit", write(folder, "cluster.json", examples.faulty_cluster())])
        out = capsys.readouterr().out

        assert out.index("HIGH (3)") < out.index("MEDIUM (3)")
        assert (
            "  spot-pool-taint\n"
            "    why   Any pod may land on nodes that are taken away with 30 seconds of notice.\n"
            "    where node pool batch, in cluster.json\n"
            "    what  Spot nodes without the taint cloud.google.com/gke-spot=true (2 nodes; 2 "
            "pods that did not\n"
            "          ask for it run there)\n"
            "    fix   add the taint cloud.google.com/gke-spot=true:NO_SCHEDULE to the pool "
            "(nodeConfig.taints),\n"
            "          with a toleration in what belongs there\n"
            "    docs  https://github.com/spotproof/spotproof/blob/main/docs/policies/"
            "spot-pool-taint.md\n"
        ) in out
        assert out.endswith("7 findings (3 high, 3 medium, 1 low).\n")

    def test_lines_fit_a_terminal(self, folder: Path, capsys) -> None:
        state = write(folder, "state.json", examples.faulty_state())
        dump = write(folder, "cluster.json", examples.faulty_cluster())
        main(["audit", state, dump])

        for line in capsys.readouterr().out.splitlines():
            assert len(line) <= 100 or line.split()[0] == "docs"

    def test_what_was_read_and_what_not_is_counted(self, folder: Path, capsys) -> None:
        dump = listed(node("home", "system"), other("Service", "a", "b"), other("Event", "e"))
        main(["audit", write(folder, "c.json", dump)])

        out = " ".join(capsys.readouterr().out.split())
        assert "Read c.json (dump): 1 Node; 2 others not asked for by any rule (1 Event" in out
        assert "no pods were seen: what runs on the nodes was not judged" in out

    def test_dump_of_another_provider_is_said(self, folder: Path, capsys) -> None:
        foreign = node("ip-10-0-0-1", "x")
        del foreign["metadata"]["labels"]["cloud.google.com/gke-nodepool"]
        main(["audit", write(folder, "c.json", listed(foreign))])

        assert "is this a cluster of GKE?" in capsys.readouterr().out

    def test_json_has_all_there_is(self, folder: Path, capsys) -> None:
        path = write(folder, "state.json", examples.faulty_state())
        main(["audit", path, "--format", "json"])
        report = json.loads(capsys.readouterr().out)

        assert report["version"] == 1
        assert report["summary"] == {
            "critical": 0,
            "high": 2,
            "medium": 0,
            "low": 0,
            "cannotBeKnown": 1,
        }
        assert report["findings"][0] == {
            "rule": "spot-pool-taint",
            "severity": "high",
            "where": "NodePool batch",
            "source": "state.json",
            "urn": "urn:pulumi:prod::acme::gcp:container/nodePool:NodePool::batch",
            "what": "Spot nodes without the taint cloud.google.com/gke-spot=true",
            "mustHold": "a Spot pool keeps ordinary pods out by a taint with effect NO_SCHEDULE or "
            "NO_EXECUTE",
            "why": "Any pod may land on nodes that are taken away with 30 seconds of notice.",
            "fix": "add the taint cloud.google.com/gke-spot=true:NO_SCHEDULE to the pool's "
            "nodeConfig.taints",
            "docs": "https://github.com/spotproof/spotproof/blob/main/docs/policies/"
            "spot-pool-taint.md",
        }
        assert [each["where"] for each in report["cannotBeKnown"]] == ["NodePool hidden"]

    @pytest.mark.parametrize("form", ["text", "json"])
    def test_no_secret_or_value_of_the_environment_is_printed(
        self, folder: Path, form: str, capsys
    ) -> None:
        cluster, state = examples.faulty_cluster(), examples.faulty_state()
        marker = "hunter2-is-no-identifier"
        for each in cluster["items"]:
            template = each.get("spec", {}).get("template", {}).get("spec")
            for spec in filter(None, (template, each.get("spec"))):
                for container in spec.get("containers", []):
                    container["env"] = [
                        {"name": "TOKEN", "value": marker},
                        {"name": "OUT", "value": f"gs://{marker}/x"},
                    ]
                    container["args"] = ["--password", marker]
            each["metadata"].setdefault("annotations", {})["note"] = marker
        cluster["items"].append(
            {
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": {"name": "s", "namespace": "n"},
                "data": {"password": marker},
                "spec": {"template": {"spec": pod_spec()}},
            }
        )
        cluster["items"].append(other("ConfigMap", "c", "n", data={"password": marker}))
        for each in state["deployment"]["resources"]:
            if each["type"].startswith("gcp:"):
                each["inputs"]["secretThing"] = each["outputs"]["secretThing"] = {
                    **examples.SECRET,
                    "plaintext": json.dumps(marker),
                }
                each["inputs"]["labels"] = {**each["inputs"].get("labels", {}), "x": marker}
        paths = [write(folder, "c.json", cluster), write(folder, "s.json", state)]
        main(["audit", *paths, "--format", form])

        out, err = capsys.readouterr()
        assert "spot-pool-taint" in out
        for hidden in (marker, "ciphertext", examples.SECRET["ciphertext"]):
            assert hidden not in out + err

    def test_names_cannot_change_the_terminal(self, folder: Path, capsys) -> None:
        name = "x\x1b[31m\nHIGH (9)"
        dump = listed(
            node("home", "system"),
            node(name, name, SPOT_LABELS),
            workload("Deployment", name, "kube-system", pod_spec([{"operator": "Exists"}])),
        )
        main(["audit", write(folder, "c.json", dump)])

        out = capsys.readouterr().out
        assert "\x1b" not in out
        assert "\nHIGH (9)" not in out


class TestProgram:
    """The command as it is started."""

    def run(self, *arguments: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, "-m", "spotproof_gke.cli", *arguments],
            capture_output=True,
            timeout=60,
            check=False,
            cwd=ROOT / "gke",
            **options,
        )

    def test_starts_as_a_module(self) -> None:
        content = json.dumps(examples.faulty_state()).encode()
        done = self.run("audit", "-", input=content)

        assert done.returncode == 1
        assert b"checkpoint-bucket-in-cluster-region" in done.stdout
        assert not done.stderr

    def test_is_a_console_script(self) -> None:
        project = (ROOT / "gke/pyproject.toml").read_text(encoding="utf-8")

        assert '[project.scripts]\nspotproof = "spotproof_gke.cli:main"\n' in project

    def test_needs_nothing_but_yaml(self) -> None:
        code = (
            "import sys; import spotproof_gke.cli; "
            "print([m for m in sys.modules if m.partition('.')[0].startswith('pulumi')])"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, check=True, cwd=ROOT / "gke"
        )

        assert done.stdout.strip() == b"[]"

    def test_reader_that_stops_early_gets_no_traceback(self) -> None:
        content = json.dumps(examples.faulty_cluster()).encode()
        read, write_end = os.pipe()
        os.close(read)
        process = subprocess.Popen(
            [sys.executable, "-m", "spotproof_gke.cli", "audit", "-"],
            stdin=subprocess.PIPE,
            stdout=write_end,
            stderr=subprocess.PIPE,
            cwd=ROOT / "gke",
        )
        os.close(write_end)
        _, err = process.communicate(content, timeout=60)

        assert process.returncode == 2
        assert not err

    def test_name_that_the_terminal_cannot_show_is_no_hindrance(self) -> None:
        state = examples.state(
            examples.row(examples.POOL, "größe", {"name": "p", "nodeConfig": {"spot": True}})
        )
        environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONPATH": str(ROOT / "gke")}
        done = self.run("audit", "-", input=json.dumps(state).encode(), env=environment)

        assert done.returncode == 1
        assert b"where NodePool gr\\xf6\\xdfe, in standard input" in done.stdout

    def test_help_says_what_the_exit_codes_mean(self) -> None:
        said = b" ".join(self.run("audit", "--help").stdout.split())

        assert b"exit codes: 0 nothing at or above --fail-on, 1 something, 2 wrong usage" in said
