"""The components as a package for programs in any Pulumi language."""

import ast
import inspect
import itertools
import json
import sys
from collections.abc import Sequence
from typing import Any

import pulumi
from pulumi.provider import ConstructResult
from pulumi.provider.experimental.component import ComponentProvider
from pulumi.provider.server import ComponentInitError

import spotproof
from spotproof.listing import LISTING, NODEJS_PACKAGE
from spotproof.reader import ArgumentsError

COMPONENTS: tuple[type[pulumi.ComponentResource], ...] = tuple(
    found
    for found in (getattr(spotproof, name) for name in spotproof.__all__)
    if inspect.isclass(found) and issubclass(found, pulumi.ComponentResource)
)
"""Every public component, in alphabetical order."""


class Components(ComponentProvider):
    """Serves the components; its schema and its refusals say what the SDK's own host leaves out."""

    def __init__(self, components: Sequence[type[pulumi.ComponentResource]] = COMPONENTS) -> None:
        super().__init__(list(components), "spotproof", None, spotproof.__version__)
        schema = json.loads(self.schema or "{}")
        self._describe_properties(schema)
        schema["language"]["nodejs"]["packageName"] = NODEJS_PACKAGE
        self.schema: str | None = json.dumps(_without_surplus(schema | LISTING))

    def construct(
        self,
        name: str,
        resource_type: str,
        inputs: Any,
        options: pulumi.ResourceOptions | None = None,
    ) -> ConstructResult:
        """Make a component; its refusal names each property as the caller's language spells it.

        The SDK's own host calls a refusal a crash.
        """
        try:
            return super().construct(name, resource_type, inputs, options)
        except ComponentInitError as error:
            if isinstance(error.inner, ArgumentsError):
                refusal = error.inner
                raise pulumi.InputPropertiesError(refusal.subject, refusal.errors) from None
            raise

    def _describe_properties(self, schema: dict[str, Any]) -> None:
        """Put in the docs of properties that a class has from another.

        The SDK reads the docs of a class's own properties alone.
        """
        for name, definition in self._component_defs.items():
            resource = schema["resources"][f"spotproof:index:{name}"]
            component = self._components[name]
            if _is_deprecated(resource.get("description", "")):
                resource["deprecationMessage"] = resource["description"]
            arguments = inspect.get_annotations(component.__init__)["args"]
            _describe(resource["inputProperties"], definition.inputs_mapping, arguments)
            _describe(resource["properties"], definition.outputs_mapping, component)


def _without_surplus(value: Any) -> Any:
    """The schema as engines give it out: the SDK repeats a list's docs at its items, and has nulls."""
    if isinstance(value, list):
        return [_without_surplus(one) for one in value]
    if not isinstance(value, dict):
        return value
    kept = {key: _without_surplus(one) for key, one in value.items() if one not in (None, [])}
    for inner in ("items", "additionalProperties"):
        if inner in kept:
            kept[inner].pop("description", None)
    return kept


def _describe(properties: dict[str, Any], spelt: dict[str, str], owner: type) -> None:
    docs = docs_of(owner)
    for key, shape in properties.items():
        if spelt[key] in docs:
            shape["description"] = docs[spelt[key]]
            if _is_deprecated(shape["description"]):
                shape["deprecationMessage"] = shape["description"]


def _is_deprecated(docs: str) -> bool:
    return docs.startswith("Deprecated:")


def docs_of(owner: type) -> dict[str, str]:
    """The docs of the properties of a class and of those that it is made from."""
    # A TypedDict does not know at run time what it was made from, but its source does.
    (definition,) = ast.parse(inspect.getsource(owner)).body
    assert isinstance(definition, ast.ClassDef)
    found: dict[str, str] = {}
    for base in definition.bases:
        named = getattr(sys.modules[owner.__module__], ast.unparse(base), None)
        if named is not None and named.__module__.partition(".")[0] == "spotproof":
            found.update(docs_of(named))
    for statement, following in itertools.pairwise(definition.body):
        if (
            isinstance(statement, ast.AnnAssign)
            and isinstance(statement.target, ast.Name)
            and isinstance(following, ast.Expr)
            and isinstance(following.value, ast.Constant)
        ):
            found[statement.target.id] = str(following.value.value)
    return found
