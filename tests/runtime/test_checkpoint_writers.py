"""Two programs that write one run never mix, and a lost answer is not taken for a second writer."""

import threading

import pytest

from spotproof_runtime.checkpoints.errors import (
    AlreadyExistsError,
    ChangedObjectError,
    MissingObjectError,
    StoreError,
)
from tests.runtime.checkpoint_runs import Log, checkpoints, load, restore, train, write
from tests.runtime.gcs.faults import Fault
from tests.runtime.gcs.fixtures import Place
from tests.runtime.gcs.server import BUCKET, GcsServer


def test_the_first_commit_of_a_step_holds_and_the_second_writer_adopts_it(place: Place) -> None:
    log = Log()
    zombie, successor = checkpoints(place.location), checkpoints(place.location, log)
    zombie.offer(0, lambda directory: write(directory, 1))
    first = place.name("model.bin")
    successor.offer(0, lambda directory: (directory / "model.bin").write_text("mixed up"))
    assert place.name("model.bin") == first
    assert restore(place.location) == 1
    assert log.of("save_finished")[0]["step"] == 1


def test_many_writers_at_once_leave_whole_checkpoints_only(place: Place) -> None:
    def work(made=None) -> None:
        made = made or checkpoints(place.location, keep=2)
        for step in range(4):
            made.offer(step, lambda directory, step=step: write(directory, step + 1))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    log = Log()
    assert restore(place.location, log) == 4
    assert log.of("checkpoint_skipped") == []


def test_a_reader_is_not_misled_when_a_writer_removes_what_it_reads(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    train(place.location, 1)
    reader = checkpoints(place.location, log := Log())
    fetch = reader._store.fetch

    def late(*args):
        monkeypatch.setattr(reader._store, "fetch", fetch)
        train(place.location, 3, keep=1)
        return fetch(*args)

    monkeypatch.setattr(reader._store, "fetch", late)
    assert reader.restore(load, default=lambda: 0) == (3, 3)
    assert log.of("checkpoint_skipped") == []


def test_a_lost_answer_to_a_commit_does_not_remove_the_files_of_it(gcs: GcsServer) -> None:
    gcs.faults.plan(Fault("reset", match="create run/commits/", after=True))
    train(f"gs://{BUCKET}/run", 1)
    assert restore(f"gs://{BUCKET}/run") == 1
    assert len(gcs.names("run/steps/")) == 2


def test_a_lost_answer_to_a_file_is_no_error(gcs: GcsServer) -> None:
    gcs.faults.plan(Fault("status", match="create run/steps/", after=True, count=2))
    train(f"gs://{BUCKET}/run", 1)
    assert restore(f"gs://{BUCKET}/run") == 1


def test_no_object_is_ever_written_over(place: Place) -> None:
    store = checkpoints(place.location)._store
    store.put("a/b", b"first", crc32c := _crc32c(b"first"))
    with pytest.raises(AlreadyExistsError):
        store.put("a/b", b"second", _crc32c(b"second"))
    assert store.read("a/b") == b"first"
    [listed] = store.list("a/")
    assert (listed.name, listed.size_bytes) == ("a/b", 5)
    assert listed.crc32c in (None, crc32c)


def test_content_with_another_checksum_is_not_stored(place: Place) -> None:
    store = checkpoints(place.location)._store
    with pytest.raises(StoreError):
        store.put("a/b", b"content", _crc32c(b"other"))
    assert [*store.list("a/")] == []


def test_only_the_generation_that_was_meant_is_removed(place: Place) -> None:
    store = checkpoints(place.location)._store
    made = store.put("a/b", b"", _crc32c(b""))
    with pytest.raises(ChangedObjectError):
        store.delete("a/b", made.generation + 1)
    store.delete("a/b", made.generation)
    store.delete("a/b", made.generation)
    with pytest.raises(MissingObjectError):
        store.read("a/b")


def _crc32c(content: bytes) -> str:
    from spotproof_runtime.checkpoints.checksums import crc32c_of

    return crc32c_of(content)
