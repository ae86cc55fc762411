"""The GPUs that a node pool asks for are those of its machines.

The provider takes any number; the API refuses a wrong one in the middle of an update.
"""

from collections.abc import Iterator

from spotproof_gke.accelerators import MACHINE_TYPES
from spotproof_gke.gpu_nodes import ATTACHABLE, gpu_node
from spotproof_gke.rules.pool_shape import Conflict, PoolShape
from spotproof_gke.rules.reading import items, mapping, number, text

_PATHS = {
    "machine_type": "nodeConfig.machineType",
    "accelerator": "nodeConfig.guestAccelerators[0].type",
    "gpus_per_node": "nodeConfig.guestAccelerators[0].count",
}
_KNOWN = {*ATTACHABLE, *(machine.accelerator for machine in MACHINE_TYPES.values())}


def judge_gpus(pool: PoolShape) -> Iterator[Conflict]:
    """Conflicts of a pool's GPUs with its machine type, where the tables know both."""
    machine = text(pool.config.get("machineType"))
    stated = items(pool.config.get("guestAccelerators"))
    if len(stated) != 1 or not (machine in MACHINE_TYPES or machine.startswith("n1-")):
        return
    accelerator = text(mapping(stated[0]).get("type"))
    count = number(mapping(stated[0]).get("count"))
    if accelerator not in _KNOWN or count is None or not count.is_integer() or count == 0:
        return
    found = gpu_node(machine, accelerator, int(count))
    for problem in found if isinstance(found, list) else ():
        yield Conflict(_PATHS[problem.key], problem.value, problem.rule, problem.fix)
