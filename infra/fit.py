"""Whether the hand-made pools of a stack fit into the limits of auto-provisioning."""

from collections.abc import Iterator, Mapping

from spotproof.auto_provisioning import AutoProvisioningPlan
from spotproof.pool_plan import PoolPlan
from spotproof_gke.problems import Problem


def limits_reached(
    limits: AutoProvisioningPlan, pools: Mapping[str, PoolPlan]
) -> Iterator[Problem]:
    """The limits that hand-made pools can reach by themselves: GKE counts these pools too.

    Args:
        limits: The limits of the cluster.
        pools: The plans of the pools with GPUs, by their paths in the stack file. The size of a
            machine without GPUs is not in our tables, so such pools are not counted.
    """
    machines = [
        (plan.machine, plan.max_nodes or (plan.nodes_per_zone or 0) * len(plan.zones))
        for plan in pools.values()
        if plan.machine is not None
    ]
    needs = [
        (
            f"accelerators.{accelerator}",
            limit,
            sum(m.gpus * most for m, most in machines if m.accelerator == accelerator),
        )
        for accelerator, limit in limits.accelerators
    ]
    needs.append(("maxVcpus", limits.max_vcpus, sum(m.vcpus * most for m, most in machines)))
    memory_gb = sum(m.memory_gb * most for m, most in machines)
    needs.append(("maxMemoryGb", limits.max_memory_gb, memory_gb))
    for key, limit, needed in needs:
        if needed > limit:
            rule = f"this limit holds for hand-made pools too, and the pools can reach {needed}"
            fix = "raise it above that, or lower maxNodes of a pool"
            yield Problem(f"autoProvisioning.{key}", limit, rule, fix)
