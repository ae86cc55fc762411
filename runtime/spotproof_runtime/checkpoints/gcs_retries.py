"""Which errors of Cloud Storage pass by themselves, and what to say of the others.

Sources: cloud.google.com/storage/docs/retry-strategy and
cloud.google.com/kubernetes-engine/docs/how-to/workload-identity (an identity settles within
minutes after its pod has started), read on 2026-11-30.
"""

import http.client
import logging
import time
from collections.abc import Callable
from typing import Any

from spotproof_runtime.checkpoints.errors import (
    AlreadyExistsError,
    ChangedObjectError,
    MissingObjectError,
    StoreError,
)
from spotproof_runtime.stop import Stop

PATIENCE_SECONDS = 600.0
"""How long a call is tried again while Cloud Storage is overloaded or cannot be reached."""

SETTLE_SECONDS = 300.0
"""How long after its start a program is refused access before that counts as final."""

LONGEST_PAUSE_SECONDS = 4.0
"""The longest pause between two tries; a termination budget is 15 s, so it must be short."""

_PASSING = {408, 429, 500, 502, 503, 504}
_REFUSED = {401, 403}

_log = logging.getLogger("spotproof_runtime.checkpoints")


class Retries:
    """Decides about errors of one bucket.

    Args:
        bucket: name of the bucket, for messages.
        stop: after its end nothing is tried again.
        patience_seconds: how long one call is tried again.
        settle_seconds: how long from now 401 and 403 are tried again.
        first_pause_seconds: the longest pause after the first failure; the next ones double.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        bucket: str,
        stop: Stop,
        *,
        patience_seconds: float = PATIENCE_SECONDS,
        settle_seconds: float = SETTLE_SECONDS,
        first_pause_seconds: float = 0.5,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._bucket = bucket
        self._stop = stop
        self._patience_seconds = patience_seconds
        self._first_pause_seconds = first_pause_seconds
        self._clock = clock
        self._settled_at = clock() + settle_seconds
        self._told: set[object] = set()

    def each_request(self) -> Any:
        """A `google.api_core` retry, with jitter, for the requests of one call that begins now."""
        return self._retry(self.passes)

    def whole_call(self) -> Any:
        """The same around the call: an upload that was refused has to begin anew."""
        return self._retry(self.may_settle)

    def _retry(self, predicate: Callable[[BaseException], bool]) -> Any:
        from google.api_core.retry import Retry

        return Retry(
            predicate=predicate,
            initial=self._first_pause_seconds,
            maximum=LONGEST_PAUSE_SECONDS,
            timeout=max(0.001, min(self._patience_seconds, self._stop.remaining())),
            on_error=self._tell,
        )

    def timeout_seconds(self) -> float:
        """How long one request may take without a byte of an answer."""
        return max(1.0, min(60.0, self._stop.remaining()))

    def passes(self, error: BaseException) -> bool:
        """Whether a request may succeed if it is sent again, and there is time for that."""
        if self._stop.remaining() <= 0:
            return False
        status = status_of(error)
        if status is not None:
            return status in _PASSING
        return isinstance(error, _connection_errors())

    def may_settle(self, error: BaseException) -> bool:
        """Whether access was refused, and the program is so young that this may pass."""
        young = self._clock() < self._settled_at and self._stop.remaining() > 0
        return young and status_of(error) in _REFUSED

    def _tell(self, error: BaseException) -> None:
        kind = status_of(error) or type(error).__name__
        if (self.passes(error) or self.may_settle(error)) and kind not in self._told:
            self._told.add(kind)
            _log.warning("gs://%s: %s; trying again", self._bucket, _first_line(error))

    def explain(self, error: Exception, action: str, name: str) -> StoreError:
        """The error to raise for one of the client library.

        Args:
            error: what the library raised.
            action: what was being done, for example `write`.
            name: full name of the object.
        """
        where = f"gs://{self._bucket}/{name}"
        cause = error.__cause__ if type(error).__name__ == "RetryError" else None
        status = status_of(cause or error)
        if status == 412:
            if action == "write":
                return AlreadyExistsError(f"{where} exists already")
            return ChangedObjectError(f"{where} was written anew")
        if status == 404 and action == "read":
            return MissingObjectError(f"cannot read {where}: it is not there")
        text = _first_line(cause or error)
        return StoreError(f"cannot {action} {where}: {text}; {_advice(status, self._bucket)}")


def status_of(error: BaseException | None) -> int | None:
    """The HTTP status that `error` stands for, None when there was no answer."""
    response = getattr(error, "response", None)
    for found in (getattr(error, "code", None), getattr(response, "status_code", None)):
        if isinstance(found, int):
            return int(found)
    return None


def _connection_errors() -> tuple[type[BaseException], ...]:
    import google.auth.exceptions
    import requests
    import urllib3.exceptions

    return (
        ConnectionError,
        TimeoutError,
        http.client.HTTPException,
        requests.ConnectionError,
        requests.Timeout,
        requests.exceptions.ChunkedEncodingError,
        urllib3.exceptions.HTTPError,
        google.auth.exceptions.TransportError,
        google.auth.exceptions.RefreshError,
    )


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:300]}" if lines else type(error).__name__


def _advice(status: int | None, bucket: str) -> str:
    if status in _REFUSED:
        return f"grant roles/storage.objectUser on bucket {bucket} to the program's service account"
    if status == 404:
        return f"create the bucket {bucket}, or correct its name"
    if status == 400:
        return "the content was changed while it was being saved, or on its way; save again"
    if status == 429:
        return "write less often"
    return "check the network and the state of Cloud Storage"
