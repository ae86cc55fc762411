"""What the Kubernetes provider does with a change of an object, in small.

Source: provider v4, `pkg/provider/diff.go` and `provider.go`: which properties can't be changed in
place, and that an object of the same name and namespace goes before its replacement comes.
"""

from typing import Any

from spotproof_gke.rules.reading import dig

_FORCE_NEW = {
    "Job": ("completions", "parallelism", "selector", "template"),
    "Deployment": ("selector",),
}


def is_kubernetes(token: str) -> bool:
    """Whether a type is one of the Kubernetes provider."""
    return token.startswith("kubernetes:")


def outputs_of(inputs: dict[str, Any]) -> dict[str, Any]:
    """The outputs of an object as far as components read them."""
    return dict(inputs)


def replaced(
    token: str, old: dict[str, Any], new: dict[str, Any], also: tuple[str, ...]
) -> tuple[bool, bool]:
    """Whether a change replaces an object, and whether the old one goes first.

    Args:
        token: Type of the object.
        old, new: Its inputs before and after.
        also: Paths of properties that the program declares as such besides.
    """
    kind = token.rpartition(":")[2]
    where = [(one["metadata"].get("name"), one["metadata"].get("namespace")) for one in (old, new)]
    moved = where[0] != where[1]
    fields = _FORCE_NEW.get(kind, ())
    changed = any(old.get("spec", {}).get(f) != new.get("spec", {}).get(f) for f in fields)
    changed = changed or any(dig(old, *p.split(".")) != dig(new, *p.split(".")) for p in also)
    return moved or changed, not moved
