"""What becomes of a request: the error that the engine shows, and a line in the log."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import grpc
from google.protobuf import any_pb2
from pulumi.runtime.proto import provider_pb2, status_pb2

from sandbox.cloud.injection import PartialError, Request
from sandbox.cloud.problems import ApiError, ProviderError
from sandbox.cloud.store import Store
from sandbox.cloud.types.base import Kind
from sandbox.cloud.types.values import Properties

if TYPE_CHECKING:
    from sandbox.cloud.provider import Provider

_DOING = {"create": "creating", "update": "updating", "delete": "deleting", "": "reading"}


class Errors:
    """Turns refusals into the errors that the engine shows, and counts requests at work."""

    def __init__(
        self,
        provider: "Provider",
        context: grpc.ServicerContext,
        kind: Kind | None,
        operation: str,
    ) -> None:
        self.provider, self.context = provider, context
        self.kind, self.operation = kind, operation

    def __enter__(self) -> None:
        with self.provider.busy_lock:
            self.provider.busy += 1

    def __exit__(self, _type: object, error: BaseException | None, _trace: object) -> None:
        with self.provider.busy_lock:
            self.provider.busy -= 1
        if isinstance(error, PartialError):
            self.context.set_trailing_metadata(_partly_made(error))
        if isinstance(error, ProviderError):
            self.context.abort(grpc.StatusCode.UNKNOWN, _one(str(error)))
        if isinstance(error, ApiError):
            called = self.kind.called if self.kind else "data"
            text = f"error {_DOING[self.operation]} {called}: {error}"
            self.context.abort(grpc.StatusCode.UNKNOWN, _one(text))


def _one(text: str) -> str:
    return f"1 error occurred:\n\t* {text}\n\n"


def _partly_made(error: PartialError) -> tuple[tuple[str, bytes], ...]:
    """The detail of the error by which the engine records a resource in spite of it."""
    detail = any_pb2.Any()
    detail.Pack(
        provider_pb2.ErrorResourceInitFailed(
            id=error.identifier,
            properties=error.state,
            inputs=error.inputs,
            reasons=[str(error)],
        )
    )
    status = status_pb2.Status(
        code=grpc.StatusCode.UNKNOWN.value[0], message=_one(str(error)), details=[detail]
    )
    return (("grpc-status-details-bin", status.SerializeToString()),)


HIDDEN = "[secret]"


class Logged:
    """Writes one request to the log: what there was before and after, or what was refused.

    Values that the program or the provider calls secret are left out; so are the values of
    labels where the program's are secret.
    """

    def __init__(
        self,
        store: Store,
        asked: Request,
        before: Properties | None,
        secrets: frozenset[str],
    ) -> None:
        kind = asked.kind
        self.store = store
        self.wanted = asked.properties
        self.secrets = (secrets - {"effectiveLabels", "pulumiLabels"}) | set(kind.secret)
        if kind.labels in secrets:
            self.secrets |= {"effectiveLabels", "pulumiLabels"}
        self.entry: Properties = {
            "time": time.time(),
            "method": asked.operation,
            "type": kind.token,
            "name": asked.logical,
            "id": asked.identifier,
            "before": self._shown(before),
        }

    def __enter__(self) -> Callable[[str, Properties | None], None]:
        return self._done

    def _done(self, identifier: str, after: Properties | None) -> None:
        self.entry.update(id=identifier, after=self._shown(after))

    def __exit__(self, _type: object, error: BaseException | None, _trace: object) -> None:
        if error is not None:
            # A refused request changes nothing.
            self.entry.update(after=self.entry["before"], error=self._told(str(error)))
        self.store.log(self.entry)

    def _told(self, text: str) -> str:
        for name in self.secrets:
            for value in _texts(self.wanted.get(name)):
                text = text.replace(value, HIDDEN)
        return text

    def _shown(self, properties: Properties | None) -> Properties | None:
        if properties is None:
            return None
        return {
            name: HIDDEN if name in self.secrets else value for name, value in properties.items()
        }


def _texts(value: object) -> list[str]:
    """All texts within a value, the longest first."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return sorted((text for item in value for text in _texts(item)), key=len, reverse=True)
    return [value] if isinstance(value, str) and value else []
