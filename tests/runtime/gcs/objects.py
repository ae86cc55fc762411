"""Objects of a bucket: generations, preconditions, checksums and the limit on writes.

Sources: cloud.google.com/storage/docs/json_api/v1/objects, .../docs/request-preconditions and
.../quotas (one change per object and second), read on 2026-11-30.
"""

import base64
import hashlib
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

import google_crc32c


class Refused(Exception):
    """A call that the server answers with an error.

    Attributes:
        status: the HTTP status.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Object:
    """One generation of an object."""

    bucket: str
    name: str
    content: bytes
    generation: int
    updated: float
    metadata: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def crc32c(self) -> str:
        return crc32c(self.content)

    @property
    def md5(self) -> str:
        return base64.b64encode(hashlib.md5(self.content).digest()).decode()

    def resource(self) -> dict[str, Any]:
        """The object as the JSON API writes it."""
        moment = datetime.fromtimestamp(self.updated, timezone.utc)
        written = moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        return {
            "kind": "storage#object",
            "id": f"{self.bucket}/{self.name}/{self.generation}",
            "bucket": self.bucket,
            "name": self.name,
            "size": str(len(self.content)),
            "generation": str(self.generation),
            "metageneration": "1",
            "crc32c": self.crc32c,
            "md5Hash": self.md5,
            "timeCreated": written,
            "updated": written,
            "metadata": self.metadata,
        }


def crc32c(content: bytes) -> str:
    """CRC-32C as the API writes it."""
    return base64.b64encode(google_crc32c.value(content).to_bytes(4, "big")).decode()


class Objects:
    """The objects of some buckets.

    Args:
        buckets: names of the buckets that exist.
        limit_writes: refuse a second change of an object within a second.
        clock: seconds since 1970.
    """

    def __init__(
        self,
        buckets: tuple[str, ...],
        limit_writes: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.buckets = buckets
        self.limit_writes = limit_writes
        self.clock = clock
        self._lock = threading.Lock()
        self._objects: dict[tuple[str, str], Object] = {}
        self._changed_at: dict[tuple[str, str], float] = {}
        self._generation = 1_700_000_000_000_000
        self.written: dict[str, int] = {}
        """How often each name was written."""

    def create(
        self,
        bucket: str,
        name: str,
        content: bytes,
        match: int | None,
        claims: dict[str, str],
        metadata: dict[str, str] | None = None,
    ) -> Object:
        """Writes an object after all checks."""
        with self._lock:
            self.check_create(bucket, name, match)
            self._check_claims(content, claims)
            self._check_rate(bucket, name)
            self._generation += 1
            made = Object(
                bucket, name, content, self._generation, self.clock(), dict(metadata or {})
            )
            self._objects[bucket, name] = made
            self.written[name] = self.written.get(name, 0) + 1
            return made

    def check_create(self, bucket: str, name: str, match: int | None) -> None:
        """Refuses what no content could mend."""
        self._check_bucket(bucket)
        if not name or len(name.encode()) > 1024 or "\r" in name or "\n" in name:
            raise Refused(400, "Invalid object name")
        there = self._objects.get((bucket, name))
        if match is not None and match != (there.generation if there else 0):
            raise Refused(412, "At least one of the pre-conditions you specified did not hold.")

    def get(self, bucket: str, name: str, generation: int | None = None) -> Object:
        """The object of this name."""
        with self._lock:
            self._check_bucket(bucket)
            there = self._objects.get((bucket, name))
            if there is None or generation not in (None, there.generation):
                raise Refused(404, f"No such object: {bucket}/{name}")
            return there

    def delete(self, bucket: str, name: str, match: int | None) -> None:
        """Removes an object after all checks."""
        there = self.get(bucket, name)
        with self._lock:
            if match is not None and match != there.generation:
                raise Refused(412, "At least one of the pre-conditions you specified did not hold.")
            self._check_rate(bucket, name)
            self._objects.pop((bucket, name), None)

    def list(self, bucket: str, prefix: str) -> list[Object]:
        """The objects whose names begin with `prefix`, in the order of their names."""
        with self._lock:
            self._check_bucket(bucket)
            found = [each for each in self._objects.values() if each.bucket == bucket]
        return sorted((o for o in found if o.name.startswith(prefix)), key=lambda o: o.name)

    def spoil(self, bucket: str, name: str, content: bytes) -> None:
        """Replaces the content behind the API's back."""
        there = self.get(bucket, name)
        self._objects[bucket, name] = Object(bucket, name, content, there.generation, there.updated)

    def clear(self) -> None:
        """Removes everything."""
        with self._lock:
            self._objects.clear()
            self._changed_at.clear()
            self.written.clear()

    def _check_bucket(self, bucket: str) -> None:
        if bucket not in self.buckets:
            raise Refused(404, "The specified bucket does not exist.")

    def _check_claims(self, content: bytes, claims: dict[str, str]) -> None:
        md5 = base64.b64encode(hashlib.md5(content).digest()).decode()
        for kind, found in (("crc32c", crc32c(content)), ("md5", md5)):
            if claims.get(kind, found) != found:
                raise Refused(400, f"Provided {kind} {claims[kind]} doesn't match {found}.")

    def _check_rate(self, bucket: str, name: str) -> None:
        now = self.clock()
        if self.limit_writes and now - self._changed_at.get((bucket, name), -2.0) < 1:
            raise Refused(429, "The object exceeded the rate limit for object mutation operations.")
        self._changed_at[bucket, name] = now
