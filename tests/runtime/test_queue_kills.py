"""A worker killed at any point of a message's life: the message is another's, the result once."""

import signal
import time
from collections.abc import Callable

import pytest

from spotproof_runtime import Item
from tests.runtime.fleet import Fleet
from tests.runtime.queue_process import KillAt
from tests.runtime.queues import new_queue
from tests.runtime.services import wait_for


def test_a_kill_at_any_point_loses_nothing(new_fleet: Callable[[], Fleet]) -> None:
    fleets = {point: new_fleet() for point in KillAt if point is not KillAt.NEVER}
    for point, fleet in fleets.items():
        fleet.queue.publish([Item("a", 1), Item("b", 2)])
        fleet.start(point)
    for fleet in fleets.values():
        fleet.alive[0].join(timeout=60)
        assert fleet.alive.pop(0).exitcode == -signal.SIGKILL
        fleet.queue.publish([Item("c", 3)])
        fleet.start()
    for point, fleet in fleets.items():
        wait_for(lambda fleet=fleet: fleet.acknowledged() == 2, f"{point}: all messages ended")
        assert fleet.rows() == 3, point
        computed = 5 if point is KillAt.COMPUTED else 3
        assert fleet.happened("computed") == computed, f"{point}: twice only when not stored"


@pytest.mark.parametrize(
    ("number", "goal_seconds"), [(signal.SIGTERM, 2), (signal.SIGKILL, 60)], ids=["term", "kill"]
)
def test_a_message_is_anothers_soon_after_its_worker_is_gone(
    fleet: Fleet,
    number: int,
    goal_seconds: int,
    record_property: Callable[[str, object], None],
) -> None:
    """The subscription leases for ten minutes; the worker's steps, here of 10 s, count."""
    fleet.queue = new_queue(ack_deadline_seconds=600)
    fleet.work_seconds = 300
    fleet.budget_seconds = 6
    fleet.queue.publish([Item("a", 1)])
    process = fleet.start()
    wait_for(lambda: any(what == "began" for what, *_ in fleet.lines()), "the work began")
    time.sleep(2)  # beyond the first step, which nobody but Pub/Sub sees
    fleet.kill(process, number)
    gone = time.monotonic()
    received = fleet.queue.pull(seconds=goal_seconds * 2)
    record_property(
        "figure",
        f"{signal.Signals(number).name}: another's after {time.monotonic() - gone:.1f} s "
        f"(goal: {goal_seconds} s)",
    )
    assert len(received) == 1
    if number == signal.SIGTERM:
        process.join(timeout=60)
        assert process.exitcode == 0, "a worker that is in the middle of its work leaves with 0 too"
