"""The pages and tables of components, out of the components' schema."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import spotproof
from spotproof.reader import camel_case
from tools.component_examples import component_example
from tools.markdown import GENERATED, table

SCHEMA = Path(__file__).resolve().parents[1] / "components" / "schema.json"

OMITTED = re.compile(r"^(?P<meaning>.*); (?P<default>[^;]*?),? when omitted\.$")


@cache
def schema() -> dict[str, Any]:
    """The components as other languages see them; `make schema` writes it."""
    return json.loads(SCHEMA.read_text(encoding="utf-8"))


def inputs(type_: str) -> tuple[dict[str, Any], list[str]]:
    """The properties of a type of arguments in the order of the code, and those required."""
    name = f"spotproof:index:{type_}"
    component = schema()["resources"].get(name.removesuffix("Args"))
    shape = component or schema()["types"][name]
    known = shape["inputProperties" if component else "properties"]
    keys = [camel_case(key) for key in getattr(spotproof, type_).__annotations__]
    required = shape.get("requiredInputs" if component else "required", [])
    return {key: known[key] for key in keys}, required


def shown_type(shape: Mapping[str, Any]) -> str:
    """A property's type in words."""
    if "$ref" in shape:
        target = shape["$ref"].removeprefix("#/types/")
        values = schema()["types"][target].get("enum")
        name = target.rpartition(":")[2]
        if values:
            return "one of " + ", ".join(f"`{value['value']}`" for value in values)
        return f"[{name}](components.md#{name.lower()})"
    if shape.get("type") == "array":
        return f"list of {shown_type(shape['items'])}"
    if shape.get("type") == "object":
        return f"map to {shown_type(shape['additionalProperties'])}"
    return str(shape["type"])


def described(key: str, shape: Mapping[str, Any], required: Sequence[str]) -> list[str]:
    """Type, default and meaning of an argument."""
    default, meaning = default_and_meaning(shape["description"])
    return [shown_type(shape), "required" if key in required else default, meaning]


def default_and_meaning(doc: str) -> tuple[str, str]:
    """What the docs of an argument say of its default, and the rest."""
    found = OMITTED.match(doc)
    if found is None:
        return "none", doc.removesuffix(".")
    return found["default"], found["meaning"]


def components() -> Iterator[tuple[str, dict[str, Any]]]:
    """Each component's name and its part of the schema."""
    for token, shape in sorted(schema()["resources"].items()):
        yield token.rpartition(":")[2], shape


def components_table() -> str:
    """The components, in two columns that a phone has room for."""
    rows = [
        (f"[{name}](docs/reference/components.md#{name.lower()})", shape["description"])
        for name, shape in components()
    ]
    return table(("component", "what it is"), rows)


def components_page() -> str:
    """The reference of all components, spelt as in Python."""
    parts = [
        GENERATED,
        "# Components",
        "Arguments and outputs are spelt as in Python; other languages write `maxNodes` for "
        "`max_nodes`.\nAn argument that is not required may be left out. "
        "Each component is shown with the least that it demands.",
    ]
    for name, shape in components():
        least = component_example(name, _snake(inputs(f"{name}Args")[1]))
        parts += [f"## {name}", shape["description"], f"```python\n{least}```"]
        parts.append(_arguments(f"{name}Args"))
        outputs = [
            (f"`{_snake([key])[0]}`", shown_type(value), value["description"].removesuffix("."))
            for key, value in shape["properties"].items()
        ]
        parts.append(table(("output", "type", "meaning"), outputs))
    for type_, shape in sorted(schema()["types"].items()):
        name = type_.rpartition(":")[2]
        if "properties" in shape:
            parts += [f"## {name}", _arguments(name)]
    return "\n\n".join(parts) + "\n"


def _arguments(type_: str) -> str:
    properties, required = inputs(type_)
    rows = [
        (f"`{_snake([key])[0]}`", *described(key, shape, required))
        for key, shape in properties.items()
    ]
    return table(("argument", "type", "default", "meaning"), rows)


def _snake(keys: Sequence[str]) -> list[str]:
    return [re.sub(r"[A-Z]", lambda m: f"_{m[0].lower()}", key) for key in keys]
