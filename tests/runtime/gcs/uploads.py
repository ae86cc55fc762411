"""Uploads: in one request, or a session that takes chunk after chunk."""

import email.parser
import email.policy
import json
import re
import threading
import uuid
from typing import Any

from tests.runtime.gcs.objects import Object, Objects, Refused

CHUNK_UNIT = 256 << 10
_RANGE = re.compile(r"bytes (?:(\d+)-(\d+)|\*)/(\d+|\*)")


def split_multipart(content_type: str, body: bytes) -> tuple[dict[str, Any], bytes]:
    """The metadata and the content of a multipart upload."""
    head = f"content-type: {content_type}\r\n\r\n".encode()
    parsed = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + body)
    parts = list(parsed.iter_parts()) if parsed.is_multipart() else []
    if len(parts) != 2:
        raise Refused(400, "A multipart upload has two parts.")
    # The parser may change line ends of the content, so that is cut out by hand.
    boundary = parsed.get_boundary().encode()
    section = body.split(b"--" + boundary)[2]
    content = section.split(b"\r\n\r\n", 1)[1].removesuffix(b"\r\n")
    return json.loads(parts[0].get_content()), content


class Session:
    """A resumable upload."""

    def __init__(
        self,
        bucket: str,
        name: str,
        match: int | None,
        claims: dict[str, str],
        metadata: dict[str, str] | None = None,
    ) -> None:
        self.bucket = bucket
        self.name = name
        self.match = match
        self.claims = claims
        self.metadata = metadata
        self.content = bytearray()
        self.made: Object | None = None

    def range(self) -> dict[str, str]:
        return {"Range": f"bytes=0-{len(self.content) - 1}"} if self.content else {}


class Sessions:
    """All resumable uploads."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._lock = threading.Lock()
        self._sessions: dict[str, Session] = {}

    def begin(self, session: Session) -> str:
        """Opens a session and returns its id."""
        self._objects.check_create(session.bucket, session.name, session.match)
        upload = uuid.uuid4().hex
        with self._lock:
            self._sessions[upload] = session
        return upload

    def find(self, upload: str) -> Session:
        with self._lock:
            if upload not in self._sessions:
                raise Refused(404, "No such upload.")
            return self._sessions[upload]

    def put(self, upload: str, content_range: str, body: bytes, hash_header: str) -> Session:
        """Takes a chunk; the session has `made` when it was the last."""
        session = self.find(upload)
        found = _RANGE.fullmatch(content_range)
        if not found:
            raise Refused(400, f"Content-Range {content_range!r}")
        if session.made or found[1] is None:
            return session
        begin, end = int(found[1]), int(found[2])
        if end - begin + 1 != len(body) or begin > len(session.content):
            raise Refused(400, f"Content-Range {content_range!r} of {len(body)} bytes")
        last = found[3] != "*" and end + 1 == int(found[3])
        if not last and len(body) % CHUNK_UNIT:
            raise Refused(400, "Chunks are multiples of 256 KiB.")
        session.content[begin:] = body
        if last:
            claims = session.claims | claims_of(hash_header)
            session.made = self._objects.create(
                session.bucket,
                session.name,
                bytes(session.content),
                session.match,
                claims,
                session.metadata,
            )
        return session


def claims_of(hash_header: str) -> dict[str, str]:
    """The checksums that a header `x-goog-hash` claims."""
    pairs = (each.strip().partition("=") for each in hash_header.split(",") if each.strip())
    return {kind: value for kind, _, value in pairs}
