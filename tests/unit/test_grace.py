import pytest

from spotproof_gke.capacity import Capacity
from spotproof_gke.grace import (
    Mode,
    pod_grace_warning,
    save_problems,
    termination_budget,
)

TAKEN_AWAY = (Capacity.SPOT, Capacity.FLEX_START, Capacity.FLEX_START_QUEUED)


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("capacity", TAKEN_AWAY)
def test_an_ordinary_pod_has_15_seconds_unless_said_otherwise(
    capacity: Capacity, mode: Mode
) -> None:
    assert termination_budget(capacity, mode).seconds == 15


@pytest.mark.parametrize(
    ("total", "critical", "seconds"), [(120, 60, 60), (120, None, 105), (30, 10, 20), (0, None, 15)]
)
def test_an_extended_shutdown_leaves_what_critical_pods_do_not_take(
    total: int, critical: int | None, seconds: int
) -> None:
    budget = termination_budget(Capacity.SPOT, Mode.STANDARD, total, critical)
    assert budget.seconds == seconds


def test_autopilot_does_not_let_a_user_extend_the_shutdown() -> None:
    assert termination_budget(Capacity.SPOT, Mode.AUTOPILOT, 120).seconds == 15


@pytest.mark.parametrize("capacity", [kind for kind in Capacity if kind not in TAKEN_AWAY])
def test_nodes_that_are_not_taken_away_set_no_budget(capacity: Capacity) -> None:
    budget = termination_budget(capacity)
    assert budget.seconds is None
    assert save_problems("save", 10_000, budget) == []
    assert pod_grace_warning(10_000, budget) is None


def test_a_save_above_the_budget_is_an_error_and_a_grace_above_it_a_warning() -> None:
    budget = termination_budget(Capacity.SPOT)
    assert save_problems("save", 15, budget) == []
    (problem,) = save_problems("save", 16, budget)
    assert "a pod has 15 s when its node is taken away (30 s of notice less 15 s" in problem.rule
    assert pod_grace_warning(15, budget) is None
    assert "drains and upgrades honour it" in (pod_grace_warning(25, budget) or "")
