"""`pulumi` commands on one stack: shown to the person, or asked in the background."""

import shlex
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sandbox.progress import say


@dataclass(frozen=True)
class Answer:
    """How a command ended; `text` is all that a person would have seen."""

    code: int
    output: str
    text: str


@dataclass(frozen=True)
class Pulumi:
    """The command for one stack.

    Attributes:
        stack: its name as the person gave it.
        executable: the engine.
        project: the folder with Pulumi.yaml.
        project_name: the name in it.
        environment: what the engine gets.
        preview: the whole command that shows the plan.
        backups: where states are kept before they are changed.
        backend: its address if that is known without asking.
    """

    stack: str
    executable: Path
    project: Path
    project_name: str
    environment: Mapping[str, str]
    preview: Sequence[str]
    backups: Path
    backend: str = ""

    def ask(self, *arguments: str) -> Answer:
        """Runs a command out of sight."""
        return self._run(arguments, "")

    def change(self, *arguments: str, stdin: str = "") -> Answer:
        """Shows a short command and runs it out of sight."""
        say(f"+ {shlex.join(['pulumi', *arguments])}")
        return self._run(arguments, stdin)

    def _run(self, arguments: Sequence[str], stdin: str) -> Answer:
        # In a session of its own: an interrupt at the terminal does not reach it.
        ended = subprocess.run(
            [self.executable, "--non-interactive", "--color", "never", *arguments],
            cwd=self.project,
            env=dict(self.environment),
            input=stdin,
            capture_output=True,
            text=True,
            start_new_session=True,
        )
        return Answer(ended.returncode, ended.stdout, ended.stdout + ended.stderr)

    def show(self, *arguments: str) -> int:
        """Shows a command and runs it in front of the person, who may interrupt it."""
        command = ["pulumi", *arguments]
        say(f"+ {shlex.join(command)}")
        process = subprocess.Popen(
            command, executable=self.executable, cwd=self.project, env=dict(self.environment)
        )
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                continue  # the terminal sent it to the engine too, which ends in its own order


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Lets a short step come to its end: an interrupt meanwhile is raised behind it."""
    noted: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: noted.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if noted:
        raise KeyboardInterrupt
