"""Objects in a bucket of Cloud Storage."""

import io
import os
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import IO, Any, TypeVar, cast

from spotproof_runtime.checkpoints.checksums import SummingFile
from spotproof_runtime.checkpoints.errors import ChangedObjectError, StoreError
from spotproof_runtime.checkpoints.gcs_retries import Retries, status_of
from spotproof_runtime.checkpoints.store import StoredObject
from spotproof_runtime.stop import Stop

CHUNK_BYTES = 32 << 20
"""How much of a large file one request carries; it is kept in memory to be sent again."""

_LISTED = "items(name,size,generation,crc32c,updated),nextPageToken"

T = TypeVar("T")


class GcsStore:
    """Objects below a path of a bucket.

    Needs `storage.objects.create`, `get`, `list` and `delete` (roles/storage.objectUser) and never
    asks for the bucket itself.

    Args:
        bucket: name of the bucket.
        prefix: the path, without slashes at its ends.
        stop: calls end in time for it.
        retries: which errors are tried again; the default suits GKE.
        chunk_bytes: how much one request carries, a multiple of 256 KiB.
    """

    def __init__(
        self,
        bucket: str,
        prefix: str,
        stop: Stop,
        *,
        retries: Retries | None = None,
        chunk_bytes: int = CHUNK_BYTES,
    ) -> None:
        self._prefix = f"{prefix}/"
        self._retries = retries or Retries(bucket, stop)
        self._chunk_bytes = chunk_bytes
        self._client, self._bucket = _open(bucket)

    def put(self, name: str, source: Path | bytes, crc32c: str) -> StoredObject:
        """See `ObjectStore.put`."""
        blob = self._bucket.blob(self._prefix + name, chunk_size=self._chunk_bytes)
        opened = io.BytesIO(source) if isinstance(source, bytes) else source.open("rb")
        with opened as file:
            self._call(
                "write",
                name,
                lambda retry, timeout: blob.upload_from_file(
                    file,
                    size=_size_of(file),
                    content_type="application/octet-stream",
                    if_generation_match=0,
                    checksum="crc32c",
                    crc32c_checksum_value=crc32c,
                    retry=retry,
                    timeout=timeout,
                ),
            )
        if blob.crc32c != crc32c:
            self.delete(name, blob.generation)
            raise StoreError(
                f"cannot write {name}: the content's CRC-32C is {blob.crc32c}, not {crc32c}; "
                "it was changed while it was being saved"
            )
        return self._stored(blob)

    def read(self, name: str) -> bytes:
        """See `ObjectStore.read`."""
        blob = self._bucket.blob(self._prefix + name)
        return self._call(
            "read",
            name,
            lambda retry, timeout: cast(
                bytes, blob.download_as_bytes(retry=retry, timeout=timeout, checksum="crc32c")
            ),
        )

    def fetch(self, name: str, target: Path, between: Callable[[], None]) -> str:
        """See `ObjectStore.fetch`."""
        blob = self._bucket.blob(self._prefix + name)

        def download(retry: Any, timeout: float) -> str:
            file = SummingFile(target, between)
            try:
                # The checksum is the caller's to judge: the library does not check a download
                # that went on after a break.
                blob.download_to_file(
                    file, raw_download=True, checksum=None, retry=retry, timeout=timeout
                )
            finally:
                crc32c = file.close()
            return crc32c

        return self._call("read", name, download)

    def list(self, prefix: str) -> Iterator[StoredObject]:
        """See `ObjectStore.list`."""
        blobs = self._call(
            "list",
            prefix,
            lambda retry, timeout: list[Any](
                self._client.list_blobs(
                    self._bucket,
                    prefix=self._prefix + prefix,
                    fields=_LISTED,
                    retry=retry,
                    timeout=timeout,
                )
            ),
        )
        return map(self._stored, blobs)

    def delete(self, name: str, generation: int | None = None) -> None:
        """See `ObjectStore.delete`."""
        blob = self._bucket.blob(self._prefix + name)
        try:
            self._call(
                "delete",
                name,
                lambda retry, timeout: blob.delete(
                    if_generation_match=generation, retry=retry, timeout=timeout
                ),
            )
        except ChangedObjectError:
            raise
        except StoreError as error:
            if status_of(error.__cause__) != 404:
                raise

    def _call(self, action: str, name: str, call: Callable[[Any, float], T]) -> T:
        from google.api_core.exceptions import GoogleAPIError
        from google.auth.exceptions import GoogleAuthError
        from requests import RequestException

        try:
            return self._retries.whole_call()(
                lambda: call(self._retries.each_request(), self._retries.timeout_seconds())
            )()
        except (
            GoogleAPIError,
            GoogleAuthError,
            _media_error("InvalidResponse"),
            _media_error("DataCorruption"),
            RequestException,
            ConnectionError,
        ) as error:
            raise self._retries.explain(error, action, self._prefix + name) from error

    def _stored(self, blob: Any) -> StoredObject:
        return StoredObject(
            name=blob.name[len(self._prefix) :],
            size_bytes=int(blob.size),
            generation=int(blob.generation),
            crc32c=blob.crc32c,
            updated=blob.updated.timestamp(),
        )


def _media_error(name: str) -> type[Exception]:
    # The library has no type stubs, and its errors of uploads and downloads have no other base.
    return getattr(import_module("google.cloud.storage.exceptions"), name)


def _open(bucket: str) -> tuple[Any, Any]:
    """A client and the bucket, without asking Cloud Storage for either."""
    from google.auth.exceptions import DefaultCredentialsError

    # Otherwise the library looks the bucket up for its traces, which takes another permission.
    os.environ.setdefault("DISABLE_GCS_PYTHON_CLIENT_OTEL_BUCKET_METADATA", "true")
    try:
        # No call for objects needs a project, but the client insists on one.
        client: Any = import_module("google.cloud.storage").Client(project="none")
    except DefaultCredentialsError:
        raise StoreError(
            f"cannot use gs://{bucket}: this program has no Google credentials; on GKE give its "
            "service account access, elsewhere run gcloud auth application-default login, or "
            "keep checkpoints in a directory"
        ) from None
    return client, client.bucket(bucket)


def _size_of(file: IO[bytes]) -> int:
    size = file.seek(0, io.SEEK_END)
    file.seek(0)
    return size
