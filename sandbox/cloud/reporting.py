"""What becomes of a request: the error that the engine shows, and a line in the log."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import grpc

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
        if isinstance(error, ProviderError):
            self.context.abort(grpc.StatusCode.UNKNOWN, _one(str(error)))
        if isinstance(error, ApiError):
            called = self.kind.called if self.kind else "data"
            text = f"error {_DOING[self.operation]} {called}: {error}"
            self.context.abort(grpc.StatusCode.UNKNOWN, _one(text))


def _one(text: str) -> str:
    return f"1 error occurred:\n\t* {text}\n\n"


class Logged:
    """Writes one request to the log: before and after, or what was refused."""

    def __init__(
        self,
        store: Store,
        method: str,
        kind: Kind,
        name: str,
        before: Properties | None,
        inputs: Properties,
    ) -> None:
        self.store = store
        self.entry = {
            "time": time.time(),
            "method": method,
            "type": kind.token,
            "name": name,
            "before": before,
        }
        self.wanted = inputs

    def __enter__(self) -> Callable[[str, Properties | None], None]:
        return self._done

    def _done(self, identifier: str, after: Properties | None) -> None:
        self.entry.update(id=identifier, after=after)

    def __exit__(self, _type: object, error: BaseException | None, _trace: object) -> None:
        if error is not None:
            self.entry["error"] = str(error)
        self.store.log(self.entry)
