"""Node pools without GPUs for work that can be taken away, or must not be."""

import pulumi

from spotproof.pool_args import CpuPoolArgs
from spotproof.pool_plan import PoolPlan
from spotproof.pool_reading import RETIRED, plan_pool
from spotproof.pools import WorkPool
from spotproof.reader import Reader
from spotproof_gke.capacity import Capacity

CAPACITIES = (Capacity.ON_DEMAND, Capacity.SPOT, Capacity.FLEX_START)
"""What a pool without GPUs can be; queued provisioning and reservations are for GPUs."""


def plan_cpu_pool(read: Reader, name: str) -> PoolPlan:
    """Judge the arguments of a `CpuPool`; problems are noted on `read`."""
    before = len(read.problems)
    capacity = read.choice("capacity", Capacity)
    known = len(read.problems) == before
    if known and capacity not in CAPACITIES:
        rule = "this is for GPU pools"
        fix = "use one of " + ", ".join(kind.value for kind in CAPACITIES) + ", or a GpuPool"
        read.problem("capacity", capacity.value, rule, fix)
        known = False
    return plan_pool(read, name, capacity if known else None, gpu=False)


class CpuPool(WorkPool):
    """A node pool of CPU workers on Spot, flex-start or on-demand machines, tainted unless on-demand."""

    def __init__(
        self, name: str, args: CpuPoolArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        read = Reader(args, CpuPoolArgs.__annotations__, hints=RETIRED)
        plan = plan_cpu_pool(read, name)
        read.finish(f"CpuPool {name}")
        super().__init__("spotproof:index:CpuPool", name, None, opts)
        read.warn(self)
        self.register_outputs(self._declare(name, plan))
