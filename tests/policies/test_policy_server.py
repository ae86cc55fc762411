"""Packs that convert late report what packs that convert early report, only sooner."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pulumi_policy.policy as sdk
import pytest
from google.protobuf import struct_pb2
from pulumi.runtime import proto
from pulumi_policy import EnforcementLevel

from spotproof_gke import policy_server
from spotproof_gke.policy_server import convert_when_read
from tests.policies.helpers import Case, cases, config_of, pack, urn

CASES = list(cases())
SECRET = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "value": "US"}


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in policy_server._REPLACED:
        monkeypatch.setattr(sdk, name, getattr(sdk, name))
    assert convert_when_read(sdk)


def _message(kind: Any, case: Case, name: str, given: Mapping[str, Any], props: Any) -> Any:
    message = kind(type=given["type"], urn=urn(given["type"], name), name=name)
    message.properties.update(props)
    if provider := given.get("provider"):
        named = provider.get("name", "default")
        message.provider.type = "pulumi:providers:any"
        message.provider.name = named
        declared = case.resources.get(named, {"type": message.provider.type})
        message.provider.urn = urn(declared["type"], named)
        message.provider.properties.update(provider.get("props", {}))
    return message


def _stack_request(case: Case) -> Any:
    request = proto.AnalyzeStackRequest()
    for name, given in case.resources.items():
        props = {**given.get("props", {}), **given.get("computed", {})}
        message = _message(proto.AnalyzerResource, case, name, given, props)
        if parent := given.get("parent"):
            message.parent = urn(case.resources[parent]["type"], parent)
        for key in given.get("props", {}):
            needed = given.get("depends", {}).get(key, [])
            message.propertyDependencies[key].urns.extend(
                urn(case.resources[one]["type"], one) for one in needed
            )
        request.resources.append(message)
    return request


def _reported(case: Case) -> list[tuple[str, ...]]:
    """All that the pack's server answers about the resources of a case."""
    policies = pack(case.pack).POLICIES
    server = sdk._PolicyAnalyzerServicer("pack", "1.0.0", policies, EnforcementLevel.ADVISORY)
    configured = proto.ConfigureAnalyzerRequest()
    for one in policies:
        properties = struct_pb2.Struct()
        properties.update(config_of(one, case))
        level = proto.MANDATORY if one.enforcement_level.value == "mandatory" else proto.ADVISORY
        configured.policyConfig[one.name].enforcementLevel = level
        configured.policyConfig[one.name].properties.CopyFrom(properties)
    server.Configure(configured, None)
    answers = [
        server.Analyze(_message(proto.AnalyzeRequest, case, *item, item[1].get("props", {})), None)
        for item in case.resources.items()
    ]
    answers.append(server.AnalyzeStack(_stack_request(case), None))
    return [
        (one.policyName, one.urn, one.message, str(one.enforcementLevel))
        for answer in answers
        for one in answer.diagnostics
    ]


EARLY = {str(case): _reported(case) for case in CASES}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_late_pack_reports_what_an_early_one_reports(case: Case, late: None) -> None:
    assert _reported(case) == EARLY[str(case)]
    if case.kind == "bad":
        assert any(name == case.rule for name, *_ in EARLY[str(case)])


def test_a_resource_is_converted_once_for_all_policies_and_only_if_a_rule_reads_it(
    monkeypatch: pytest.MonkeyPatch, late: None
) -> None:
    converted = []
    given = sdk.json_format.MessageToDict

    def seen(message: Any) -> Any:
        made = given(message)
        read = made._get
        made._get = lambda: converted.append(message) or read()
        return made

    monkeypatch.setattr(sdk, "json_format", SimpleNamespace(MessageToDict=seen))
    case = next(one for one in CASES if one.rule == "checkpoint-bucket-in-cluster-region")
    topic = {"type": "gcp:compute/address:Address", "props": {"name": "x"}}
    case = Case(case.pack, case.rule, "bad", "x", {**case.resources, "other": topic}, [])
    policies = pack(case.pack).POLICIES
    server = sdk._PolicyAnalyzerServicer("pack", "1.0.0", policies, EnforcementLevel.ADVISORY)

    server.AnalyzeStack(_stack_request(case), None)

    assert 0 < len(converted) <= len(case.resources) - 1


def test_a_secret_is_read_as_what_it_holds_and_given_back_as_a_secret(late: None) -> None:
    message = struct_pb2.Struct()
    message.update({"location": SECRET})
    props = sdk.json_format.MessageToDict(message)

    assert sdk.unknown_checking_proxy(sdk.deserialize_properties(props))["location"] == "US"
    kept = sdk.deserialize_properties(props, True)
    assert kept["__target"]["location"].value == "US"


def test_an_sdk_with_other_names_is_left_as_it_is() -> None:
    other = SimpleNamespace(json_format=object())

    assert not convert_when_read(other)
    assert list(vars(other)) == ["json_format"]
