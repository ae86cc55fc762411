"""What a newcomer has: a new clone, and a shell in which the commands of a page are typed."""

import os
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path

from sandbox import cache
from tests.clone import clone_into
from tests.docs.pages import Command, came

ADDRESS = "https://github.com/spotproof/spotproof"
"""Where pages tell people to clone from."""

_SET_ELSEWHERE = ("SPOTPROOF_", "PULUMI_", "MAKE", "MFLAGS", "PYTEST", "STACK", "ARGS", "YES")


def published(folder: Path) -> Path:
    """A repository with what this checkout has now, committed or not."""
    source = folder / "published"
    clone_into(source)
    who = ["-c", "user.name=Spotproof", "-c", "user.email=spotproof@example.com"]
    for words in (["init", "--quiet"], ["add", "--all"], [*who, "commit", "--quiet", "-m", "All"]):
        subprocess.run(["git", *words], cwd=source, check=True, capture_output=True)
    return source


class Shell:
    """A bash of a person's own: its folder, variables and last exit code stay between commands.

    Leave it with `close`. Nothing of the person who runs the tests is seen in it but PATH and the
    engines that were made already.
    """

    def __init__(self, folder: Path, source: Path, timeout_seconds: float) -> None:
        home = folder / "home"
        home.mkdir(exist_ok=True)
        kept = {k: v for k, v in os.environ.items() if not k.startswith(_SET_ELSEWHERE)}
        environment = kept | {
            "HOME": str(home),
            "SPOTPROOF_ENGINE_CACHE": str(cache.folder().resolve()),
            "LANG": "C.UTF-8",
            "NO_COLOR": "1",
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"url.{source}.insteadOf",
            "GIT_CONFIG_VALUE_0": ADDRESS,
        }
        self._bash = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
        self._timer = threading.Timer(timeout_seconds, self._bash.kill)
        self._timer.start()
        self._count = 0
        self.code = 0
        """With what the last command ended."""

    def type(self, text: str) -> str:
        """Type a command and return what it prints, errors too."""
        assert self._bash.stdin
        assert self._bash.stdout
        self._count += 1
        end = f"--- {self._count} done: "
        # The group reads nothing from the script; the code of the command stays for `echo $?`.
        self._bash.stdin.write(
            f'(exit ${{code:-0}})\n{{ {text}\n}} </dev/null\ncode=$?\necho "{end}$code"\n'
        )
        self._bash.stdin.flush()
        lines: list[str] = []
        for line in self._bash.stdout:
            last, ended, code = line.rstrip("\n").partition(end)
            if ended:
                self.code = int(code)
                return "".join([*lines, f"{last}\n" if last else ""])
            lines.append(line)
        raise AssertionError(f"the shell ended in `{text}`:\n{''.join(lines)}")

    def close(self) -> None:
        """End the shell, with what it started."""
        self._timer.cancel()
        self._bash.kill()
        self._bash.communicate()


def follow(shell: Shell, commands: Sequence[Command]) -> str:
    """Type commands of a page, and hold what each prints to what the page shows.

    A command whose output the page leaves out only has to succeed; one after which the page asks
    for `$?` may fail.

    Returns:
        All that was printed.
    """
    printed = ""
    for command, after in zip(commands, [*commands[1:], None], strict=True):
        output = shell.type(command.text)
        printed += output
        seen = f"`{command.text}` ended with {shell.code} and printed\n{output}"
        if command.output:
            assert came(command.output, output), f"{seen}\nwhere the page shows\n{command.output}"
        assert shell.code == 0 or (after and after.text == "echo $?"), seen
    return printed
