"""Reads a stack file the way the engine does, so that both judge the same values."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

DEEPEST = 40
"""Levels of nesting that are read; a real stack file has four."""

MOST_ALIASES = 20
"""YAML aliases that are followed; more of them can unfold into more than a memory holds."""


_PROJECT_FILE = Path(__file__).resolve().parent.parent / "Pulumi.yaml"


class UnreadableStackFileError(ValueError):
    """A stack file that is missing or is no YAML mapping."""


class _Loader(yaml.SafeLoader):
    """YAML as the engine reads it: 1.2 numbers and booleans, dates as texts, each key once."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        event: Any = self.peek_event()
        anchor = event.anchor
        open_anchors: list[str] = self.__dict__.setdefault("open_anchors", [])
        if self.check_event(yaml.AliasEvent):
            self.aliases = getattr(self, "aliases", 0) + 1
            if anchor in open_anchors or self.aliases > MOST_ALIASES:
                rule = f"an alias never holds itself, and there are at most {MOST_ALIASES}"
                raise yaml.YAMLError(f"*{anchor}: {rule}{_line(event)}")
            return super().compose_node(parent, index)
        if len(open_anchors) >= DEEPEST:
            raise yaml.YAMLError(f"it is nested deeper than {DEEPEST} levels{_line(event)}")
        open_anchors.append(anchor)
        node = super().compose_node(parent, index)
        open_anchors.pop()
        return node

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if key.value in seen:
                raise yaml.YAMLError(f"{key.value!r} stands twice{_line(key)}")
            seen.add(key.value if isinstance(key.value, str) else "")
        return super().construct_mapping(node, deep=True)


def _line(node: Any) -> str:
    mark = getattr(node, "start_mark", None)
    return f" (line {mark.line + 1})" if mark else ""


def _number(loader: yaml.SafeLoader, node: Any) -> int | float:
    text = loader.construct_scalar(node).replace("_", "").lower()
    sign, digits = (-1, text[1:]) if text.startswith("-") else (1, text.removeprefix("+"))
    for prefix, base in (("0x", 16), ("0o", 8), ("0b", 2)):
        if digits.startswith(prefix):
            return sign * int(digits[2:][:64], base)
    return sign * (int(digits) if digits.isdigit() and len(digits) < 20 else float(digits))


_KEPT = ("tag:yaml.org,2002:null",)
_Loader.yaml_implicit_resolvers = {
    first: [(tag, form) for tag, form in resolvers if tag in _KEPT]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:bool",
    re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"),
    list("tTfF"),
)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(
        r"^[-+]?(?:0x[0-9a-fA-F_]+|0o[0-7_]+|0b[01_]+"
        r"|(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)?)$"
    ),
    list("-+.0123456789"),
)
_Loader.add_constructor("tag:yaml.org,2002:float", _number)
_Loader.add_constructor("tag:yaml.org,2002:int", _number)


def read(path: Path) -> tuple[dict[str, Any], list[str]]:
    """The configuration in a stack file, and the keys whose values are encrypted.

    A key without a namespace counts as one of the program's own, as it does for the engine.

    Raises:
        UnreadableStackFileError: There is no such file, or it is no YAML mapping.
    """
    try:
        document = yaml.load(path.read_text(encoding="utf-8"), _Loader)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text in UTF-8"
        raise UnreadableStackFileError(f"{path}: {reason}; name a file of stacks/") from None
    except yaml.MarkedYAMLError as error:
        where = error.problem_mark or error.context_mark
        line = f", line {where.line + 1}" if where else ""
        raise UnreadableStackFileError(f"{path}{line}: this is no YAML: {error.problem}") from None
    except yaml.YAMLError as error:
        reason = str(error).splitlines()[0]
        raise UnreadableStackFileError(f"{path}: this can't be read: {reason}") from None
    except (ValueError, LookupError, AttributeError, TypeError, RecursionError) as error:
        reason = type(error).__name__
        raise UnreadableStackFileError(
            f"{path}: a value does not fit its !!tag ({reason}); leave tags out"
        ) from None
    config = document.get("config") if isinstance(document, Mapping) else None
    if not isinstance(config, Mapping):
        raise UnreadableStackFileError(f"{path}: a stack file is a mapping with the key config")
    full = {_full_key(key): value for key, value in config.items()}
    if len(full) < len(config):
        raise UnreadableStackFileError(
            f"{path}: a setting stands twice, with and without the program's name before it"
        )
    secrets = [key for key, value in full.items() if _encrypted(value)]
    plain = {key: _as_engine(value) for key, value in full.items() if key not in secrets}
    return parsed({**plain, **dict.fromkeys(secrets, "")}), secrets


def project_name() -> str:
    """The name in Pulumi.yaml, which the engine writes before keys that have none."""
    return str(yaml.safe_load(_PROJECT_FILE.read_text(encoding="utf-8"))["name"])


def parsed(values: Mapping[str, Any]) -> dict[str, Any]:
    """Configuration as the engine hands it over, its JSON objects and booleans read."""
    return {key: _value(value) for key, value in values.items()}


def _full_key(key: Any) -> str:
    return str(key) if ":" in str(key) else f"spotproof:{key}"


def _value(text: Any) -> Any:
    if not isinstance(text, str):
        return text
    if text in ("true", "false") or text[:1] in ("{", "["):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
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
        return "secure" in value or any(_encrypted(item) for item in value.values())
    return isinstance(value, list) and any(_encrypted(item) for item in value)
