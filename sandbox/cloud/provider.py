"""The provider's service: what the engine asks, in terms of the resource types."""

import threading
import time
from typing import Any

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc

from sandbox.cloud import schema, wire
from sandbox.cloud.check import check
from sandbox.cloud.configuration import configuration
from sandbox.cloud.describe import package_schema
from sandbox.cloud.diff import Change
from sandbox.cloud.injection import Injector, PartialError, Request, expected_id, settle
from sandbox.cloud.invokes import invoke
from sandbox.cloud.naming import DEFAULTS, urn_parts
from sandbox.cloud.problems import ApiError, ProviderError, did_you_mean
from sandbox.cloud.replies import diff_response, ignoring, label_changes, namer
from sandbox.cloud.reporting import Errors, Logged
from sandbox.cloud.states import refreshed, without_notes
from sandbox.cloud.store import Store
from sandbox.cloud.types import kind_of
from sandbox.cloud.types.base import SHORT_OF_MACHINES, Cloud, Config, Kind
from sandbox.cloud.types.values import Properties

LABEL_OUTPUTS = frozenset({"effectiveLabels", "pulumiLabels"})


class Provider(provider_pb2_grpc.ResourceProviderServicer):
    """The GCP provider, on an emulated cloud."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.injector = Injector(store)
        self.config = Config()
        self.busy = 0
        self.busy_lock = threading.Lock()

    @property
    def cloud(self) -> Cloud:
        """The server, as asked by this provider."""
        return Cloud(self.store, self.config)

    def Handshake(self, request, context):
        """Say what this provider can do."""
        return provider_pb2.ProviderHandshakeResponse(
            accept_secrets=True, accept_resources=False, accept_outputs=False
        )

    def GetPluginInfo(self, request, context):
        """The version: that of the SDK that it serves."""
        return plugin_pb2.PluginInfo(version=schema.sdk_version())

    def GetSchema(self, request, context):
        """The schema of the emulated types, for programs without an SDK."""
        return provider_pb2.GetSchemaResponse(schema=package_schema())

    def CheckConfig(self, request, context):
        """Refuse settings that the provider does not have."""
        known = schema.provider_settings() | {"version", "pluginDownloadURL"}
        unknown = [
            name
            for name in wire.plain(request.news)
            if name not in known and not name.startswith("__")
        ]
        failures = [
            provider_pb2.CheckFailure(
                reason="could not validate provider configuration: Invalid or unknown key; "
                f"{did_you_mean(name, known)} Check `pulumi config get gcp:{name}`."
            )
            for name in unknown
        ]
        return provider_pb2.CheckResponse(inputs=request.news, failures=failures)

    def DiffConfig(self, request, context):
        """A provider for another project replaces what it made; the real one does the same."""
        old, new = wire.plain(request.olds), wire.plain(request.news)
        replaces = ["project"] if old.get("project") != new.get("project") else []
        kind = "DIFF_SOME" if old != new else "DIFF_NONE"
        return provider_pb2.DiffResponse(
            changes=provider_pb2.DiffResponse.DiffChanges.Value(kind), replaces=replaces
        )

    def Configure(self, request, context):
        """Take project, region, zone and labels."""
        args = wire.plain(request.args) or {
            key.rpartition(":")[2]: value for key, value in request.variables.items()
        }
        self.config = configuration(args)
        return provider_pb2.ConfigureResponse(
            acceptSecrets=True,
            supportsPreview=True,
            acceptResources=False,
            acceptOutputs=False,
            supports_autonaming_configuration=True,
        )

    def Check(self, request, context):
        """Check a program's inputs and fill in names and defaults."""
        token, logical = urn_parts(request.urn)
        kind = self._kind(token, context)
        news, secrets = wire.unmarshal(request.news)
        names = namer(request, logical)
        inputs, refusals = check(kind, news, wire.plain(request.olds), names)
        return provider_pb2.CheckResponse(
            inputs=wire.marshal(inputs, secrets),
            failures=[
                provider_pb2.CheckFailure(property="", reason=refusal.text(logical))
                for refusal in refusals
            ],
        )

    def Diff(self, request, context):
        """Compare new inputs with the recorded state."""
        token, _ = urn_parts(request.urn)
        kind = self._kind(token, context)
        old = wire.plain(request.olds)
        checked = ignoring(wire.plain(request.news), old, request.ignoreChanges)
        with self._errors(context, kind):
            changes = self.changes(kind, old, without_notes(checked))
        return diff_response(kind, changes, old, checked)

    def changes(self, kind: Kind, old: Properties, inputs: Properties) -> list[Change]:
        """All changes from a recorded state to the inputs; raises ProviderError."""
        kind.plan(old, inputs)
        changes = kind.changes(old, inputs)
        if kind.labels:
            changes += label_changes(kind, old, inputs, changes)
        return changes + kind.further_changes(changes, old, inputs)

    def Create(self, request, context):
        """Create a resource, or tell what it would look like."""
        token, logical = urn_parts(request.urn)
        kind = self._kind(token, context)
        values, secrets = wire.unmarshal(request.properties)
        inputs = without_notes(values)
        with self._errors(context, kind, "create"):
            kind.plan(None, inputs)
            full = kind.complete(inputs, self.config)
            if request.preview:
                state = kind.state_for_preview(full, None, self.config)
                return provider_pb2.CreateResponse(properties=self._state(kind, state, secrets))
            kind.before_call(full, None)
            asked = Request("create", kind, logical, expected_id(kind, logical, full), full)
            self.injector.before(asked, self.cloud)
            identifier, found = self._create(asked, secrets)
            self.injector.after(asked)
            state = self._state(kind, kind.read(found, full, self.config), secrets)
            if asked.error:
                raise PartialError(str(asked.error), identifier, state, request.properties)
        return provider_pb2.CreateResponse(id=identifier, properties=state)

    def _create(self, asked: Request, secrets: frozenset[str]) -> tuple[str, Properties]:
        kind, inputs = asked.kind, asked.properties
        with self.store.locked(), self._logged(asked, None, secrets) as done:
            identifier = kind.create(self.cloud, inputs)
            found = self.cloud.find(kind.token, identifier) or {}
            if asked.error:
                found = {**found, SHORT_OF_MACHINES: True}
                self.store.put(kind.token, identifier, found)
            done(identifier, found)
        return identifier, found

    def Update(self, request, context):
        """Change a resource in place, or tell what it would look like."""
        token, logical = urn_parts(request.urn)
        kind = self._kind(token, context)
        values, secrets = wire.unmarshal(request.news)
        old = wire.plain(request.olds)
        inputs = without_notes(ignoring(values, old, request.ignoreChanges))
        with self._errors(context, kind, "update"):
            kind.plan(old, inputs)
            full = kind.complete(inputs, self.config)
            if request.preview:
                state = kind.state_for_preview(full, old, self.config)
                return provider_pb2.UpdateResponse(properties=self._state(kind, state, secrets))
            kind.before_call(full, old)
            asked = Request("update", kind, logical, request.id, full)
            calls = kind.needs_call(self.changes(kind, old, full))
            if calls:
                self.injector.before(asked, self.cloud)
            found = self._update(asked, old, secrets, calls)
            self.injector.after(asked)
            state = kind.read(found, {**old, **full}, self.config)
        return provider_pb2.UpdateResponse(properties=self._state(kind, state, secrets))

    def _update(
        self, asked: Request, old: Properties, secrets: frozenset[str], calls: bool
    ) -> Properties:
        kind, identifier = asked.kind, asked.identifier
        with self.store.locked():
            before = self.cloud.find(kind.token, identifier)
            settle(self.store, kind.token, identifier)
            with self._logged(asked, before, secrets) as done:
                if calls:
                    kind.update(self.cloud, identifier, asked.properties, old)
                after = self.cloud.find(kind.token, identifier)
                if after is None:
                    raise ApiError(404, f"Not found: {identifier}")
                done(identifier, after)
        return after

    def Delete(self, request, context):
        """Delete a resource."""
        token, logical = urn_parts(request.urn)
        kind = self._kind(token, context)
        state, secrets = wire.unmarshal(request.properties)
        with self._errors(context, kind, "delete"):
            if not _to_delete(kind, state):
                return empty_pb2.Empty()
            asked = Request("delete", kind, logical, request.id, state)
            self.injector.before(asked, self.cloud)
            with self.store.locked():
                before = self.cloud.find(kind.token, request.id)
                with self._logged(asked, before, secrets) as done:
                    kind.delete(self.cloud, request.id, state)
                    done(request.id, None)
            self.injector.after(asked)
        return empty_pb2.Empty()

    def Read(self, request, context):
        """Ask the server for a resource: a refresh, an import, or a `get`."""
        token, logical = urn_parts(request.urn)
        kind = self._kind(token, context)
        prior, secrets = wire.unmarshal(request.properties)
        inputs, more = wire.unmarshal(request.inputs)
        with self._errors(context, kind):
            self.injector.before(Request("read", kind, logical, request.id, prior), self.cloud)
            with self.store.locked():
                for identifier in kind.ids(request.id, self.config):
                    settle(self.store, token, identifier)
                found = kind.find(self.cloud, request.id)
        self._log_read(token, logical, request.id, found is not None)
        if found is None:
            return provider_pb2.ReadResponse()
        identifier, properties = found
        state = kind.read(properties, prior or without_notes(inputs), self.config)
        fresh = refreshed(inputs, state) if inputs else {**kind.inputs_of(state), DEFAULTS: []}
        return provider_pb2.ReadResponse(
            id=identifier,
            properties=self._state(kind, state, secrets | more),
            inputs=wire.marshal(fresh, secrets | more),
        )

    def Invoke(self, request, context):
        """Answer a function of the SDK."""
        args = wire.plain(request.args)
        with self._errors(context):
            project = args.get("project") or self.config.project
            self.injector.need_api(request.tok, project, self.cloud)
            with self.store.locked():
                answer = invoke(request.tok, args, self.cloud)
        response = provider_pb2.InvokeResponse()
        getattr(response, "return").CopyFrom(wire.marshal(answer))
        return response

    def Cancel(self, request, context):
        """Nothing is cut short: operations here are quick."""
        self.store.flush()
        return empty_pb2.Empty()

    def _kind(self, token: str, context: grpc.ServicerContext) -> Kind:
        try:
            return kind_of(token)
        except ProviderError as error:
            context.abort(grpc.StatusCode.NOT_FOUND, str(error))
            raise

    def _log_read(self, token: str, logical: str, identifier: str, found: bool) -> None:
        entry = {"time": time.time(), "method": "read", "type": token, "name": logical}
        self.store.log({**entry, "id": identifier, "found": found})

    def _state(self, kind: Kind, state: Properties, secrets: frozenset[str]) -> Any:
        secret = secrets | LABEL_OUTPUTS if kind.labels else secrets
        return wire.marshal(state, secret | frozenset(kind.secret))

    def _errors(
        self, context: grpc.ServicerContext, kind: Kind | None = None, operation: str = ""
    ) -> Errors:
        return Errors(self, context, kind, operation)

    def _logged(self, asked: Request, before: Properties | None, secrets: frozenset[str]) -> Logged:
        return Logged(self.store, asked, before, secrets)


def _to_delete(kind: Kind, state: Properties) -> bool:
    """Whether the deletion policy lets the resource be deleted, and not only forgotten."""
    policy = state.get("deletionPolicy")
    if policy == "PREVENT":
        raise ProviderError(
            f"cannot destroy {kind.called} without setting deletion_policy to something else "
            "than PREVENT first"
        )
    return policy != "ABANDON"
