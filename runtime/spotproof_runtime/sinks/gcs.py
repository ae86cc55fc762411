"""Results as objects in a bucket of Cloud Storage."""

import json
from collections.abc import Collection, Sequence
from importlib import import_module
from typing import Any
from urllib.parse import quote, unquote

from spotproof_runtime.sinks.protocol import Row
from spotproof_runtime.sinks.tables import as_json, checked_version, newest

VERSION_FIELD = "spotproof-version"
"""Metadata of an object: version of the code or model that computed it."""

TIMEOUT_SECONDS = 60.0
"""How long one request and its retries may take."""


class GcsSink:
    """Creates an object `PREFIX/results/KEY.json` per result, and `PREFIX/errors/KEY/N.json` per
    error, with the keys quoted as in an address.

    Within a version the first object stays; one of an older version is replaced by generation, so
    that a late writer of an older one changes nothing. All rows or none cannot be had: each object
    is whole, and what a killed worker left out is computed again.

    Args:
        location: `gs://BUCKET/PREFIX`.
        version: of the code or model that computes; what is stored at a lower one is replaced.
        client: a `google.cloud.storage.Client`; one with the default credentials when omitted.

    Raises:
        ValueError: the location or version cannot be used.
    """

    def __init__(self, location: str, *, version: int = 0, client: Any = None) -> None:
        bucket, _, prefix = location.removeprefix("gs://").partition("/")
        prefix = prefix.strip("/")
        if not location.startswith("gs://") or not bucket or not prefix:
            raise ValueError(f"location {location!r}: write gs://BUCKET/PREFIX")
        self._location = f"gs://{bucket}/{prefix}"
        self._prefix = prefix
        self._bucket_name = bucket
        self._version = checked_version(version)
        self._client: Any = client

    def __repr__(self) -> str:
        return f"GcsSink({self._location!r}, version={self._version})"

    def have(self, keys: Collection[str]) -> set[str]:
        """Those of the keys that are stored at this version or a newer one."""
        return {key for key in keys if self._stored_version(key)[1] >= self._version}

    def put(self, rows: Sequence[Row]) -> None:
        """Stores each row in an object of its own.

        Raises:
            RowRefused: a value is not JSON; then nothing is stored.
        """
        texts = {key: as_json(row) for key, row in newest(list(rows)).items()}
        for key, text in texts.items():
            self._put_one(key, text)

    def count_error(self, key: str, error: str) -> int:
        """Notes one more error of the key; returns how many there are now."""
        known = len(list(self._errors(key)))
        text = json.dumps({"key": key, "error": error})
        for number in range(known + 1, known + 100):
            if self._create(f"{self._error_folder(key)}{number:04}.json", text, 0):
                return number
        return known + 100

    def forget_errors(self, keys: Collection[str]) -> None:
        """The keys succeeded: their errors count no more."""
        from google.api_core.exceptions import NotFound

        for blob in [blob for key in keys for blob in self._errors(key)]:
            try:
                blob.delete(timeout=TIMEOUT_SECONDS)
            except NotFound:
                continue

    def stored_keys(self) -> list[str]:
        """All keys that have an object, whatever its version, in the order of the listing."""
        folder = f"{self._prefix}/results/"
        blobs = self._bucket().list_blobs(prefix=folder, timeout=TIMEOUT_SECONDS)
        return [unquote(blob.name[len(folder) : -len(".json")]) for blob in blobs]

    def _put_one(self, key: str, text: str) -> None:
        generation = 0
        while not self._create(self._object(key), text, generation):
            generation, stored = self._stored_version(key)
            if stored >= self._version:
                return

    def _create(self, name: str, text: str, generation: int) -> bool:
        """Writes an object unless another generation than the given one is there; 0: none is."""
        from google.api_core.exceptions import PreconditionFailed

        blob = self._bucket().blob(name)
        blob.metadata = {VERSION_FIELD: str(self._version)}
        try:
            blob.upload_from_string(
                text,
                content_type="application/json",
                if_generation_match=generation,
                checksum="crc32c",
                timeout=TIMEOUT_SECONDS,
            )
        except PreconditionFailed:
            return False
        return True

    def _stored_version(self, key: str) -> tuple[int, int]:
        """Generation and version of a result; 0 and -1 where there is none."""
        blob: Any = self._bucket().get_blob(self._object(key), timeout=TIMEOUT_SECONDS)
        if blob is None:
            return 0, -1
        try:
            version = int(blob.metadata[VERSION_FIELD])
        except (KeyError, TypeError, ValueError):  # an object of somebody else's making
            version = 0
        return int(blob.generation), version

    def _errors(self, key: str) -> Any:
        return self._bucket().list_blobs(prefix=self._error_folder(key), timeout=TIMEOUT_SECONDS)

    def _object(self, key: str) -> str:
        return f"{self._prefix}/results/{quote(key, safe='')}.json"

    def _error_folder(self, key: str) -> str:
        return f"{self._prefix}/errors/{quote(key, safe='')}/"

    def _bucket(self) -> Any:
        if self._client is None:
            self._client = import_module("google.cloud.storage").Client(project="none")
        return self._client.bucket(self._bucket_name)
