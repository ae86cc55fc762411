"""The engine's part of the conversation, in process: check, diff, create, update, read, delete."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from google.protobuf import struct_pb2
from pulumi.runtime.proto import provider_pb2

from sandbox.cloud import wire
from sandbox.cloud.provider import Provider
from sandbox.cloud.store import Store

PROJECT = "probe-project"
REGION = "northamerica-northeast2"
SEED = b"seed of the tests"


class Refused(Exception):
    """The provider refused: at which stage, and all that it said."""

    def __init__(self, stage: str, texts: list[str]) -> None:
        self.stage = stage
        self.texts = texts
        super().__init__(f"{stage}: " + " | ".join(texts))


class _Aborted(Exception):
    pass


class _Context:
    """A call's context; `metadata` is what was sent beside the last error."""

    metadata: tuple[tuple[str, bytes], ...] = ()

    def set_trailing_metadata(self, metadata: tuple[tuple[str, bytes], ...]) -> None:
        self.metadata = metadata

    def abort(self, code: object, details: str) -> None:
        raise _Aborted(details)


@dataclass
class Recorded:
    """A resource as the engine's state has it."""

    type: str
    name: str
    id: str
    inputs: dict[str, Any]
    outputs: dict[str, Any]


@dataclass
class Planned:
    """What the provider answered to Diff."""

    op: str
    replace_keys: list[str] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    delete_first: bool = False
    detailed: dict[str, str] = field(default_factory=dict)


class Emulated:
    """One emulated cloud and a provider on it."""

    def __init__(
        self, directory: Path, project: str = PROJECT, region: str = REGION, **settings: Any
    ) -> None:
        self.store = Store(directory)
        self.provider = Provider(self.store)
        self.context = _Context()
        args = {"project": project, "region": region, **settings}
        args = {name: value for name, value in args.items() if value}
        request = provider_pb2.ConfigureRequest(args=wire.marshal(args))
        self.provider.Configure(request, self.context)

    def check(
        self, token: str, name: str, inputs: dict[str, Any], olds: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """The checked inputs, or Refused."""
        answer = self.provider.Check(
            provider_pb2.CheckRequest(
                urn=urn(token, name),
                olds=wire.marshal(olds or {}),
                news=wire.marshal(inputs),
                randomSeed=SEED,
            ),
            self.context,
        )
        if answer.failures:
            raise Refused("preview", [failure.reason for failure in answer.failures])
        return wire.plain(answer.inputs)

    def preview(self, token: str, name: str, inputs: dict[str, Any]) -> dict[str, Any]:
        """The outputs that a preview of a new resource shows, or Refused."""
        checked = self.check(token, name, inputs)
        return wire.plain(self._create(token, name, checked, preview=True).properties)

    def create(self, token: str, name: str, inputs: dict[str, Any]) -> Recorded:
        """Preview and create a resource, or Refused with the stage.

        An input that is not known yet leaves it at the preview: the id is empty then.
        """
        planned = self.preview(token, name, inputs)
        checked = self.check(token, name, inputs)
        if wire.has_unknown(checked):
            return Recorded(token, name, "", checked, planned)
        answer = self._create(token, name, checked, preview=False)
        return Recorded(token, name, answer.id, checked, wire.plain(answer.properties))

    def _create(self, token: str, name: str, checked: dict[str, Any], preview: bool) -> Any:
        request = provider_pb2.CreateRequest(
            urn=urn(token, name), properties=wire.marshal(checked), preview=preview
        )
        return self._call("preview" if preview else "update", self.provider.Create, request)

    def plan(self, recorded: Recorded, inputs: dict[str, Any]) -> Planned:
        """What the engine would do with new inputs."""
        checked = self.check(recorded.type, recorded.name, inputs, recorded.inputs)
        answer = self._call(
            "preview",
            self.provider.Diff,
            provider_pb2.DiffRequest(
                id=recorded.id,
                urn=urn(recorded.type, recorded.name),
                olds=wire.marshal(recorded.outputs),
                old_inputs=wire.marshal(recorded.inputs),
                news=wire.marshal(checked),
            ),
        )
        changed = answer.changes == provider_pb2.DiffResponse.DIFF_SOME
        op = "replace" if answer.replaces else "update" if changed else "same"
        kinds = provider_pb2.PropertyDiff.Kind
        return Planned(
            op,
            sorted(answer.replaces),
            sorted(answer.detailedDiff),
            answer.deleteBeforeReplace,
            {path: kinds.Name(diff.kind) for path, diff in answer.detailedDiff.items()},
        )

    def up(self, recorded: Recorded, inputs: dict[str, Any]) -> tuple[Planned, Recorded]:
        """Bring a recorded resource to new inputs, as an update would."""
        planned = self.plan(recorded, inputs)
        if planned.op == "same":
            checked = self.check(recorded.type, recorded.name, inputs, recorded.inputs)
            same = Recorded(recorded.type, recorded.name, recorded.id, checked, recorded.outputs)
            return planned, same
        if planned.op == "replace":
            if planned.delete_first:
                self.delete(recorded)
                return planned, self.create(recorded.type, recorded.name, inputs)
            fresh = self.create(recorded.type, recorded.name, inputs)
            self.delete(recorded)
            return planned, fresh
        checked = self.check(recorded.type, recorded.name, inputs, recorded.inputs)
        outputs: dict[str, Any] = {}
        for preview in (True,) if wire.has_unknown(checked) else (True, False):
            request = provider_pb2.UpdateRequest(
                id=recorded.id,
                urn=urn(recorded.type, recorded.name),
                olds=wire.marshal(recorded.outputs),
                old_inputs=wire.marshal(recorded.inputs),
                news=wire.marshal(checked),
                preview=preview,
            )
            stage = "preview" if preview else "update"
            outputs = wire.plain(self._call(stage, self.provider.Update, request).properties)
        return planned, Recorded(recorded.type, recorded.name, recorded.id, checked, outputs)

    def refresh(self, recorded: Recorded) -> Recorded | None:
        """The resource as the server has it now; None when it is gone."""
        answer = self._call(
            "refresh",
            self.provider.Read,
            provider_pb2.ReadRequest(
                id=recorded.id,
                urn=urn(recorded.type, recorded.name),
                properties=wire.marshal(recorded.outputs),
                inputs=wire.marshal(recorded.inputs),
            ),
        )
        if not answer.id:
            return None
        inputs, outputs = wire.plain(answer.inputs), wire.plain(answer.properties)
        return Recorded(recorded.type, recorded.name, answer.id, inputs, outputs)

    def adopt(self, token: str, name: str, identifier: str) -> Recorded | None:
        """Import a resource by its id; None when there is none."""
        return self.refresh(Recorded(token, name, identifier, {}, {}))

    def delete(self, recorded: Recorded) -> None:
        """Delete a resource, or Refused."""
        request = provider_pb2.DeleteRequest(
            id=recorded.id,
            urn=urn(recorded.type, recorded.name),
            properties=wire.marshal(recorded.outputs),
            old_inputs=wire.marshal(recorded.inputs),
        )
        self._call("update", self.provider.Delete, request)

    def invoke(self, token: str, **args: Any) -> dict[str, Any]:
        """Call a function of the SDK."""
        request = provider_pb2.InvokeRequest(tok=token, args=wire.marshal(args))
        answer = self._call("preview", self.provider.Invoke, request)
        returned: struct_pb2.Struct = getattr(answer, "return")
        return wire.plain(returned)

    def _call(self, stage: str, method: Any, request: Any) -> Any:
        try:
            return method(request, self.context)
        except _Aborted as aborted:
            raise Refused(stage, [str(aborted)]) from None


def urn(token: str, name: str) -> str:
    """The URN of a resource of the tests."""
    return f"urn:pulumi:test::probe::{token}::{name}"
