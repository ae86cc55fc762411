"""Old checkpoints go only when newer ones are there, and only those of the own run."""

import os
import time
from pathlib import Path
from typing import Any

import pytest

from spotproof_runtime import Every
from spotproof_runtime.checkpoints import checkpoints as facade
from spotproof_runtime.checkpoints.commits import payload_prefix
from spotproof_runtime.checkpoints.directory_store import DirectoryStore
from spotproof_runtime.checkpoints.errors import SaveFailedError, StoreError
from spotproof_runtime.checkpoints.retention import sweep
from tests.runtime.checkpoint_runs import (
    EachStep,
    FakeStop,
    Log,
    checkpoints,
    restore,
    train,
    wait_for,
    write,
)
from tests.runtime.gcs.fixtures import Place

HOUR_SECONDS = 3600
COMMIT_2 = "commits/000000000002.json"


class StuckStore(DirectoryStore):
    """A directory whose writes of some names wait, or fail."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.blocked = ""
        self.broken = ""
        self.deleted: list[str] = []

    def put(self, name: str, source: Path | bytes, crc32c: str) -> Any:
        if self.broken and self.broken in name:
            raise StoreError(f"cannot write {name}: broken")
        wait_for(lambda: not self.blocked or self.blocked not in name)
        return super().put(name, source, crc32c)

    def delete(self, name: str, generation: int | None = None) -> None:
        self.deleted.append(name)
        super().delete(name, generation)


@pytest.fixture
def stuck(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StuckStore:
    store = StuckStore(tmp_path / "run")
    monkeypatch.setattr(facade, "open_store", lambda location, stop: store)
    return store


@pytest.mark.parametrize("keep", [0, -1, 1.5, True, None])
def test_keeping_none_is_refused_before_anything_is_touched(place: Place, keep: Any) -> None:
    train(place.location, 2)
    before = place.names()
    with pytest.raises(ValueError, match=r"keep = .*: this is a whole number, 1 or more"):
        checkpoints(place.location, keep=keep)
    assert place.names() == before


@pytest.mark.parametrize("keep", [1, 2, 3])
def test_the_newest_are_kept_and_nothing_else_is_left(place: Place, keep: int) -> None:
    kept = list(range(6 - keep, 6))
    assert train(place.location, 5, keep=keep).all_steps() == kept
    payloads = {name.split("/")[1] for name in place.names() if name.startswith("steps/")}
    assert payloads == {f"{step:012d}" for step in kept}


def test_another_run_in_the_same_location_is_left_alone(place: Place) -> None:
    other = checkpoints(place.location, run="other")
    other.offer(4999, lambda directory: write(directory, 5000))
    made = train(place.location, 4, run="mine")
    assert made.all_steps() == [3, 4]
    assert other.all_steps() == [5000]
    start, _ = checkpoints(place.location, run="mine").restore(lambda d: 0, default=lambda: 0)
    assert start == 4


def test_a_stale_higher_step_is_not_counted_as_one_of_the_kept(place: Place) -> None:
    checkpoints(place.location).offer(4999, lambda directory: write(directory, 5000))
    place.remove(place.name("model.bin", step=5000))
    made = checkpoints(place.location, keep=2)
    made.restore(lambda directory: 0, default=lambda: 0, fresh=True)
    for step in range(4):
        made.offer(step, lambda directory, step=step: write(directory, step + 1))
    assert made.all_steps() == [3, 4, 5000]
    assert restore(place.location) == 4


def test_a_torn_one_does_not_count_as_kept(place: Place) -> None:
    train(place.location, 2)
    place.remove(place.name("model.bin", step=2))
    made = checkpoints(place.location, keep=2)
    made.restore(lambda directory: 0, default=lambda: 0)
    made.offer(2, lambda directory: write(directory, 3))
    assert made.all_steps() == [1, 3]


def test_a_failed_save_removes_nothing(stuck: StuckStore) -> None:
    made = train("unused", 2, keep=1)
    stuck.deleted.clear()
    stuck.broken = "commits/"
    with pytest.raises(SaveFailedError, match=r"cannot save step 3: cannot write commits/"):
        made.offer(2, lambda directory: write(directory, 3))
    assert stuck.deleted == []
    stuck.broken = ""
    assert restore("unused") == 2


def test_told_to_end_no_time_is_spent_on_old_ones(stuck: StuckStore) -> None:
    stop = FakeStop()
    made = checkpoints("unused", keep=1, stop=stop)
    made.offer(0, lambda directory: write(directory, 1))
    made.offer(1, lambda directory: write(directory, 2))
    assert stuck.deleted != []
    stuck.deleted.clear()
    stop.request(10)
    made.offer(2, lambda directory: write(directory, 3))
    assert made.all_steps() == [2, 3]
    assert stuck.deleted == []


def test_an_old_one_stays_until_the_new_one_is_committed(stuck: StuckStore) -> None:
    made = checkpoints("unused", keep=1, background=True)
    made.offer(0, lambda directory: write(directory, 1))
    made.wait_until_finished()
    stuck.blocked = COMMIT_2
    made.offer(1, lambda directory: write(directory, 2))
    wait_for(lambda: any(stuck.list("steps/000000000002/")))
    assert made.all_steps() == [1]
    assert restore("unused") == 1
    stuck.blocked = ""
    made.wait_until_finished()
    assert made.all_steps() == [2]
    assert [*stuck.list("steps/000000000001/")] == []


def test_of_overlapping_saves_one_runs_and_the_newest_waits(stuck: StuckStore) -> None:
    log = Log()
    made = checkpoints("unused", log, keep=1, background=True, interval=EachStep())
    stuck.blocked = "commits/000000000001"
    for step in range(5):
        made.offer(step, lambda directory, step=step: write(directory, step + 1))
    assert made.all_steps() == []
    assert [each["step"] for each in log.of("save_replaced")] == [2, 3, 4]
    stuck.blocked = ""
    made.wait_until_finished()
    assert [each["step"] for each in log.of("save_finished")] == [1, 5]
    assert made.all_steps() == [5]


def test_a_commit_goes_before_its_files(stuck: StuckStore) -> None:
    train("unused", 2, keep=1)
    removed = [name for name in stuck.deleted if "000000000001" in name]
    assert removed[0] == "commits/000000000001.json"
    assert len(removed) == 3


@pytest.mark.parametrize("error", [StoreError("cannot delete: 403"), OSError(5, "broken")])
@pytest.mark.parametrize("background", [False, True])
def test_a_store_that_refuses_to_delete_costs_space_only(
    stuck: StuckStore, error: Exception, background: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = Log()
    made = checkpoints("unused", log, keep=1, background=background)

    def refuse(name: str, generation: int | None = None) -> None:
        raise error

    monkeypatch.setattr(stuck, "delete", refuse)
    for step in range(3):
        made.offer(step, lambda directory, step=step: write(directory, step + 1))
        made.wait_until_finished()
    assert made.all_steps() == [1, 2, 3]
    assert str(error) in log.of("cleanup_failed")[0]["error"]


def test_what_killed_programs_left_is_swept_after_a_day(place: Place) -> None:
    made = train(place.location, 2)
    store = made._store
    orphan = payload_prefix(3, "0" * 32) + "model.bin"
    store.put(orphan, b"", "AAAAAA==")
    assert sweep(store, lambda: time.time() + 23 * HOUR_SECONDS) == 0
    assert sweep(store, lambda: time.time() + 25 * HOUR_SECONDS) == 1
    assert restore(place.location) == 2
    assert orphan not in place.names()


def test_a_save_sweeps_what_a_killed_writer_left_half_written(tmp_path: Path) -> None:
    run = tmp_path / "run"
    train(str(run), 1)
    left = run / "unfinished" / "0123"
    left.parent.mkdir(exist_ok=True)
    left.write_text("half")
    old = time.time() - 25 * HOUR_SECONDS
    os.utime(left, (old, old))
    train(str(run), 2, interval=Every(steps=1))
    assert not left.exists()
