"""Changes that the provider judges by its own rules: what it does not see, and what replaces."""

from typing import Any

import pytest

from sandbox.cloud.types import go_time
from tests.cloud.harness import Emulated, Refused
from tests.cloud.test_refusals import RESOURCES, SURROUNDINGS, laid_over

SECONDARY = [
    {"rangeName": "a", "ipCidrRange": "10.8.0.0/20"},
    {"rangeName": "b", "ipCidrRange": "10.9.0.0/20"},
]
ACCELERATOR = {"type": "nvidia-tesla-t4", "count": 0}
UNLOCKED = {"retentionPolicy": {"retentionPeriod": 60}}
LOCKED = {"retentionPolicy": {"retentionPeriod": 60, "isLocked": True}}
# The resource, what is laid over it, what is laid over it next, and what the provider wants.
CHANGES: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("subnetwork", {"ipCidrRange": "10.20.0.0/20"}, {"ipCidrRange": "10.20.0.0/19"}, "update"),
    ("subnetwork", {"ipCidrRange": "10.20.0.0/20"}, {"ipCidrRange": "10.20.0.0/21"}, "replace"),
    (
        "subnetwork",
        {"secondaryIpRanges": SECONDARY},
        {"secondaryIpRanges": SECONDARY[::-1]},
        "same",
    ),
    (
        "subnetwork",
        {"secondaryIpRanges": SECONDARY},
        {"secondaryIpRanges": SECONDARY[:1]},
        "update",
    ),
    ("cluster", {}, {"enableL4IlbSubsetting": True}, "update"),
    ("cluster", {"enableL4IlbSubsetting": True}, {"enableL4IlbSubsetting": False}, "replace"),
    ("cluster", {}, {"networkPolicy": {"enabled": False}}, "same"),
    ("cluster", {"networkPolicy": {"enabled": False}}, {}, "same"),
    ("cluster", {"secretManagerConfig": {"enabled": False}}, {}, "same"),
    ("cluster", {}, {"datapathProvider": "ADVANCED_DATAPATH"}, "replace"),
    (
        "autopilot",
        {},
        {"clusterAutoscaling": {"autoscalingProfile": "OPTIMIZE_UTILIZATION"}},
        "same",
    ),
    ("bucket", UNLOCKED, LOCKED, "update"),
    ("bucket", LOCKED, UNLOCKED, "replace"),
    ("bucket", {}, {"location": "NORTHAMERICA-NORTHEAST2"}, "same"),
    ("pool", {}, {"nodeConfig": {"guestAccelerators": [ACCELERATOR]}}, "same"),
    ("router", {}, {"network": "projects/probe-project/global/networks/net2"}, "replace"),
]


@pytest.fixture
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Emulated:
    emulated = Emulated(tmp_path_factory.mktemp("cloud"))
    for number, (on, change) in enumerate(SURROUNDINGS):
        emulated.create(RESOURCES[on]["type"], f"base-{number}", laid_over(on, change))
    return emulated


@pytest.mark.parametrize(("name", "before", "after", "op"), CHANGES)
def test_a_change_does_what_the_provider_makes_of_it(
    cloud: Emulated, name: str, before: dict[str, Any], after: dict[str, Any], op: str
) -> None:
    recorded = cloud.create(RESOURCES[name]["type"], name, laid_over(name, before))
    planned = cloud.plan(recorded, laid_over(name, after))
    assert planned.op == op, planned


def test_addresses_are_drained_from_a_nat_that_has_them(cloud: Emulated) -> None:
    token = RESOURCES["nat"]["type"]
    fixed = {"natIpAllocateOption": "MANUAL_ONLY"}
    recorded = cloud.create(token, "nat", laid_over("nat", {**fixed, "natIps": ["a", "b"]}))
    drained = laid_over("nat", {**fixed, "natIps": ["a"], "drainNatIps": ["b"]})
    planned, changed = cloud.up(recorded, drained)
    assert planned.op == "update"
    assert cloud.plan(changed, drained).op == "same"
    with pytest.raises(Refused) as refused:
        cloud.plan(changed, laid_over("nat", {**fixed, "natIps": ["a"], "drainNatIps": ["c"]}))
    assert 'drain_nat_ip "c" was not previously set in nat_ips [a]' in str(refused.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("2026-01-03T12:00:00Z", None),
        ("2026-01-03T12:00:00.5+01:00", None),
        ("2024-02-29T00:00:00Z", None),
        ("2026-02-29T00:00:00Z", "day out of range"),
        ("2026-01-03T24:00:00Z", "hour out of range"),
        ("2026-01-03T12:00:00Zx", 'extra text: "x"'),
        ("2026-01-03", 'cannot parse "" as "T"'),
        ("03:00", 'cannot parse "03:00" as "2006"'),
    ],
)
def test_a_time_is_judged_in_the_words_of_go(text: str, said: str | None) -> None:
    complaint = go_time.complaint(text)
    assert complaint == said or (said and complaint and complaint.endswith(said))
