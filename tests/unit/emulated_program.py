"""Programs in process on an emulated cloud: what a run would do, as the engine would decide it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pulumi

from tests.cloud import harness
from tests.cloud.harness import Emulated, Recorded
from tests.unit.declared import declare
from tests.unit.kubernetes_objects import is_kubernetes, outputs_of, replaced

SAME, UPDATE, REPLACE, REMAKE, CREATE, DELETE = (
    "same",
    "update",
    "replace",
    "remake",
    "create",
    "delete",
)
"""What happens to a resource; `replace` makes the new one first, `remake` deletes the old first."""

Key = tuple[str, str]
"""Type token and logical name."""


@dataclass(frozen=True)
class Options:
    """What the engine is told of a resource beside its properties."""

    ignore_changes: tuple[str, ...]
    delete_before_replace: bool
    replace_on_changes: tuple[str, ...]


class EmulatedProgram:
    """One component's state and the cloud under it.

    Runs are the engine's in small: resources in the order of their declaration, outputs handed on
    as they are known, a new seed for a new name.
    """

    def __init__(self, folder: Path, component: Callable[..., Any], project: str) -> None:
        self.cloud = Emulated(folder, project=project, region="")
        self.component = component
        self.state: dict[Key, Recorded] = {}
        self._options: dict[Key, Options] = {}
        self._ops: dict[Key, str] = {}
        self._now: dict[Key, Recorded] = {}
        self._run = 0

    def up(self, args: Any, name: str = "sample") -> dict[Key, str]:
        """Bring the component to these arguments; returns what happened to each resource."""
        self._run += 1
        self._ops, self._now, self._options = {}, {}, {}
        harness_seed, harness.SEED = harness.SEED, f"run {self._run}".encode()
        try:
            opts = pulumi.ResourceOptions(transformations=[self._note])
            declare(lambda: self.component(name, args, opts), answer=self._answer, asked=[])
            for key in [key for key in self.state if key not in self._now]:
                self._forget(self.state[key])
                self._ops[key] = DELETE
        finally:
            harness.SEED = harness_seed
        self.state = dict(self._now)
        return self._ops

    def _note(self, found: pulumi.ResourceTransformationArgs) -> None:
        self._options[found.type_, found.name] = Options(
            tuple(found.opts.ignore_changes or ()),
            bool(found.opts.delete_before_replace),
            tuple(found.opts.replace_on_changes or ()),
        )

    def _answer(self, token: str, name: str, inputs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        key = token, name
        assert key not in self._now, f"two resources of one type and name: {key}"
        recorded = self.state.get(key)
        if is_kubernetes(token):
            self._ops[key], now = self._in_cluster(token, name, inputs, recorded)
        elif recorded is None:
            self._ops[key], now = CREATE, self.cloud.create(token, name, inputs)
        else:
            self._ops[key], now = self._change(recorded, inputs, self._options[key])
        self._now[key] = now
        return now.id, now.outputs

    def _change(
        self, recorded: Recorded, inputs: dict[str, Any], options: Options
    ) -> tuple[str, Recorded]:
        for path in options.ignore_changes:
            assert path.isalnum(), f"{path}: only top-level properties are ignored here"
            inputs.pop(path, None)
            if path in recorded.inputs:
                inputs[path] = recorded.inputs[path]
        planned = self.cloud.plan(recorded, inputs)
        if planned.op != REPLACE:
            return planned.op, self.cloud.up(recorded, inputs)[1]
        first = planned.delete_first or options.delete_before_replace
        if first:
            # What hangs on it is deleted before it by the engine; here the order does not matter.
            self._forget(recorded)
        fresh = self.cloud.create(recorded.type, recorded.name, inputs)
        if not first:
            self._forget(recorded)
        return REMAKE if first else REPLACE, fresh

    def _in_cluster(
        self, token: str, name: str, inputs: dict[str, Any], recorded: Recorded | None
    ) -> tuple[str, Recorded]:
        """An object of a cluster, which is not a part of the emulated cloud."""
        now = Recorded(token, name, f"{name}-{self._run}", inputs, outputs_of(inputs))
        if recorded is None:
            return CREATE, now
        options = self._options[token, name]
        again, first = replaced(token, recorded.inputs, inputs, options.replace_on_changes)
        if again:
            return (REMAKE if first or options.delete_before_replace else REPLACE), now
        return (SAME if recorded.inputs == inputs else UPDATE), now

    def _forget(self, recorded: Recorded) -> None:
        if is_kubernetes(recorded.type):
            return
        with self.cloud.store.locked():
            if self.cloud.store.get(recorded.type, recorded.id):
                self.cloud.store.remove(recorded.type, recorded.id)
