"""A dataset goes into the queue with keys that stay the same, as often as one likes."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from spotproof_runtime import Item, Row, SqliteSink
from spotproof_runtime.publish import main
from spotproof_runtime.queue.messages import MOST_KEY_BYTES, Undecodable, decode, encode, stable_key
from spotproof_runtime.queue.publisher import publish
from spotproof_runtime.queue.sources import from_bucket, from_rows, read_rows
from tests.runtime.gcs.server import BUCKET, GcsServer
from tests.runtime.queues import Queue, new_queue

MODULE = "spotproof_runtime.publish"


@pytest.fixture
def queue(emulator: str) -> Queue:
    return new_queue()


def items_of(queue: Queue) -> list[list[str]]:
    """Keys of all messages in a queue, which is empty then."""
    found: list[list[str]] = []
    while received := queue.pull(1000, seconds=2):
        found += [[item.key for item in decode(each.message.data)] for each in received]
        queue.acknowledge(received)
    return found


def command(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", MODULE, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        timeout=60,
    )


def test_a_dataset_is_split_and_what_is_stored_is_left_out(queue: Queue, tmp_path: Path) -> None:
    sink = SqliteSink(tmp_path / "results.sqlite")
    sink.put([Row("3", "stored")])
    rows = [{"id": number} for number in [*range(24), 5, 5]]
    done = publish(
        from_rows(rows, key_columns=["id"]), queue.topic, items_per_message=10, sink=sink
    )
    assert (done.items, done.had, done.repeated, done.failed) == (23, 1, 2, 0)
    found = items_of(queue)
    assert sorted(map(len, found)) == [3, 10, 10]
    assert sorted(int(key) for keys in found for key in keys) == [n for n in range(24) if n != 3]


def test_an_item_that_cannot_be_published_takes_no_other_with_it(queue: Queue) -> None:
    items = [Item("a", 1), Item("big", "x" * 10_000_000), Item("set", {1}), Item("b", 2)]
    done = publish(items, queue.topic, items_per_message=10)
    assert (done.items, done.failed) == (2, 2)
    assert "publish a reference" in done.problems[0]
    assert "not JSON" in done.problems[1]


def test_what_was_published_before_the_source_failed_is_told(queue: Queue) -> None:
    told: list[int] = []
    rows = [{"id": "1"}, {"id": "2"}, {"name": "no id"}]
    with pytest.raises(ValueError, match="row 3 has no value in key column id"):
        publish(
            from_rows(rows, key_columns=["id"]),
            queue.topic,
            progress=lambda done: told.append(done.items),
        )
    assert told == [2]


def test_a_topic_that_is_not_there_fails_each_item_and_says_so(emulator: str) -> None:
    done = publish([Item("a")], "projects/p/topics/nowhere")
    assert done.failed == 1
    assert "NotFound" in done.problems[0]


@pytest.mark.parametrize(
    ("topic", "number", "text"),
    [("work", 1, "projects/PROJECT/topics/NAME"), ("projects/p/topics/t", 11, "1 to 10")],
)
def test_wrong_arguments_are_named(topic: str, number: int, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        publish([], topic, items_per_message=number)


def test_the_command_publishes_files_twice_with_the_same_keys(queue: Queue, tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt", "deep/c.txt", "other.bin"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    arguments = ["files", "**/*.txt", "--root", str(tmp_path), "--topic", queue.topic]
    ran = command(*arguments, "--items-per-message", "2")
    assert ran.returncode == 0, ran.stderr
    assert "3 items published in 2 messages" in ran.stderr
    first = sorted(items_of(queue))
    assert main([*arguments, "--items-per-message", "2"]) == 0
    assert sorted(items_of(queue)) == first
    (tmp_path / "a.txt").write_text("changed")
    assert main(arguments) == 0
    again = {key for message in items_of(queue) for key in message}
    before = {key for message in first for key in message}
    assert {key.partition("@")[0] for key in again - before} == {"a.txt"}


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["rows", "x.parquet"], 2, "read from .csv"),
        (["rows", "missing.csv"], 2, "No such file"),
        (["files", "*.nothing"], 2, "no file matches '*.nothing'"),
        (["bucket", "bkt"], 2, "write gs://BUCKET/PREFIX"),
        (["files", "*", "--skip-stored-in", "postgresql://joe:pa55@h/d"], 2, "is a secret"),
    ],
)
def test_the_command_names_a_mistake_without_a_traceback(
    arguments: list[str],
    code: int,
    text: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PUBSUB_EMULATOR_HOST", "127.0.0.1:1")
    assert main([*arguments, "--topic", "projects/p/topics/t"]) == code
    told = capsys.readouterr().err
    assert text in told
    assert "pa55" not in told


def test_the_command_leaves_out_what_a_sink_has_and_can_run_dry(
    queue: Queue, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "rows.csv").write_text("id,text\n1,a\n2,b\n3,c\n")
    sink = SqliteSink(tmp_path / "results.sqlite", version=2)
    sink.put([Row("2", "stored")])
    sink.close()
    arguments = ["rows", str(tmp_path / "rows.csv"), "--key", "id", "--topic", queue.topic]
    assert main([*arguments, "--dry-run"]) == 0
    told = capsys.readouterr()
    assert told.out.split() == ["1", "2", "3"]
    assert "3 items; nothing was published" in told.err
    skip = ["--skip-stored-in", f"sqlite:{tmp_path}/results.sqlite"]
    assert main([*arguments, *skip, "--version", "2"]) == 0
    assert "2 items published in 2 messages, 1 stored already" in capsys.readouterr().err
    assert main([*arguments, *skip, "--version", "3"]) == 0
    assert "3 items published in 3 messages" in capsys.readouterr().err


def test_an_empty_source_is_a_mistake(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "rows.jsonl").write_text("\n")
    assert main(["rows", str(tmp_path / "rows.jsonl"), "--topic", "projects/p/topics/t"]) == 2
    assert "the source is empty" in capsys.readouterr().err


def test_rows_are_read_from_csv_and_json_lines(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text('\ufeffid,text\n1,"a, ""b"""\n2,c\n', encoding="utf-8")
    (tmp_path / "r.jsonl").write_text('{"id": 1}\n\n{"id": 2}\n')
    assert list(read_rows(tmp_path / "r.csv")) == [
        {"id": "1", "text": 'a, "b"'},
        {"id": "2", "text": "c"},
    ]
    assert [row["id"] for row in read_rows(tmp_path / "r.jsonl")] == [1, 2]


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("r.csv", "a,b\n1\n", "line 2: not as many fields"),
        ("r.csv", "a,b\n1,2,3\n", "line 2: not as many fields"),
        ("r.jsonl", "{}\n{bad\n", "line 2: not JSON"),
        ("r.jsonl", "[1]\n", "line 1: a row is a JSON object"),
        ("r.csv", "a,b\n1,\udce9\n", "r.csv: not UTF-8"),
        ("r.jsonl", '{}\n{"a": "\udce9"}\n', "r.jsonl: not UTF-8"),
        ("r.csv", "a,b,a\n1,2,3\n", "line 1: two columns of one name: a"),
    ],
)
def test_a_broken_row_is_named_by_its_line(
    tmp_path: Path, name: str, text: str, problem: str
) -> None:
    (tmp_path / name).write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(ValueError, match=problem):
        list(read_rows(tmp_path / name))


def test_a_row_without_a_key_column_is_named_by_its_content() -> None:
    (one,) = from_rows([{"a": 1, "b": 2}])
    (same,) = from_rows([{"b": 2, "a": 1}])
    (other,) = from_rows([{"a": 1, "b": 3}])
    assert one.key == same.key != other.key


def test_joined_keys_cannot_be_mistaken_for_each_other() -> None:
    rows = [{"a": "x|y", "b": "z"}, {"a": "x", "b": "y|z"}]
    first, second = from_rows(rows, key_columns=["a", "b"])
    assert first.key != second.key


def test_an_object_written_again_with_the_same_content_is_the_same_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = GcsServer(page_size=2).start()
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", server.url)

    def keys(**content: bytes) -> set[str]:
        for name, each in content.items():
            server.objects.create(BUCKET, f"in/{name}.jpg", each, None, {})
        return {item.key for item in from_bucket(f"gs://{BUCKET}/in/", match="*.jpg")}

    for name in ("in/", "in/b.txt", "other/c.jpg"):
        server.objects.create(BUCKET, name, b"", None, {})
    first = keys(a=b"1", b=b"1", c=b"1")
    assert {key.partition("@")[0] for key in first} == {
        f"gs://{BUCKET}/in/{name}.jpg" for name in "abc"
    }
    assert keys(a=b"1") == first
    assert len(keys(a=b"2") - first) == 1
    server.stop()


@pytest.mark.parametrize("text", ["a", "ä" * 200, "x" * 5000, "a\0b", "\ud800", ""])
def test_any_text_makes_a_key_that_can_be_used(text: str) -> None:
    key = stable_key(text)
    assert key == stable_key(text)
    assert 1 <= len(key.encode()) <= MOST_KEY_BYTES
    assert decode(encode([Item(key, text if text != "\ud800" else "")]))[0].key == key


def test_long_texts_that_differ_at_the_end_have_different_keys() -> None:
    assert stable_key("x" * 5000 + "a") != stable_key("x" * 5000 + "b")


@pytest.mark.parametrize(
    "payload",
    [
        {"format": 1, "items": []},
        {"format": 1, "items": [{"key": "a"}] * 2},
        {"format": 1, "items": [{"key": str(number)} for number in range(11)]},
        {"format": 1, "items": [{"key": 7}]},
        {"format": 1, "items": [{"key": "a" * 300}]},
        {"format": 1, "items": {"key": "a"}},
        {"format": "1", "items": [{"key": "a"}]},
        {"items": [{"key": "a"}]},
        "text",
        None,
    ],
)
def test_what_publish_never_writes_is_undecodable(payload: Any) -> None:
    with pytest.raises(Undecodable):
        decode(json.dumps(payload).encode())


def test_a_payload_nested_too_deeply_is_undecodable() -> None:
    with pytest.raises(Undecodable):
        decode(b'{"format":1,"items":' + b"[" * 200_000)
