"""What people call GPUs, and what GKE calls them."""

from spotproof_gke.accelerators import ACCELERATORS, right_accelerator_name
from spotproof_gke.gpu_nodes import ATTACHABLE
from spotproof_gke.problems import Problem, ProblemsError
from spotproof_gke.tables import table

KNOWN: tuple[str, ...] = (*ACCELERATORS, *ATTACHABLE)
"""GKE's names of all GPUs in our tables."""

SHORT: tuple[str, ...] = tuple(
    name.removeprefix("nvidia-").removeprefix("tesla-") for name in KNOWN
)
"""The same without the maker, as people say them; `a100` is the one with 40 GB."""

_SHORTEST = 3
"""The fewest letters by which a GPU is known."""


def accelerator_named(name: object) -> str | None:
    """GKE's name of a GPU, given that or a short one such as `l4`; None when no table knows it."""
    if not isinstance(name, str):
        return None
    short = name.strip().lower().replace("_", "-").replace(" ", "-").removeprefix("nvidia-")
    misnamed = table("machine_types")["misnamed_accelerators"]
    for full in (f"nvidia-{short}", f"nvidia-tesla-{short}"):
        if (found := misnamed.get(full, full)) in KNOWN:
            return found
    begun = [known for known, said in zip(KNOWN, SHORT, strict=True) if said.startswith(short)]
    return begun[0] if len(begun) == 1 and len(short) >= _SHORTEST else None


def accelerator(name: str, key: str = "accelerator") -> str:
    """GKE's name of a GPU by that or a short one.

    Args:
        name: The name given.
        key: Where it stands, for the message.

    Raises:
        ProblemsError: No table knows it; the message leads to the nearest name.
    """
    found = accelerator_named(name)
    if found is None:
        fix = right_accelerator_name(f"nvidia-{name.lower().removeprefix('nvidia-')}", KNOWN)
        problem = Problem(key, name, "no GPU of this name is in the tables", fix)
        raise ProblemsError("GPUs", [problem])
    return found
