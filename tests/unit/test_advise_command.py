"""The command `spotproof advise`: what is asked, what is printed, and how it ends."""

import io
import json

import pytest
import yaml

from spotproof_gke.cli import main
from spotproof_gke.commands import advise
from spotproof_gke.strategy import ClusterMode, Kind

SPOT = ["--kind", "training", "--interruptible", "--accelerator", "l4", "--region", "europe-west4"]
FLEX = ["--kind", "training", "--not-interruptible", "--start-flexible", "--hours", "60",
        "--accelerator", "a100"]  # fmt: skip


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["advise", *arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_an_answer_says_what_why_what_not_and_where_it_is_written(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out, err = run(capsys, *SPOT)

    assert (code, err) == (0, "")
    titles = [line for line in out.splitlines() if line[:1].isupper()]
    assert titles == [
        "Take Spot.", "Why", "Not Flex-start, which comes second",
        "Allow at once, in europe-west4", "Paste", "What runs", "Watch", "Not said", "Sources",
    ]  # fmt: skip
    assert "[1] https://docs.cloud.google.com/kubernetes-engine/docs/concepts/spot-vms" in out
    assert "Guidance is silent on this: ours is an opinion, because" in out
    assert not [line for line in out.splitlines() if line != line.rstrip()]


@pytest.mark.parametrize("columns", [40, 100])
def test_an_address_is_never_broken(
    columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))

    _, out, _ = run(capsys, *FLEX)

    shown = [line.split()[1] for line in out.splitlines() if line.startswith("  [")]
    answer = json.loads(run(capsys, *FLEX, "--json")[1])
    assert shown == [each["address"] for each in answer["sources"]]
    long = [line for line in out.partition("\nPaste\n")[0].splitlines() if len(line) > columns]
    assert not long


def test_the_help_names_every_kind_and_mode() -> None:
    assert "|".join(each.value for each in Kind) == advise._KINDS
    assert "|".join(each.value for each in ClusterMode) == advise._MODES


def test_neither_says_what_to_do_instead(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--kind", "stateful")

    assert code == 0
    assert out.startswith("Neither Spot nor flex-start. Take on-demand nodes.\n")


def test_all_that_is_wrong_is_said_at_once_by_the_names_of_options(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out, err = run(
        capsys, "--kind", "trainin", "--accelerator", "h1oo", "--gpus", "x", "--nodes", "0",
        "--region", "europe-west4-a", "--cluster-mode", "autopliot", "--cluster-version", "new",
        "--hours", "-1", "--reservation", "Ours",
    )  # fmt: skip

    assert (code, out) == (2, "")
    assert err.startswith("spotproof advise: the work: 9 problems\n")
    for words in (
        "--kind = 'trainin': ", 'did you mean "training"?', "--accelerator = 'h1oo': ",
        "--gpus = 'x': ", "--nodes = 0: ", 'did you mean "europe-west4"?',
        'did you mean "autopilot"?', "--cluster-version = 'new': ", "--hours = -1.0: ",
        "--reservation = 'Ours': ",
    ):  # fmt: skip
        assert words in err


def test_what_decides_and_is_missing_is_named_and_nothing_is_asked(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("l4\ny\n1\ny\n"))

    code, out, err = run(capsys, "--kind", "training")

    assert (code, out) == (2, "")
    missing = [line.split(":")[0].strip(" -") for line in err.splitlines()[1:]]
    assert missing == ["accelerator", "interruptible", "hours", "start-flexible"]
    assert err.count("or add --unsure") == 4


def test_unsure_takes_the_careful_way_and_says_what_it_took(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out, _ = run(capsys, "--kind", "training", "--accelerator", "l4", "--unsure")

    assert code == 0
    assert out.startswith("Neither Spot nor flex-start.")
    assert "Whether it may lose its node was not said; taken as no." in out


def test_ask_asks_for_what_is_missing_beside_the_output(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("trainin\ntraining\nh1oo\nl4\nno\n20\ny\n"))

    code, out, err = run(capsys, "--ask", "--snippet")

    assert code == 0
    assert "spotproof:flexStartJobs" in yaml.safe_load(out)["config"]
    assert err.count("? if not known") == 7
    assert 'did you mean "training"?' in err


def test_what_is_not_known_can_be_said_when_asked(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("?\n?\n?\n"))

    code, out, _ = run(capsys, "--ask", "--kind", "training", "--accelerator", "none")

    assert code == 0
    assert out.startswith("Take On-demand.")


def test_input_that_ends_while_asking_ends_the_command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))

    code, out, err = run(capsys, "--ask")

    assert (code, out) == (2, "")
    assert "standard input ended before an answer" in err


def test_the_snippet_alone_is_a_stack_file(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, *SPOT, "--snippet")

    assert code == 0
    assert list(yaml.safe_load(out)) == ["config"]


def test_where_there_is_nothing_to_paste_the_snippet_says_why(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out, err = run(capsys, "--kind", "batch", "--accelerator", "tpu-v5e", "--snippet")

    assert (code, out) == (2, "")
    assert "TPUs" in err
    assert "--snippet" in err


def test_json_is_the_whole_answer(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, *FLEX, "--json")

    answer = json.loads(out)
    assert code == 0
    assert answer["strategy"] == "flex-start"
    assert answer["question"]["accelerator"] == "nvidia-tesla-a100"
    assert answer["snippet"].startswith("config:\n")


def test_a_snippet_alone_is_no_json(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, *SPOT, "--snippet", "--json")

    assert (code, out) == (2, "")
    assert "leave --snippet out" in err
