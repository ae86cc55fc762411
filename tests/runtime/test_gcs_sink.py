"""Results as objects: created once, and never overwritten by an older version."""

import threading
from collections.abc import Iterator

import pytest

from spotproof_runtime import GcsSink, Row
from spotproof_runtime.sinks import RowRefused
from tests.runtime.gcs.faults import Fault
from tests.runtime.gcs.server import GcsServer

BUCKET = "test-bucket"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[GcsServer]:
    made = GcsServer(page_size=3).start()
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", made.url)
    yield made
    made.stop()


def sink(version: int = 0) -> GcsSink:
    return GcsSink(f"gs://{BUCKET}/run", version=version)


def content(server: GcsServer, name: str) -> bytes:
    return server.objects.get(BUCKET, f"run/results/{name}.json").content


def test_a_late_writer_of_an_older_version_changes_nothing(server: GcsServer) -> None:
    sink(1).put([Row("a", "old")])
    assert sink(2).have(["a"]) == set()
    sink(2).put([Row("a", "new"), Row("b", "new")])
    sink(1).put([Row("a", "late")])
    assert content(server, "a") == b'"new"'
    assert sink(1).have(["a", "b", "c"]) == sink(2).have(["a", "b", "c"]) == {"a", "b"}


def test_within_a_version_the_first_result_stays(server: GcsServer) -> None:
    sink().put([Row("a", 1)])
    sink().put([Row("a", 2)])
    assert content(server, "a") == b"1"


def test_writers_of_two_versions_at_once_leave_the_newer_one(server: GcsServer) -> None:
    for attempt in range(10):
        threads = [
            threading.Thread(target=sink(version).put, args=([Row(f"k{attempt}", version)],))
            for version in (1, 2, 3)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=30)
        assert content(server, f"k{attempt}") == b"3"


def test_any_key_names_one_object(server: GcsServer) -> None:
    keys = ["a/b", "a%2Fb", "ä\n", "..", "gs://b/x#1@y", "*?[", "x" * 256]
    sink().put([Row(key, key) for key in keys])
    assert sink().have(keys) == set(keys)
    assert sorted(sink().stored_keys()) == sorted(keys)


@pytest.mark.parametrize(
    "fault",
    [
        Fault("status", status=503, count=2),
        Fault("status", status=429),
        Fault("reset"),
        Fault("reset", after=True),
    ],
    ids=["503", "429", "reset", "reset-after"],
)
def test_a_write_that_goes_wrong_once_is_there_in_the_end(server: GcsServer, fault: Fault) -> None:
    made = sink()
    server.faults.plan(fault)
    made.put([Row("a", 1)])
    assert content(server, "a") == b"1"


def test_an_error_that_lasts_is_raised(server: GcsServer) -> None:
    server.faults.plan(Fault("status", status=403, count=100))
    with pytest.raises(Exception, match="403"):
        sink().put([Row("a", 1)])


def test_a_value_that_is_not_json_stores_nothing(server: GcsServer) -> None:
    with pytest.raises(RowRefused):
        sink().put([Row("a", 1), Row("b", {1})])
    assert server.names() == []


def test_errors_are_counted_by_key_and_forgotten(server: GcsServer) -> None:
    one, other = sink(), sink()
    assert [
        one.count_error("a/b", "x"),
        other.count_error("a/b", "y"),
        one.count_error("a", "z"),
    ] == [1, 2, 1]
    assert [one.count_error("a/b", "x") for _ in range(3)] == [3, 4, 5]
    one.forget_errors(["a/b"])
    assert other.count_error("a/b", "x") == 1
    assert other.count_error("a", "x") == 2


@pytest.mark.parametrize("location", ["", "bkt/x", "gs://", "gs://bkt", "gs://bkt/", "s3://b/x"])
def test_a_location_that_cannot_be_used_is_refused(location: str) -> None:
    with pytest.raises(ValueError, match="gs://BUCKET/PREFIX"):
        GcsSink(location)
