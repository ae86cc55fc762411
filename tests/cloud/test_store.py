"""The cloud outlives the processes that use it, and its cost is by the change."""

import json
import multiprocessing
from pathlib import Path

import pytest

from sandbox.cloud.__main__ import main
from sandbox.cloud.store import BrokenStoreError, Store

BUCKET = "gcp:storage/bucket:Bucket"


def test_two_stores_see_each_others_changes(tmp_path: Path) -> None:
    one, other = Store(tmp_path), Store(tmp_path)
    one.put(BUCKET, "a", {"n": 1})
    with other.locked():
        assert other.get(BUCKET, "a") is not None
    one.flush()
    other.put(BUCKET, "b", {"n": 2})
    assert [thing["id"] for thing in one.everything()] == ["a", "b"]
    other.remove(BUCKET, "a")
    other.flush()
    assert [thing["id"] for thing in one.everything()] == ["b"]


def test_a_change_is_there_for_the_next_process_without_a_flush(tmp_path: Path) -> None:
    Store(tmp_path).put(BUCKET, "a", {"n": 1})
    assert [thing["id"] for thing in Store(tmp_path).everything()] == ["a"]


def test_a_line_that_was_cut_short_is_a_change_that_never_happened(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put(BUCKET, "a", {"n": 1})
    with store.journal.open("a") as journal:
        journal.write('{"type": "gcp:storage/bu')
    after = Store(tmp_path)
    assert [thing["id"] for thing in after.everything()] == ["a"]
    after.put(BUCKET, "b", {"n": 2})
    assert [thing["id"] for thing in Store(tmp_path).everything()] == ["a", "b"]


def test_a_flushed_cloud_is_one_readable_file(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put(BUCKET, "a", {"n": 1})
    store.flush()
    assert json.loads(store.path.read_text()) == {BUCKET: {"a": {"n": 1}}}
    assert not store.journal.exists()
    store.remove(BUCKET, "a")
    store.flush()
    assert json.loads(store.path.read_text()) == {}


def _many(directory: Path, prefix: str) -> None:
    store = Store(directory)
    for number in range(50):
        store.put(BUCKET, f"{prefix}{number}", {"n": number})
        if number % 10 == 0:
            store.flush()


def test_processes_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_many, args=(tmp_path, prefix)) for prefix in "ab"]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0]
    assert len(Store(tmp_path).everything()) == 100


def test_a_change_writes_no_more_when_there_are_many_resources(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for number in range(1000):
        store.put(BUCKET, str(number), {"n": number})
    store.flush()
    store.put(BUCKET, "one more", {"n": 0})
    assert store.journal.stat().st_size < 200


def test_a_file_that_is_no_json_is_named_and_can_be_mended(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = Store(tmp_path)
    store.path.write_text("{bad")
    assert main(["--sandbox", str(tmp_path), "show"]) == 1
    assert f"error: {store.path} is no JSON" in capsys.readouterr().err
    for _ in range(2):
        with pytest.raises(BrokenStoreError):
            store.everything()
    store.path.write_text("{}")
    assert store.everything() == []


def test_counts_of_faults_that_are_no_json_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "faults.used.json").touch()
    assert main(["--sandbox", str(tmp_path), "fault", "list"]) == 1
    assert "faults.used.json is no JSON" in capsys.readouterr().err
