"""Reads what a stack file says of all that is inside the cluster, and settings inside settings."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, get_args, get_origin

from typing_extensions import NotRequired, is_typeddict

from spotproof.reader import Reader, camel_case
from spotproof_gke.problems import Problem
from workload_sections import Layer, LayerSettings

Snake = Callable[[Mapping[Any, Any], Sequence[str], str], dict[str, Any]]
"""Spells the keys of settings as arguments, given the arguments there are and the path."""


def read_layer(top: Mapping[str, Any], problems: list[Problem]) -> dict[str, Any]:
    """The fields of `Settings` about the objects inside the cluster as a whole."""
    given = {key: value for key, value in top.items() if key in LayerSettings.__annotations__}
    read = Reader(given, given, "", camel_case, problems)
    folder = read.text("workloads_folder", default=None) or None
    if folder is not None:
        path = PurePosixPath(folder)
        if path.is_absolute() or ".." in path.parts or path == PurePosixPath():
            rule = "this is a folder inside the project, so that it is the same on each machine"
            read.problem("workloads_folder", folder, rule, "write it like rendered/prod")
    return {
        "workloads": read.choice("workloads", Layer, Layer.NONE),
        "workloads_folder": folder,
        "create_namespaces": read.boolean("create_namespaces", default=True),
    }


def nested(args: Mapping[str, Any], type_: Any, path: str, snake: Snake) -> dict[str, Any]:
    """The arguments that hold settings themselves, with the keys of those spelt as arguments.

    What has another form than it must have is left for the component to judge.
    """
    found = {}
    for key, hint in type_.__annotations__.items():
        hint = get_args(hint)[0] if get_origin(hint) is NotRequired else hint
        value = args.get(key)
        if value is not None and (inner := _inside(hint)) is not None:
            at = f"{path}{camel_case(key)}"
            found[key] = _spelt(value, hint, inner, at, snake)
    return found


def _spelt(value: object, hint: Any, inner: Any, at: str, snake: Snake) -> object:
    if get_origin(hint) is list and isinstance(value, list):
        return [_one(one, inner, f"{at}[{number}].", snake) for number, one in enumerate(value)]
    if get_origin(hint) is dict and isinstance(value, Mapping):
        return {key: _one(one, inner, f"{at}.{key}.", snake) for key, one in value.items()}
    return value if get_origin(hint) else _one(value, inner, f"{at}.", snake)


def _one(value: object, inner: Any, at: str, snake: Snake) -> object:
    if not isinstance(value, Mapping):
        return value
    return snake(value, list(inner.__annotations__), at)


def _inside(hint: Any) -> Any:
    """The TypedDict that a hint is, or is a list or a mapping of; None when there is none."""
    for one in (hint, *get_args(hint)[-1:]):
        if is_typeddict(one):
            return one
    return None
