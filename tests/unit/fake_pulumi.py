"""A `pulumi` command that is a script: it answers as the CLI does, and notes what it is asked.

In its folder: `state.json`, what `stack export` answers; `backend`, the backend's address; `lock`,
what a changing command is refused with while the file is there; `cloud`, the ids that a refresh
finds; `stacks.json`, what `stack ls` answers; `plan.json`, what `preview --json` answers;
`fail-COMMAND`, with what a command fails; `interrupt-COMMAND`: the person presses Ctrl-C while it
runs.
"""

import json
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

from sandbox.recovery.command import Pulumi

SCRIPT = """#!{python} -SE
import json, os, signal, sys
from pathlib import Path
here = Path({here!r})
words = [one for one in sys.argv[1:] if one not in ("--non-interactive", "--color", "never")]
stdin = "" if words[:2] != ["stack", "import"] else sys.stdin.read()
with (here / "calls").open("a") as calls:
    calls.write(json.dumps(words) + "\\n")
if words[:3] == ["stack", "select", "--create"]:
    sys.exit(0)
command = "-".join(words[:2] if words[0] == "stack" else words[:1])
state, lock = here / "state.json", here / "lock"
def end(text, code):
    print(text, file=sys.stderr if code else sys.stdout)
    sys.exit(code)
if (here / ("interrupt-" + command)).exists():
    os.kill(os.getppid(), signal.SIGINT)
if (here / ("fail-" + command)).exists():
    end((here / ("fail-" + command)).read_text(), 255)
if command == "stack-export":
    end(state.read_text(), 0)
if command == "preview" and "--json" in words:
    end((here / "plan.json").read_text(), 0)
if command == "whoami":
    end(json.dumps({{"user": "ann", "url": (here / "backend").read_text()}}), 0)
if command == "stack-ls":
    end((here / "stacks.json").read_text(), 0)
if command == "cancel":
    lock.unlink(missing_ok=True)
    for file in (here / "backend-files").rglob("*.json"):
        file.unlink()
    (here / "stacks.json").write_text("[]")
    end("canceled", 0)
if command in ("stack-import", "refresh") and lock.exists():
    end("error: " + lock.read_text(), 255)
if command == "stack-import":
    given = json.loads(stdin)
    given["deployment"].pop("pending_operations", None)
    state.write_text(json.dumps(given))
if command == "refresh":
    if "--target" in words:
        end("error: no resource named %r found" % words[-1], 255)
    given = json.loads(state.read_text())
    found = (here / "cloud").read_text().split()
    deployment = given["deployment"]
    deployment.pop("pending_operations", None)
    left = [one for one in deployment["resources"] if "id" not in one or one["id"] in found]
    for one in left:
        one.pop("initErrors", None)
    deployment["resources"] = left
    state.write_text(json.dumps(given))
"""
REFUSAL = (
    "the stack is currently locked by 1 lock(s). Either wait for the other process(es) to end or "
    "delete the lock file with `pulumi cancel`.\n"
    "  gs://state/.pulumi/locks/organization/spotproof/prod/7d2b.json: "
    "created by ann@build-7 (pid 412) at 2026-11-30T04:05:26Z"
)
STACK = "urn:pulumi:prod::spotproof::pulumi:pulumi:Stack::spotproof-prod"
PROVIDER = {
    "urn": "urn:pulumi:prod::spotproof::pulumi:providers:gcp::default",
    "type": "pulumi:providers:gcp",
    "custom": True,
    "id": "p-1",
    "inputs": {"project": "acme", "region": "europe-west4"},
}
ROOT_RESOURCE = {"urn": STACK, "type": "pulumi:pulumi:Stack", "custom": False}


def resource(token: str, name: str, inputs: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A resource as an export has it."""
    return {
        "urn": f"urn:pulumi:prod::spotproof::{token}::{name}",
        "type": token,
        "custom": True,
        "inputs": inputs,
        "parent": STACK,
        "provider": f"{PROVIDER['urn']}::p-1",
        **more,
    }


def bucket(name: str = "acme-data", **more: Any) -> dict[str, Any]:
    return resource("gcp:storage/bucket:Bucket", "bucket", {"name": name}, **more)


def dashboard() -> dict[str, Any]:
    return resource("gcp:monitoring/dashboard:Dashboard", "dashboard", {"dashboardJson": "{}"})


class Fake:
    """A stack behind the script."""

    def __init__(self, folder: Path, backend: str = "gs://state", stack: str = "prod") -> None:
        self.folder = folder
        self.executable = folder / "pulumi"
        self.executable.write_text(SCRIPT.format(python=sys.executable, here=str(folder)))
        self.executable.chmod(0o755)
        self.stack = stack
        self.write("backend", backend)
        self.write("stacks.json", "[]")
        self.write("cloud", PROVIDER["id"])
        self.has([])

    def has(self, there: list[dict[str, Any]], *pending: tuple[str, dict[str, Any]]) -> None:
        """The state: resources, and operations that an engine had begun."""
        deployment = {
            "resources": [ROOT_RESOURCE, PROVIDER, *there],
            "pending_operations": [{"type": kind, "resource": one} for kind, one in pending],
        }
        self.write("state.json", json.dumps({"version": 3, "deployment": deployment}))

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)

    def in_cloud(self, *ids: str) -> None:
        self.write("cloud", " ".join([str(PROVIDER["id"]), *ids]))

    @property
    def state(self) -> dict[str, Any]:
        return json.loads((self.folder / "state.json").read_text())["deployment"]

    @property
    def ids(self) -> list[str]:
        """The ids in the state, without the provider's."""
        return [one["id"] for one in self.state["resources"] if "id" in one][1:]

    @property
    def calls(self) -> list[list[str]]:
        file = self.folder / "calls"
        return [json.loads(one) for one in file.read_text().splitlines()] if file.exists() else []

    @property
    def changes(self) -> list[str]:
        """The commands that change something."""
        read = (["stack", "export"], ["stack", "ls"], ["whoami"], ["preview"])
        return [
            " ".join(call)
            for call in self.calls
            if not any(call[: len(one)] == one for one in read) and "--target" not in call
        ]

    def pulumi(self, backend: str = "") -> Pulumi:
        return Pulumi(
            stack=self.stack,
            executable=self.executable,
            project=self.folder,
            project_name="spotproof",
            environment={},
            preview=["pulumi", "preview", "-s", self.stack],
            backups=self.folder / "backups",
            backend=backend,
        )


def lock_file(fake: Fake, pid: int, host: str = socket.gethostname(), at: str = "") -> str:
    """A lock in a `file://` backend; its address."""
    folder = fake.folder / "backend-files/.pulumi/locks/organization/spotproof/prod"
    folder.mkdir(parents=True, exist_ok=True)
    now = at or "2099-01-01T00:00:00.123456Z"
    lock = {"pid": pid, "username": "ann", "hostname": host, "timestamp": now}
    (folder / "1.json").write_text(json.dumps(lock))
    (folder / "1.json.attrs").write_text("{}")
    return f"file://{fake.folder}/backend-files"


def dead_process() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def killed(fake: Fake) -> Fake:
    """A bucket was being created when the engine died on another host."""
    fake.has([], ("creating", bucket()))
    fake.write("lock", REFUSAL)
    return fake


class Person:
    """Somebody at a terminal, with answers in order; none left: no more questions may come."""

    def __init__(self, *answers: str | type[BaseException], interactive: bool = True) -> None:
        self.interactive = interactive
        self.answers = list(answers)
        self.questions: list[str] = []

    def confirm(self, question: str) -> bool:
        return self.text(question) == "y"

    def text(self, question: str) -> str:
        self.questions.append(question)
        answer = self.answers.pop(0)
        if isinstance(answer, str):
            return answer
        raise answer


def nobody() -> Person:
    return Person(interactive=False)
