"""Changes behind the engine's back, as somebody at the console would make them."""

import copy
import itertools
import re
import time
from collections.abc import Callable
from typing import Any

import yaml

from sandbox.cloud.finding import CommandError, one_thing, project_of, token_of
from sandbox.cloud.problems import ApiError, ProviderError, did_you_mean
from sandbox.cloud.schema import Field
from sandbox.cloud.store import Store, Thing
from sandbox.cloud.types import kind_of
from sandbox.cloud.types.base import Cloud, Config

NODE_POOL = "gcp:container/nodePool:NodePool"
EFFECTS = {
    "NoSchedule": "NO_SCHEDULE",
    "PreferNoSchedule": "PREFER_NO_SCHEDULE",
    "NoExecute": "NO_EXECUTE",
}
_TAINT = re.compile(r"(?P<key>[^=:]+)=(?P<value>[^:]*):(?P<effect>\w+)")


def taint(store: Store, pool: str, text: str) -> str:
    """Set a taint of a node pool, or with `KEY-` remove it; what was done."""
    removed = text.removesuffix("-") if text.endswith("-") and ":" not in text else None
    wanted = None if removed else _taint_of(text)
    key = removed or (wanted or {})["key"]

    def change(properties: dict[str, Any]) -> str:
        nodes = properties["nodeConfig"]
        taints = nodes.get("effectiveTaints") or []
        at = [index for index, each in enumerate(taints) if each["key"] == key]
        if wanted is None and not at:
            there = ", ".join(each["key"] for each in taints) or "none"
            raise CommandError(f"pool {pool!r} has no taint {key!r}; its taints: {there}")
        kept = [each for each in taints if each["key"] != key]
        if wanted is not None:
            kept.insert(at[0] if at else len(kept), wanted)
        # What the program gave is void now: the next change of its taints writes all anew.
        nodes["effectiveTaints"] = nodes["givenTaints"] = kept
        return f"taint {key} removed" if wanted is None else f"taint {text}"

    return _change(store, "drift taint", NODE_POOL, pool, change)


def _taint_of(text: str) -> dict[str, str]:
    found = _TAINT.fullmatch(text)
    if found is None:
        raise CommandError(f"{text!r} is no taint; write KEY=VALUE:EFFECT, or KEY- to remove one")
    effect = EFFECTS.get(found["effect"], found["effect"])
    if effect not in EFFECTS.values():
        known = ", ".join(EFFECTS.values())
        raise CommandError(f"{found['effect']!r} is no effect of a taint; effects are {known}")
    return {"key": found["key"], "value": found["value"], "effect": effect}


def resize(store: Store, pool: str, nodes: int) -> str:
    """Give a node pool so many nodes in each zone; what was done."""
    if nodes < 0:
        raise CommandError(f"{nodes} is no number of nodes; a pool has 0 or more in each zone")

    def change(properties: dict[str, Any]) -> str:
        before = properties.get("nodeCount")
        properties["nodeCount"] = nodes
        return f"{before} -> {nodes} nodes per zone"

    return _change(store, "drift resize", NODE_POOL, pool, change)


def delete(store: Store, type_: str, name: str) -> str:
    """Delete a resource, and what goes with it, as the server would; what was done."""
    token = token_of(type_)
    with store.locked():
        thing = one_thing(store, token, name)
        before = {(one["type"], one["id"]) for one in store.everything()}
        cloud = Cloud(store, Config(project=project_of(thing)))
        state = {"deletionProtection": False, "forceDestroy": True}
        try:
            kind_of(token).delete(cloud, thing["id"], state)
        except (ApiError, ProviderError) as error:
            raise CommandError(str(error)) from None
        gone = before - {(one["type"], one["id"]) for one in store.everything()}
        _log(store, "drift delete", thing, None)
        store.flush()
    others = sorted(identifier for _, identifier in gone if identifier != thing["id"])
    return f"deleted {thing['id']}" + "".join(f"\n  and with it {one}" for one in others)


def set_value(store: Store, type_: str, name: str, path: str, text: str) -> str:
    """Write one value of a resource; what was done."""
    token = token_of(type_)
    kind = kind_of(token)
    if re.match(r"nodeConfig\.(taints|effectiveTaints)\b", path):
        raise CommandError("taints have a command of their own: drift taint POOL KEY=VALUE:EFFECT")
    parts = [int(n) if n else word for word, n in re.findall(r"([^.\[\]]+)|\[(\d+)\]", path)]
    value = yaml.safe_load(text)
    if not parts or isinstance(parts[0], int):
        raise CommandError(f"{path!r} is no path; write one such as nodeConfig.machineType")
    if parts[0] in kind.local:
        raise CommandError(f"{parts[0]} is the provider's own setting: the cloud does not have it")
    _judge(kind.schema.fields, kind.schema.outputs, parts, value)
    if kind.labels and parts[0] == kind.labels:
        parts[0] = "effectiveLabels"

    def change(properties: dict[str, Any]) -> str:
        if len(parts) > 1 and parts[0] == "effectiveLabels":
            # A key of a label may have dots.
            parts[1:] = [path.partition(".")[2]]
        before = _put(properties, parts, value, path)
        return f"{path}: {before!r} -> {value!r}"

    return _change(store, "drift set", token, name, change)


def _judge(
    fields: dict[str, Field], outputs: frozenset[str], parts: list[Any], value: object
) -> None:
    """Refuse names that the type does not have, and values of another kind."""
    name = parts[0]
    field = fields.get(name)
    if field is None:
        if name in outputs:
            return
        near = did_you_mean(str(name), set(fields) | outputs)
        raise CommandError(f"{name!r} is no property; {near}")
    rest = [part for part in parts[1:] if not isinstance(part, int)]
    if field.fields and rest:
        _judge(field.fields, frozenset(), rest, value)
        return
    right = {"string": str, "bool": bool, "int": int, "float": (int, float)}.get(field.kind)
    if right and (not isinstance(value, right) or isinstance(value, bool) != (right is bool)):
        raise CommandError(f"{name}: {value!r} is no {field.kind}")


def _put(properties: Any, parts: list[Any], value: object, path: str) -> object:
    """Write a value at a path, and make the objects on the way; the value that was there."""
    for part, following in itertools.pairwise(parts):
        if isinstance(part, int):
            properties = _item(properties, part, path)[part]
        else:
            empty: Any = [] if isinstance(following, int) else {}
            properties = _object(properties, part, path).setdefault(part, empty)
    last = parts[-1]
    if isinstance(last, int):
        before = _item(properties, last, path)[last]
    else:
        before = _object(properties, last, path).get(last)
    properties[last] = copy.deepcopy(value)
    return before


def _object(properties: Any, name: str, path: str) -> dict[str, Any]:
    if not isinstance(properties, dict):
        raise CommandError(f"{path!r}: there is nothing that could have {name!r}")
    return properties


def _item(properties: Any, index: int, path: str) -> list[Any]:
    if not isinstance(properties, list) or index >= len(properties):
        count = len(properties) if isinstance(properties, list) else 0
        raise CommandError(f"{path!r}: there is no item {index}; the list has {count}")
    return properties


def _change(
    store: Store, command: str, token: str, name: str, change: Callable[[dict[str, Any]], str]
) -> str:
    with store.locked():
        thing = one_thing(store, token, name)
        properties = copy.deepcopy(thing["properties"])
        done = change(properties)
        store.put(token, thing["id"], properties)
        _log(store, command, thing, {**thing, "properties": properties})
        store.flush()
    return f"{thing['id']}: {done}"


def _log(store: Store, command: str, before: Thing, after: Thing | None) -> None:
    """Only what changed: a program's secrets are not known here, and stay out of the log."""
    entry = {"time": time.time(), "method": command, "type": before["type"], "id": before["id"]}
    if after is not None:
        old, new = before["properties"], after["properties"]
        changed = {name for name in {*old, *new} if old.get(name) != new.get(name)}
        entry["before"] = {name: value for name, value in old.items() if name in changed}
        entry["after"] = {name: value for name, value in new.items() if name in changed}
    store.log(entry)


def reset(store: Store) -> int:
    """Delete everything in the cloud; how many resources there were."""
    with store.locked():
        things = store.everything()
        for thing in things:
            store.remove(thing["type"], thing["id"])
        store.log({"time": time.time(), "method": "reset", "resources": len(things)})
        store.flush()
    return len(things)
