"""Events become Prometheus metrics, for those who install what that needs."""

import json
import socket
import subprocess
import sys
import urllib.request

import pytest
from prometheus_client import CollectorRegistry

from spotproof_runtime.events import EventLog
from spotproof_runtime.metrics import Metrics, start_metrics_server
from tests.runtime.event_lines import Lines, first_life, second_life


def _log(registry: CollectorRegistry) -> EventLog:
    return EventLog(Lines().stream, listeners=[Metrics(registry)])


def test_what_happens_is_counted_and_timed() -> None:
    registry = CollectorRegistry()
    log = _log(registry)
    log.record("restored", step=50, seconds=3.0, skipped=[])
    log.record("checkpoint_skipped", name="60", why="torn")
    log.record("progress", step=80, steps=30, seconds=30.0)
    log.record("save_finished", step=80, blocking_seconds=2.0, total_seconds=9.0, bytes=1000)
    log.record("save_failed", step=81, error="no")
    log.record("interval_chosen", estimate_seconds=657.3, between_seconds=10_800.0)
    log.record("interrupted", outcome="too_late", step=80, lost_steps=7, seconds=1.0)
    log.record("message_stored", items=30)
    log.record("message_acked", messages=3, lost=0)
    log.record("message_failed", key="a", errors=1)

    def value(name: str, **labels: str) -> float | None:
        return registry.get_sample_value(f"spotproof_{name}", labels)

    assert value("step") == 80
    assert value("saved_step") == 80
    assert value("checkpoint_bytes") == 1000
    assert value("save_interval_seconds") == 657.3
    assert value("between_interruptions_seconds") == 10_800
    assert value("saves_total", result="committed") == value("saves_total", result="failed") == 1
    assert value("skipped_checkpoints_total") == 1
    assert value("interruptions_total", outcome="too_late") == 1
    assert value("lost_steps_total") == 7
    assert value("messages_total", event="stored") == 30
    assert value("messages_total", event="acked") == 3
    assert value("messages_total", event="failed") == 1
    assert value("save_blocking_seconds_sum") == 2
    assert value("save_seconds_sum") == 9
    assert value("restore_seconds_sum") == 3


def test_an_event_that_cannot_be_counted_ends_no_program() -> None:
    registry = CollectorRegistry()
    log = _log(registry)
    for name in ("restored", "interrupted", "save_finished", "message_stored", "new_event"):
        log.record(name)
        log.record(name, step="x", seconds=None, lost_steps="many", items=-5)
    assert not registry.get_sample_value("spotproof_lost_steps_total")


def test_a_listener_that_fails_ends_no_program_and_loses_no_line() -> None:
    def fail(event: object) -> None:
        raise RuntimeError(event)

    lines = Lines()
    EventLog(lines.stream, listeners=[fail]).record("progress", step=1)
    assert '"progress"' in lines.text


def test_the_time_of_work_on_messages_is_counted_by_its_result() -> None:
    registry = CollectorRegistry()
    metrics = Metrics(registry)
    for time, event in enumerate(["started", "stored", "acked", "started", "given_back"]):
        metrics({"event": f"message_{event}", "time": float(time), "messages": 1})
    told = {
        result: registry.get_sample_value(
            "spotproof_message_work_seconds_total", {"result": result}
        )
        for result in ("stored", "given_back", "failed")
    }
    assert told == {"stored": 2, "given_back": 1, "failed": None}


def test_the_metrics_are_served() -> None:
    registry = CollectorRegistry()
    _log(registry).record("progress", step=5)
    with socket.socket() as taken:
        taken.bind(("", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(OSError, match="in use"):
            start_metrics_server(port, registry)
    start_metrics_server(port, registry)
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        assert b"spotproof_step 5.0" in answer.read()


def test_without_the_package_the_message_says_what_to_install() -> None:
    program = (
        "import sys; sys.modules['prometheus_client'] = None\n"
        "from spotproof_runtime.metrics import Metrics\n"
        "try: Metrics()\n"
        "except ImportError as error: print(error)"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert 'install "spotproof-runtime[report]"' in found.stdout, found.stderr


def test_the_start_of_a_process_is_recorded_with_its_age() -> None:
    program = (
        "import time; time.sleep(0.2)\n"
        "from spotproof_runtime import EventLog; EventLog(run='a').record_start()"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    event = json.loads(found.stderr)
    assert event["event"] == "run_started"
    assert 0.1 < event["seconds"] < 60


def test_the_made_up_runs_of_these_tests_can_be_counted_too() -> None:
    registry = CollectorRegistry()
    metrics = Metrics(registry)
    for line in second_life(first_life(Lines())).text.splitlines():
        metrics(json.loads(line))
    assert registry.get_sample_value("spotproof_step") == 88
