"""What every resource type of the emulated cloud can do, and what most of them do."""

import copy
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

from sandbox.cloud.diff import Change, diff
from sandbox.cloud.places import walk
from sandbox.cloud.problems import ApiError, ProviderError, bad_request
from sandbox.cloud.schema import Resource, load
from sandbox.cloud.states import inputs_of, merge, unknown_within
from sandbox.cloud.store import Store
from sandbox.cloud.types.limits import Limits, limits
from sandbox.cloud.types.values import Properties, foreign_labels, last_part, path_of
from sandbox.cloud.validate import Validator, found_wrong
from sandbox.cloud.wire import UNKNOWN

SHORT_OF_MACHINES = "shortOfMachines"
"""In a stored resource: Google goes on looking for its machines, and says it is in ERROR."""
ATTRIBUTION = {"goog-pulumi-provisioned": "true"}
_PROJECT = re.compile(r"^(projects/)?([a-z0-9.-]+:)?[a-z][a-z0-9-]*[a-z0-9]$")


@dataclass(frozen=True)
class Config:
    """The provider's configuration: `gcp:project` and so on; empty when not set.

    `labels`: what every resource that has labels gets beside its own.
    """

    project: str = ""
    region: str = ""
    zone: str = ""
    labels: dict[str, str] = field(default_factory=lambda: dict(ATTRIBUTION))


@dataclass(frozen=True)
class Cloud:
    """The server's side: what exists, and on whose behalf it is asked."""

    store: Store
    config: Config

    def find(self, token: str, identifier: str) -> Properties | None:
        """The properties of a resource, or None when there is no such thing."""
        thing = self.store.get(token, identifier)
        return thing["properties"] if thing else None

    def all(self, token: str) -> list[tuple[str, Properties]]:
        """Ids and properties of all resources of a type."""
        return [(thing["id"], thing["properties"]) for thing in self.store.all(token)]


class Kind:
    """A resource type. Its flags are in `tables/<table>.yaml`, its facts in its methods.

    Attributes:
        named_by: The property that gets a name when the program gives none; empty when none does.
        local: Properties that the provider keeps and the server never sees.
        labels: The property with the user's labels; empty when the type has none.
        called: What the provider calls it in errors of creation.
        secret: Outputs that are secrets, beside the labels.
        idempotent: Whether creating what exists is fine.
        validators: Validations of single values by path without indices, beside the table's.
        same_if: By path, whether two different values say the same to the server, beside the
            table's.
        replaces_if: By path, whether changing the first value to the second one replaces.
    """

    token = ""
    table = ""
    named_by = "name"
    local: tuple[str, ...] = ()
    labels = ""
    called = ""
    secret: tuple[str, ...] = ()
    needs_region = False
    has_project = True
    idempotent = False
    validators: ClassVar[dict[str, Validator]] = {}
    same_if: ClassVar[dict[str, Callable[[Any, Any], bool]]] = {}
    replaces_if: ClassVar[dict[str, Callable[[Any, Any], bool]]] = {}

    @cached_property
    def limits(self) -> Limits:
        """Which values the provider takes, and which say the same to it."""
        return limits(self.table)

    @cached_property
    def checks(self) -> dict[str, Validator]:
        """Validations of single values by path without indices."""
        return {**self.limits.validators, **self.validators}

    @cached_property
    def comparisons(self) -> dict[str, Callable[[Any, Any], bool]]:
        """By path, whether two different values say the same to the server."""
        return {**self.limits.same, **self.same_if}

    @cached_property
    def schema(self) -> Resource:
        """The properties of the type."""
        return load(self.token, self.table)

    # What the provider does by itself.

    def complete(self, inputs: Properties, config: Config) -> Properties:
        """The inputs with project and region as the provider's configuration has them."""
        full = dict(inputs)
        if self.has_project and not full.get("project"):
            if not config.project:
                raise ProviderError(
                    "Failed to retrieve project, pid: , err: project: required field is not set"
                )
            full["project"] = config.project
        if self.needs_region and not full.get("region"):
            if not config.region:
                raise ProviderError(
                    "Cannot determine region: set in this resource, "
                    "or set provider-level 'region' or 'zone'."
                )
            full["region"] = config.region
        if isinstance(full.get("region"), str):
            full["region"] = last_part(full["region"])
        return full

    def plan(self, old: Properties | None, inputs: Properties) -> None:
        """Refuse what the provider refuses while it plans; raises ProviderError."""

    def before_call(self, inputs: Properties, old: Properties | None) -> None:
        """Refuse what the provider refuses during the update; raises ProviderError."""

    def planned(self, inputs: Properties, config: Config) -> Properties:
        """Outputs that are known before the update, beside the inputs."""
        return {}

    def same(self, path: str, old: Any, new: Any) -> bool:
        """Whether a value recorded and one asked for say the same to the server."""
        compare = self.comparisons.get(path)
        return bool(compare and compare(old, new))

    def changes(self, old: Properties, inputs: Properties) -> list[Change]:
        """What the inputs change in a recorded state, labels and outputs apart."""
        found = diff(self.schema.fields, old, inputs, self.same)
        replacing = {path for path in self.replaces_if if self._replaces(path, old, inputs)}
        return [
            replace(change, replaces=True)
            if any(change.path == path or change.path.startswith(f"{path}[") for path in replacing)
            else change
            for change in found
        ]

    def _replaces(self, path: str, old: Properties, inputs: Properties) -> bool:
        before, after = (_value_at(values, path) for values in (old, inputs))
        if after is None:
            after = self.schema.field_at(path).default
        return UNKNOWN not in (before, after) and self.replaces_if[path](before, after)

    def further_changes(
        self, changes: list[Change], old: Properties, inputs: Properties
    ) -> list[Change]:
        """Changes of outputs that follow from `changes`."""
        return []

    def needs_call(self, changes: list[Change]) -> bool:
        """Whether the server has to be told of the changes at all."""
        return any(change.top not in self.local for change in changes)

    # What the server does.

    def identify(self, inputs: Properties) -> str:
        """The id of the resource with these inputs."""
        raise NotImplementedError

    def refuse(self, cloud: Cloud, inputs: Properties, old: Properties | None) -> list[str]:
        """Everything that the server finds wrong; it may raise ApiError itself."""
        return []

    def unserved(self, inputs: Properties) -> list[str]:
        """What of single values the server does not take."""
        problems = []
        for place, kind, value in walk(self.schema.fields, inputs):
            validator = self.limits.served.get(place.path)
            if validator is None or value == "":
                continue
            for item in value if kind.kind == "list" else [value]:
                wrong = found_wrong(validator, place.at, item)
                problems += [f"Invalid value: {complaint}" for complaint in wrong]
        return problems

    def serve(self, cloud: Cloud, inputs: Properties, old: Properties | None) -> Properties:
        """The resource as the server answers it, given the wanted properties."""
        return inputs

    def already_exists(self, identifier: str) -> ApiError | ProviderError:
        """What the server says to a second create of the same name."""
        return ApiError(409, f"Already exists: {identifier}")

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        """Create the resource; its id."""
        if self.has_project and not _PROJECT.match(inputs["project"]):
            raise ApiError(404, f"The resource 'projects/{inputs['project']}' was not found")
        identifier = self.identify(inputs)
        if not self.idempotent and cloud.find(self.token, identifier) is not None:
            raise self.already_exists(identifier)
        bad_request([*self.unserved(inputs), *self.refuse(cloud, inputs, None)])
        properties = self.serve(cloud, self._sent(inputs, cloud.config), None)
        cloud.store.put(self.token, identifier, properties)
        return identifier

    def update(self, cloud: Cloud, identifier: str, inputs: Properties, state: Properties) -> None:
        """Change the resource in place."""
        old = cloud.find(self.token, identifier)
        if old is None:
            raise ApiError(404, f"Not found: {identifier}")
        bad_request([*self.unserved(inputs), *self.refuse(cloud, inputs, old)])
        sent = self._sent(inputs, cloud.config)
        if self.labels:
            sent["effectiveLabels"] = {**foreign_labels(old, state), **sent["effectiveLabels"]}
        wanted = merge(self.schema.fields, sent, old)
        cloud.store.put(self.token, identifier, self.serve(cloud, wanted, old))

    def before_delete(self, cloud: Cloud, identifier: str, state: Properties) -> None:
        """Refuse a delete; raises ProviderError or ApiError."""

    def delete(self, cloud: Cloud, identifier: str, state: Properties) -> None:
        """Delete the resource; one that is gone already is fine."""
        self.before_delete(cloud, identifier, state)
        cloud.store.remove(self.token, identifier)

    def find(self, cloud: Cloud, identifier: str) -> tuple[str, Properties] | None:
        """The resource of an id, or of another way to write that id."""
        for candidate in self.ids(identifier, cloud.config):
            properties = cloud.find(self.token, candidate)
            if properties is not None:
                return candidate, properties
        return None

    def ids(self, identifier: str, config: Config) -> list[str]:
        """The ids that `identifier` may stand for, the likeliest first."""
        return [identifier, path_of(identifier)]

    def read(self, properties: Properties, prior: Properties, config: Config) -> Properties:
        """The state as the provider records it after asking the server."""
        state = copy.deepcopy(properties)
        state.pop(SHORT_OF_MACHINES, None)
        for name in self.local:
            value = prior.get(name, self.schema.fields[name].default)
            if value is not None:
                state[name] = value
        if self.labels:
            effective = properties.get("effectiveLabels") or {}
            state.update(self._labels(effective, prior, config))
        return state

    def _labels(self, effective: dict[str, str], prior: Properties, config: Config) -> Properties:
        """Only the labels that the program set are reported back to it."""
        mine = prior.get(self.labels) or {}
        managed = {**config.labels, **mine}
        return {
            self.labels: {key: effective[key] for key in mine if key in effective},
            "pulumiLabels": {key: effective[key] for key in managed if key in effective},
            "effectiveLabels": dict(effective),
        }

    def _sent(self, inputs: Properties, config: Config) -> Properties:
        """What goes to the server: all but local fields, and with all labels."""
        sent = {name: value for name, value in inputs.items() if name not in self.local}
        if self.labels:
            sent["effectiveLabels"] = {**config.labels, **(sent.pop(self.labels, None) or {})}
        return copy.deepcopy(sent)

    def state_for_preview(
        self, inputs: Properties, old: Properties | None, config: Config
    ) -> Properties:
        """The outputs that can be told before the update."""
        state = unknown_within(self.schema.fields, inputs) if old is None else dict(inputs)
        for name in self.schema.outputs - set(state):
            known = self.schema.fields.get(name)
            if old is not None:
                if known is None or known.computed:
                    state[name] = old.get(name)
            elif known is None or known.computed or known.output:
                state[name] = UNKNOWN
        if self.labels:
            labels = inputs.get(self.labels) or {}
            if labels is not UNKNOWN:
                state["pulumiLabels"] = {**config.labels, **labels}
                others = foreign_labels(old or {}, old or {})
                state["effectiveLabels"] = {**others, **config.labels, **labels}
        state.update(self.planned(inputs, config))
        return state

    def inputs_of(self, state: Properties) -> Properties:
        """The inputs that would give this state: what an import writes down."""
        return inputs_of(self.schema.fields, state)


def _value_at(values: Any, path: str) -> Any:
    for name in path.split("."):
        values = values.get(name) if isinstance(values, dict) else None
    return values
