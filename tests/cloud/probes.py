"""Rows observed on the real provider, replayed against the emulated one.

The rows lie outside of the project; `rows()` is empty where they are absent.
"""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from sandbox.cloud.types import kinds
from sandbox.cloud.types.values import project_number
from tests.cloud.harness import PROJECT, Emulated, Planned, Recorded, Refused

PATH = Path(__file__).resolve().parents[3] / "shared" / "data" / "provider-probes.json"
BASE = ("network", "subnetwork", "cluster", "systemPool")
# A diff of a node configuration names this on a state that was never refreshed; the rows leave it
# out, too.
NOISE = "resourceManagerTags"

Row = dict[str, Any]
Made = dict[str, Recorded]


@cache
def data() -> dict[str, Any]:
    return json.loads(PATH.read_text()) if PATH.is_file() else {"base": {}, "rows": []}


def rows() -> list[Row]:
    """The rows of supported types, those first to which others refer."""
    named = set(re.findall(r"\$\{([^}.]+)", json.dumps(data()["rows"])))
    supported = [row for row in data()["rows"] if row["type"] in kinds()]
    return sorted(supported, key=lambda row: row["id"] not in named)


def unsupported() -> list[Row]:
    return [row for row in data()["rows"] if row["type"] not in kinds()]


def base(cloud: Emulated) -> Made:
    """The resources that exist beside the rows."""
    made: Made = {}
    for name in BASE:
        row = data()["base"][name]
        made[name] = cloud.create(row["type"], name, filled(row["inputs"], made))
    return made


def filled(value: Any, made: Made) -> Any:
    """The value with `${x.y}` replaced by what the cloud answered."""
    if isinstance(value, dict):
        return {key: filled(item, made) for key, item in value.items()}
    if isinstance(value, list):
        return [filled(item, made) for item in value]
    if isinstance(value, str):
        return re.sub(r"\$\{([^}]+)\}", lambda match: _reference(match.group(1), made), value)
    return value


def _reference(text: str, made: Made) -> str:
    known = {"project": PROJECT, "projectNumber": project_number(PROJECT)}
    if text in known:
        return known[text]
    name, _, output = text.partition(".")
    return made[name].id if output == "id" else made[name].outputs[output]


def disagreement(row: Row, cloud: Emulated, made: Made) -> str | None:
    """What the emulated provider does otherwise than the row says; None when it agrees."""
    inputs = filled(row["inputs"], made)
    try:
        recorded = cloud.create(row["type"], row["id"], inputs)
    except Refused as refused:
        return _refusal(row, refused, made)
    if row["outcome"] != "accepted":
        return "accepted"
    made[row["id"]] = recorded
    refreshed = cloud.refresh(recorded)
    if refreshed is None or refreshed.outputs != recorded.outputs:
        return f"a refresh finds {refreshed and refreshed.outputs}"
    for state in (recorded, refreshed):
        found = _compare(cloud.plan(state, inputs), row["secondRun"], "keys")
        if found:
            return f"second run: {found}"
    return _change(row, recorded, cloud, made) if "change" in row else None


def _refusal(row: Row, refused: Refused, made: Made) -> str | None:
    if row["outcome"] != f"refused-at-{refused.stage}":
        return str(refused)
    if row["by"] != "provider":
        return None
    lines = filled(row["text"], made).split("\n")
    missing = [line for line in lines if not any(line in text for text in refused.texts)]
    places = row.get("at") or []
    for place in [places] if isinstance(places, str) else places:
        where = f"'{row['id']}.{place}'"
        if not any(where in text for text in refused.texts):
            missing.append(where)
    if missing or len(lines) != len(refused.texts):
        return f"says {refused.texts}, lacks {missing}"
    return None


def _change(row: Row, recorded: Recorded, cloud: Emulated, made: Made) -> str | None:
    change = row["change"]
    inputs = filled(change["inputs"], made)
    try:
        planned, changed = cloud.up(recorded, inputs)
    except Refused as refused:
        return None if "outcome" in change else f"the change: {refused}"
    if "outcome" in change:
        return "the change is accepted"
    found = _compare(planned, change, "diffKeys")
    if found:
        return f"the change: {found}"
    found = _compare(cloud.plan(changed, inputs), change["afterChange"], "keys")
    return f"after the change: {found}" if found else None


def _compare(planned: Planned, wanted: Any, keys: str) -> str | None:
    if wanted == "same":
        wanted = {"op": "same", keys: []}
    got = (planned.op, _known(planned.keys), planned.replace_keys)
    expected = (wanted["op"], _known(wanted[keys]), sorted(wanted.get("replaceKeys") or []))
    return None if got == expected else f"{got} instead of {expected}"


def _known(keys: list[str]) -> list[str]:
    return sorted(key for key in keys if NOISE not in key)
