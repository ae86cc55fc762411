"""Firewalls, placements, repositories, alerts, dashboards: changes, defaults, order of deletion."""

import json
from typing import Any

import pytest

from tests.cloud import plain
from tests.cloud.harness import PROJECT, REGION, Emulated, Refused
from tests.cloud.plain import CLUSTER, NETWORK, NODE_POOL

FIREWALL = "gcp:compute/firewall:Firewall"
POLICY = "gcp:compute/resourcePolicy:ResourcePolicy"
REPOSITORY = "gcp:artifactregistry/repository:Repository"
REPOSITORY_MEMBER = "gcp:artifactregistry/repositoryIamMember:RepositoryIamMember"
ALERT = "gcp:monitoring/alertPolicy:AlertPolicy"
DASHBOARD = "gcp:monitoring/dashboard:Dashboard"

RULE = {"name": "fw", "network": "net", "allows": [{"protocol": "tcp"}], "sourceTags": ["a"]}
PLACEMENT = {"name": "rp", "groupPlacementPolicy": {"collocation": "COLLOCATED"}}
IMAGES = {"repositoryId": "images", "format": "DOCKER"}
THRESHOLD = {"filter": 'metric.type="a/b"', "comparison": "COMPARISON_GT", "duration": "60s"}
BACKLOG = {
    "displayName": "backlog",
    "combiner": "OR",
    "conditions": [{"displayName": "c", "conditionThreshold": THRESHOLD}],
}
BOARD = {"displayName": "d", "gridLayout": {"widgets": [{"title": "a"}]}}


@pytest.mark.parametrize(
    ("token", "inputs", "change", "op"),
    [
        (FIREWALL, RULE, {"allows": [{"protocol": "TCP"}]}, "same"),
        (FIREWALL, RULE, {"network": f"projects/{PROJECT}/global/networks/net"}, "same"),
        (FIREWALL, RULE, {"allows": [{"protocol": "tcp", "ports": ["22"]}]}, "update"),
        (FIREWALL, RULE, {"allows": None, "denies": [{"protocol": "tcp"}]}, "update"),
        (FIREWALL, RULE, {"priority": 10}, "update"),
        (FIREWALL, RULE, {"logConfig": {"metadata": "INCLUDE_ALL_METADATA"}}, "update"),
        (FIREWALL, RULE, {"direction": "INGRESS"}, "same"),
        (FIREWALL, RULE, {"direction": "EGRESS", "sourceTags": None}, "replace"),
        (FIREWALL, {**RULE, "direction": "INGRESS"}, {"direction": None}, "same"),
        (FIREWALL, {**RULE, "sourceTags": None, "sourceRanges": []}, {}, "same"),
        (
            POLICY,
            PLACEMENT,
            {"groupPlacementPolicy": {"collocation": "COLLOCATED", "vmCount": 4}},
            "update",
        ),
        (POLICY, PLACEMENT, {"region": "us-central1"}, "replace"),
        (POLICY, PLACEMENT, {"groupPlacementPolicy": {"gpuTopology": "1x72"}}, "replace"),
        (REPOSITORY, IMAGES, {"format": "docker"}, "same"),
        (REPOSITORY, IMAGES, {"format": "NPM"}, "replace"),
        (REPOSITORY, IMAGES, {"location": "us"}, "replace"),
        (REPOSITORY, IMAGES, {"location": REGION}, "same"),
        (REPOSITORY, IMAGES, {"dockerConfig": {"immutableTags": True}}, "update"),
        (REPOSITORY, IMAGES, {"labels": {"a": "b"}}, "update"),
        (ALERT, BACKLOG, {"displayName": "others"}, "update"),
        (ALERT, BACKLOG, {"severity": "WARNING"}, "update"),
        (ALERT, BACKLOG, {"enabled": True}, "same"),
    ],
    ids=str,
)
def test_change(
    cloud: Emulated, token: str, inputs: dict[str, Any], change: dict[str, Any], op: str
) -> None:
    recorded = cloud.create(token, "resource", inputs)
    assert cloud.plan(recorded, inputs).op == "same"
    assert cloud.plan(recorded, {**inputs, **change}).op == op
    if op == "update":
        _, changed = cloud.up(recorded, {**inputs, **change})
        assert changed.id == recorded.id
        assert cloud.plan(changed, {**inputs, **change}).op == "same"


def test_a_repository_of_another_format_does_not_fit_beside_the_old_one(cloud: Emulated) -> None:
    recorded = cloud.create(REPOSITORY, "images", IMAGES)
    assert not cloud.plan(recorded, {**IMAGES, "format": "NPM"}).delete_first
    with pytest.raises(Refused, match="the repository already exists"):
        cloud.up(recorded, {**IMAGES, "format": "NPM"})


def test_a_flag_that_is_off_in_the_docker_configuration_never_comes_to_rest(
    cloud: Emulated,
) -> None:
    inputs = {**IMAGES, "dockerConfig": {"immutableTags": False}}
    planned, again = cloud.up(cloud.create(REPOSITORY, "images", inputs), inputs)
    assert planned.keys == ["dockerConfig"]
    assert cloud.plan(again, inputs).keys == ["dockerConfig"]


def test_a_network_goes_after_its_firewall_rules_and_a_rule_stays_in_its_network(
    cloud: Emulated,
) -> None:
    network = cloud.create(NETWORK, "other", {"name": "other"})
    rule = cloud.create(FIREWALL, "fw", {**RULE, "network": network.outputs["selfLink"]})
    assert rule.outputs["network"] == network.outputs["selfLink"]
    with pytest.raises(Refused, match=r"already being used by .*firewalls/fw"):
        cloud.delete(network)
    with pytest.raises(Refused, match="network of a firewall rule cannot be changed"):
        cloud.up(rule, RULE)
    cloud.delete(rule)
    cloud.delete(network)


def test_defaults_of_firewall_rules(cloud: Emulated) -> None:
    out = cloud.create(FIREWALL, "out", {**RULE, "direction": "EGRESS", "sourceTags": None})
    assert out.outputs["destinationRanges"] == ["0.0.0.0/0"]
    assert out.outputs["priority"] == 1000
    assert out.outputs["enableLogging"] is False
    logged = {**RULE, "name": "in", "logConfig": {"metadata": "EXCLUDE_ALL_METADATA"}}
    recorded = cloud.create(FIREWALL, "in", logged)
    assert recorded.outputs["direction"] == "INGRESS"
    assert recorded.outputs["enableLogging"] is True


def test_a_placement_goes_after_the_pools_that_are_placed_by_it(cloud: Emulated) -> None:
    placement = cloud.create(POLICY, "rp", PLACEMENT)
    cloud.create(CLUSTER, "base", plain.cluster())
    placed = plain.pool(placementPolicy={"type": "COMPACT", "policyName": "rp"})
    pool = cloud.create(NODE_POOL, "pool", placed)
    with pytest.raises(Refused, match=r"already being used by .*nodePools/pool"):
        cloud.delete(placement)
    cloud.delete(pool)
    cloud.delete(placement)


def test_a_new_name_of_a_placement_is_planned_as_an_update_and_fails(cloud: Emulated) -> None:
    recorded = cloud.create(POLICY, "rp", PLACEMENT)
    renamed = {**PLACEMENT, "name": "rp2"}
    assert cloud.plan(recorded, renamed).op == "update"
    with pytest.raises(Refused, match="resourcePolicies/rp2' was not found"):
        cloud.up(recorded, renamed)


def test_a_repository_knows_its_address_and_takes_its_members_along(cloud: Emulated) -> None:
    repository = cloud.create(REPOSITORY, "images", IMAGES)
    assert repository.id == f"projects/{PROJECT}/locations/{REGION}/repositories/images"
    assert repository.outputs["registryUri"] == f"{REGION}-docker.pkg.dev/{PROJECT}/images"
    assert repository.outputs["name"] == "images"
    role = {"role": "roles/artifactregistry.reader", "member": "user:a@example.com"}
    by_id = cloud.create(REPOSITORY_MEMBER, "a", {**role, "repository": repository.id})
    by_name = cloud.create(REPOSITORY_MEMBER, "b", {**role, "repository": "images"})
    assert by_id.id == by_name.id
    assert by_name.outputs["repository"] == repository.id
    assert by_name.outputs["location"] == REGION
    for identifier in ("images", f"{REGION}/images", f"{PROJECT}/{REGION}/images", repository.id):
        adopted = cloud.adopt(REPOSITORY, "adopted", identifier)
        assert adopted is not None
        assert adopted.id == repository.id
    cloud.delete(repository)
    assert cloud.refresh(by_id) is None


def test_a_role_on_a_repository_elsewhere_takes_the_place_from_its_id(cloud: Emulated) -> None:
    repository = cloud.create(REPOSITORY, "images", {**IMAGES, "location": "us"})
    role = {"role": "roles/artifactregistry.reader", "member": "user:a@example.com"}
    member = cloud.create(REPOSITORY_MEMBER, "a", {**role, "repository": repository.id})
    assert member.outputs["location"] == "us"
    assert cloud.plan(member, {**role, "repository": repository.id}).op == "same"


def test_two_alerts_may_look_the_same(cloud: Emulated) -> None:
    one, other = (cloud.create(ALERT, name, BACKLOG) for name in ("one", "other"))
    assert one.id != other.id
    assert one.outputs["name"] == one.id
    assert one.outputs["conditions"][0]["name"].startswith(f"{one.id}/conditions/")
    assert one.outputs["creationRecords"]
    _, changed = cloud.up(one, {**BACKLOG, "severity": "ERROR"})
    assert changed.id == one.id
    assert changed.outputs["name"] == one.id
    cloud.delete(one)
    third = cloud.create(ALERT, "third", BACKLOG)
    assert third.id != other.id


def test_a_dashboard_is_compared_by_what_it_says(cloud: Emulated) -> None:
    recorded = cloud.create(DASHBOARD, "board", {"dashboardJson": json.dumps(BOARD)})
    answered = json.loads(recorded.outputs["dashboardJson"])
    assert answered["name"] == recorded.id
    assert answered["etag"]
    assert "name" not in recorded.outputs
    spaced = {"dashboardJson": json.dumps(BOARD, indent=4)}
    assert cloud.plan(recorded, spaced).op == "same"
    for change in (
        {**BOARD, "displayName": "e"},
        {**BOARD, "gridLayout": {"widgets": [{"title": "a"}, {"title": "b"}]}},
        {**BOARD, "gridLayout": {"widgets": []}},
    ):
        inputs = {"dashboardJson": json.dumps(change)}
        planned, recorded = cloud.up(recorded, inputs)
        assert (planned.op, planned.keys) == ("update", ["dashboardJson"])
        assert cloud.plan(recorded, inputs).op == "same"
