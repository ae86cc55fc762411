"""What is in the emulated cloud, for people and for programs."""

import copy
import json
from collections.abc import Sequence
from typing import Any

from sandbox.cloud.reporting import HIDDEN
from sandbox.cloud.store import Thing
from sandbox.cloud.types import kinds
from sandbox.cloud.types.base import SHORT_OF_MACHINES

WIDEST = 90  # of a column; ids of IAM members are longer and push the rest along
_INTERNAL = ("givenTaints", "defaultPool", SHORT_OF_MACHINES)


def as_json(things: Sequence[Thing]) -> str:
    """All resources with their properties; secret outputs are hidden."""
    shown = [
        {"type": thing["type"], "id": thing["id"], "status": status(thing),
         "properties": visible(thing)}
        for thing in things
    ]  # fmt: skip
    return json.dumps(shown, indent=2)


def visible(thing: Thing) -> dict[str, Any]:
    """The properties that the server tells, without the emulation's own notes and secrets."""
    properties = copy.deepcopy(thing["properties"])
    for where in (properties, properties.get("nodeConfig")):
        if isinstance(where, dict):
            for name in _INTERNAL:
                where.pop(name, None)
    kind = kinds().get(thing["type"])
    for name in kind.secret if kind else ():
        if name in properties:
            properties[name] = HIDDEN
    return properties


def status(thing: Thing) -> str:
    """ERROR while a resource waits for machines that a zone does not have."""
    return "ERROR" if thing["properties"].get(SHORT_OF_MACHINES) else "RUNNING"


def as_table(things: Sequence[Thing]) -> str:
    """A line for each resource: type, id, where it is, and what is particular."""
    if not things:
        return "The emulated cloud is empty."
    rows = [("TYPE", "ID", "LOCATION", "STATUS", "DETAILS")]
    for thing in things:
        properties = thing["properties"]
        where = properties.get("location") or properties.get("region") or "-"
        short = thing["type"].rpartition(":")[2]
        rows.append((short, thing["id"], str(where).lower(), status(thing), _details(thing)))
    widths = [min(max(len(row[column]) for row in rows), WIDEST) for column in range(4)]
    lines = [
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[4]])
        for row in rows
    ]
    return "\n".join(line.rstrip() for line in lines)


def _details(thing: Thing) -> str:
    properties = thing["properties"]
    nodes = properties.get("nodeConfig") or {}
    details = []
    if "nodeCount" in properties:
        details.append(f"{properties['nodeCount']} nodes per zone")
    if nodes.get("machineType"):
        details.append(str(nodes["machineType"]))
    if nodes.get("spot"):
        details.append("spot")
    details += [
        f"{taint['key']}={taint.get('value', '')}:{taint['effect']}"
        for taint in nodes.get("effectiveTaints") or []
    ]
    for name in ("masterVersion", "storageClass", "ipCidrRange", "role", "member"):
        if isinstance(properties.get(name), str):
            details.append(properties[name])
    return " ".join(details)
