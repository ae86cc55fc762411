"""The server: the JSON API over HTTP, in threads of this process."""

import json
import os
import re
import signal
import socket
import struct
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.runtime.gcs.faults import Fault, Faults
from tests.runtime.gcs.objects import Objects, Refused
from tests.runtime.gcs.uploads import Session, Sessions, claims_of, split_multipart

BUCKET = "test-bucket"

_OBJECTS = re.compile(r"/(?:(upload|download)/)?storage/v1/b/([^/]+)/o(?:/(.+))?")
_KNOWN = {
    "uploadType", "upload_id", "name", "alt", "prettyPrint", "fields", "prefix", "projection",
    "pageToken", "maxResults", "ifGenerationMatch", "generation", "fileName",
}  # fmt: skip

Answer = tuple[int, dict[str, str], bytes]


class GcsServer:
    """A server on loopback.

    Args:
        page_size: how many objects a page of a listing has at most.
        limit_writes: refuse a second change of an object within a second, as Cloud Storage does.
        port: 0 takes a free one.
    """

    def __init__(self, page_size: int = 1000, limit_writes: bool = False, port: int = 0) -> None:
        self.objects = Objects((BUCKET,), limit_writes)
        self.sessions = Sessions(self.objects)
        self.faults = Faults()
        self.page_size = page_size
        self._http = _Http(("127.0.0.1", port), _Handler)
        self._http.gcs = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def start(self) -> "GcsServer":
        self._thread.start()
        return self

    def stop(self) -> None:
        self._http.shutdown()
        self._http.server_close()

    def names(self, prefix: str = "") -> list[str]:
        """Names of the objects there."""
        return [each.name for each in self.objects.list(BUCKET, prefix)]


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64
    gcs: GcsServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        # A client that was killed breaks its connection, which is no news here.
        return


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16
    disable_nagle_algorithm = True
    server: _Http

    def log_message(self, format: str, *args: Any) -> None:
        return

    def do_GET(self) -> None:
        self._serve()

    do_POST = do_PUT = do_DELETE = do_GET

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        url = urlsplit(self.path)
        query = {key: values[0] for key, values in parse_qs(url.query).items()}
        if url.path.startswith("/_test/"):
            self._answer(_control(self.server.gcs, url.path, body))
            return
        call = _Call(self.server.gcs, self.command, url.path, query, self.headers, body)
        fault = self.server.gcs.faults.next(call.description)
        if fault and not fault.after and self._go_wrong(fault):
            return
        answer = call.answer()
        if fault and fault.kind == "corrupt":
            status, headers, content = answer
            answer = status, headers, bytes([content[0] ^ 1]) + content[1:]
        if fault and fault.after and self._go_wrong(fault):
            return
        self._answer(answer, truncate=bool(fault and fault.kind == "truncate"))

    def _go_wrong(self, fault: Fault) -> bool:
        """Whether the call has been dealt with."""
        if fault.kind == "slow":
            time.sleep(fault.seconds)
        elif fault.kind == "status":
            self._answer(_error(fault.status, "as planned"))
            return True
        elif fault.kind in ("reset", "kill"):
            if fault.kind == "kill":
                os.kill(fault.pid, signal.SIGKILL)
            linger = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.close_connection = True
            self.connection.close()
            return True
        return False

    def _answer(self, answer: Answer, truncate: bool = False) -> None:
        status, headers, body = answer
        self.send_response(status)
        for key, value in headers.items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if truncate else body)
        self.wfile.flush()
        if truncate:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)


class _Call:
    """One call of the API."""

    def __init__(
        self,
        gcs: GcsServer,
        method: str,
        path: str,
        query: dict[str, str],
        headers: Any,
        body: bytes,
    ) -> None:
        self.gcs = gcs
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
        found = _OBJECTS.fullmatch(path)
        self.area, self.bucket, name = found.groups() if found else ("", "", None)
        self.name = unquote(name) if name else query.get("name", "")
        self.known = found is not None
        self.description = self._describe()

    def _describe(self) -> str:
        if not self.known:
            return f"unknown {self.method} {self.path}"
        if self.area == "upload":
            return f"{self._upload_kind()} {self._upload_name()}"
        if self.method == "GET":
            return f"read {self.name}" if self.name else f"list {self.query.get('prefix', '')}"
        return f"{self.method.lower()} {self.name}"

    def _upload_kind(self) -> str:
        if self.method == "PUT":
            return "chunk"
        return "begin" if self.query.get("uploadType") == "resumable" else "create"

    def _upload_name(self) -> str:
        try:
            if self.method == "PUT":
                return self.gcs.sessions.find(self.query.get("upload_id", "")).name
            return self.name or self._metadata()[0].get("name", "")
        except (Refused, ValueError):
            return "?"

    def _metadata(self) -> tuple[dict[str, Any], bytes]:
        kind = self.query.get("uploadType")
        if kind == "multipart":
            return split_multipart(self.headers.get("Content-Type", ""), self.body)
        if kind == "resumable":
            return json.loads(self.body or b"{}"), b""
        if kind == "media":
            return {}, self.body
        raise Refused(400, f"uploadType {kind!r}")

    def answer(self) -> Answer:
        try:
            unknown = set(self.query) - _KNOWN
            if not self.known or unknown:
                raise Refused(400, f"unknown call, or parameters {sorted(unknown)}")
            if self.area == "upload":
                return self._upload()
            if self.method == "DELETE":
                self.gcs.objects.delete(self.bucket, self.name, self._number("ifGenerationMatch"))
                return 204, {}, b""
            return self._get() if self.name else self._list()
        except Refused as refused:
            return _error(refused.status, str(refused))
        except ValueError as error:
            return _error(400, str(error))

    def _number(self, key: str) -> int | None:
        return int(self.query[key]) if key in self.query else None

    def _upload(self) -> Answer:
        if self.method == "PUT":
            session = self.gcs.sessions.put(
                self.query.get("upload_id", ""),
                self.headers.get("Content-Range", ""),
                self.body,
                self.headers.get("x-goog-hash", ""),
            )
            return _json(session.made.resource()) if session.made else (308, session.range(), b"")
        metadata, content = self._metadata()
        name = self.name or metadata.get("name", "")
        match = self._number("ifGenerationMatch")
        own = metadata.get("metadata")
        claims = {"crc32c": metadata.get("crc32c"), "md5": metadata.get("md5Hash")}
        claims = {key: value for key, value in claims.items() if value}
        claims |= claims_of(self.headers.get("x-goog-hash", ""))
        if self.query["uploadType"] == "resumable":
            upload = self.gcs.sessions.begin(Session(self.bucket, name, match, claims, own))
            path = f"/upload/storage/v1/b/{self.bucket}/o?uploadType=resumable&upload_id={upload}"
            return 200, {"Location": self.gcs.url + path}, b""
        made = self.gcs.objects.create(self.bucket, name, content, match, claims, own)
        return _json(made.resource())

    def _get(self) -> Answer:
        found = self.gcs.objects.get(self.bucket, self.name, self._number("generation"))
        if self.query.get("alt") != "media":
            return _json(found.resource())
        headers = {
            "x-goog-hash": f"crc32c={found.crc32c},md5={found.md5}",
            "x-goog-generation": str(found.generation),
            "x-goog-stored-content-length": str(len(found.content)),
            "x-goog-stored-content-encoding": "identity",
        }
        part = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if not part:
            return 200, headers, found.content
        begin, end = int(part[1]), int(part[2] or len(found.content) - 1)
        if begin >= len(found.content):
            return _error(416, "The requested range cannot be satisfied.")
        headers["Content-Range"] = f"bytes {begin}-{end}/{len(found.content)}"
        return 206, headers, found.content[begin : end + 1]

    def _list(self) -> Answer:
        found = self.gcs.objects.list(self.bucket, self.query.get("prefix", ""))
        after = self.query.get("pageToken", "")
        rest = [each for each in found if each.name > after]
        size = min(self.gcs.page_size, self._number("maxResults") or self.gcs.page_size)
        page: dict[str, Any] = {"kind": "storage#objects"}
        page["items"] = [each.resource() for each in rest[:size]]
        if len(rest) > size:
            page["nextPageToken"] = rest[size - 1].name
        return _json(page)


def _control(gcs: GcsServer, path: str, body: bytes) -> Answer:
    """What a test in another process asks of the server itself."""
    if path == "/_test/plan":
        gcs.faults.plan(*(Fault(**each) for each in json.loads(body)))
    elif path == "/_test/clear":
        gcs.objects.clear()
        gcs.faults.plan()
    return _json({"calls": gcs.faults.calls, "names": gcs.names()})


def _json(content: Any) -> Answer:
    return 200, {"Content-Type": "application/json"}, json.dumps(content).encode()


def _error(status: int, message: str) -> Answer:
    content = {"error": {"code": status, "message": message}}
    return status, {"Content-Type": "application/json"}, json.dumps(content).encode()
