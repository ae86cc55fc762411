"""A stack as it stands: its state, its locks, and whether that needs a recovery."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sandbox.recovery.command import Pulumi
from sandbox.recovery.operations import unfinished
from spotproof_gke.stack_state.locks import (
    Lock,
    cloud_lock,
    file_backend,
    locks_in_files,
    locks_in_refusal,
)
from spotproof_gke.stack_state.operations import Pending, Resource, pending_operations

# No resource has it: the engine takes the lock, finds no such target, and changes nothing.
_NO_TARGET = "urn:pulumi:none::none::none:none:None::none"


class UnreadableStateError(Exception):
    """The state cannot be had; the text is what the engine says."""


@dataclass(frozen=True)
class Standing:
    """What was found.

    Attributes:
        exported: what `pulumi stack export` gave.
    """

    exported: Mapping[str, Any]
    locks: list[Lock] = field(default_factory=list)

    @property
    def deployment(self) -> Mapping[str, Any]:
        return self.exported.get("deployment") or {}

    @property
    def pending(self) -> list[Pending]:
        return pending_operations(self.deployment)

    @property
    def unfinished(self) -> list[Resource]:
        """What an earlier recovery has taken in hand and not brought to its end."""
        return unfinished(self.deployment)

    @property
    def is_healthy(self) -> bool:
        return not (self.locks or self.pending or self.unfinished)


def exported(pulumi: Pulumi) -> Mapping[str, Any]:
    """The state, with secrets encrypted as they are.

    Raises:
        UnreadableStateError: there is no such stack, or no access to it.
    """
    answer = pulumi.ask("stack", "export", "-s", pulumi.stack)
    if answer.code != 0:
        raise UnreadableStateError(answer.text.strip())
    return json.loads(answer.output)


def seen_locks(pulumi: Pulumi, backend: str) -> list[Lock]:
    """The locks that can be seen without a command: those of a `file://` backend."""
    folder = file_backend(backend)
    if folder is None:
        return []
    if not folder.is_absolute():
        folder = pulumi.project / folder
    return locks_in_files(folder, pulumi.project_name, pulumi.stack)


def all_locks(pulumi: Pulumi) -> list[Lock]:
    """The locks on the stack, whatever its backend; nothing is changed.

    Where neither files nor Pulumi Cloud tell, the engine is asked to begin a refresh of a target
    that does not exist: it takes the lock or says who has it, and ends before it does anything
    (in a state without resources it refreshes nothing).
    """
    backend = pulumi.backend or _backend(pulumi)
    if file_backend(backend) is not None:
        return seen_locks(pulumi, backend)
    if backend.startswith(("https://", "http://")):
        listed = pulumi.ask("stack", "ls", "--json")
        return cloud_lock(listed.output, pulumi.stack) if listed.code == 0 else []
    refusal = pulumi.ask("refresh", "-s", pulumi.stack, "--yes", "--target", _NO_TARGET)
    return locks_in_refusal(refusal.text)


def _backend(pulumi: Pulumi) -> str:
    answer = pulumi.ask("whoami", "--json")
    if answer.code != 0:
        raise UnreadableStateError(answer.text.strip())
    return str(json.loads(answer.output).get("url", ""))


def standing(pulumi: Pulumi) -> Standing:
    """State and locks.

    Raises:
        UnreadableStateError: there is no such stack, or no access to it.
    """
    return Standing(exported(pulumi), all_locks(pulumi))


def keep_copy(pulumi: Pulumi, state: Mapping[str, Any], stamp: str) -> Path:
    """Writes the state into a new file that only this user can read."""
    pulumi.backups.mkdir(parents=True, exist_ok=True)
    name = pulumi.stack.replace("/", "-")
    file = pulumi.backups / f"{name}-{stamp}.json"
    number = 1
    while file.exists():
        number += 1
        file = pulumi.backups / f"{name}-{stamp}-{number}.json"
    file.touch(mode=0o600)
    file.write_text(json.dumps(state, indent=1) + "\n")
    return file
