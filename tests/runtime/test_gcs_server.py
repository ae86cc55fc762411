"""The server that stands in for Cloud Storage is as strict, seen through Google's own client."""

import io
import os
from typing import Any

import pytest
from google.api_core.exceptions import BadRequest, GoogleAPICallError, NotFound, PreconditionFailed
from google.cloud import storage

from tests.runtime.gcs.faults import Fault
from tests.runtime.gcs.objects import crc32c
from tests.runtime.gcs.server import BUCKET, GcsServer

LARGE = os.urandom(9 << 20)
QUARTER_MIB = 256 << 10


@pytest.fixture
def bucket(gcs: GcsServer, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("DISABLE_GCS_PYTHON_CLIENT_OTEL_BUCKET_METADATA", "true")
    return storage.Client(project="none").bucket(BUCKET)


@pytest.mark.parametrize("content", [b"", b"a", b"--\r\n\r\nlines\r\n", LARGE], ids=len)
def test_content_comes_back(bucket: Any, content: bytes) -> None:
    blob = bucket.blob("a/ä b#?.bin", chunk_size=4 * QUARTER_MIB)
    blob.upload_from_file(io.BytesIO(content), size=len(content))
    assert bucket.blob(blob.name).download_as_bytes() == content
    assert blob.crc32c == crc32c(content)


@pytest.mark.parametrize("content", [b"a", LARGE], ids=len)
def test_create_preconditions_hold(bucket: Any, content: bytes) -> None:
    def upload(generation: int) -> Any:
        blob = bucket.blob("a")
        file = io.BytesIO(content)
        blob.upload_from_file(file, size=len(content), if_generation_match=generation)
        return blob

    first = upload(0)
    for wrong in (0, first.generation + 1):
        with pytest.raises(PreconditionFailed):
            upload(wrong)
    assert upload(first.generation).generation > first.generation


@pytest.mark.parametrize("content", [b"a", LARGE], ids=len)
def test_a_wrong_checksum_is_refused(bucket: Any, gcs: GcsServer, content: bytes) -> None:
    blob = bucket.blob("a")
    blob.crc32c = "AAAAAA=="
    with pytest.raises(BadRequest):
        blob.upload_from_file(io.BytesIO(content), size=len(content), checksum=None)
    assert gcs.names() == []


def test_delete_preconditions_hold(bucket: Any) -> None:
    blob = bucket.blob("a")
    blob.upload_from_string("a")
    with pytest.raises(PreconditionFailed):
        blob.delete(if_generation_match=blob.generation + 1)
    blob.delete(if_generation_match=blob.generation)
    with pytest.raises(NotFound):
        blob.delete()


def test_listings_come_in_pages(bucket: Any, gcs: GcsServer) -> None:
    for number in range(8):
        bucket.blob(f"a/{number}").upload_from_string("a")
    bucket.blob("b").upload_from_string("a")
    found = [blob.name for blob in bucket.list_blobs(prefix="a/")]
    assert found == [f"a/{number}" for number in range(8)]
    assert len([call for call in gcs.faults.calls if call == "list a/"]) == 3


def test_writes_of_one_object_are_limited_when_asked(bucket: Any, gcs: GcsServer) -> None:
    gcs.objects.limit_writes = True
    bucket.blob("a").upload_from_string("a")
    bucket.blob("b").upload_from_string("b")
    with pytest.raises(GoogleAPICallError) as refused:
        bucket.blob("a").upload_from_string("a", retry=None)
    assert refused.value.code == 429


def test_chunks_of_odd_sizes_are_refused(bucket: Any, gcs: GcsServer) -> None:
    import requests

    begin = f"{gcs.url}/upload/storage/v1/b/{BUCKET}/o?uploadType=resumable"
    session = requests.post(begin, json={"name": "a"}, timeout=10).headers["Location"]
    answer = requests.put(
        session, data=b"a" * 100, headers={"Content-Range": "bytes 0-99/200"}, timeout=10
    )
    assert answer.status_code == 400


def test_what_it_does_not_know_is_refused(gcs: GcsServer) -> None:
    import requests

    for path in ("/storage/v1/b/test-bucket", "/storage/v1/b/test-bucket/o?unknown=1"):
        assert requests.get(gcs.url + path, timeout=10).status_code == 400


@pytest.mark.parametrize("kind", ["status", "reset"])
@pytest.mark.parametrize("after", [False, True])
def test_a_fault_comes_before_or_after_the_effect(
    bucket: Any, gcs: GcsServer, kind: str, after: bool
) -> None:
    gcs.faults.plan(Fault(kind, call=2, after=after))
    bucket.blob("first").upload_from_string("a", retry=None)
    with pytest.raises((GoogleAPICallError, ConnectionError, requests_error())):
        bucket.blob("second").upload_from_string("a", retry=None)
    assert gcs.names() == (["first", "second"] if after else ["first"])


def requests_error() -> type[Exception]:
    import requests

    return requests.ConnectionError
