"""Dead letters can be looked at and put back, as often as one likes."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from spotproof_runtime import EventLog, Item, QueueWorker, Row, SqliteSink
from spotproof_runtime.dead_letters import main
from tests.runtime.queues import FakeStop, Queue, new_queue

pytestmark = pytest.mark.usefixtures("emulator")


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The emulator answers at once."""
    monkeypatch.setattr("spotproof_runtime.queue.replay.QUIET_SECONDS", 0.5)


def fail(items: Sequence[Item]) -> list[Row]:
    raise ValueError(f"no model for {items[0].key}")


def double(items: Sequence[Item]) -> list[Row]:
    return [Row(item.key, item.value * 2) for item in items]


def work(queue: Queue, sink: SqliteSink, compute: Any, most_errors: int = 1) -> Any:
    worker = QueueWorker(
        queue.subscription,
        sink=sink,
        stop=FakeStop(),
        compute=compute,
        most_errors=most_errors,
        leave_when_idle_seconds=0.5,
        events=EventLog(io.StringIO()),
    )
    return worker.run()


@pytest.fixture
def poisoned(tmp_path: Path) -> tuple[Queue, SqliteSink]:
    """A queue with two dead letters, and one that cannot be read."""
    queue, sink = new_queue(), SqliteSink(tmp_path / "results")
    queue.publish([Item("a", 1)], [Item("b", 2)])
    queue.publish(data=b"\xff\x1b[2J")
    assert work(queue, sink, fail).dead_lettered == 3
    return queue, sink


def test_letters_are_shown_and_stay(
    poisoned: tuple[Queue, SqliteSink], capsys: pytest.CaptureFixture[str]
) -> None:
    queue, _ = poisoned
    for command in (["list"], ["replay"]):
        assert main([*command, "--subscription", queue.subscription]) == 0
        lines = sorted(capsys.readouterr().out.splitlines(), key=lambda line: line.split("  ")[1])
        assert len(lines) == 3
        assert "  a  errors 1  ValueError: no model for a" in lines[0]
        assert "no message of this library, 5 bytes; it is left" in lines[2]
    assert queue.pull(seconds=0.5) == []
    left: list[Any] = []
    while len(left) < 3:
        left += queue.pull(dead=True)


def test_letters_that_are_put_back_are_worked_on_with_their_whole_budget_of_errors(
    poisoned: tuple[Queue, SqliteSink], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    queue, sink = poisoned
    command = ["replay", "--subscription", queue.subscription, "--yes"]
    assert main([*command, "--key", "b", "--key", "c", "--error", "ValueError"]) == 0
    assert "1 put back" in capsys.readouterr().err
    assert main([*command, "--error", "OSError"]) == 0
    assert "0 put back" in capsys.readouterr().err
    assert main([*command, "--sink", f"sqlite:{tmp_path}/results"]) == 0
    assert "1 put back" in capsys.readouterr().err
    did = work(queue, sink, double)
    assert (did.stored, did.dead_lettered) == (2, 0)
    assert sink.count_error("a", "first again") == 1
    assert main(command) == 0, "again: there is nothing left but what cannot be read"
    assert work(queue, sink, double).stored == 0


def test_a_letter_whose_end_was_not_confirmed_is_no_work_done_twice(
    poisoned: tuple[Queue, SqliteSink], monkeypatch: pytest.MonkeyPatch
) -> None:
    queue, sink = poisoned
    command = ["replay", "--subscription", queue.subscription, "--yes", "--key", "a"]
    with monkeypatch.context() as patch:
        name = "spotproof_runtime.queue.subscription.Subscription.acknowledge"
        patch.setattr(name, lambda self, ack_ids: [][0])
        assert main(command) == 1
    assert main(command) == 0
    did = work(queue, sink, double)
    assert (did.stored, did.acked) == (1, 2)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["list", "--subscription", "work"], "projects/PROJECT/subscriptions/NAME"),
        (["replay", "--subscription", "projects/p/subscriptions/w", "--sink", "x"], "gs://BUCKET"),
        (["list", "--limit", "0"], "1 to 1000"),
        (["list", "--limit", "5000"], "1 to 1000"),
    ],
)
def test_arguments_that_cannot_be_are_named(
    arguments: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code = main(arguments)
    except SystemExit as left:
        code = left.code
    assert code == 2
    assert text in capsys.readouterr().err
