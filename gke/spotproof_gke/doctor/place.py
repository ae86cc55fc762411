"""The project, the stack and the machine that are looked at; everything is read, nothing run."""

import json
import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from spotproof_gke.audit.evidence import printable
from spotproof_gke.rules.reading import mapping, text
from spotproof_gke.stack_state.locks import file_backend

PROJECT_FILES = ("Pulumi.yaml", "Pulumi.yml")
_LARGEST_BYTES = 5_000_000


@dataclass(frozen=True)
class Place:
    """What is looked at.

    Attributes:
        folder: Where the project, or a folder above it, is looked for.
        stack: The stack's name; "" when none is given.
        environment: The environment variables.
        user_home: The user's own folder.
    """

    folder: Path
    stack: str = ""
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    user_home: Path = field(default_factory=lambda: _home())

    @cached_property
    def project_file(self) -> Path | None:
        """The nearest `Pulumi.yaml`, in the folder or above it, as the engine looks for it."""
        folder = self.folder.resolve()
        candidates = (above / name for above in (folder, *folder.parents) for name in PROJECT_FILES)
        return next((each for each in candidates if each.is_file()), None)

    @property
    def root(self) -> Path:
        """The folder of the project, else the folder that was given."""
        return self.project_file.parent if self.project_file else self.folder

    @cached_property
    def project(self) -> Mapping[str, Any] | None:
        """The content of the project file; None when it cannot be read."""
        return read_mapping(self.project_file) if self.project_file else None

    @property
    def project_name(self) -> str:
        """The project's name; "" when it is not known."""
        return text(mapping(self.project).get("name"))

    @property
    def runtime(self) -> str:
        """The language of the program, for example `python`; "" when it is not known."""
        runtime = mapping(self.project).get("runtime")
        return text(runtime) or text(mapping(runtime).get("name"))

    @cached_property
    def virtualenv(self) -> Path | None:
        """The folder of the program's virtualenv; None when the project names none."""
        options = mapping(mapping(mapping(self.project).get("runtime")).get("options"))
        named = text(options.get("virtualenv"))
        return self.root / named if named else None

    @property
    def has_make(self) -> bool:
        """Whether it is a project made like ours, whose commands are targets of `make`."""
        return (self.root / "Makefile").is_file() and (self.root / "infra").is_dir()

    @property
    def stack_word(self) -> str:
        """The stack's name as a word of a shell's command; `NAME` when none is given."""
        return shell_word(self.stack) if self.stack else "NAME"

    @property
    def stack_file(self) -> Path | None:
        """The file of the stack's settings, there or not; None when no stack is given."""
        if not self.stack:
            return None
        folder = text(mapping(self.project).get("stackConfigDir"))
        return self.root / folder / f"Pulumi.{self.stack.rpartition('/')[2]}.yaml"

    @property
    def pulumi_home(self) -> Path:
        """The engine's own folder, with plugins and logins."""
        given = self.environment.get("PULUMI_HOME")
        return Path(given) if given else self.user_home / ".pulumi"

    @cached_property
    def logins(self) -> Mapping[str, Any]:
        """The engine's file of logins; it holds tokens, which nothing here prints."""
        return read_mapping(self.pulumi_home / "credentials.json") or {}

    @property
    def backend(self) -> str:
        """The address of the backend; "" when nobody is logged in to one."""
        stated = text(mapping(mapping(self.project).get("backend")).get("url"))
        given = self.environment.get("PULUMI_BACKEND_URL", "")
        return given or stated or text(self.logins.get("current"))

    @property
    def backend_folder(self) -> Path | None:
        """The folder of a `file://` backend; None for any other."""
        folder = file_backend(self.backend)
        if folder is None:
            return None
        return folder if folder.is_absolute() else self.root / folder


def _home() -> Path:
    """The user's own folder; one that is not there for a user who has none, as in containers."""
    try:
        return Path.home()
    except RuntimeError:
        return Path("/nonexistent")


def shell_word(text: str) -> str:
    """A text from outside as one word of a command that somebody may copy into a shell."""
    return shlex.quote(printable(text))


def read_mapping(file: Path | None) -> Mapping[str, Any] | None:
    """A mapping in a JSON or YAML file; None when the file cannot be read or holds no mapping."""
    if file is None:
        return None
    try:
        if file.stat().st_size > _LARGEST_BYTES:
            return None
        content = file.read_text(encoding="utf-8")
        loaded = json.loads(content) if file.suffix == ".json" else yaml.safe_load(content)
    except (OSError, ValueError, RecursionError, yaml.YAMLError):
        return None
    return loaded if isinstance(loaded, Mapping) else None


def shown_address(address: str) -> str:
    """An address for a report, without a user, a password or options in it."""
    scheme, mark, rest = address.partition("://")
    if not mark:
        return printable(address.partition("?")[0])
    return printable(f"{scheme}://{rest.partition('?')[0].rpartition('@')[2]}")
