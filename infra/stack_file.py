"""Reads a stack file the way the engine does, so that both judge the same values."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml


class UnreadableStackFileError(ValueError):
    """A stack file that is missing or is no YAML mapping."""


class _Loader(yaml.SafeLoader):
    """YAML as the engine reads it: only true and false are booleans, and dates are texts."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, form) for tag, form in resolvers if not tag.endswith((":bool", ":timestamp"))]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:bool",
    re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"),
    list("tTfF"),
)


def read(path: Path) -> tuple[dict[str, Any], list[str]]:
    """The configuration in a stack file, and the keys whose values are encrypted.

    Raises:
        UnreadableStackFileError: There is no such file, or it is no YAML mapping.
    """
    try:
        document = yaml.load(path.read_text(encoding="utf-8"), _Loader)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text in UTF-8"
        raise UnreadableStackFileError(f"{path}: {reason}; name a file of stacks/") from None
    except yaml.YAMLError as error:
        where = getattr(error, "problem_mark", None)
        line = f", line {where.line + 1}" if where else ""
        reason = getattr(error, "problem", None) or "not readable"
        raise UnreadableStackFileError(f"{path}{line}: this is no YAML: {reason}") from None
    config = document.get("config") if isinstance(document, Mapping) else None
    if not isinstance(config, Mapping):
        raise UnreadableStackFileError(f"{path}: a stack file is a mapping with the key config")
    secrets = [str(key) for key, value in config.items() if _encrypted(value)]
    plain = {
        str(key): _as_engine(value) for key, value in config.items() if str(key) not in secrets
    }
    return parsed({**plain, **dict.fromkeys(secrets, "")}), secrets


def parsed(values: Mapping[str, Any]) -> dict[str, Any]:
    """Configuration as the engine hands it over, its JSON objects and booleans read."""
    return {key: _value(value) for key, value in values.items()}


def _value(text: Any) -> Any:
    if not isinstance(text, str):
        return text
    if text in ("true", "false") or text[:1] in ("{", "["):
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text


def _as_engine(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (Mapping, list)):
        return value
    return "" if value is None else str(value)


def _encrypted(value: Any) -> bool:
    if isinstance(value, Mapping):
        return set(value) == {"secure"} or any(_encrypted(item) for item in value.values())
    return isinstance(value, list) and any(_encrypted(item) for item in value)
