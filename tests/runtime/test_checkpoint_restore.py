"""Restoring takes the newest whole checkpoint, whatever has become of newer ones, and says so."""

import json
import logging
from collections.abc import Callable

import pytest

from spotproof_runtime.checkpoints.commits import MAX_COMMIT_BYTES
from spotproof_runtime.checkpoints.errors import NewerFormatError, NothingWholeError, StoreError
from tests.runtime.checkpoint_runs import Log, checkpoints, restore, train, write
from tests.runtime.gcs.fixtures import Place

Spoiling = Callable[[Place], None]


def _remove(place: Place) -> None:
    place.remove(place.name("model.bin", step=2))


def _truncate(place: Place) -> None:
    name = place.name("model.bin", step=2)
    place.spoil(name, place.content(name)[:-1])


def _flip_a_bit(place: Place) -> None:
    name = place.name("model.bin", step=2)
    content = place.content(name)
    place.spoil(name, bytes([content[0] ^ 1]) + content[1:])


def _commit(change: Callable[[bytes], bytes]) -> Spoiling:
    def spoil(place: Place) -> None:
        name = place.name("commits/000000000002")
        place.spoil(name, change(place.content(name)))

    return spoil


def _edit(change: Callable[[dict], object]) -> Spoiling:
    def edit(content: bytes) -> bytes:
        commit = json.loads(content)
        change(commit)
        return json.dumps(commit).encode()

    return _commit(edit)


def _rename_first_file(path: object) -> Spoiling:
    return _edit(lambda commit: commit["files"][0].update(path=path))


TORN = {
    "a file is missing": (_remove, "'model.bin' is missing"),
    "a file is truncated": (_truncate, "bytes instead of"),
    "a bit of a file is flipped": (_flip_a_bit, "CRC-32C"),
    "the commit is cut off": (_commit(lambda content: content[:50]), "no JSON"),
    "the commit is empty": (_commit(lambda content: b""), "no JSON"),
    "the commit is no text": (_commit(lambda content: b"\xff\xfe\x00"), "no JSON"),
    "the commit is nested without end": (_commit(lambda content: b"[" * 100_000), "no JSON"),
    "the commit is a list": (_commit(lambda content: b"[]"), "no commit"),
    "the commit is another step's": (_edit(lambda c: c.update(step=7)), "of step 7"),
    "the commit has no files": (_edit(lambda c: c.pop("files")), "no files"),
    "the commit lists nothing": (_edit(lambda c: c.update(files=[])), "no files"),
    "the commit's time is no time": (_edit(lambda c: c.update(saved_at=10**400)), "no saved_at"),
    "the commit's size is no number": (
        _edit(lambda c: c["files"][0].update(size_bytes="1")),
        "no size_bytes",
    ),
    "the commit leads out by ..": (_rename_first_file("../../stolen"), "outside"),
    "the commit leads out by a root": (_rename_first_file("/etc/passwd"), "outside"),
    "the commit names a file oddly": (_rename_first_file("a//b/./c"), "outside"),
    "the commit names no text": (_rename_first_file(5), "outside"),
    "the commit has a zero byte": (_rename_first_file("a\0b"), "zero byte"),
    "the commit names no Unicode": (_edit(lambda c: c.update(folders=["\ud800"])), "no Unicode"),
    "the commit's attempt leads out": (_edit(lambda c: c.update(attempt="../1")), "attempt"),
    "the commit names a file twice": (
        _edit(lambda c: c["files"].append(c["files"][0])),
        "twice",
    ),
    "the commit names a file as a folder too": (_rename_first_file("optimizer"), "twice"),
    "the commit names a folder as a file too": (
        _edit(lambda c: c.update(folders=["model.bin"])),
        "twice",
    ),
    "the commit names a folder in a file": (
        _edit(lambda c: c.update(folders=["model.bin/a"])),
        "twice",
    ),
    "the commit is huge": (_commit(lambda content: b" " * (MAX_COMMIT_BYTES + 1)), "bytes"),
}


@pytest.mark.parametrize("fault", TORN)
def test_the_newest_whole_one_is_taken_and_the_torn_one_named(
    place: Place, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    spoil, why = TORN[fault]
    train(place.location, 2)
    spoil(place)
    log = Log()
    with caplog.at_level(logging.WARNING):
        assert restore(place.location, log) == 1
    [skipped] = log.of("checkpoint_skipped")
    assert skipped["name"] == "2"
    assert why in skipped["why"]
    assert "step 2 is passed over" in caplog.text
    assert log.of("restored")[0]["step"] == 1


@pytest.mark.parametrize("fault", TORN)
def test_a_torn_step_can_be_saved_again(place: Place, fault: str) -> None:
    train(place.location, 2)
    TORN[fault][0](place)
    assert train(place.location, 2).all_steps() == [1, 2]
    log = Log()
    assert restore(place.location, log) == 2
    assert log.of("checkpoint_skipped") == []


def test_files_without_a_commit_are_no_checkpoint(place: Place) -> None:
    train(place.location, 2)
    place.remove(place.name("commits/000000000002"))
    assert restore(place.location) == 1


def test_nothing_whole_is_never_a_silent_start_from_zero(place: Place) -> None:
    train(place.location, 2)
    for step in (1, 2):
        place.remove(place.name("model.bin", step))
    with pytest.raises(NothingWholeError, match=r"fresh=True") as refused:
        restore(place.location)
    assert "step 2: 'model.bin' is missing; step 1: 'model.bin' is missing" in str(refused.value)
    assert restore(place.location, fresh=True) == 0


def test_commits_that_are_gone_are_no_silent_start_from_zero(place: Place) -> None:
    train(place.location, 2)
    for name in place.names():
        if name.startswith("commits/"):
            place.remove(name)
    with pytest.raises(NothingWholeError, match="its commits are gone"):
        restore(place.location)


def test_no_record_beside_the_commits_is_needed(place: Place) -> None:
    train(place.location, 2)
    for name in place.names():
        if not name.startswith(("commits/", "steps/")):
            place.remove(name)
    assert restore(place.location) == 2


def test_fresh_does_not_throw_away_what_is_whole(place: Place) -> None:
    train(place.location, 2)
    assert restore(place.location, fresh=True) == 2


def test_a_newer_format_is_not_passed_over(place: Place) -> None:
    train(place.location, 2)
    _edit(lambda commit: commit.update(format=2))(place)
    with pytest.raises(NewerFormatError, match=r"step 2 .* format 2.*install the newer"):
        restore(place.location)


def test_an_empty_location_starts_from_zero(place: Place) -> None:
    log = Log()
    assert restore(place.location, log) == 0
    assert log.of("restored")[0]["skipped"] == []


def test_an_error_of_the_program_while_loading_stays_what_it_is(place: Place) -> None:
    train(place.location, 1)
    with pytest.raises(ZeroDivisionError):
        checkpoints(place.location).restore(lambda directory: 1 // 0, default=lambda: 0)


def test_a_copy_of_a_run_is_as_good_as_the_run(place: Place) -> None:
    train(place.location, 2)
    _edit(lambda commit: [each.update(generation=1) for each in commit["files"]])(place)
    assert restore(place.location) == 2


def test_what_the_program_says_of_a_checkpoint_comes_back(place: Place) -> None:
    saving = checkpoints(place.location)
    saving.offer(
        0, lambda d: write(d, 1), data_position={"epoch": 1}, metadata={"loss": 0.5, "name": "ä"}
    )
    again = checkpoints(place.location)
    again.restore(lambda directory: 0, default=lambda: 0)
    assert again.restored is not None
    assert again.restored.data_position == {"epoch": 1}
    assert again.restored.metadata == {"loss": 0.5, "name": "ä"}


def test_a_directory_that_cannot_be_read_is_no_start_from_zero(tmp_path_factory) -> None:
    file = tmp_path_factory.mktemp("place") / "file"
    file.write_text("")
    with pytest.raises(StoreError):
        restore(str(file / "run"))
