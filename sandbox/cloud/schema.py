"""What each supported resource type looks like: the SDK's own properties and our table of flags."""

import collections.abc
import importlib
import importlib.metadata
import inspect
import json
import os
import re
import sys
import threading
import typing
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import yaml

TABLES = Path(__file__).parent / "types" / "tables"
CACHE = Path(__file__).resolve().parents[2] / ".spotproof" / "cache"
FLAGS = {"computed", "replaces", "output", "set", "required"}
SHAPE_VERSION = 2  # of the cached files
PROVIDER = "pulumi:providers:gcp"
_SCALARS = {str: "string", bool: "bool", int: "int", float: "float"}


@dataclass(frozen=True)
class Field:
    """One property of a resource type.

    kind is string, bool, int, float, map, list (of scalars), block (one nested object) or blocks
    (a list of them). `computed`: the server fills it in, so that leaving it out changes nothing.
    `output`: only the server writes it.
    """

    name: str
    kind: str
    element: str = ""
    required: bool = False
    computed: bool = False
    replaces: bool = False
    output: bool = False
    set: bool = False
    default: object = None
    tf: str = ""
    fields: "dict[str, Field]" = field(default_factory=dict)


@dataclass(frozen=True)
class Resource:
    """A resource type: the properties a program may set, and the names of all its outputs."""

    token: str
    fields: dict[str, Field]
    outputs: frozenset[str]
    conflicts: dict[str, list[str]]
    exactly_one_of: list[list[str]]

    def field_at(self, path: str) -> Field:
        """The field at a dotted path without indices."""
        fields, found = self.fields, None
        for part in path.split("."):
            found = fields[part]
            fields = found.fields
        assert found is not None
        return found


def snake(name: str) -> str:
    """Terraform's spelling of a Pulumi property name, its plurals apart."""
    return re.sub(
        r"([a-z0-9])([A-Z])", r"\1_\2", re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name)
    ).lower()


@cache
def load(token: str, table: str) -> Resource:
    """The resource type `token`, with the flags of `types/tables/<table>.yaml`."""
    shape = sdk_shape(token)
    flags = _table(table)
    fields = _fields(shape["inputs"], flags.get("fields") or {})
    return Resource(
        token=token,
        fields=fields,
        outputs=frozenset(shape["inputs"]) | frozenset(shape["outputs"]),
        conflicts=flags.get("conflicts") or {},
        exactly_one_of=flags.get("exactly_one_of") or [],
    )


@cache
def _table(name: str) -> dict[str, typing.Any]:
    return yaml.load((TABLES / f"{name}.yaml").read_text(), Loader=_YAML_LOADER)


_YAML_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _fields(shape: dict[str, typing.Any], flags: dict[str, typing.Any]) -> dict[str, Field]:
    unknown = set(flags) - set(shape) - {"_", "in"}
    if unknown:
        raise LookupError(
            f"the table names properties that the SDK does not have: {sorted(unknown)}"
        )
    return {name: _field(name, spec, flags.get(name)) for name, spec in shape.items()}


def _field(name: str, spec: dict[str, typing.Any], flags: object) -> Field:
    nested: dict[str, typing.Any] = {}
    own = flags
    if isinstance(flags, dict):
        own = flags.get("_")
        nested = {**(_table(flags["in"])["fields"] if "in" in flags else {}), **flags}
    made = Field(
        name=name,
        kind=spec["kind"],
        element=spec.get("element", ""),
        required=spec["required"],
        tf=snake(name),
        fields=_fields(spec.get("fields") or {}, nested),
    )
    return replace(made, **_parse(own)) if own else made


def _parse(flags: object) -> dict[str, typing.Any]:
    """`computed replaces default 100 tf taint` as keyword arguments of Field."""
    parsed: dict[str, typing.Any] = {}
    words = str(flags).split()
    while words:
        word = words.pop(0)
        if word in FLAGS:
            parsed[word] = True
        elif word == "default":
            parsed["default"] = yaml.safe_load(words.pop(0))
        elif word == "tf":
            parsed["tf"] = words.pop(0)
        else:
            raise ValueError(f"{word!r} in {flags!r} is no flag of the tables")
    return parsed


@cache
def sdk_version() -> str:
    """The version of the installed pulumi-gcp, which names the plugin too."""
    return importlib.metadata.version("pulumi-gcp")


@cache
def provider_settings() -> frozenset[str]:
    """The names of the provider's own settings: `project`, `region` and so on."""
    return frozenset(sdk_shape(PROVIDER)["inputs"])


def sdk_shape(token: str) -> dict[str, typing.Any]:
    """Names, types and required flags as the SDK has them; read once, then kept in a cache."""
    path = (
        CACHE
        / f"gcp-sdk-{sdk_version()}-{SHAPE_VERSION}"
        / (token.replace(":", "_").replace("/", "_") + ".json")
    )
    if path.is_file():
        return json.loads(path.read_text())
    shape = read_sdk(token)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
        fresh.write_text(json.dumps(shape))
        fresh.replace(path)
    except OSError:
        pass  # a cache that cannot be written costs time only
    return shape


def read_sdk(token: str) -> dict[str, typing.Any]:
    """Introspect the SDK's classes for one type or function, or for the provider itself."""
    if token == PROVIDER:
        package = importlib.import_module("pulumi_gcp")
        return {"inputs": _class_shape(package.ProviderArgs), "outputs": {}}
    module_name, class_name = token.split(":")[1].split("/")[0], token.split(":")[2]
    package = importlib.import_module(f"pulumi_gcp.{module_name}")
    if class_name.startswith("get"):
        result = getattr(package, f"G{class_name[1:]}Result")
        return {"inputs": {}, "outputs": _class_shape(result)}
    resource = getattr(package, class_name)
    state = vars(sys.modules[resource.__module__])[f"_{class_name}State"]
    inputs = _class_shape(getattr(package, f"{class_name}Args"))
    outputs = {n: shape for n, shape in _class_shape(state).items() if n not in inputs}
    return {"inputs": inputs, "outputs": outputs}


def _properties(cls: type) -> typing.Iterator[tuple[str, object, bool]]:
    parameters = inspect.signature(cls.__init__).parameters
    for python_name, prop in vars(cls).items():
        if not isinstance(prop, property) or prop.fget is None:
            continue
        name = getattr(prop.fget, "_pulumi_name", python_name)
        required = parameters[python_name].default is inspect.Parameter.empty
        yield name, prop.fget.__annotations__["return"], required


def _class_shape(cls: type) -> dict[str, typing.Any]:
    package = cls.__module__.rsplit(".", 1)[0]
    return {
        name: {**_type_shape(annotation, package), "required": required}
        for name, annotation, required in _properties(cls)
    }


def _type_shape(annotation: object, package: str) -> dict[str, typing.Any]:
    plain = _strip(annotation)
    if isinstance(plain, typing.ForwardRef):
        module, _, name = plain.__forward_arg__.rpartition(".")
        named = getattr(sys.modules[f"{package}.{module or '_inputs'}"], name)
        return {"kind": "block", "fields": _class_shape(named)}
    origin = typing.get_origin(plain)
    if origin is collections.abc.Sequence:
        inner = _type_shape(typing.get_args(plain)[0], package)
        if inner["kind"] == "block":
            return {"kind": "blocks", "fields": inner["fields"]}
        return {"kind": "list", "element": inner["kind"]}
    if origin is collections.abc.Mapping:
        return {"kind": "map", "element": _type_shape(typing.get_args(plain)[1], package)["kind"]}
    return {"kind": _SCALARS.get(typing.cast(type, plain), "string")}


def _strip(annotation: object) -> object:
    """`Optional[Input[T]]` to T: the first part of the union that is not None or a wrapper."""
    if typing.get_origin(annotation) is not typing.Union:
        return annotation
    for part in typing.get_args(annotation):
        if part is not type(None) and typing.get_origin(part) is not collections.abc.Awaitable:
            return part
    return annotation
