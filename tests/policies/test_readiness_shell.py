"""What the reading of a script says, beside what the shells of this machine really do."""

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotproof_gke.rules.shell_script import shell_stays

REPLACED = {
    "one command": "./train 9",
    "with blanks and a comment": "\n# start\n  ./train 9  # for long\n",
    "assignment in front": "A=1 B='x y' ./train 9",
    "quoted operators": "A='a; b' B=\"c && d\" C=\\; ./train 9",
    "after a directory change": "cd . && ./train 9",
    "after a choice": "false || ./train 9",
}
"""Scripts whose last command bash puts in its own place, and dash does not."""

EXEC = {
    "exec": "exec ./train 9",
    "exec last": "set -e\ncd .\nexec ./train 9",
    "exec of a continued line": "exec \\\n  ./train \\\n  9",
    "exec with a redirection": "exec ./train 9 >/dev/null 2>&1",
    "exec after a redirection of all": "exec >/dev/null; exec ./train 9",
    "exec in both branches": "if true; then exec ./train 9; else exec ./train 8; fi",
    "exec in a case": "case a in\n  b) exec ./train 8 ;;\n  a|c) exec ./train 9 ;;\nesac",
    "exec after a here-document": "cat <<END >/dev/null\n./train 1\nEND\nexec ./train 9",
    "exec after a loop": "for i in 1 2; do echo $i >/dev/null; done; exec ./train 9",
    "exec after a function": "f() { true; }\nf\nexec ./train 9",
    "exec of what expands": 'set -- ./train 9; exec "$@"',
    "exec in a group": "{ exec ./train 9; }",
    "exec with an assignment": "A=1 exec ./train 9",
    "exec after a subshell": "(true; true); exec ./train 9",
    "exec in a loop": "while true; do exec ./train 9; done",
    "exec in a later branch": "if false; then true; elif true; then exec ./train 9; fi",
    "exec after words of a loop": "for i in exec ./train; do true; done; exec ./train 9",
    "exec after patterns": "case x in (exec) true ;; x|y) true ;; z) true;; esac; exec ./train 9",
    "exec in a case of one line": "case b in a) true;; b) exec ./train 9;; esac",
    "exec in a for": "for i in 1; do exec ./train 9; done",
    "exec in the condition of a loop": "until exec ./train 9; do true; done",
    "exec in an else": "if false; then true; else exec ./train 9; fi",
    "exec in an elif": "if false; then true; elif exec ./train 9; then true; fi",
    "exec in a case on a word of the shell": "case if in if) exec ./train 9 ;; esac",
    "exec behind a pattern that is a word": "case if in b) true ;; if) exec ./train 9 ;; esac",
    "exec in a loop over a word": "for if in if; do exec ./train 9; done",
    "exec in a branch in a case": "case a in a) true; if true; then exec ./train 9; fi;; esac",
    "exec after a word of the shell": "echo if >/dev/null; exec ./train 9",
    "exec before more": "exec ./train 9; ./train 8 | cat",
    "exec of a line before more": "cd .\nexec ./train 9\n./train 8 | cat",
    "exec in a list": "cd . && exec ./train 9",
    "exec in a loop in a branch": "if true; then for i in 1; do exec ./train 9; done; fi",
}
"""Scripts in which every shell puts the program in its own place."""

STAYS = {
    "redirection": "./train 9 >/dev/null",
    "pipeline": "./train 9 | cat",
    "more behind it": "./train 9 && echo done",
    "exec of a redirection alone": "exec >/dev/null; ./train 9 2>&1",
    "exec in a word": "echo exec ./train >/dev/null; ./train 9 | cat",
    "exec in a pipeline": "exec ./train 9 | cat",
    "exec in the background": "exec ./train 9 & wait",
    "exec in a subshell": "(exec ./train 9); true",
    "condition": "if true; then ./train 9; fi",
    "loop": "for i in 9 9; do ./train $i; done",
    "negation": "! ./train 9",
    "exec behind it": "./train 9; exec sleep 1",
    "exec in a here-document": "cat <<'END' >/dev/null\nexec ./train\nEND\n./train 9 | cat",
    "trap of nothing": "trap '' TERM; ./train 9 | cat",
    "exec in a group in a pipeline": "{ exec ./train 9; } | cat",
    "exec in a group in the background": "{ exec ./train 9; } & wait",
    "end of a pipeline": "true | ./train 9; true",
    "trap of another signal": "trap true INT; ./train 9 | cat",
    "program in a case": "case a in a) ./train 9 ;; esac; true",
    "background": "./train 9 & wait",
    "group": "{ ./train 9; true; }; true",
    "subshell": "(./train 9; true); true",
    "loop in a branch": "if true; then for i in 1; do ./train 9; done; fi; true",
    "exec in a function that is not called": "f() { exec ./train 8; }; ./train 9 | cat",
    "conditional exec before": "false && exec ./train 8\n./train 9 | cat",
}
"""Scripts that leave bash and dash in front of the program."""


def _cases(scripts: dict[str, str]) -> list[object]:
    return [pytest.param(script, id=name) for name, script in scripts.items()]


def _really_stays(shell: str, script: str, folder: Path) -> bool:
    """Whether the shell is still there when the program runs."""
    program = folder / "train"
    shutil.copy("/bin/sleep", program)
    started = subprocess.Popen(
        [shell, "-c", script], cwd=folder, stdout=subprocess.DEVNULL, start_new_session=True
    )
    try:
        end = time.monotonic() + 20
        while time.monotonic() < end:
            running = [pid for pid in _family(started.pid) if _runs(pid) == str(program)]
            if running:
                return started.pid not in running
            time.sleep(0.01)
        raise AssertionError(f"{shell} never ran the program")
    finally:
        os.killpg(started.pid, signal.SIGKILL)
        started.wait()


def _runs(pid: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return ""


def _family(pid: int) -> list[int]:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [pid, *(each for child in children for each in _family(int(child)))]


needs = pytest.mark.skipif(
    not Path("/proc/self/exe").exists() or not shutil.which("bash"), reason="needs /proc and bash"
)


@needs
@pytest.mark.parametrize("script", _cases({**REPLACED, **EXEC}))
def test_bash_is_said_to_be_gone_where_it_is(script: str, tmp_path: Path) -> None:
    assert not _really_stays("bash", script, tmp_path)
    assert not shell_stays("bash", script)


@needs
@pytest.mark.parametrize("script", _cases(STAYS))
def test_bash_is_said_to_stay_where_it_does(script: str, tmp_path: Path) -> None:
    assert _really_stays("bash", script, tmp_path)
    assert shell_stays("bash", script)


@needs
@pytest.mark.skipif(not shutil.which("dash"), reason="needs dash")
@pytest.mark.parametrize("script", _cases({**REPLACED, **STAYS}))
def test_dash_is_said_to_stay_where_it_does(script: str, tmp_path: Path) -> None:
    assert _really_stays("dash", script, tmp_path)
    assert shell_stays("dash", script)
    assert shell_stays("sh", script)


@needs
@pytest.mark.skipif(not shutil.which("dash"), reason="needs dash")
@pytest.mark.parametrize("script", _cases(EXEC))
def test_exec_helps_in_dash_too(script: str, tmp_path: Path) -> None:
    assert not _really_stays("dash", script, tmp_path)
    assert not shell_stays("sh", script)


@pytest.mark.parametrize(
    "script",
    [
        "",
        "# nothing",
        "echo hello; sleep 3600",
        "while true; do date; sleep 5; done",
        "trap 'kill -TERM $p' TERM; ./train & p=$!; wait $p",
        "trap stop SIGTERM\n./train | cat",
        ". ./run.sh",
        "source run.sh",
        'eval "$RUN"',
        "./prepare | cat; . ./run.sh",
        "trap stop 15; ./train | cat",
        "trap stop term; ./train | cat",
        "trap stop INT TERM; ./train | cat",
        "trap stop TERM INT; ./train | cat",
    ],
)
def test_script_without_a_program_or_that_hands_the_signal_on_is_in_order(script: str) -> None:
    assert not shell_stays("sh", script)


@pytest.mark.parametrize(
    "script",
    [
        "trap - TERM; ./train",
        "trap '' TERM; ./train",
        "trap x INT; ./train",
        "trap TERM; ./train",
        "trap; ./train",
        "./train trap x TERM",
    ],
)
def test_trap_that_does_not_handle_sigterm_does_not_count(script: str) -> None:
    assert shell_stays("sh", script)


def test_end_of_a_list_counts_only_where_every_bash_in_use_replaces_itself() -> None:
    assert shell_stays("bash", "cd /app; ./train")
    assert shell_stays("bash", "set -e\n./train")
    assert not shell_stays("ash", "cd /app; ./train > log")
    assert not shell_stays("bash", "cd /app && ./train")
    assert shell_stays("bash", "trap x INT && ./train")
    assert shell_stays("bash", "true && ./train > log")
    assert shell_stays("bash", "{ true; } && ./train")
    assert shell_stays("ash", "./train | cat")
    assert shell_stays("ash", "./train &")
    assert shell_stays("ash", "! ./train")
    assert shell_stays("ash", "./train; sleep 5")
    assert shell_stays("ash", "cat data | ./train")
    assert shell_stays("bash", "cat data |& ./train")
    assert shell_stays("bash", "time ./train")
    for shell in ("ksh", "mksh", "zsh"):
        assert not shell_stays(shell, "cd /app; ./train > log")


def test_exec_counts_where_the_shell_itself_comes_to_it() -> None:
    assert not shell_stays("sh", "cd /app; exec ./train; ./other | cat")
    assert not shell_stays("sh", "./other; case a in a) true && exec ./train;; esac")
    assert not shell_stays(
        "sh", "./other; case a in a) true; if true; then exec ./train; fi;; esac"
    )
    assert shell_stays("bash", "exec ./train |& cat")
    assert shell_stays("bash", "{ exec ./train; } &")
    assert shell_stays("zsh", "cat data |& ./train")
    assert shell_stays("bash", "select i in a; do exec ./train; done; ./other | cat")


def test_exec_takes_options_before_its_program() -> None:
    assert not shell_stays("bash", "./other; exec -a sleep ./train")
    assert not shell_stays("bash", "select i in a b; do exec ./train; done")
    assert not shell_stays("bash", "case a in b) true ;& if) exec ./train ;; esac")
    assert shell_stays("bash", "./other; exec -cl sleep 5")
    assert shell_stays("bash", "./other; exec /bin/sleep 5")
    assert shell_stays("bash", "./other && exec sleep 5")
    assert shell_stays("ash", "./train; (./other)")


_TEXT = r"""exec train if fi then else do done for case esac in { } ( ) ; & && || | ' " ` $( ${ <<
<<EOF EOF ;; > 2>&1 \ # trap TERM A=1"""
_PIECES = [*_TEXT.split(), "\n"]


@given(st.lists(st.sampled_from(_PIECES), max_size=14).map(" ".join) | st.text(max_size=20))
def test_any_text_is_read_without_an_error(script: str) -> None:
    assert shell_stays("bash", script) in (True, False)


@pytest.mark.parametrize("nested", ["$(", "${x:-", '"$('])
def test_a_script_may_be_nested_as_deep_as_it_likes(nested: str) -> None:
    assert not shell_stays("bash", f"exec ./train {nested * 5000}")
