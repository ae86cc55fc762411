"""A run that is interrupted again and again without a newer checkpoint is given up, with 42."""

from pathlib import Path

import pytest

from spotproof_runtime import Hopeless
from spotproof_runtime.checkpoints.errors import StoreError
from tests.runtime.checkpoint_runs import (
    FakeStop,
    Log,
    checkpoints,
    is_interrupted,
    load,
    train,
    write,
)
from tests.runtime.gcs.fixtures import Place


def killed_life(location: str, **settings: int) -> int:
    """A life that restores and is then killed: nothing of it runs any more."""
    return checkpoints(location, **settings).restore(load, default=lambda: 0)[0]


def test_the_sixth_life_without_a_newer_checkpoint_exits_with_42(place: Place) -> None:
    for _ in range(5):
        killed_life(place.location)
    log = Log()
    with pytest.raises(Hopeless) as hopeless:
        checkpoints(place.location, log).restore(load, default=lambda: 0)
    assert hopeless.value.code == 42
    assert "5 lives in a row have begun at step 0" in str(hopeless.value)
    assert log.of("hopeless")


def test_a_newer_checkpoint_is_new_hope(place: Place) -> None:
    for until in range(1, 8):
        killed_life(place.location)
        killed_life(place.location)
        made = checkpoints(place.location)
        start, _ = made.restore(load, default=lambda: 0)
        made.offer(start, lambda directory, until=until: write(directory, until))
    assert killed_life(place.location) == 7
    # Marks of lives that led somewhere do not pile up.
    assert len([name for name in place.names() if name.startswith("run/lives/")]) <= 2


def test_the_limit_can_be_set(place: Place) -> None:
    for _ in range(2):
        killed_life(place.location, hopeless_after=2)
    with pytest.raises(Hopeless):
        killed_life(place.location, hopeless_after=2)
    assert killed_life(place.location, hopeless_after=10) == 0
    with pytest.raises(ValueError, match="hopeless_after = 0"):
        checkpoints(place.location, hopeless_after=0)


def test_a_life_that_ends_by_itself_does_not_count(place: Place) -> None:
    for _ in range(10):
        train(place.location, 3)
    for _ in range(10):
        made = checkpoints(place.location)
        made.restore(load, default=lambda: 0)
        made._ending.at_exit()


def test_a_life_that_was_interrupted_in_vain_counts_and_one_that_saved_does_not(
    place: Place,
) -> None:
    for _ in range(10):
        stop = FakeStop()
        made = checkpoints(place.location, stop=stop)
        start, _ = made.restore(load, default=lambda: 0)

        def body(step: int, made=made, stop=stop) -> None:
            stop.request(60)
            made.offer(step, lambda directory: write(directory, step + 1))

        is_interrupted(made, start, 100, body)
    assert [name for name in place.names() if name.startswith("run/lives/")] == []
    for _ in range(5):
        stop = FakeStop()
        made = checkpoints(place.location, stop=stop)
        start, _ = made.restore(load, default=lambda: 0)
        stop.request(0)
        is_interrupted(made, start, 100, lambda step: None)
    with pytest.raises(Hopeless):
        killed_life(place.location)


def test_what_was_measured_goes_from_life_to_life(place: Place) -> None:
    train(place.location, 2)
    killed_life(place.location)
    killed_life(place.location)
    made = checkpoints(place.location)
    made.restore(load, default=lambda: 0)
    made.offer(2, lambda directory: write(directory, 3))
    again = checkpoints(place.location)
    again.restore(load, default=lambda: 0)
    assert again.restored is not None
    assert again.restored.history["interruptions"] == 2
    assert len(again.restored.history["blocking_seconds"]) == 1
    assert len(again.restored.history["restore_seconds"]) == 1


def test_a_mark_that_cannot_be_left_keeps_nobody_from_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = checkpoints(str(tmp_path / "run"))

    def refuse(name: str, source: object, crc32c: str) -> None:
        raise StoreError("cannot write: 403")

    monkeypatch.setattr(made._store, "put", refuse)
    assert made.restore(load, default=lambda: 0) == (0, 0)
