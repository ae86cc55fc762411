"""runtime/docs/work-on-a-queue.md: its worker and its command do what the page says."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import psycopg

from spotproof_runtime import Item
from spotproof_runtime.publish import main
from tests.runtime.queues import new_queue
from tests.runtime.services import Postgres, wait_for

PAGE = Path(__file__).parents[2] / "runtime" / "docs" / "work-on-a-queue.md"


def block(language: str, number: int) -> str:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text(), re.S | re.M)[number]


def stored(database: Postgres) -> dict[str, dict[str, int]]:
    try:
        with psycopg.connect(database.url) as connection:
            return dict(connection.execute("SELECT key, value FROM lengths").fetchall())
    except psycopg.errors.UndefinedTable:
        return {}


def test_the_page_works_as_it_stands(emulator: str, database: Postgres, tmp_path: Path) -> None:
    queue = new_queue()
    (tmp_path / "texts.csv").write_text("id,text\n1,a\n2,bb\n3,ccc\n")
    (tmp_path / "worker.py").write_text(block("python", 0))
    worker = subprocess.Popen(
        [sys.executable, tmp_path / "worker.py"],
        env={
            **os.environ,
            "SPOTPROOF_SUBSCRIPTION": queue.subscription,
            "SPOTPROOF_DATABASE_URL": database.url,
        },
    )
    try:
        words = block("sh", 0).replace("\\\n", " ").split()
        assert words[:3] == ["python", "-m", "spotproof_runtime.publish"]
        arguments = [word.replace("texts.csv", str(tmp_path / "texts.csv")) for word in words[3:]]
        arguments[arguments.index("--topic") + 1] = queue.topic
        assert main(arguments) == 0
        wait_for(lambda: {"1", "2", "3"} <= set(stored(database)), "all results are stored")
        assert stored(database)["3"] == {"length": 3}
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(timeout=30) == 0
    finally:
        worker.kill()
        worker.wait()


def test_the_loop_in_ones_own_hands_does_the_same(
    emulator: str, database: Postgres, tmp_path: Path
) -> None:
    queue = new_queue()
    queue.publish([Item("own-1", {"text": "a"}), Item("own-2", {"text": "bb"})])
    program, last = block("python", 0).rstrip().rsplit("\n", 1)
    loop = "".join(f"    {line}\n" for line in block("python", 1).splitlines())
    leaves = loop.replace("stop=stop", "stop=stop, leave_when_idle_seconds=2")
    assert "QueueWorker(" in last
    assert leaves != loop
    (tmp_path / "worker.py").write_text(f"{program}\n{leaves}")

    done = subprocess.run(
        [sys.executable, tmp_path / "worker.py"],
        env={
            **os.environ,
            "SPOTPROOF_SUBSCRIPTION": queue.subscription,
            "SPOTPROOF_DATABASE_URL": database.url,
        },
        timeout=120,
    )

    assert done.returncode == 0
    found = stored(database)
    assert (found["own-1"], found["own-2"]) == ({"length": 1}, {"length": 2})
