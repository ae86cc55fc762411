"""Resources of a Pulumi state as resources of the rules.

The form of a state: pulumi/pulumi sdk/go/common/apitype/core.go (`ResourceV3`, signatures in
sdk/go/common/resource/sig), read on 2026-11-30.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from spotproof_gke.audit.evidence import Evidence, InputError, Source, plain, printable
from spotproof_gke.rules.finding import Resource
from spotproof_gke.rules.reading import UNKNOWN, is_true, items, mapping, text

SIGNATURE = "4dabf18193072939515e22adb298388d"
"""Key of an object that stands for a secret, an asset, an output or a reference."""

_OUTPUT_SIGNATURE = "d0e6a833031e9bbcd3f4e8bde6ca49a4"
_NOT_KNOWN = (
    "[secret]",
    # What the engine writes for a text that is not known yet.
    "04da6b54-80e4-46f7-96ec-b56ff0331ba9",
)
_PROVIDER = "pulumi:providers:"
_JUDGED = ("gcp:", "kubernetes:", "google-native:")


class _Settled(Resource):
    """A resource of a state: nothing is still to be computed, so what is not known is a secret."""

    def get(self, key: str) -> Any:
        return self.props.get(key)


def add_state(evidence: Evidence, source: Source, document: Any) -> None:
    """Add the resources of a state to the evidence.

    Raises:
        InputError: The document has no list of resources.
    """
    known = [mapping(row) for row in rows(source.name, document)]
    providers = {
        text(row.get("urn")): properties(row, "inputs") or properties(row, "outputs")
        for row in known
        if text(row.get("type")).startswith(_PROVIDER)
    }
    for row in known:
        type_, urn = text(row.get("type")), text(row.get("urn"))
        if is_true(row.get("delete")) or is_true(row.get("pendingReplacement")):
            source.ignored["(to be deleted)"] += 1
            continue
        if not type_ or not urn:
            source.ignored["(no resource)"] += 1
            continue
        _add(evidence, source, row, providers)


def rows(name: str, document: Any) -> Iterable[Any]:
    """What stands in a state's list of resources.

    Raises:
        InputError: The document has no such list.
    """
    parts = mapping(document)
    deployment = mapping(parts.get("deployment")) or mapping(
        mapping(parts.get("checkpoint")).get("latest")
    )
    found = deployment.get("resources")
    if found is None and (deployment or "checkpoint" in parts):
        # A stack that was never updated, or of which everything was destroyed.
        return ()
    if not isinstance(found, (list, tuple)):
        raise InputError(f"{name}: a Pulumi state without a list of resources; export it again")
    return found


def _add(
    evidence: Evidence,
    source: Source,
    row: Mapping[str, Any],
    providers: Mapping[str, Mapping[str, Any]],
) -> None:
    type_, urn = text(row.get("type")), text(row.get("urn"))
    inputs, outputs = properties(row, "inputs"), properties(row, "outputs")
    given = text(row.get("provider")).rpartition("::")[0]
    dependencies = {
        text(key): tuple(text(each) for each in items(urns))
        for key, urns in mapping(row.get("propertyDependencies")).items()
    }
    common: dict[str, Any] = {
        "type": type_,
        "name": urn.split("::", 3)[-1],
        "urn": urn,
        "parent": text(row.get("parent")),
        "provider": providers.get(given, {}),
        "provider_urn": given,
    }
    # What was only looked up (`get`) has no inputs.
    declared = inputs or outputs
    evidence.declared.append(_Settled(props=declared, **common))
    evidence.settled.append(_Settled(props=outputs or inputs, dependencies=dependencies, **common))
    evidence.origins.setdefault(urn, source.name)
    if type_.startswith(_JUDGED):
        source.read[printable(type_)] += 1
    elif not type_.startswith((_PROVIDER, "pulumi:pulumi:")):
        source.ignored[printable(type_)] += 1


def properties(row: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """The `inputs` or `outputs` of a resource, with `UNKNOWN` for secrets and what is not known."""
    value = _opened(plain(row.get(key)))
    return value if isinstance(value, Mapping) else {}


def _opened(value: Any) -> Any:
    """`value` with `UNKNOWN` for secrets and for all else that is no plain data."""
    if isinstance(value, Mapping):
        signature = value.get(SIGNATURE)
        if signature is None:
            return {key: _opened(each) for key, each in value.items()}
        if signature == _OUTPUT_SIGNATURE and not is_true(value.get("secret")):
            return _opened(value["value"]) if "value" in value else UNKNOWN
        return UNKNOWN
    if isinstance(value, list):
        return [_opened(each) for each in value]
    return UNKNOWN if isinstance(value, str) and value in _NOT_KNOWN else value
