"""What a program may write into a checkpoint comes back as it was; what cannot is refused."""

import os
import resource
from collections.abc import Callable
from pathlib import Path

import pytest

from spotproof_runtime.checkpoints.errors import CheckpointError, SaveFailedError
from tests.runtime.checkpoint_runs import FakeStop, Log, checkpoints, wait_for
from tests.runtime.gcs.fixtures import Place

KEPT = {
    "ä/ö ü.bin": b"umlauts",
    "模型.safetensors": b"chinese",
    "e\u0301 and \u00e9": b"two ways to write one letter",
    "a b#c?d%2Fe&f=g[h]*": b"characters that addresses give a meaning",
    ".hidden/.file": b"",
    "deep/er/and/deeper/file": b"deep",
    "zero": b"",
    "-rf": b"",
    "large": os.urandom(9 << 20),
}


def tree(directory: Path) -> dict[str, bytes | None]:
    """All files with their content, and folders with None."""
    return {
        path.relative_to(directory).as_posix(): path.read_bytes() if path.is_file() else None
        for path in directory.rglob("*")
    }


def test_names_contents_and_empty_folders_come_back(place: Place) -> None:
    def write(directory: Path) -> None:
        for name, content in KEPT.items():
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            (directory / name).write_bytes(content)
        (directory / "empty" / "folder").mkdir(parents=True)
        written.update(tree(directory))

    written: dict[str, bytes | None] = {}
    made = checkpoints(place.location)
    made.offer(0, write)
    assert made.restore(tree, default=dict) == (1, written)


def test_a_link_to_a_file_is_kept_as_the_file(place: Place, tmp_path: Path) -> None:
    (tmp_path / "base").write_text("weights")

    def write(directory: Path) -> None:
        (directory / "outside").symlink_to(tmp_path / "base")
        (directory / "file").write_text("here")
        (directory / "inside").symlink_to("file")

    made = checkpoints(place.location)
    made.offer(0, write)
    (tmp_path / "base").unlink()
    assert made.restore(tree, default=dict)[1] == {
        "outside": b"weights",
        "file": b"here",
        "inside": b"here",
    }


def test_many_files_make_no_difference(tmp_path: Path) -> None:
    def write(directory: Path) -> None:
        for number in range(300):
            (directory / f"shard-{number}").write_text(str(number))

    made = checkpoints(str(tmp_path / "run"))
    made.offer(0, write)
    assert len(made.restore(tree, default=dict)[1]) == 300


def _loop(directory: Path) -> None:
    (directory / "loop").symlink_to(directory)


REFUSED: dict[str, tuple[Callable[[Path], object], str]] = {
    "nothing": (lambda d: None, "write put no file into the directory"),
    "folders only": (lambda d: (d / "a").mkdir(), "write put no file into the directory"),
    "a link to nowhere": (lambda d: (d / "a").symlink_to("gone"), "'a': the link leads nowhere"),
    "a link to a folder": (_loop, "'loop': it is a link to a directory"),
    "a pipe": (lambda d: os.mkfifo(d / "pipe"), "'pipe': it is neither a file nor a directory"),
    "a line break": (lambda d: (d / "a\nb").touch(), "line break; rename it"),
    "no text": (lambda d: open(os.fsencode(d) + b"/\xff", "w").close(), "is no UTF-8"),
    "a long path": (
        lambda d: [(d / ("a" * 250) / ("b" * 250)).mkdir(parents=True)],
        "more than 400 bytes",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_kept_is_refused_by_name(tmp_path: Path, what: str) -> None:
    write, why = REFUSED[what]
    log = Log()
    made = checkpoints(str(tmp_path / "run"), log, staging=tmp_path / "staging")
    with pytest.raises(SaveFailedError, match=f"cannot save step 1: .*{why}"):
        made.offer(0, write)
    assert made.all_steps() == []
    assert [each["step"] for each in log.of("save_failed")] == [1]
    assert [*(tmp_path / "staging").iterdir()] == []


CHANGES: dict[str, Callable[[Path], object]] = {
    "grows": lambda path: path.write_bytes(path.read_bytes() + b"more"),
    "shrinks": lambda path: os.truncate(path, 1),
    "is rewritten": lambda path: path.write_bytes(b"x" * path.stat().st_size),
    "is removed": lambda path: path.unlink(),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("moment", ["before", "during", "after"])
def test_a_file_that_changes_after_write_is_never_committed(
    place: Place, change: str, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = checkpoints(place.location)
    put = made._store.put
    written: list[Path] = []

    def changing(name: str, source: Path | bytes, crc32c: str):
        if name.startswith("steps/") and moment == "before":
            CHANGES[change](written[0])
        stored = put(name, source, crc32c)
        if name.startswith("steps/") and moment == "after":
            CHANGES[change](written[0])
        return stored

    def write(directory: Path) -> None:
        written.append(directory / "model.bin")
        written[0].write_bytes(b"weights")
        if moment == "during":
            second = directory / "second"
            second.write_bytes(b"")

    if moment == "during":
        _change_while_hashed(monkeypatch, lambda: CHANGES[change](written[0]))
    monkeypatch.setattr(made._store, "put", changing)
    with pytest.raises(SaveFailedError):
        made.offer(0, write)
    assert made.all_steps() == []


def _change_while_hashed(monkeypatch: pytest.MonkeyPatch, change: Callable[[], object]) -> None:
    from spotproof_runtime.checkpoints import publishing

    hashed = publishing.crc32c_of

    def hash_and_change(source: Path | bytes) -> str:
        found = hashed(source)
        if isinstance(source, Path) and source.name == "model.bin":
            change()
        return found

    monkeypatch.setattr(publishing, "crc32c_of", hash_and_change)


@pytest.mark.parametrize("error", [KeyError("state"), FileNotFoundError(2, "no vocabulary")])
def test_an_error_of_write_stays_what_it_is_and_leaves_no_local_copy(
    tmp_path: Path, error: Exception
) -> None:
    made = checkpoints(str(tmp_path / "run"), staging=tmp_path / "staging")

    def write(directory: Path) -> None:
        (directory / "half").write_text("half")
        raise error

    with pytest.raises(type(error)):
        made.offer(0, write)
    assert [*(tmp_path / "staging").iterdir()] == []


@pytest.mark.parametrize("background", [False, True])
def test_local_copies_are_gone_when_they_are_saved(tmp_path: Path, background: bool) -> None:
    staging = tmp_path / "staging"
    made = checkpoints(str(tmp_path / "run"), staging=staging, background=background)
    for step in range(4):
        made.offer(step, lambda directory: (directory / "a").write_text("a"))
    made.wait_until_finished()
    made.restore(tree, default=dict)
    wait_for(lambda: not [*staging.iterdir()])


def test_a_full_disk_is_said_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = checkpoints(str(tmp_path / "run"))

    def full(descriptor: int) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SaveFailedError, match="No space left on device; make room"):
        made.offer(0, lambda directory: (directory / "a").write_text("a"))


def test_no_room_for_the_local_copy_is_a_failed_save_that_says_where(tmp_path: Path) -> None:
    log = Log()
    made = checkpoints(str(tmp_path / "run"), log=log, staging=tmp_path / "staging")

    def write(directory: Path) -> None:
        raise OSError(28, os.strerror(28), str(directory / "a"))

    with pytest.raises(SaveFailedError, match=r"/staging/.*No space left.*larger place") as found:
        made.offer(0, write)
    assert isinstance(found.value.__cause__, OSError)
    assert len(log.of("save_failed")) == 1


def test_no_room_for_the_last_save_leaves_the_interruption_one(tmp_path: Path) -> None:
    stop, log = FakeStop(), Log()
    made = checkpoints(str(tmp_path / "run"), log=log, stop=stop)
    stop.request(10)

    def write(directory: Path) -> None:
        raise OSError(28, os.strerror(28))

    made.offer(0, write)
    assert log.of("interrupted")[0]["outcome"] == "too_late"


def test_no_room_to_restore_names_the_place_that_is_full(place: Place, tmp_path: Path) -> None:
    checkpoints(place.location).offer(0, lambda directory: (directory / "a").write_bytes(b"a" * 9))
    made = checkpoints(place.location, staging=tmp_path / "staging")
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5, most))
    try:
        with pytest.raises(CheckpointError, match=r"cannot write .*/staging/.*larger place"):
            made.restore(tree, default=dict)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


def test_a_file_is_no_place_for_local_copies(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    made = checkpoints(str(tmp_path / "run"), staging=tmp_path / "file")
    with pytest.raises(CheckpointError, match=r"cannot make a directory in .*/file: .*staging"):
        made.restore(tree, default=dict)
    with pytest.raises(SaveFailedError, match="cannot make a directory in"):
        made.offer(0, lambda directory: (directory / "a").touch())


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), object(), {1, 2}, b"bytes"])
@pytest.mark.parametrize("argument", ["metadata", "data_position"])
def test_data_that_json_cannot_hold_is_refused_at_once(
    tmp_path: Path, argument: str, bad: object
) -> None:
    made = checkpoints(str(tmp_path / "run"), background=True)
    with pytest.raises(SaveFailedError, match=f"cannot save step 1: {argument} is no JSON"):
        made.offer(0, lambda directory: (directory / "a").touch(), **{argument: {"a": bad}})
