"""The package schema of the emulated types: what YAML programs and `pulumi package` need."""

import json
from typing import Any

from sandbox.cloud.schema import PROVIDER, sdk_shape, sdk_version
from sandbox.cloud.types import kinds

Spec = dict[str, Any]
_TYPES = {"string": "string", "bool": "boolean", "int": "integer", "float": "number"}


def package_schema() -> str:
    """The schema as JSON."""
    types: dict[str, Spec] = {}
    resources = {token: _resource(token, types) for token in kinds()}
    settings = _properties(sdk_shape(PROVIDER)["inputs"], "gcp:index", "Provider", types)
    return json.dumps(
        {
            "name": "gcp",
            "version": sdk_version(),
            "config": {"variables": settings},
            "provider": {"inputProperties": settings, "properties": {}},
            "types": types,
            "resources": resources,
        }
    )


def _resource(token: str, types: dict[str, Spec]) -> Spec:
    package, module, name = token.split(":")
    prefix = f"{package}:{module.partition('/')[0]}"
    shape = sdk_shape(token)
    inputs = _properties(shape["inputs"], prefix, name, types)
    outputs = _properties(shape["outputs"], prefix, name, types)
    return {
        "inputProperties": inputs,
        "requiredInputs": [key for key, each in shape["inputs"].items() if each["required"]],
        "properties": {**inputs, **outputs},
        "required": sorted(outputs),
    }


def _properties(shapes: Spec, prefix: str, owner: str, types: dict[str, Spec]) -> dict[str, Spec]:
    return {
        name: _type(shape, prefix, owner + _upper(name), types) for name, shape in shapes.items()
    }


def _type(shape: Spec, prefix: str, name: str, types: dict[str, Spec]) -> Spec:
    kind = shape["kind"]
    if kind in ("block", "blocks"):
        token = f"{prefix}/{name}:{name}"
        if token not in types:
            types[token] = {
                "type": "object",
                "properties": _properties(shape["fields"], prefix, name, types),
                "required": [key for key, each in shape["fields"].items() if each["required"]],
            }
        reference = {"$ref": f"#/types/{token}"}
        return reference if kind == "block" else {"type": "array", "items": reference}
    if kind == "list":
        return {"type": "array", "items": {"type": _TYPES[shape["element"]]}}
    if kind == "map":
        return {"type": "object", "additionalProperties": {"type": _TYPES[shape["element"]]}}
    return {"type": _TYPES[kind]}


def _upper(name: str) -> str:
    return name[:1].upper() + name[1:]
