"""Who has locked a stack's state: lock files, what Pulumi Cloud says, or an engine's refusal."""

import json
import re
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from urllib.parse import unquote, urlsplit

from spotproof_gke.stack_state.processes import age_seconds

RUNNING, GONE, ELSEWHERE = "running", "gone", "elsewhere"
CLOUD_CONFLICT = "Another update is currently in progress"
_UNREADABLE = "?"
_REFUSED = "the stack is currently locked"
_CREATED_BY = re.compile(
    r"created by (?P<user>.*)@(?P<host>.*) \(pid (?P<pid>\d+)\) at (?P<at>\S+)"
)
_FRACTION = re.compile(r"\.\d+")
# A lock is written a moment after its process has begun.
_START_SECONDS = 60
_PIDS = 2**31


@dataclass(frozen=True)
class Lock:
    """A lock. Pulumi Cloud does not tell whose it is: then `host` is empty.

    Attributes:
        since: when it was made, in ISO 8601; empty when that is not known.
        where: the file or the page to look at.
    """

    user: str = ""
    host: str = ""
    pid: int = 0
    since: str = ""
    where: str = ""

    @property
    def holder(self) -> str:
        """`running` or `gone` on this host; `elsewhere` when that cannot be seen from here."""
        if not self.host or self.host != socket.gethostname():
            return ELSEWHERE
        return RUNNING if _runs(self.pid, self.since) else GONE

    def describe(self) -> str:
        since = f" since {self.since}" if self.since else ""
        page = f" ({self.where})" if self.where else ""
        if not self.host:
            return f"an update that Pulumi Cloud counts as in progress{page}"
        if self.host == _UNREADABLE:
            return f"a lock that cannot be read{page}"
        state = {RUNNING: "which runs", GONE: "which is gone"}.get(self.holder, "another host")
        return f"process {self.pid} of {self.user}@{self.host}, {state},{since}{page}"


def file_backend(url: str) -> Path | None:
    """The folder of a `file://` backend; None for any other."""
    if not url.startswith("file://"):
        return None
    parts = urlsplit(url)
    folder = Path(unquote(parts.netloc + parts.path))
    try:
        return folder.expanduser()
    except RuntimeError:
        # Nobody of this name has a home.
        return folder


def locks_in_files(backend: Path, project: str, stack: str) -> list[Lock]:
    """The locks of a stack in a `file://` backend."""
    name = stack.rpartition("/")[2]
    folder = backend / ".pulumi" / "locks"
    found = []
    for place in (folder / "organization" / project / name, folder / name):
        for file in sorted(place.glob("*.json")):
            found.append(_in_file(file))
    return found


def locks_in_refusal(text: str) -> list[Lock]:
    """The locks that an engine names when it refuses to begin; empty when it is no such refusal."""
    if CLOUD_CONFLICT in text:
        return [Lock()]
    if _REFUSED not in text:
        return []
    return [_from_line(line) for line in text.splitlines() if "created by" in line] or [Lock()]


def cloud_lock(stacks_json: str, stack: str) -> list[Lock]:
    """The lock of a stack in `pulumi stack ls --json`, as Pulumi Cloud answers it."""
    owner, _, name = stack.rpartition("/")
    for one in json.loads(stacks_json):
        its_owner, _, its_name = one["name"].rpartition("/")
        its_org = its_owner.partition("/")[0]
        fits = its_name == name and (not owner or not its_org or its_org == owner.partition("/")[0])
        if fits and one.get("updateInProgress"):
            return [Lock(where=one.get("url", ""))]
    return []


def _in_file(file: Path) -> Lock:
    try:
        content: Mapping[str, object] = json.loads(file.read_text())
        since = _to_seconds(str(content["timestamp"]))
        pid = int(str(content["pid"]))
        if not 0 < pid < _PIDS:
            raise ValueError("no process has this number, and `kill` would reach others")
        return Lock(str(content["username"]), str(content["hostname"]), pid, since, str(file))
    except (OSError, ValueError, LookupError, TypeError):
        return Lock(host=_UNREADABLE, where=str(file))


def _from_line(line: str) -> Lock:
    match = _CREATED_BY.search(line)
    if match is None:
        return Lock(host=_UNREADABLE, where=line.strip())
    where = line.strip().partition(": created by")[0]
    return Lock(match["user"], match["host"], int(match["pid"]), _to_seconds(match["at"]), where)


def _to_seconds(timestamp: str) -> str:
    return _FRACTION.sub("", timestamp)


def _runs(pid: int, since: str) -> bool:
    """Whether the process is there, and is not a later one that got the same number."""
    age = age_seconds(pid)
    if age is None:
        return False
    locked = _seconds_since(since)
    return locked is None or age + _START_SECONDS > locked


def _seconds_since(timestamp: str) -> float | None:
    try:
        begun = datetime.fromisoformat(timestamp.replace("Z", "+00:00"))
    except ValueError:
        return None
    if begun.tzinfo is None:
        begun = begun.replace(tzinfo=timezone.utc)
    return time.time() - begun.timestamp()
