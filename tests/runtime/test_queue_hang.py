"""A worker that hangs in a message does not keep it."""

import json
import os
from pathlib import Path

import pytest

from spotproof_runtime import Item, SqliteSink
from tests.runtime.program import running
from tests.runtime.queues import new_queue

pytestmark = pytest.mark.usefixtures("emulator")

PROGRAM = """
import os, threading
from spotproof_runtime import Interruption, QueueWorker, SqliteSink

def hang(items):
    threading.Event().wait()

class HangingSink(SqliteSink):
    def put(self, rows):
        hang(rows)

with Interruption() as stop:
    QueueWorker(
        sink=SqliteSink(os.environ["SINK"]), stop=stop, compute=hang, most_errors=2,
        message_timeout_seconds=1.0,
    ).run()
"""


def test_what_hangs_again_and_again_becomes_poison_and_nothing_stays_leased(
    tmp_path: Path,
) -> None:
    queue = new_queue()
    queue.publish([Item("a", 1)])
    told = {"SPOTPROOF_SUBSCRIPTION": queue.subscription, "SINK": str(tmp_path / "results")}
    for life in (1, 2):
        with running(PROGRAM, **told) as program:
            ended = program.end()
        assert ended.code == 1
        events = [json.loads(line) for line in ended.errors.splitlines() if line.startswith("{")]
        assert [each["errors"] for each in events if each["event"] == "message_failed"] == [life]
        assert "in hang" in ended.errors, "the traceback says where"
    assert queue.pull(seconds=1) == []
    (dead,) = queue.pull(dead=True)
    assert "message_timeout_seconds" in dead.message.attributes["spotproof-error-text"]


def test_a_sink_that_hangs_is_left_behind_and_its_message_given_back(tmp_path: Path) -> None:
    queue = new_queue()
    queue.publish([Item("a", 1)])
    told = {"SPOTPROOF_SUBSCRIPTION": queue.subscription, "SINK": str(tmp_path / "results")}
    source = PROGRAM.replace("sink=SqliteSink", "sink=HangingSink").replace(
        "compute=hang", "compute=lambda items: [Row(item.key, 1) for item in items]"
    )
    with running("from spotproof_runtime import Row\n" + source, **told) as program:
        assert program.end().code == 1
    assert len(queue.pull(seconds=5)) == 1, "leases last 60 s here"
    assert os.path.exists(tmp_path / "results")
    assert SqliteSink(tmp_path / "results").count_error("a", "second") == 2
