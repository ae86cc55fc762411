"""Small parts of the Common Expression Language, as Kubernetes' admission policies speak it."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from spotproof_gke.rules.workloads import POD_AT


def literal(value: Any) -> str:
    """A text, a list of literals, a list of lists or a mapping of literals as CEL writes them."""
    if isinstance(value, str):
        # The escapes of JSON are ones of CEL, and in this order no character beyond ASCII is left.
        return json.dumps(value)
    if isinstance(value, Mapping):
        pairs = (f"{literal(key)}: {literal(each)}" for key, each in value.items())
        return "{" + ", ".join(pairs) + "}"
    return "[" + ", ".join(literal(each) for each in value) + "]"


def optional(root: str, *keys: str) -> str:
    """The optional value at a path below `root`."""
    return root + "".join(f".?{key}" for key in keys)


def pod_spec(root: str, kinds: Mapping[str, tuple[str, ...]] = POD_AT) -> str:
    """The pod specification in an object of any of these kinds; an empty mapping when none is.

    Args:
        root: The object.
        kinds: Where the specification stands, by kind.
    """
    by_path: dict[tuple[str, ...], list[str]] = {}
    for kind, path in kinds.items():
        by_path.setdefault(path, []).append(kind)
    # The types of the kinds differ, so the checker must not hold a field of one against another.
    branches = [
        f"{root}.kind in {literal(sorted(names))} ? {optional(f'dyn({root})', *path)}.orValue({{}})"
        for path, names in by_path.items()
    ]
    return " : ".join([*branches, "{}"])


def either(conditions: Iterable[str]) -> str:
    """Whether one of the conditions holds."""
    return "(" + (" || ".join(conditions) or "false") + ")"


def both(*conditions: str) -> str:
    """Whether all of the conditions hold."""
    return "(" + " && ".join(conditions) + ")"
