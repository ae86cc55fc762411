"""GPU node pools: of any capacity, and the two that can be taken away by name."""

import pulumi

from spotproof.pool_args import FlexStartPoolArgs, GpuPoolArgs, SpotGpuPoolArgs
from spotproof.pool_plan import PoolPlan
from spotproof.pool_reading import RETIRED, plan_pool
from spotproof.pools import WorkPool
from spotproof.reader import Reader
from spotproof_gke.capacity import Capacity


def plan_gpu_pool(read: Reader, name: str) -> PoolPlan:
    """Judge the arguments of a `GpuPool`; problems are noted on `read`."""
    before = len(read.problems)
    capacity = read.choice("capacity", Capacity)
    known = len(read.problems) == before
    return plan_pool(read, name, capacity if known else None, gpu=True)


def plan_spot_gpu_pool(read: Reader, name: str) -> PoolPlan:
    """Judge the arguments of a `SpotGpuPool`; problems are noted on `read`."""
    return plan_pool(read, name, Capacity.SPOT, gpu=True)


def plan_flex_start_pool(read: Reader, name: str) -> PoolPlan:
    """Judge the arguments of a `FlexStartPool`; problems are noted on `read`."""
    queued = read.boolean("queued", default=False)
    capacity = Capacity.FLEX_START_QUEUED if queued else Capacity.FLEX_START
    return plan_pool(read, name, capacity, gpu=True)


class GpuWorkPool(WorkPool):
    """What the GPU pools have in common."""

    accelerator: pulumi.Output[str]
    """The GPU as GKE names it, for example `nvidia-l4`."""

    gpus_per_node: pulumi.Output[int]
    """How many GPUs one node has."""

    def _make(self, name: str, plan: PoolPlan, read: Reader) -> None:
        read.warn(self)
        assert plan.gpu is not None, "a plan without problems has its GPU"
        outputs = self._declare(name, plan)
        self.accelerator = pulumi.Output.from_input(plan.gpu.accelerator)
        self.gpus_per_node = pulumi.Output.from_input(plan.gpu.count)
        self.register_outputs(
            {**outputs, "accelerator": self.accelerator, "gpusPerNode": self.gpus_per_node}
        )


class GpuPool(GpuWorkPool):
    """A GPU node pool of any capacity: on-demand, Spot, flex-start, queued, or out of a reservation."""

    def __init__(
        self, name: str, args: GpuPoolArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        read = Reader(args, GpuPoolArgs.__annotations__, hints=RETIRED)
        plan = plan_gpu_pool(read, name)
        read.finish(f"GpuPool {name}")
        super().__init__("spotproof:index:GpuPool", name, None, opts)
        self._make(name, plan, read)


class SpotGpuPool(GpuWorkPool):
    """A node pool of Spot GPUs that only workloads which ask for Spot can reach."""

    def __init__(
        self, name: str, args: SpotGpuPoolArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        read = Reader(args, SpotGpuPoolArgs.__annotations__, hints=RETIRED)
        plan = plan_spot_gpu_pool(read, name)
        read.finish(f"SpotGpuPool {name}")
        super().__init__("spotproof:index:SpotGpuPool", name, None, opts)
        self._make(name, plan, read)


class FlexStartPool(GpuWorkPool):
    """A node pool of flex-start GPUs, which wait for capacity and then run up to 7 days without preemption."""

    def __init__(
        self, name: str, args: FlexStartPoolArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        read = Reader(args, FlexStartPoolArgs.__annotations__, hints=RETIRED)
        plan = plan_flex_start_pool(read, name)
        read.finish(f"FlexStartPool {name}")
        super().__init__("spotproof:index:FlexStartPool", name, None, opts)
        self._make(name, plan, read)
