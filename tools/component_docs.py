"""The tables of settings and components, out of the components' schema."""

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import settings
import spotproof
from spotproof.reader import camel_case
from tools.markdown import GENERATED, table

SCHEMA = Path(__file__).resolve().parents[1] / "components" / "schema.json"

SECTIONS: Sequence[tuple[str, str, str | None]] = (
    ("", "GkeClusterArgs", "cluster"),
    ("maintenanceWindow.", "MaintenanceWindowArgs", None),
    ("autoProvisioning.", "AutoProvisioningArgs", None),
    ("network.", "NetworkArgs", "network"),
    ("systemPool.", "SystemNodePoolArgs", "pool"),
    ("spotPools.NAME.", "SpotGpuPoolArgs", "pool"),
    ("checkpoints.", "CheckpointBucketArgs", "checkpoints"),
)
"""Where a stack file holds the arguments of which type, and who supplies the others."""

DIFFERS_IN_STACK_FILE = {
    "clusterName": {
        "default": "required",
        "meaning": "Fixed name of the cluster, at most 40 characters; other names begin with it",
    },
    "deletionProtection": {
        "meaning": "Whether engine and cloud refuse to destroy anything of the environment",
    },
}
"""What the program makes of a setting beyond what the component does with the argument."""

OMITTED = re.compile(r"^(?P<meaning>.*); (?P<default>[^;]*?),? when omitted\.$")


@cache
def schema() -> dict[str, Any]:
    """The components as other languages see them; `make schema` writes it."""
    return json.loads(SCHEMA.read_text(encoding="utf-8"))


def _inputs(type_: str) -> tuple[dict[str, Any], list[str]]:
    """The properties of a type of arguments in the order of the code, and those required."""
    name = f"spotproof:index:{type_}"
    component = schema()["resources"].get(name.removesuffix("Args"))
    shape = component or schema()["types"][name]
    known = shape["inputProperties" if component else "properties"]
    keys = [camel_case(key) for key in getattr(spotproof, type_).__annotations__]
    required = shape.get("requiredInputs" if component else "required", [])
    return {key: known[key] for key in keys}, required


def _type(shape: Mapping[str, Any]) -> str:
    if "$ref" in shape:
        target = shape["$ref"].removeprefix("#/types/")
        values = schema()["types"][target].get("enum")
        return "one of " + ", ".join(f"`{v['value']}`" for v in values) if values else "object"
    if shape.get("type") == "array":
        return f"list of {_type(shape['items'])}"
    if shape.get("type") == "object":
        return f"map to {_type(shape['additionalProperties'])}"
    return str(shape["type"])


def _described(key: str, shape: Mapping[str, Any], required: Sequence[str]) -> list[str]:
    """Type, default and meaning."""
    found = OMITTED.match(shape["description"])
    meaning = found["meaning"] if found else shape["description"].removesuffix(".")
    default = found["default"] if found else "none"
    return [_type(shape), "required" if key in required else default, meaning]


def configuration_table() -> str:
    """The keys of a stack file."""
    rows = [["`gcp:project`", "string", "required", "Project id"]]
    for prefix, type_, supplied in SECTIONS:
        properties, required = _inputs(type_)
        hidden = {camel_case(key) for key in settings.SUPPLIED[supplied]} if supplied else set()
        for key, shape in properties.items():
            if key in hidden:
                continue
            kind, default, meaning = map(_spelt_as_setting, _described(key, shape, required))
            differs = DIFFERS_IN_STACK_FILE.get(f"{prefix}{key}", {})
            name = f"`{prefix or 'spotproof:'}{key}`"
            rows.append(
                [name, kind, differs.get("default", default), differs.get("meaning", meaning)]
            )
    return table(("key", "type", "default", "meaning"), rows)


def _spelt_as_setting(text: str) -> str:
    return re.sub(r"`([a-z_]+)`", lambda m: f"`{camel_case(m[1])}`", text)


def _components() -> list[tuple[str, dict[str, Any]]]:
    return [
        (token.rpartition(":")[2], shape) for token, shape in sorted(schema()["resources"].items())
    ]


def components_table() -> str:
    """The components with what they demand and give."""
    rows = [
        (
            f"[{name}](docs/components.md#{name.lower()})",
            shape["description"],
            ", ".join(f"`{key}`" for key in _snake(_inputs(f"{name}Args")[1])),
        )
        for name, shape in _components()
    ]
    return table(("component", "what it is", "required arguments"), rows)


def components_page() -> str:
    """The reference of all components, spelt as in Python."""
    parts = [
        GENERATED,
        "# Components",
        "Arguments and outputs are spelt as in Python; other languages write `maxNodes` for "
        "`max_nodes`.\nAn argument that is not required may be left out.",
    ]
    for name, shape in _components():
        parts += [f"## {name}", shape["description"], _arguments(f"{name}Args")]
        outputs = [
            (f"`{_snake([key])[0]}`", _type(value), value["description"].removesuffix("."))
            for key, value in shape["properties"].items()
        ]
        parts.append(table(("output", "type", "meaning"), outputs))
    for type_ in ("AutoProvisioningArgs", "MaintenanceWindowArgs"):
        parts += [f"## {type_}", _arguments(type_)]
    return "\n\n".join(parts) + "\n"


def _arguments(type_: str) -> str:
    properties, required = _inputs(type_)
    rows = [
        (f"`{_snake([key])[0]}`", *_described(key, shape, required))
        for key, shape in properties.items()
    ]
    return table(("argument", "type", "default", "meaning"), rows)


def _snake(keys: Sequence[str]) -> list[str]:
    return [re.sub(r"[A-Z]", lambda m: f"_{m[0].lower()}", key) for key in keys]
