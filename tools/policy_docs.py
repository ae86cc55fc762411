"""The pages and the table of the policies, out of the packs' own metadata."""

import importlib.util
import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tools.markdown import GENERATED, json_block, table

PACKS_FOLDER = Path(__file__).resolve().parents[1] / "policies"
PACKS = ("region_match", "spot_isolation", "interruption_readiness")

EXAMPLES = {
    "allowedDualRegions": ["us-central1+us-east1"],
    "clusters": {"train-eu": "europe-west4", "serve": "us-east4-a"},
    "buckets": {"acme-datasets": "train-eu"},
    "publicProjects": ["google-samples", "acme-public"],
    "acceptedTaintKeys": ["acme.example/evictable"],
    "toleratedTaintKeys": ["components.gke.io/gke-managed-components", "acme.example/system"],
    "systemNamespaces": ["kube-system", "gke-managed-*", "platform-*"],
    "exemptDaemonSets": False,
}
"""A value that somebody may want, for each property of a policy's configuration."""


def rules() -> Iterator[tuple[str, Any]]:
    """Each pack's rules, with the name of the pack."""
    for pack in PACKS:
        yield from ((pack, rule) for rule in _pack_module(pack).RULES)


def policies(pack: str) -> list[Any]:
    """The policies that a pack serves to the engine."""
    return _pack_module(pack).POLICIES


@cache
def _pack_module(pack: str) -> Any:
    file = PACKS_FOLDER / pack / "policy.py"
    spec = importlib.util.spec_from_file_location(f"{pack}_policy", file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _level(rule: Any) -> str:
    return "mandatory" if rule.mandatory else "advisory"


def packs_list() -> str:
    """What each pack holds, for the README: a list, since a table's cell is too narrow for it."""
    lines = [
        f"- [`{pack}`](policies/{pack}/policy.py), {level}: "
        + ", ".join(f"[{name}](docs/policies/{name}.md)" for name in names)
        for pack in PACKS
        for level in ("mandatory", "advisory")
        if (names := [rule.name for of, rule in rules() if (of, _level(rule)) == (pack, level)])
    ]
    return "\n".join(lines)


def policies_page() -> str:
    """The policies of all packs, with what each demands."""
    rows = [
        (
            f"[{rule.name}]({rule.name}.md)",
            f"`{pack}`",
            _level(rule),
            rule.severity.value,
            rule.description,
        )
        for pack, rule in rules()
    ]
    parts = [
        GENERATED,
        "# Policies",
        "How they are run, and how levels are set: [in your own CI](../how-to/policies-in-ci.md).\n"
        "How one resource is let through: [an exception](../how-to/write-an-exception.md).",
        table(("policy", "pack", "level", "severity", "what must hold"), rows),
    ]
    return "\n\n".join(parts) + "\n"


def policy_page(pack: str, rule: Any) -> str:
    """The page of one policy."""
    parts = [
        GENERATED,
        f"# {rule.display_name}",
        table(
            ("policy", "pack", "level", "severity", "tags"),
            [
                (
                    f"`{rule.name}`",
                    f"[`{pack}`](../../policies/{pack}/policy.py)",
                    _level(rule),
                    rule.severity.value,
                    ", ".join(rule.tags),
                )
            ],
        ),
        f"## What must hold\n\n{rule.description}",
        "## What happens\n\n" + _what_happens(rule),
        f"## What to do\n\n{rule.remediation}",
        "## Configuration\n\n" + _configuration(rule),
        "## Exception\n\n" + _exception(pack, rule),
    ]
    return "\n\n".join(parts) + "\n"


def _what_happens(rule: Any) -> str:
    text = "A violation is shown and does not fail the run."
    if rule.mandatory:
        text = (
            "A violation fails `pulumi preview` and `pulumi up`.\n"
            "Where a value is known only after the update, "
            f"the advisory policy `{rule.name}-unknown` says so instead."
        )
    if rule.mend:
        text += (
            "\nAt the level `remediate` the engine mends what certainly can be, in the preview and "
            "in the update; what is left fails the run."
        )
    return text


def _configuration(rule: Any) -> str:
    level = "advisory" if rule.mandatory else "mandatory"
    if not rule.config:
        intro = "Only its level can be changed, in a file for `--policy-pack-config`:\n\n"
        return intro + json_block({rule.name: level})
    rows = [
        (
            f"`{key}`",
            _type(shape),
            ", ".join(f"`{each}`" for each in _list(shape.get("default"))) or "none",
            shape["description"],
        )
        for key, shape in rule.config.items()
    ]
    values = {key: EXAMPLES.get(key, shape.get("default")) for key, shape in rule.config.items()}
    example = {"enforcementLevel": level, **values}
    return (
        table(("property", "type", "default", "meaning"), rows)
        + "\n\nFor example, in a file for `--policy-pack-config`, with another level too:\n\n"
        + json_block({rule.name: example})
    )


def _type(shape: Mapping[str, Any]) -> str:
    if shape["type"] == "array":
        return f"list of {_type(shape['items'])}"
    return shape["type"]


def _exception(pack: str, rule: Any) -> str:
    type_, name = _offender(pack, rule)
    match = {
        "policies": [rule.name],
        "targets": [f"urn:pulumi:prod::my-project::{type_}::{name}"],
    }
    exception = {"reason": "Agreed until March; see OPS-1.", "match": [match]}
    return (
        "One resource can be let through, with a reason.\n"
        "Its URN is shown by `pulumi stack --show-urns`.\n\n"
        + json_block({"version": 2, "exceptions": {"OPS-1": exception}})
    )


def _offender(pack: str, rule: Any) -> tuple[str, str]:
    """Type and name of a resource that breaks the rule, out of the pack's own fixtures."""
    file = PACKS_FOLDER / pack / "fixtures" / rule.name / "bad.yaml"
    case = next(iter(yaml.safe_load_all(file.read_text(encoding="utf-8"))))
    name = case["expect"][0]["resource"]
    return case["resources"][name]["type"], name


def _list(value: object) -> list[str]:
    if isinstance(value, list):
        return [str(each) for each in value]
    return [json.dumps(value)] if value is not None else []
