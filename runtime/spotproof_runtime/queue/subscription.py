"""The four calls of Pub/Sub that a worker makes, each with an end.

Unary calls, not a streaming pull: the client then holds exactly what the worker asked for, and
giving back is one call whose answer is waited for.
"""

import os
import re
import threading
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any
from urllib.parse import quote

from spotproof_gke.contract import SUBSCRIPTION_VARIABLE
from spotproof_gke.queues import DEAD_LETTERS_SUFFIX
from spotproof_runtime.queue.clients import new_subscriber
from spotproof_runtime.settings import SettingsError

CALL_SECONDS = 10.0
"""How long one acknowledgement, extension or return may take, its retries included."""

_NAME = re.compile(r"projects/([^/\s]+)/subscriptions/([^/\s]+)")


@dataclass(frozen=True)
class Received:
    """A message as Pub/Sub gave it out.

    Attributes:
        ack_id: names this delivery, not the message.
        data: the payload.
        attributes: of the message.
        message_id: given by Pub/Sub when the message was published.
        attempt: which delivery this is; 0 where Pub/Sub does not count.
    """

    ack_id: str
    data: bytes
    attributes: dict[str, str]
    message_id: str
    attempt: int


def subscription_name(subscription: str | None) -> str:
    """The full name of a subscription; `SPOTPROOF_SUBSCRIPTION` when None.

    Raises:
        ValueError: it is not `projects/PROJECT/subscriptions/NAME`.
        SettingsError: the variable is not.
    """
    name = subscription or os.environ.get(SUBSCRIPTION_VARIABLE, "")
    if not _NAME.fullmatch(name):
        wrong = ValueError if subscription else SettingsError
        raise wrong(
            f"subscription {name!r}: pass projects/PROJECT/subscriptions/NAME or set "
            f"{SUBSCRIPTION_VARIABLE}"
        )
    return name


def dead_letter_topic_of(subscription: str) -> str:
    """The topic that `WorkQueue` makes for the poison of a subscription."""
    match = _NAME.fullmatch(subscription)
    if match is None:
        raise ValueError(f"subscription {subscription!r}: projects/PROJECT/subscriptions/NAME")
    return f"projects/{match[1]}/topics/{match[2]}{DEAD_LETTERS_SUFFIX}"


class Subscription:
    """Pulls, extends, gives back and acknowledges.

    Args:
        name: `projects/PROJECT/subscriptions/NAME`.
        client: a `google.cloud.pubsub_v1.SubscriberClient`; a new one when omitted.
    """

    def __init__(self, name: str, *, client: Any = None) -> None:
        self.name = name
        self._owned = client is None
        self._client: Any = client or new_subscriber()
        self._lock = threading.Lock()
        self._pull: Any = None
        self._stopped = False

    def pull(self, most: int, *, seconds: float) -> list[Received]:
        """Waits for 1 to `most` messages; none when that long passed, or after `stop_pulling`.

        Raises:
            google.api_core.exceptions.GoogleAPICallError: the service refused.
        """
        import grpc
        from google.pubsub_v1 import PullRequest

        exceptions: Any = import_module("google.api_core.exceptions")

        with self._lock:
            if self._stopped:
                return []
            self._pull = self._client.transport.pull.future(
                PullRequest(subscription=self.name, max_messages=most),
                timeout=seconds,
                metadata=[("x-goog-request-params", f"subscription={quote(self.name, safe='')}")],
            )
        try:
            response = self._pull.result()
        except grpc.FutureCancelledError:
            return []
        except grpc.RpcError as error:
            found: Any = error
            if found.code() in (grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED):
                return []
            raise exceptions.from_grpc_error(found) from None
        return [
            Received(
                ack_id=each.ack_id,
                data=each.message.data,
                attributes=dict(each.message.attributes),
                message_id=each.message.message_id,
                attempt=each.delivery_attempt,
            )
            for each in response.received_messages
        ]

    def stop_pulling(self) -> None:
        """Lets no other pull begin, from any thread; the one under way ends by itself."""
        with self._lock:
            self._stopped = True

    def break_off(self) -> None:
        """Ends the pull under way, from any thread; a message may stay leased to it for a while."""
        with self._lock:
            self._stopped = True
            if self._pull is not None:
                self._pull.cancel()

    def extend(self, ack_ids: Sequence[str], seconds: int) -> set[str]:
        """Leases for that many seconds from now; returns the ids that are lost for good."""
        return self._settle(self._client.modify_ack_deadline, ack_ids, ack_deadline_seconds=seconds)

    def give_back(self, ack_ids: Sequence[str]) -> set[str]:
        """Makes messages another worker's at once; returns the ids that were lost before."""
        return self.extend(ack_ids, 0)

    def acknowledge(self, ack_ids: Sequence[str]) -> set[str]:
        """Ends messages for good, confirmed; returns the ids that were lost before.

        A lost one is delivered again: harmless, since its result is stored.
        """
        return self._settle(self._client.acknowledge, ack_ids)

    def close(self) -> None:
        """Ends the pull, and the connection if it is this object's own."""
        self.break_off()
        if self._owned:
            self._client.close()

    def _settle(
        self, call: Callable[..., Any], ack_ids: Sequence[str], **arguments: int
    ) -> set[str]:
        """Makes a call until each id is settled or lost, or the time is over."""
        from google.api_core.exceptions import GoogleAPICallError

        lost: set[str] = set()
        left = list(dict.fromkeys(ack_ids))
        ends = time.monotonic() + CALL_SECONDS
        pause = 0.1
        while left:
            timeout = max(0.5, ends - time.monotonic())
            try:
                call(subscription=self.name, ack_ids=left, timeout=timeout, retry=None, **arguments)
                return lost
            except GoogleAPICallError as error:
                gone, again = _outcome(error, left)
                lost |= gone
                left = again
                if left and time.monotonic() + pause > ends:
                    raise
            if left:
                time.sleep(pause)
                pause = min(2 * pause, 2.0)
        return lost


_TRANSIENT = frozenset({4, 8, 10, 13, 14})
"""gRPC codes that a retry may mend: DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, ABORTED, INTERNAL,
UNAVAILABLE."""


def _outcome(error: Any, ack_ids: Collection[str]) -> tuple[set[str], list[str]]:
    """Which ids an error leaves lost and which to try again; the rest are settled.

    With exactly-once delivery the error names each id with `PERMANENT_FAILURE_...` or
    `TRANSIENT_FAILURE_...`.

    Raises:
        GoogleAPICallError: a retry cannot mend it.
    """
    details: list[Any] = list(getattr(error, "details", None) or [])
    reasons = {
        key: str(value)
        for detail in details
        for key, value in dict(getattr(detail, "metadata", None) or {}).items()
        if key in ack_ids
    }
    if reasons:
        gone = {key for key, reason in reasons.items() if reason.startswith("PERMANENT_FAILURE")}
        return gone, [key for key in reasons if key not in gone]
    code = error.grpc_status_code
    if code is not None and code.value[0] in _TRANSIENT:
        return set(), list(ack_ids)
    raise error
