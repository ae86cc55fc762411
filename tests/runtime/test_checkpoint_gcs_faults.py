"""What Cloud Storage does on bad days: it is waited for while that can help, and named if not."""

import logging
import os
import threading
import time

import pytest

from spotproof_runtime.checkpoints import checkpoints as facade
from spotproof_runtime.checkpoints.checksums import crc32c_of
from spotproof_runtime.checkpoints.errors import SaveFailedError, StoreError
from spotproof_runtime.checkpoints.gcs_retries import Retries
from spotproof_runtime.checkpoints.gcs_store import GcsStore
from tests.runtime.checkpoint_runs import FakeStop, checkpoints, restore, train, wait_for, write
from tests.runtime.gcs.faults import Fault
from tests.runtime.gcs.server import BUCKET, GcsServer

LOCATION = f"gs://{BUCKET}/run"
MANY = 1_000_000


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short pauses between tries, which change nothing else."""
    monkeypatch.setattr(facade, "open_store", lambda location, stop: store(stop))


def store(stop: FakeStop, chunk_bytes: int = 1 << 20, **settings: float) -> GcsStore:
    retries = Retries(BUCKET, stop, first_pause_seconds=0.01, **settings)
    return GcsStore(BUCKET, "run", stop, retries=retries, chunk_bytes=chunk_bytes)


CALLS = {
    "a listing": "list run/",
    "a file": "create run/steps/",
    "a commit": "create run/commits/",
    "a deletion": "delete run/commits/",
    "a download": "read run/steps/",
    "reading a commit": "read run/commits/",
    "beginning a large upload": "begin run/steps/",
    "a chunk of a large upload": "chunk run/steps/",
}
# 401 makes the library fetch a new token first, which the anonymous user of a test has not.
PASSING = [
    *(Fault("status", status=status) for status in (403, 429, 503)),
    Fault("reset"),
    Fault("reset", after=True),
    Fault("status", status=503, after=True),
]


OTHER_STATUSES = (408, 500, 502, 504)


@pytest.mark.parametrize(
    ("call", "fault"),
    [(call, fault) for call in CALLS for fault in PASSING]
    + [("a file", Fault("status", status=status)) for status in OTHER_STATUSES],
    ids=lambda each: each if isinstance(each, str) else f"{each.kind} {each.status} {each.after}",
)
def test_an_error_that_passes_is_waited_for(gcs: GcsServer, call: str, fault: Fault) -> None:
    match = CALLS[call]
    gcs.faults.plan(Fault(fault.kind, status=fault.status, after=fault.after, count=2, match=match))
    made = checkpoints(LOCATION, keep=1)
    size = 9 << 20 if "large" in call else 10
    for step in range(2):
        made.offer(step, lambda directory: (directory / "big").write_bytes(bytes(size)))
    assert made.all_steps() == [2]
    assert made.restore(lambda d: (d / "big").stat().st_size > 9, default=lambda: 0) == (2, True)
    assert any(match in each for each in gcs.faults.calls)


@pytest.mark.parametrize("kind", ["truncate", "slow"])
def test_a_broken_download_goes_on_where_it_broke(gcs: GcsServer, kind: str) -> None:
    made = checkpoints(LOCATION)
    content = os.urandom(1 << 20)
    made.offer(0, lambda directory: (directory / "big").write_bytes(content))
    gcs.faults.plan(Fault(kind, match="read run/steps/", seconds=0.05, count=2))
    start, found = made.restore(lambda d: (d / "big").read_bytes(), default=lambda: b"")
    assert (start, found) == (1, content)


def test_what_was_spoiled_on_its_way_is_fetched_again(gcs: GcsServer) -> None:
    train(LOCATION, 2)
    newest = "read run/steps/000000000002"
    gcs.faults.plan(Fault("corrupt", match=newest))
    assert restore(LOCATION) == 2
    gcs.faults.plan(Fault("corrupt", match=newest, count=MANY))
    assert restore(LOCATION) == 1


def test_an_identity_that_does_not_settle_is_named_with_the_role(gcs: GcsServer) -> None:
    gcs.faults.plan(Fault("status", status=403, count=MANY))
    refused = store(FakeStop(), settle_seconds=0.2)
    with pytest.raises(StoreError, match=r"cannot list gs://test-bucket/run/commits/.*objectUser"):
        [*refused.list("commits/")]
    assert len(gcs.faults.calls) > 1


def test_a_refusal_later_on_is_final_at_once(gcs: GcsServer) -> None:
    gcs.faults.plan(Fault("status", status=403, count=MANY))
    with pytest.raises(StoreError):
        store(FakeStop(), settle_seconds=0).read("a")
    assert len(gcs.faults.calls) == 1


def test_a_pause_is_said_once_so_that_a_waiting_program_does_not_look_hung(
    gcs: GcsServer, caplog: pytest.LogCaptureFixture
) -> None:
    gcs.faults.plan(Fault("status", status=403, count=3))
    with caplog.at_level(logging.WARNING):
        [*store(FakeStop()).list("commits/")]
    assert caplog.text.count("trying again") == 1


def test_nothing_is_tried_again_after_the_end(gcs: GcsServer) -> None:
    gcs.faults.plan(Fault("status", status=503, count=MANY))
    stop = FakeStop()
    stop.request(0.3)
    begun = time.monotonic()
    with pytest.raises(StoreError, match="503"):
        store(stop).read("a")
    assert time.monotonic() - begun < 5
    stop.request(0)
    gcs.faults.plan(Fault("status", status=503, count=MANY))
    with pytest.raises(StoreError):
        store(stop).read("a")
    assert len(gcs.faults.calls) == 1


def test_an_end_that_comes_meanwhile_ends_the_tries_too(gcs: GcsServer) -> None:
    gcs.faults.plan(Fault("status", status=503, count=MANY))
    stop = FakeStop()
    tried = store(stop, patience_seconds=30)
    ends = threading.Thread(
        target=lambda: (wait_for(lambda: len(gcs.faults.calls) >= 3), stop.request(0.1))
    )
    ends.start()
    begun = time.monotonic()
    with pytest.raises(StoreError, match="503"):
        tried.read("a")
    ends.join()
    assert time.monotonic() - begun < 15


def test_an_outage_ends_in_an_error_that_says_what_to_do(gcs: GcsServer) -> None:
    gcs.faults.plan(Fault("status", status=503, count=MANY))
    with pytest.raises(
        StoreError, match=r"cannot read gs://test-bucket/run/a: .*check the network"
    ):
        store(FakeStop(), patience_seconds=0.2).read("a")


def test_a_bucket_that_is_not_there_is_named(gcs: GcsServer) -> None:
    missing = GcsStore("no-such-bucket", "run", FakeStop())
    with pytest.raises(StoreError, match=r"create the bucket no-such-bucket, or correct its name"):
        [*missing.list("commits/")]
    with pytest.raises(StoreError, match="create the bucket no-such-bucket"):
        missing.put("a", b"", crc32c_of(b""))


def test_a_wrong_checksum_is_found_by_the_server(gcs: GcsServer) -> None:
    for size in (10, 9 << 20):
        with pytest.raises(StoreError, match="changed while it was being saved"):
            store(FakeStop()).put("a", bytes(size), crc32c_of(b"other"))
        assert gcs.names() == []


def test_no_name_is_written_twice_however_often_is_saved(
    gcs: GcsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    gcs.objects.limit_writes = True
    now = [1_800_000_000.0]
    gcs.objects.clock = lambda: now[0]

    def tick(directory, step):
        now[0] += 0.1
        write(directory, step + 1)

    made = checkpoints(LOCATION, keep=60)
    for step in range(50):
        made.offer(step, lambda directory, step=step: tick(directory, step))
    assert made.all_steps() == list(range(1, 51))
    assert max(gcs.objects.written.values()) == 1


def test_a_second_change_within_a_second_is_put_off_not_looped_on(gcs: GcsServer) -> None:
    gcs.objects.limit_writes = True
    train(LOCATION, 3, keep=1)
    refused = [call for call in gcs.faults.calls if call.startswith("delete run/commits/")]
    assert restore(LOCATION) == 3
    assert len(refused) < 100


def test_nothing_but_objects_is_asked_for(gcs: GcsServer) -> None:
    train(LOCATION, 3)
    restore(LOCATION)
    assert [call for call in gcs.faults.calls if call.startswith("unknown")] == []


def test_a_save_that_fails_for_good_is_an_error_of_that_save(gcs: GcsServer) -> None:
    gcs.faults.plan(Fault("status", status=400, match="create run/commits/", count=MANY))
    made = checkpoints(LOCATION)
    with pytest.raises(SaveFailedError, match="cannot save step 1"):
        made.offer(0, lambda directory: write(directory, 1))
    assert made.all_steps() == []


def test_without_credentials_it_is_said_where_to_get_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path
) -> None:
    monkeypatch.delenv("STORAGE_EMULATOR_HOST", raising=False)
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", "")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    with pytest.raises(StoreError, match="gcloud auth application-default login"):
        GcsStore(BUCKET, "run", FakeStop())
