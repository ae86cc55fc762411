"""SIGTERM is honoured in whatever a program is doing, and the exit code says that it was."""

from collections.abc import Callable
from pathlib import Path
from textwrap import indent

import pytest

from tests.runtime.program import interrupted, running

BEGIN = """
import hashlib, io, os, queue, sys, threading, time
from spotproof_runtime import Interruption

with Interruption() as stop:
"""

IMPORT = """
print("ready")
for name in ("unittest.mock", "xmlrpc.client", "numpy", "concurrent.futures", "sqlite3", "decimal"):
    __import__(name)
    stop.exit_if_requested()
    stop.wait(0.05)
stop.wait(60)
stop.exit_if_requested()
"""

DOWNLOAD = """
import http.server, urllib.request

class Endless(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        while True:
            self.wfile.write(bytes(1000))
            time.sleep(0.01)

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endless)
threading.Thread(target=server.serve_forever, daemon=True).start()
with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/data") as response:
    print("ready")
    for chunk in stop.guard(iter(lambda: response.read(1000), b"")):
        pass
"""

WARM_UP = """
print("ready")
for step in stop.guard(range(10_000)):
    sum(range(100_000))
"""

COMPILE = """
print("ready")
hashlib.pbkdf2_hmac("sha256", b"kernel", b"", 1_500_000)
stop.wait(60)
stop.exit_if_requested()
"""

COMPILE_WITH_LOCK = """
print("ready")
sum(range(30_000_000))
stop.wait(60)
stop.exit_if_requested()
"""

TRAINING = """
print("ready")
step = 0
while not stop.requested:
    time.sleep(0.01)
    step += 1
"""

EVALUATION = """
import numpy
print("ready")
for batch in stop.guard(numpy.ones((200, 200)) for _ in range(1_000_000)):
    batch @ batch
"""

SAVE = """
with open(os.environ["STATE"] + ".part", "wb") as file:
    for part in range(20):
        file.write(bytes(100_000))
        file.flush()
        if part == 2:
            print("ready")
        time.sleep(0.02)
os.replace(file.name, os.environ["STATE"])
stop.wait(60)
stop.exit_if_requested()
"""

RESTORE = """
with open("/dev/zero", "rb") as file:
    print("ready")
    for part in stop.guard(iter(lambda: file.read(100_000), b"")):
        time.sleep(0.01)
"""

SLEEP = """
print("ready")
stop.wait(3600)
"""

QUEUE = """
batches = queue.Queue()
print("ready")
stop.get(batches)
"""

QUEUE_WITH_ITEMS = """
import multiprocessing
for batches in (queue.Queue(), multiprocessing.Queue()):
    number = 1 if isinstance(batches, queue.Queue) else 2
    threading.Timer(0.2, batches.put, [number]).start()
    print(stop.get(batches))
try:
    stop.get(batches, seconds=0.1)
except queue.Empty:
    print("empty")
"""

CONDITION = """
filled = threading.Condition()

def wake():
    with filled:
        filled.notify_all()

stop.on_notice(wake)
with filled:
    print("ready")
    while not stop.requested:
        filled.wait()
"""

PHASES = {
    "import": IMPORT,
    "download": DOWNLOAD,
    "warm-up": WARM_UP,
    "first compile, lock released": COMPILE,
    "first compile, lock held": COMPILE_WITH_LOCK,
    "training": TRAINING,
    "evaluation": EVALUATION,
    "save": SAVE,
    "restore": RESTORE,
    "sleep": SLEEP,
    "wait for a queue": QUEUE,
    "wait for a condition": CONDITION,
}


AFTER_SECONDS = (0.0, 0.2)
"""When the signal comes, from the beginning of the phase."""


def program(phase: str) -> str:
    return BEGIN + indent(phase, "    ")


@pytest.mark.parametrize("phase", PHASES)
def test_sigterm_ends_every_phase_with_143(
    phase: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    worst = 0.0
    for after in AFTER_SECONDS:
        state = tmp_path / f"state-{after}"
        ended = interrupted(program(PHASES[phase]), after_seconds=after, STATE=str(state))
        assert ended.code == 143, ended.errors
        assert ended.seconds < 13, "it was not told to end, but ended at the deadline"
        assert '"event": "notice"' in ended.errors
        assert "Traceback" not in ended.errors
        if phase == "save":
            assert state.stat().st_size == 2_000_000, "it did not end what it had begun"
        worst = max(worst, ended.seconds)
    record_property("figure", f"SIGTERM to exit at worst, {phase}: {1000 * worst:.0f} ms")


def test_an_item_of_a_queue_is_taken_and_a_time_limit_kept() -> None:
    with running(program(QUEUE_WITH_ITEMS)) as started:
        ended = started.end()
    assert (ended.code, ended.output) == (0, ["1", "2", "empty"]), ended.errors
