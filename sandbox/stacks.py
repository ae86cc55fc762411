"""The stacks of the project, and copies of their files that are safe in a sandbox."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import yaml

from sandbox.paths import ROOT
from sandbox.yaml_text import YamlText

EMULATED = "sandbox"
PLACEHOLDER = "placeholder"
PROGRAM = "spotproof"
"""The name that settings of the program may have before them, whatever the project is called."""
_NAME = re.compile(r"[A-Za-z0-9_.-]+")
_ENGINE_KEYS = ("encryptionsalt", "encryptedkey", "secretsprovider")
# An `environment` is fetched from the user's own Pulumi Cloud; a sandbox has no login.
_DROPPED_KEYS = (*_ENGINE_KEYS, "environment")


class StackNameError(ValueError):
    """A text that is no stack's name, or not the name of a stack of that kind."""


class UnknownStackError(ValueError):
    """There is no such stack file; the text lists the stacks there are."""


class UnreadableStackFileError(ValueError):
    """A stack file that is no YAML mapping; the text names file and line."""


def names(root: Path = ROOT) -> list[str]:
    """The stacks that have a file in `stacks/`."""
    files = (root / "stacks").glob("Pulumi.*.yaml")
    return sorted(file.name.removeprefix("Pulumi.").removesuffix(".yaml") for file in files)


def short_name(stack: str) -> str:
    """The stack's name as it is, safe as a part of a path.

    Raises:
        StackNameError: it is qualified (`org/stack`) or no name at all.
    """
    if not _is_name(stack):
        raise StackNameError(
            f"stack {stack!r}: a stack's name here has letters, digits and . _ - only, without "
            "organization and project. Give one of: " + (", ".join(names()) or "none")
        )
    return stack


def short_name_of_real(stack: str) -> str:
    """The last part of a real stack's name: `stack`, `org/stack` or `org/project/stack`.

    Raises:
        StackNameError: it is none of these, or names the emulated stack.
    """
    parts = stack.split("/")
    if len(parts) > 3 or not all(_is_name(part) for part in parts):
        raise StackNameError(
            f"stack {stack!r}: a real stack is named stack, org/stack or org/project/stack, each "
            "of letters, digits and . _ - only"
        )
    if parts[-1] == EMULATED:
        raise StackNameError(
            f"stack {stack!r}: the stack {EMULATED} is emulated and has no place in the real "
            f"cloud. Say STACK={EMULATED} for the emulated one, or give the real one another name."
        )
    return parts[-1]


def stack_file(stack: str, root: Path = ROOT) -> Path:
    """The file of a stack, by its short name.

    Raises:
        StackNameError: that is no short name.
        UnknownStackError: there is no file.
    """
    name = short_name(stack)
    if name not in names(root):
        there = ", ".join(names(root)) or "none"
        raise UnknownStackError(
            f"stack {stack!r} has no file stacks/Pulumi.{name}.yaml. Stacks there are: {there}. "
            "Give one of them (make … STACK=dev), or write the file."
        )
    return root / "stacks" / f"Pulumi.{name}.yaml"


def read(file: Path) -> tuple[YamlText, yaml.MappingNode]:
    """A stack file's text and the mapping in it.

    Raises:
        UnreadableStackFileError: it cannot be read, or is no YAML mapping without loops.
    """
    shown = file.relative_to(ROOT) if file.is_relative_to(ROOT) else file
    try:
        content = file.read_bytes().decode("utf-8")
    except OSError as error:
        raise UnreadableStackFileError(f"{shown}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise UnreadableStackFileError(f"{shown}, line {line}: this is no UTF-8") from None
    try:
        text = YamlText(content)
        _refuse_loops(text.root, ())
    except yaml.YAMLError as error:
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "unreadable"
        raise UnreadableStackFileError(
            f"{shown}, line {_line(error, content)}: this is no YAML: {problem}"
        ) from None
    except RecursionError:
        raise UnreadableStackFileError(f"{shown}: this is nested too deeply") from None
    if not isinstance(text.root, yaml.MappingNode):
        line = text.root.start_mark.line + 1 if text.root else 1
        raise UnreadableStackFileError(
            f"{shown}, line {line}: a stack file is a mapping with the key config"
        )
    return text, text.root


def copy_without_secrets(source: Path, target: Path) -> list[str]:
    """Copies a stack file; encrypted values become a placeholder, keys of encryption are left out.

    All else stays as it is written, so that the engine reads the values that it always reads.
    What the sandbox's engine wrote about its own encryption into an earlier copy is kept.

    Returns:
        The configuration keys whose values were replaced.

    Raises:
        UnreadableStackFileError: the file is no YAML mapping.
    """
    text, root = read(source)
    replaced: list[str] = []
    for item in text.items(root):
        if item.key in _DROPPED_KEYS:
            text.remove(root, item)
        if item.key == "config" and isinstance(item.value, yaml.MappingNode):
            for name, value in item.value.value:
                for key, node in _encrypted(value, str(name.value)):
                    text.replace(node, PLACEHOLDER)
                    replaced.append(key)
    for key, value in _engine_values(target).items():
        text.insert(root, f"{key}: {json.dumps(value)}")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(text.edited().encode())
    return replaced


def value(file: Path, key: str) -> str:
    """A scalar of a stack file's configuration as it is written, or "" where there is none.

    Args:
        file: the stack file.
        key: the key, with its namespace; the file may have it without one, or under the program's.

    Raises:
        UnreadableStackFileError: the file is no YAML mapping.
    """
    text, root = read(file)
    config = next((item.value for item in text.items(root) if item.key == "config"), None)
    if not isinstance(config, yaml.MappingNode):
        return ""
    return next(
        (
            str(item.value.value)
            for item in text.items(config)
            if item.key in _spellings(key) and isinstance(item.value, yaml.ScalarNode)
        ),
        "",
    )


def set_value(file: Path, key: str, value: bool | str) -> None:
    """Sets a configuration key of a copied stack file."""
    text, root = read(file)
    entry = f"{key}: {json.dumps(value)}"
    config = next((item for item in text.items(root) if item.key == "config"), None)
    if config is None:
        text.insert(root, f"config: {{{entry}}}")
    elif isinstance(config.value, yaml.MappingNode):
        items = text.items(config.value)
        there = next((item for item in items if item.key in _spellings(key)), None)
        if there is None:
            text.insert(config.value, entry)
        else:
            text.replace_item(there, f"{there.key}: {json.dumps(value)}")
    else:
        text.replace_item(config, f"config: {{{entry}}}")
    file.write_bytes(text.edited().encode())


def _spellings(key: str) -> tuple[str, str, str]:
    name = key.partition(":")[2]
    return key, name, f"{PROGRAM}:{name}"


def _is_name(text: str) -> bool:
    return _NAME.fullmatch(text) is not None and text not in (".", "..")


def _line(error: yaml.YAMLError, content: str) -> int:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if mark is not None:
        return mark.line + 1
    return content[: getattr(error, "position", 0)].count("\n") + 1


def _refuse_loops(node: yaml.Node | None, above: tuple[yaml.Node, ...]) -> None:
    if any(node is one for one in above):
        raise yaml.MarkedYAMLError(
            problem="an anchor's value holds itself", problem_mark=above[-1].start_mark
        )
    if isinstance(node, yaml.CollectionNode):
        for one in node.value:
            for child in one if isinstance(one, tuple) else (one,):
                _refuse_loops(child, (*above, node))


def _engine_values(copy: Path) -> dict[str, str]:
    """What the engine wrote into an earlier copy; a broken copy holds nothing worth keeping."""
    try:
        text, root = read(copy)
    except UnreadableStackFileError:
        return {}
    return {
        item.key: str(item.value.value)
        for item in text.items(root)
        if item.key in _ENGINE_KEYS and isinstance(item.value, yaml.ScalarNode)
    }


def _encrypted(node: yaml.Node, key: str) -> Iterator[tuple[str, yaml.Node]]:
    """The nodes that the engine would decrypt, by their configuration keys."""
    if _is_encrypted(node):
        yield key, node
    elif isinstance(node, yaml.MappingNode):
        for name, value in node.value:
            yield from _encrypted(value, f"{key}.{name.value}")
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            yield from _encrypted(value, f"{key}[{index}]")


def _is_encrypted(node: yaml.Node) -> bool:
    if not isinstance(node, yaml.MappingNode) or len(node.value) != 1:
        return False
    name, value = node.value[0]
    return name.value == "secure" and isinstance(value, yaml.ScalarNode)
