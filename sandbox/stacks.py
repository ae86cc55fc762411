"""The stacks of the project, and copies of their files that are safe in a sandbox."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from sandbox.paths import ROOT

EMULATED = "sandbox"
PLACEHOLDER = "placeholder"
_ENGINE_KEYS = ("encryptionsalt", "encryptedkey", "secretsprovider")
# An `environment` is fetched from the user's own Pulumi Cloud; a sandbox has no login.
_DROPPED_KEYS = (*_ENGINE_KEYS, "environment")


class UnknownStackError(ValueError):
    """There is no such stack file; the text lists the stacks there are."""


def names(root: Path = ROOT) -> list[str]:
    """The stacks that have a file in `stacks/`."""
    files = (root / "stacks").glob("Pulumi.*.yaml")
    return sorted(file.name.removeprefix("Pulumi.").removesuffix(".yaml") for file in files)


def stack_file(stack: str, root: Path = ROOT) -> Path:
    """The file of a stack; `org/project/stack` names the same file as `stack`.

    Raises:
        UnknownStackError: there is none.
    """
    name = stack.rpartition("/")[2]
    if name not in names(root):
        there = ", ".join(names(root)) or "none"
        raise UnknownStackError(
            f"stack {stack!r} has no file stacks/Pulumi.{name}.yaml. Stacks there are: {there}. "
            "Give one of them (make … STACK=dev), or write the file."
        )
    return root / "stacks" / f"Pulumi.{name}.yaml"


def copy_without_secrets(source: Path, target: Path) -> list[str]:
    """Copies a stack file; encrypted values become a placeholder, keys of encryption are left out.

    What the sandbox's engine wrote about its own encryption into an earlier copy is kept.

    Returns:
        The configuration keys whose values were replaced.
    """
    content: dict[str, Any] = yaml.safe_load(source.read_text()) or {}
    earlier = (yaml.safe_load(target.read_text()) or {}) if target.exists() else {}
    copy = {key: value for key, value in content.items() if key not in _DROPPED_KEYS}
    copy |= {key: earlier[key] for key in _ENGINE_KEYS if key in earlier}
    replaced: list[str] = []
    if isinstance(content.get("config"), Mapping):
        copy["config"] = {
            key: _plain(value, str(key), replaced) for key, value in content["config"].items()
        }
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(yaml.safe_dump(copy, sort_keys=False))
    return replaced


def set_value(file: Path, key: str, value: object) -> None:
    """Sets a configuration key of a copied stack file."""
    content = yaml.safe_load(file.read_text()) or {}
    content.setdefault("config", {})[key] = value
    file.write_text(yaml.safe_dump(content, sort_keys=False))


def _plain(value: Any, key: str, replaced: list[str]) -> Any:
    if isinstance(value, Mapping):
        if set(value) == {"secure"}:
            replaced.append(key)
            return PLACEHOLDER
        return {name: _plain(one, f"{key}.{name}", replaced) for name, one in value.items()}
    if isinstance(value, list):
        return [_plain(one, f"{key}[{index}]", replaced) for index, one in enumerate(value)]
    return value
