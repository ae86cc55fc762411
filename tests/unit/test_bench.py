"""What the benchmark says of plans and figures, without an engine."""

import copy
from typing import Any

import pytest

from bench.bare import UNKNOWN, write_program
from bench.plan import differences
from bench.report import Row, table
from bench.timing import BenchError, ratio

PREFIX = "urn:pulumi:prod::p::"
NETWORK = f"{PREFIX}gcp:compute/network:Network::net"
COMPONENT = f"{PREFIX}our:index:Net::net"
NESTED_NETWORK = f"{PREFIX}our:index:Net$gcp:compute/network:Network::net"


def _network(urn: str = NETWORK, **further: Any) -> dict[str, Any]:
    inputs = {"__defaults": ["name"], "name": f"net-{len(urn)}", "autoCreateSubnetworks": False}
    made = {"urn": urn, "type": "gcp:compute/network:Network", "inputs": inputs, "id": "nets/net"}
    return made | {"outputs": {"name": "net"}, "propertyDependencies": {}} | further


def _subnetwork(network: str = NETWORK, value: str = UNKNOWN) -> dict[str, Any]:
    return {
        "urn": f"{PREFIX}gcp:compute/subnetwork:Subnetwork::sub",
        "type": "gcp:compute/subnetwork:Subnetwork",
        "inputs": {"network": value, "secondaryIpRanges": [{"rangeName": "pods"}]},
        "id": "subs/sub",
        "outputs": {},
        "propertyDependencies": {"network": [network]},
    }


PLAN = [_network(), _subnetwork()]


def test_a_component_around_a_resource_makes_no_other_plan() -> None:
    component = {"urn": COMPONENT, "type": "our:index:Net"}
    nested = _network(NESTED_NETWORK, parent=COMPONENT)

    assert differences([component, nested, _subnetwork(NESTED_NETWORK)], PLAN) == []


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("inputs", {"autoCreateSubnetworks": True}),
        ("protect", True),
        ("ignoreChanges", ["routingMode"]),
        ("customTimeouts", {"create": 60}),
    ],
)
def test_another_input_or_option_is_told(part: str, value: Any) -> None:
    other = copy.deepcopy(PLAN)
    other[0][part] = value

    (told,) = differences(PLAN, other)

    assert told.startswith(f"gcp:compute/network:Network net, {part}: ")


def test_a_missing_resource_and_another_order_are_told() -> None:
    unordered = copy.deepcopy(PLAN)
    unordered[1]["propertyDependencies"] = {}

    assert differences(PLAN, unordered)[0].startswith(
        "gcp:compute/subnetwork:Subnetwork sub, after: "
    )
    assert "gcp:compute/network:Network net is in one plan only" in differences(PLAN, PLAN[1:])


def test_what_a_component_waits_for_its_parts_wait_for() -> None:
    component = {"urn": COMPONENT, "type": "our:index:Net", "dependencies": [_subnetwork()["urn"]]}
    alone = {**_subnetwork(), "propertyDependencies": {}}
    nested = _network(NESTED_NETWORK, parent=COMPONENT)
    ordered = _network(dependencies=[alone["urn"]])

    assert differences([alone, component, nested], [alone, ordered]) == []
    assert differences([alone, component, nested], [alone, _network()]) != []


def test_the_bare_program_refers_to_what_a_preview_cannot_know() -> None:
    program = write_program(PLAN, [_network(), _subnetwork(value="nets/net")])

    assert "network=net.id," in program
    assert "'range_name': 'pods'" in program
    assert "    name=" not in program
    compile(program, "bare", "exec")


def test_an_input_that_no_output_gives_is_refused_with_its_place() -> None:
    with pytest.raises(BenchError, match="Subnetwork sub, network: 'elsewhere' is no output"):
        write_program(PLAN, [_network(), _subnetwork(value="elsewhere")])


@pytest.mark.parametrize(("goal", "verdict"), [(1.5, "ok"), (1.4, "MISSED"), (None, "")])
def test_the_median_is_judged_against_the_goal(goal: float | None, verdict: str) -> None:
    row = Row("packs", 3, ratio([(3, 2), (2, 2), (9, 2)]), goal=goal)

    assert row.verdict == verdict
    assert "1.50 (1.00 to 4.50)" in table([row])
    assert verdict in table([row])
