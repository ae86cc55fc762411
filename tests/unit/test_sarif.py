"""The report on policies: nothing is lost, invented or told that must not be."""

import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from spotproof_gke.policy_events import EventsError, Violation, read
from spotproof_gke.policy_report import NOT_WHOLE, Places, ReportError, main, markdown
from spotproof_gke.sarif import PolicyFacts, level, sarif

ROOT = Path(__file__).resolve().parents[2]
SECRET = "correct-horse-battery-staple"
POOL = "urn:pulumi:prod::shop::acme:index:Gpu$gcp:container/nodePool:NodePool::batch"
STACK = "urn:pulumi:prod::shop::pulumi:pulumi:Stack::shop-prod"
SCHEMA_MODULE = "github.com/owenrumney/go-sarif/v3@v3.3.1"
SCHEMA_FILE = "pkg/report/v210/sarif/schema.go"
"""A Go module that carries the schema as OASIS published it, errata 01."""


def _violation(urn: str = POOL, **changes: Any) -> dict[str, Any]:
    event = {
        "resourceUrn": urn,
        "message": "Pools carry the taint.\nbatch: no taint. Fix: add it.\n",
        "color": "never",
        "policyName": "spot-pool-taint",
        "policyPackName": "spotproof-spot-isolation",
        "policyPackVersion": "0.1.0",
        "enforcementLevel": "mandatory",
        "severity": "high",
    }
    return {"policyEvent": event | changes}


SUMMARY = {"summaryEvent": {"PolicyPacks": {"spotproof-spot-isolation": "0.1.0", "other": "2"}}}


def _lines(*events: dict[str, Any]) -> list[str]:
    return [json.dumps({"sequence": number, **event}) for number, event in enumerate(events)]


def _log(*events: dict[str, Any], **further: Any) -> dict[str, Any]:
    return sarif(read(_lines(*events, SUMMARY)), lambda _: ("Pulumi.yaml", 1), **further)


def _results(log: dict[str, Any]) -> list[dict[str, Any]]:
    return [result for run in log["runs"] for result in run["results"]]


def _write(file: Path, *events: dict[str, Any]) -> str:
    file.write_text("\n".join(_lines(*events)) + "\n")
    return str(file)


def test_a_violation_becomes_a_result_that_says_what_where_and_what_to_do() -> None:
    facts = PolicyFacts("A taint", "Pools carry it.", "Add it.", "https://x.example/p", "high")
    log = _log(_violation(), facts={"spot-pool-taint": facts})

    run = next(run for run in log["runs"] if run["results"])
    (rule,), (result,) = run["tool"]["driver"]["rules"], run["results"]
    assert run["tool"]["driver"]["name"] == "spotproof-spot-isolation"
    assert run["tool"]["driver"]["version"] == "0.1.0"
    assert result["ruleId"] == rule["id"] == "spot-pool-taint"
    assert result["level"] == "error"
    assert result["message"]["text"] == "batch: no taint. Fix: add it."
    (location,) = result["locations"]
    assert location["physicalLocation"]["artifactLocation"]["uri"] == "Pulumi.yaml"
    (logical,) = location["logicalLocations"]
    assert logical == {"name": "batch", "fullyQualifiedName": POOL, "kind": "resource"}
    assert rule["helpUri"] == "https://x.example/p"
    assert "Add it." in rule["help"]["text"]


@pytest.mark.parametrize(
    ("of_policy", "severity", "name", "expected"),
    [
        ("mandatory", "low", "x", "error"),
        ("advisory", "high", "x", "warning"),
        ("advisory", "", "x", "warning"),
        ("advisory", "low", "x", "note"),
        ("advisory", "high", "x-unknown", "note"),
        ("mandatory", "high", "x-unknown", "error"),
        ("remediate", "high", "x", "note"),
    ],
)
def test_what_fails_is_an_error_and_what_is_slight_a_note(
    of_policy: str, severity: str, name: str, expected: str
) -> None:
    assert level(of_policy, severity, name) == expected


def test_a_pack_that_found_nothing_is_there_so_that_old_alerts_are_closed() -> None:
    log = _log(_violation())

    assert [run["tool"]["driver"]["name"] for run in log["runs"]] == [
        "other",
        "spotproof-spot-isolation",
    ]
    assert log["runs"][0]["results"] == []


def test_a_violation_that_is_told_twice_is_one_result() -> None:
    assert len(_results(_log(_violation(), _violation()))) == 1


def test_the_same_fault_keeps_its_fingerprint_and_another_has_its_own() -> None:
    prints = [
        _results(_log(one))[0]["partialFingerprints"]["policyAndResource/v1"]
        for one in (
            _violation(),
            _violation(severity="low"),
            _violation(POOL.replace("batch", "other")),
            _violation(policyName="x"),
            _violation(message="Pools carry the taint.\nanother fault"),
        )
    ]

    assert prints[0] == prints[1]
    assert len(set(prints)) == 4


def test_an_exception_is_a_suppression_with_its_reason() -> None:
    excepted = _violation(exceptions=[{"id": "OPS-1", "reason": "moves in December"}])

    (result,) = _results(_log(excepted))

    (suppression,) = result["suppressions"]
    assert suppression["justification"] == "OPS-1: moves in December"
    assert suppression["status"] == "accepted"


def test_a_remediation_tells_nothing_of_the_properties() -> None:
    properties = {"labels": {"token": SECRET}}
    given = {
        "policyRemediationEvent": {
            "resourceUrn": POOL,
            "policyName": "spot-pool-taint",
            "policyPackName": "spotproof-spot-isolation",
            "before": properties,
            "after": properties,
        }
    }

    log = _log(given, {"resourcePreEvent": {"metadata": {"new": {"inputs": properties}}}})

    assert [result["level"] for result in _results(log)] == ["note"]
    assert SECRET not in json.dumps(log)


def test_a_finding_at_the_whole_stack_has_a_place() -> None:
    judgement = read(_lines(_violation(STACK), _violation(""), SUMMARY))

    assert [one.resource for one in judgement.violations] == ["", ""]
    log = sarif(judgement, Places(None, "infra/Pulumi.yaml"))
    for result in _results(log):
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"] == "infra/Pulumi.yaml"
    assert "the stack" in markdown(judgement, {})


def test_a_child_of_a_component_is_shown_by_its_own_type() -> None:
    one = Violation("pack", "policy", "mandatory", urn=POOL)

    assert one.type == "gcp:container/nodePool:NodePool"
    assert one.resource == "batch"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"main.py": "import x\nx.NodePool(\n    'batch',\n)\n"}, ("main.py", 3)),
        ({"main.ts": 'new gcp.NodePool("batch", {});\n'}, ("main.ts", 1)),
        ({"app.yaml": "resources:\n  batch:\n    type: x\n"}, ("app.yaml", 2)),
        ({"main.py": "x('batch')\n", "more.py": "y('batch')\n"}, ("Pulumi.yaml", 1)),
        ({"main.py": "x('batch-2')\n"}, ("Pulumi.yaml", 1)),
        ({"venv/lib/main.py": "x('batch')\n"}, ("Pulumi.yaml", 1)),
        ({".git/main.py": "x('batch')\n"}, ("Pulumi.yaml", 1)),
    ],
)
def test_a_result_is_shown_at_the_only_line_that_names_its_resource(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    files: dict[str, str],
    expected: tuple[str, int],
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    one = Violation("pack", "policy", "mandatory", urn=POOL)

    assert Places(Path(), "Pulumi.yaml")(one) == expected
    assert Places(tmp_path, "Pulumi.yaml")(one) == expected


def test_a_path_is_written_as_a_uri() -> None:
    log = sarif(read(_lines(_violation(), SUMMARY)), lambda _: ("my program/Pulumi.yaml", 1))

    place = _results(log)[0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "my%20program/Pulumi.yaml"


def test_stacks_are_told_apart_by_a_category() -> None:
    ids = [run["automationDetails"]["id"] for run in _log(_violation(), category="prod")["runs"]]

    assert ids == ["other/prod/", "spotproof-spot-isolation/prod/"]


@pytest.mark.parametrize(
    ("events", "whole"),
    [
        ([SUMMARY], True),
        ([_violation(), SUMMARY], True),
        ([_violation()], False),
        (
            [{"policyAnalyzeSummaryEvent": {"policyPackName": "a", "resourceUrn": POOL}}, SUMMARY],
            False,
        ),
        (
            [
                {"policyAnalyzeSummaryEvent": {"policyPackName": "a", "resourceUrn": POOL}},
                {"policyAnalyzeStackSummaryEvent": {"policyPackName": "a"}},
                SUMMARY,
            ],
            True,
        ),
    ],
    ids=["state", "state with a violation", "cut off", "program broke", "preview"],
)
def test_a_run_that_ended_early_is_not_taken_for_a_clean_one(
    tmp_path: Path, events: Sequence[dict[str, Any]], whole: bool
) -> None:
    file = _write(tmp_path / "events.jsonl", *events)
    out = tmp_path / "out.sarif"

    code = main([file, "--sarif", str(out), "--markdown", str(tmp_path / "out.md")])

    assert code == (0 if whole else NOT_WHOLE)
    for run in json.loads(out.read_text())["runs"]:
        assert run["invocations"] == [{"executionSuccessful": whole}]
    assert ("ended before" in (tmp_path / "out.md").read_text()) == (not whole)


def test_the_markdown_keeps_a_message_in_its_cell_and_fails_first() -> None:
    judgement = read(
        _lines(
            _violation(enforcementLevel="advisory", policyName="a"),
            _violation(message="Rule.\nuses | and `x` and <b>@all</b>\n\nin two lines"),
            _violation(policyName="b", exceptions=[{"id": "OPS-1", "reason": "agreed"}]),
            SUMMARY,
        )
    )

    text = markdown(judgement, {"a": PolicyFacts(url="https://x.example/a")})

    rows = [line for line in text.splitlines() if line.startswith("| ")][2:]
    assert "Findings: 3, of which 1 fail the run." in text
    assert "\\| and \\`x\\` and \\<b\\>\\@all" in rows[0]
    assert [row.split(" | ")[0] for row in rows] == [
        "| mandatory",
        "| advisory",
        "| excepted (OPS-1: agreed)",
    ]
    assert "[a](https://x.example/a)" in rows[1]


def test_a_comment_stays_within_what_github_takes() -> None:
    many = (_violation(f"{POOL}{n}", message="R.\n" + "long | " * 500) for n in range(150))

    text = markdown(read(_lines(*many, SUMMARY)), {})

    assert "… and" in text
    assert len(text) < 65_536


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "there are no events"),
        ("Previewing update (prod)\n", "line 1 is no event"),
        ('{"sequence": 1, "cancelEvent": {}}\nnonsense\n', "line 2 is no event"),
        ('{\n    "steps": []\n}\n', "`pulumi preview --json` does not"),
        ('{"steps": []}\n', "`pulumi preview --json` does not"),
    ],
)
def test_what_are_no_events_is_one_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, says: str
) -> None:
    file = tmp_path / "events.jsonl"
    file.write_text(text)

    with pytest.raises(EventsError, match=says):
        read(text.splitlines())
    assert main([str(file), "--sarif", str(tmp_path / "out")]) == 1
    assert capsys.readouterr().err.startswith("error: ")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["gone.jsonl", "--sarif", "out"],
        ["events.jsonl", "--sarif", "no/such/folder/out"],
        ["events.jsonl", "--sarif", "out", "--program", "gone"],
        ["events.jsonl", "--sarif", "out", "--policy-pack", "gone"],
    ],
)
def test_a_wrong_path_is_one_error_that_names_it(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    _write(tmp_path / "events.jsonl", SUMMARY)

    assert main(arguments) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ")
    assert "gone" in line or "no/such/folder" in line


def test_strange_values_in_events_are_no_exception() -> None:
    odd: list[Any] = [None, 1, "x", [], {}, [None], {"a": None}]
    events = [{key: value} for key in ("policyEvent", "summaryEvent", "other") for value in odd]
    keys = ("message", "policyName", "policyPackName", "resourceUrn", "exceptions", "severity")
    events += [_violation(**{key: value}) for key in keys for value in odd]

    log = sarif(read(_lines(*events)), Places(None, "Pulumi.yaml"))

    assert json.dumps(log)


def test_the_facts_of_our_packs_are_read_from_the_packs(tmp_path: Path) -> None:
    file = _write(tmp_path / "events.jsonl", _violation(), SUMMARY)
    out = tmp_path / "out.sarif"
    pack = ROOT / "policies" / "spot_isolation"

    assert main([file, "--sarif", str(out), "--policy-pack", str(pack)]) == 0

    (rule,) = json.loads(out.read_text())["runs"][1]["tool"]["driver"]["rules"]
    assert rule["helpUri"].endswith("docs/policies/spot-pool-taint.md")
    assert "gke" in rule["properties"]["tags"]


def test_a_pack_whose_python_is_another_is_told_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "policy.py").write_text("import there_is_no_such_module\n")
    file = _write(tmp_path / "events.jsonl", SUMMARY)

    assert main([file, "--sarif", "-", "--policy-pack", str(tmp_path)]) == 1
    assert "Python of the pack's virtualenv" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("policy", "says"),
    [
        ("x = (", "SyntaxError"),
        ("1 / 0", "ZeroDivisionError"),
        ("x = 1", "no list POLICIES"),
    ],
)
def test_a_pack_that_cannot_be_loaded_is_one_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], policy: str, says: str
) -> None:
    (tmp_path / "policy.py").write_text(policy + "\n")
    file = _write(tmp_path / "events.jsonl", SUMMARY)

    assert main([file, "--sarif", "-", "--policy-pack", str(tmp_path)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: --policy-pack")
    assert says in line


def test_what_a_terminal_would_obey_or_no_file_can_hold_is_left_out(tmp_path: Path) -> None:
    odd = "\x1b[31m\u202e\ud800"
    message = f"The rule.\nfirst{odd}\nsecond"
    file = _write(tmp_path / "e.jsonl", _violation(POOL + odd, message=message), SUMMARY)
    out, table = tmp_path / "out.sarif", tmp_path / "out.md"

    assert main([file, "--sarif", str(out), "--markdown", str(table)]) == 0
    (result,) = _results(json.loads(out.read_text()))
    assert result["message"]["text"] == "first?[31m??\nsecond"
    assert result["locations"][0]["logicalLocations"][0]["name"] == "batch?[31m??"
    assert not set(odd) & set("\x1b\u202e") & set(table.read_text(encoding="utf-8"))


def test_the_report_needs_no_pulumi() -> None:
    code = (
        "import sys; import spotproof_gke.policy_report; "
        "print([m for m in sys.modules if m.startswith('pulumi')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


def test_a_folder_that_is_not_there_is_an_error() -> None:
    with pytest.raises(ReportError, match="no such folder"):
        Places(Path("no-such-folder"), "Pulumi.yaml")


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The published schema, which no package of the registry carries."""
    if shutil.which("go") is None:
        pytest.skip("without Go the published schema cannot be had")
    command = ["go", "mod", "download", "-json", SCHEMA_MODULE]
    folder = tmp_path_factory.mktemp("schema")
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        pytest.skip("the Go module with the published schema cannot be had")
    text = (Path(json.loads(done.stdout)["Dir"]) / SCHEMA_FILE).read_text()
    return json.loads(text[text.index("`") + 1 : text.rindex("`")])


def test_the_log_keeps_to_the_published_schema(schema: dict[str, Any]) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft4Validator(schema)
    excepted = _violation(exceptions=[{"id": "OPS-1", "reason": "x"}], policyName="b")
    facts = {"b": PolicyFacts("t", "r", "m", "https://x.example", "low", "advisory", ("gke",))}
    log = _log(_violation(), _violation(""), excepted, facts=facts, category="prod")

    assert schema["id"] == log["$schema"]
    assert list(validator.iter_errors(log)) == []
    # And it would tell:
    del log["runs"][1]["results"][0]["message"]
    assert len(list(validator.iter_errors(log))) == 1
