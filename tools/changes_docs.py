"""The page of what a change of each argument does, out of the table that the tests try out."""

from pathlib import Path
from typing import Any

import yaml

from tools.markdown import GENERATED, table

TABLE = Path(__file__).with_name("changes.yaml")

WORDS = {
    "updates": "updates {} in place",
    "replaces": "replaces {}: the new one is made first",
    "remakes": "remakes {}: the old one goes first",
    "adds": "adds or removes {}",
    "removes": "removes {}",
}
"""How each effect is told."""


def changes_page() -> str:
    """What a change of each argument of each component does to the resources that are there."""
    parts = [
        GENERATED,
        "# Changes",
        "What happens to the resources of a component when one of its arguments is changed. "
        "A resource that is replaced or remade takes what runs on it along.",
        "Adding or removing a pool, a queue or an identity touches no other resource.",
    ]
    components = yaml.safe_load(TABLE.read_text(encoding="utf-8"))
    for component, arguments in sorted(components.items()):
        rows = [
            (f"`{argument}`", _effect(row), row.get("note", ""))
            for argument, row in arguments.items()
        ]
        parts += [f"## {component}", table(("argument", "effect", "note"), rows)]
    return "\n\n".join(parts) + "\n"


def _effect(row: dict[str, Any]) -> str:
    told = [words.format(", ".join(row[key])) for key, words in WORDS.items() if key in row]
    return "; ".join(told) or "nothing"
