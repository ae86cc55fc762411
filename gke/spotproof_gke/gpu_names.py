"""What people call GPUs, and what GKE calls them."""

from spotproof_gke.accelerators import ACCELERATORS, right_accelerator_name
from spotproof_gke.gpu_nodes import ATTACHABLE
from spotproof_gke.problems import Problem, ProblemsError
from spotproof_gke.tables import table

ALL: tuple[str, ...] = (*ACCELERATORS, *ATTACHABLE)
"""GKE's names of all GPUs in the tables."""


def accelerator_named(name: str) -> str | None:
    """GKE's name of a GPU by that or a short one, such as `l4` or `H100`; None for no known one."""
    short = name.strip().lower().replace("_", "-").replace(" ", "-").removeprefix("nvidia-")
    misnamed = table("machine_types")["misnamed_accelerators"]
    for full in (f"nvidia-{short}", f"nvidia-tesla-{short}"):
        if (found := misnamed.get(full, full)) in ALL:
            return found
    return None


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
        fix = right_accelerator_name(f"nvidia-{name.lower().removeprefix('nvidia-')}", ALL)
        problem = Problem(key, name, "no GPU of this name is in the tables", fix)
        raise ProblemsError("GPUs", [problem])
    return found
