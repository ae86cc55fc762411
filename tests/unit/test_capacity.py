import pytest

from spotproof_gke import capacity
from spotproof_gke.capacity import Capacity


def _tolerates(tolerations: tuple[dict[str, str], ...], taint: capacity.Taint) -> bool:
    return any(
        t["key"] == taint.key and t["value"] == taint.value and t["effect"] == taint.effect
        for t in tolerations
    )


@pytest.mark.parametrize("kind", Capacity)
@pytest.mark.parametrize("accelerator", [None, "nvidia-l4"])
def test_a_workload_that_follows_scheduling_lands_on_the_pool(
    kind: Capacity, accelerator: str | None
) -> None:
    where = capacity.scheduling(kind, accelerator)
    for taint in capacity.pool_taints(kind, gpu=accelerator is not None):
        # Kubernetes itself adds the toleration of the GPU taint to pods that request GPUs.
        assert taint.key == capacity.GPU_KEY or _tolerates(where.tolerations, taint)


def test_spot_selector_and_toleration_never_part() -> None:
    for accelerator in (None, "nvidia-l4"):
        where = capacity.scheduling(Capacity.SPOT, accelerator)
        assert where.node_selector[capacity.SPOT_KEY] == "true"
        assert _tolerates(where.tolerations, capacity.SPOT_TAINT)


def test_the_plain_flex_start_gpu_job_needs_no_toleration_of_ours() -> None:
    where = capacity.scheduling(Capacity.FLEX_START, "nvidia-tesla-a100")
    assert where.node_selector == {
        "cloud.google.com/gke-flex-start": "true",
        "cloud.google.com/gke-accelerator": "nvidia-tesla-a100",
    }
    assert where.tolerations == ()


def test_the_provider_gets_the_api_spelling_of_an_effect() -> None:
    assert capacity.SPOT_TAINT.provider_taint() == {
        "key": "cloud.google.com/gke-spot",
        "value": "true",
        "effect": "NO_SCHEDULE",
    }
