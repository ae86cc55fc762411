"""Cloud Monitoring's dashboards: Dashboard."""

import json
from typing import Any, ClassVar

from sandbox.cloud.problems import ProviderError
from sandbox.cloud.types.base import Cloud, Config
from sandbox.cloud.types.json_text import parse
from sandbox.cloud.types.monitoring import MonitoringKind
from sandbox.cloud.types.values import Properties, fingerprint

DASHBOARD = "gcp:monitoring/dashboard:Dashboard"
LAYOUTS = ("gridLayout", "mosaicLayout", "rowLayout", "columnLayout")
FIELDS = ("name", "displayName", "etag", "dashboardFilters", "labels", "annotations", *LAYOUTS)
MOST_COLUMNS = 48
_KINDS = {list: "array", str: "string", bool: "bool", int: "number", float: "number"}


def _is_json(path: str, value: Any) -> str | None:
    try:
        parse(value)
    except ValueError as error:
        return f'"{path}" contains an invalid JSON: {error}'
    return None


def _same_dashboard(old: Any, new: Any) -> bool:
    """Whether the dashboards agree in all that the new one says."""
    try:
        wanted = parse(new)
        return _kept(parse(old), wanted) == wanted
    except (TypeError, ValueError):
        return False


def _kept(old: Any, new: Any) -> Any:
    """The old value without the keys that the new one lacks: the server has filled them in."""
    if isinstance(old, dict) and isinstance(new, dict):
        return {key: _kept(old[key], new[key]) for key in old if new.get(key) is not None}
    if isinstance(old, list) and isinstance(new, list):
        paired = [_kept(before, after) for before, after in zip(old, new, strict=False)]
        return paired + old[len(new) :]
    return old


class Dashboard(MonitoringKind):
    """A dashboard, given as JSON."""

    token, table, called = DASHBOARD, "dashboard", "Dashboard"
    collection = "dashboards"
    same_if: ClassVar = {"dashboardJson": _same_dashboard}
    validators: ClassVar = {"dashboardJson": _is_json}

    def before_call(self, inputs: Properties, old: Properties | None) -> None:
        value = parse(inputs["dashboardJson"])
        if value is not None and not isinstance(value, dict):
            raise ProviderError(
                f"json: cannot unmarshal {_KINDS[type(value)]} into Go value of type "
                "map[string]interface {}"
            )

    def refuse(self, cloud: Cloud, inputs: Properties, old: Properties | None) -> list[str]:
        given = parse(inputs["dashboardJson"]) or {}
        problems = [
            f'Invalid JSON payload received. Unknown name "{name}": Cannot find field'
            for name in given
            if name not in FIELDS
        ]
        if not given.get("displayName"):
            problems.append("Field displayName is required")
        layouts = [name for name in LAYOUTS if given.get(name) is not None]
        if len(layouts) != 1:
            problems.append(
                f"A dashboard has exactly one layout of {', '.join(LAYOUTS)}, not {len(layouts)}"
            )
        if isinstance(given.get("mosaicLayout"), dict):
            problems += _mosaic(given["mosaicLayout"])
        return problems

    def serve(self, cloud: Cloud, inputs: Properties, old: Properties | None) -> Properties:
        given = parse(inputs["dashboardJson"])
        answered = {**given, "name": inputs["name"], "etag": fingerprint(inputs)}
        text = json.dumps(answered, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return {**inputs, "dashboardJson": text}

    def read(self, properties: Properties, prior: Properties, config: Config) -> Properties:
        state = super().read(properties, prior, config)
        state.pop("name", None)
        return state


def _mosaic(layout: Properties) -> list[str]:
    """The tiles lie within the columns; what is left out is 0."""
    columns = layout.get("columns", 0)
    if not isinstance(columns, int) or not 1 <= columns <= MOST_COLUMNS:
        return [f"Field mosaicLayout.columns has an invalid value of {columns!r}: 1 to 48"]
    problems = []
    for index, tile in enumerate(layout.get("tiles") or []):
        where = f"mosaicLayout.tiles[{index}]"
        if not isinstance(tile, dict) or not isinstance(tile.get("widget"), dict):
            problems.append(f"Field {where}.widget is required")
            continue
        sizes = [tile.get(name, 0) for name in ("xPos", "yPos", "width", "height")]
        if not all(isinstance(size, int) for size in sizes):
            problems.append(f"Field {where} has a position or size that is not a whole number")
        elif sizes[0] < 0 or sizes[1] < 0 or sizes[2] < 1 or sizes[3] < 1:
            problems.append(f"Field {where} has no place: width and height are at least 1")
        elif sizes[0] + sizes[2] > columns:
            problems.append(f"Field {where} ends beyond the {columns} columns of the dashboard")
    return problems


KINDS = (Dashboard(),)
