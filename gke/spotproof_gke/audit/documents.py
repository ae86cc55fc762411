"""Files as plain data: what they hold, in JSON or YAML, and what kind of file they are."""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from spotproof_gke.audit.evidence import InputError, printable
from spotproof_gke.rules.reading import text

STDIN = "-"
_DEEPEST = 200
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MARKS = (
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
    (b"\xef\xbb\xbf", "utf-8-sig"),
)
WRITERS = "`kubectl get ... -o json` or `pulumi stack export`"
"""What writes the files that an audit takes, for messages."""


def read(path: str, writers: str = WRITERS) -> str:
    """The text of a file, or of standard input for `-`.

    Args:
        path: The file's path.
        writers: What writes such files, for messages.

    Raises:
        InputError: The file cannot be read or is no text.
    """
    name_one = f"name a file that {writers} wrote"
    try:
        raw = sys.stdin.buffer.read() if path == STDIN else Path(path).read_bytes()
    except OSError as error:
        why = error.strerror or "cannot be read"
        raise InputError(f"{printable(path)}: {why}; {name_one}") from None
    except ValueError:
        raise InputError(f"{printable(path)}: not the name of a file; {name_one}") from None
    encoding = next((name for mark, name in _MARKS if raw.startswith(mark)), "utf-8")
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError:
        raise InputError(f"{label(path)}: not a text file; {_expected(writers)}") from None


def label(path: str) -> str:
    """What a file is called in messages: its name without its folders."""
    name = "standard input" if path == STDIN else Path(path).name or path
    return printable(name)


def documents(name: str, content: str, writers: str = WRITERS) -> list[Any]:
    """Everything in a text: JSON documents one after the other, or YAML documents.

    Args:
        name: What the file is called in messages.
        content: The text.
        writers: What writes such files, for messages.

    Raises:
        InputError: It is neither, or nested deeper than any real document.
    """
    expected = _expected(writers)
    try:
        return list(_json(content))
    except RecursionError:
        raise InputError(f"{name}: nested too deeply; {expected}") from None
    except ValueError as error:
        if content.lstrip()[:1] in ("{", "["):
            raise InputError(f"{name}: broken JSON ({_place(error)}); {expected}") from None
    try:
        _refuse_odd_yaml(name, content, expected)
        return [each for each in yaml.load_all(content, _LOADER) if each is not None]
    except RecursionError:
        raise InputError(f"{name}: nested too deeply; {expected}") from None
    except (yaml.YAMLError, ValueError, TypeError, OverflowError, AttributeError) as error:
        if isinstance(error, InputError):
            raise
        # The loader raises the others for odd scalars and keys.
        raise InputError(f"{name}: neither JSON nor YAML; {expected}") from None


def _expected(writers: str) -> str:
    return f"expected what {writers} prints (JSON or YAML)"


def _refuse_odd_yaml(name: str, content: str, expected: str) -> None:
    """Refuse what neither kubectl nor Pulumi writes before it is expanded in memory."""
    depth = 0
    for event in yaml.parse(content, _LOADER):
        if isinstance(event, yaml.AliasEvent):
            # A few lines of them can stand for more data than fits into memory.
            raise InputError(f"{name}: has YAML aliases (*name); write it out without them")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _DEEPEST:
            raise InputError(f"{name}: nested too deeply; {expected}")


def _place(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"line {error.lineno}, column {error.colno}; was it cut off?"
    return "a number that is too long"


def _json(content: str) -> Iterator[Any]:
    decoder, at, end = json.JSONDecoder(), 0, len(content)
    while True:
        while at < end and content[at] in " \t\r\n":
            at += 1
        if at == end:
            return
        value, at = decoder.raw_decode(content, at)
        yield value


def is_state(document: Any) -> bool:
    """Whether a document is a Pulumi state: an export, or a checkpoint of the file backend."""
    if not isinstance(document, Mapping) or text(document.get("kind")):
        return False
    return "deployment" in document or "checkpoint" in document


def is_object(document: Any) -> bool:
    """Whether a document is a Kubernetes object, a list of them, or the bare items of one."""
    if isinstance(document, list):
        return bool(document) and any(is_object(each) for each in document)
    return isinstance(document, Mapping) and bool(text(document.get("kind")))


def kind_error(name: str, content: Sequence[Any]) -> InputError:
    """The error for a file that is neither a state nor a dump."""
    if any(isinstance(each, Mapping) and "steps" in each for each in content):
        return InputError(
            f"{name}: the plan of a preview, which the policy packs judge: "
            "pulumi preview --policy-pack FOLDER; for an audit give `pulumi stack export`"
        )
    return InputError(f"{name}: neither a Kubernetes dump nor a Pulumi state; {_expected(WRITERS)}")
