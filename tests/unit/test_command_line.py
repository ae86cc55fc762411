"""The command `spotproof` as a whole: what holds for each of its commands."""

import re
import shlex
import subprocess
import sys
from typing import Any

import pytest
import typer

from spotproof_gke.cli import main
from spotproof_gke.commands.line import application

_SHOWN: dict[str, Any] = typer.main.get_command(application()).commands  # type: ignore[attr-defined]
COMMANDS = sorted(_SHOWN)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_prints_json_and_says_so(name: str, capsys: pytest.CaptureFixture) -> None:
    assert main([name, "--help"]) == 0

    assert re.search(r"--json\b", capsys.readouterr().out)


@pytest.mark.parametrize("name", COMMANDS)
def test_unknown_option_is_one_line_and_exit_code_2(
    name: str, capsys: pytest.CaptureFixture
) -> None:
    assert main([name, "--no-such-option"]) == 2

    out, err = capsys.readouterr()
    assert not out
    assert err.startswith(f"spotproof {name}: ")
    assert err.endswith(f"; see `spotproof {name} --help`\n")
    assert err.count("\n") == 1


@pytest.mark.parametrize("name", COMMANDS)
def test_every_example_of_the_help_can_be_pasted(name: str) -> None:
    _, *examples, codes = _SHOWN[name].epilog.split("\n\n")

    assert examples
    assert codes.startswith("exit codes: 0 ")
    for example in examples:
        *_, ours = example.partition("  #")[0].split(" | ")
        words = shlex.split(ours)
        assert words[:2] == ["spotproof", name]
        _SHOWN[name].make_context(name, words[2:])


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_leaves_the_breaking_of_lines_to_the_terminal(name: str) -> None:
    assert all("\n" not in paragraph for paragraph in _SHOWN[name].help.split("\n\n"))


def test_unknown_command_names_the_near_one(capsys: pytest.CaptureFixture) -> None:
    assert main(["audti"]) == 2

    assert "audit" in capsys.readouterr().err


def test_version_is_that_of_the_package(capsys: pytest.CaptureFixture) -> None:
    assert main(["--version"]) == 0

    assert re.fullmatch(r"spotproof \d+\.\d+\.\d+\n", capsys.readouterr().out)


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_installation_without_the_extra_says_what_to_install(missing: str) -> None:
    code = (
        f"import sys; sys.modules['{missing}'] = None; "
        "from spotproof_gke.cli import main; sys.exit(main(['--help']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )

    assert done.returncode == 2
    assert not done.stdout
    assert "pip install 'spotproof-gke[cli]'" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="closes streams by a POSIX shell")
@pytest.mark.parametrize(
    ("streams", "arguments", "code", "said"),
    [
        ("<&-", "cost -", 2, "spotproof cost: standard input: 0 documents; "),
        ("<&-", "advise --ask", 2, "spotproof advise: standard input ended before an answer; "),
        (">&-", "gpus --accelerator l4", 0, ""),
        (">/dev/full", "gpus --json", 2, "spotproof: standard output: No space left on device\n"),
    ],
)
def test_streams_that_are_closed_or_full_end_without_a_traceback(
    streams: str, arguments: str, code: int, said: str
) -> None:
    done = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m spotproof_gke.cli {arguments} {streams}"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert done.returncode == code
    assert not done.stdout
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_error_is_not_written_to_standard_output_when_standard_error_is_closed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setattr(sys, "stderr", None)

    assert main(["gpus", "--region", "nowhere"]) == 2

    assert not capsys.readouterr().out


@pytest.mark.parametrize("columns", ["1", "20", "0", "many"])
def test_words_stay_whole_in_a_terminal_that_is_narrow(
    columns: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setenv("COLUMNS", columns)

    assert main(["advise", "--kind", "system"]) == 0

    longest = max(map(len, capsys.readouterr().out.partition("\nPaste\n")[0].splitlines()))
    assert 30 < longest <= (100 if columns in ("0", "many") else 40)
