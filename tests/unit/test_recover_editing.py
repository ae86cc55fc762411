"""An interrupted create comes into the state once, where it belongs, and nothing is lost for it."""

from typing import Any

from sandbox.recovery.editing import adopted, replaced, successors
from sandbox.recovery.operations import unfinished
from spotproof_gke.stack_state.operations import Pending
from tests.unit.fake_pulumi import PROVIDER, ROOT_RESOURCE, bucket, resource

TOPIC = "gcp:pubsub/topic:Topic"
MADE_UP = {"__defaults": ["name"]}


def state(*there: dict[str, Any]) -> dict[str, Any]:
    return {"manifest": {"version": "v3"}, "resources": [ROOT_RESOURCE, PROVIDER, *there]}


def topic(name: str, **more: Any) -> dict[str, Any]:
    return resource(TOPIC, "topic", {"name": name}, **more)


def network(name: str, **more: Any) -> dict[str, Any]:
    inputs = {"name": name, "description": name, **MADE_UP}
    return resource("gcp:compute/network:Network", "net", inputs, **more)


def shown(deployment: dict[str, Any]) -> list[tuple[str, bool]]:
    """Ids in order, and which wait for their deletion."""
    return [(one["id"], bool(one.get("delete"))) for one in deployment["resources"][2:]]


def creating(made: dict[str, Any]) -> Pending:
    return Pending("creating", made)


def test_a_create_stands_behind_what_it_needs_and_before_what_is_to_be_deleted() -> None:
    old = topic("gone", id="t-0", delete=True)
    needed = topic("work", id="t-1")
    new = bucket(dependencies=[needed["urn"], "urn:gone"])

    edited = adopted(state(needed, old), [(creating(new), "acme-data")])

    assert shown(edited) == [("t-1", False), ("acme-data", False), ("t-0", True)]
    taken = edited["resources"][3]
    assert taken["dependencies"] == [needed["urn"]]
    assert taken["outputs"] == {"name": "acme-data"}
    assert unfinished(edited) == [taken]


def test_what_the_state_has_by_that_id_is_not_doubled() -> None:
    there = state(bucket(id="acme-data"))

    assert adopted(there, [(creating(bucket()), "acme-data")]) == there


def test_one_that_was_deleted_to_be_created_anew_gives_its_place_up() -> None:
    there = state(bucket(id="acme-data", pendingReplacement=True), topic("t", id="t-1"))

    edited = adopted(there, [(creating(bucket()), "acme-data")])

    assert shown(edited) == [("acme-data", False), ("t-1", False)]
    assert "pendingReplacement" not in edited["resources"][2]


def test_one_with_another_name_takes_over_only_when_it_is_found() -> None:
    old, sub = topic("a", id="t-a"), bucket(id="needs-topic", dependencies=[topic("a")["urn"]])

    edited = adopted(state(old, sub), [(creating(topic("b")), "t-b")])
    assert shown(edited) == [("t-a", False), ("needs-topic", False), ("t-b", True)]
    wanted = successors(edited)
    assert wanted == [(old["urn"], "t-b")]

    swapped = replaced(edited, wanted)
    assert shown(swapped) == [("t-b", False), ("needs-topic", False), ("t-a", True)]


def test_what_has_a_made_up_name_never_pushes_out_what_is_in_use() -> None:
    there = state(network("net-1", id="n-1"))

    edited = adopted(there, [(creating(network("net-2")), "n-2")])

    assert shown(edited) == [("n-1", False), ("n-2", True)]
    assert successors(edited) == []


def test_two_attempts_at_the_same_resource_are_one_and_a_rest() -> None:
    attempts = [(creating(network("net-1")), "n-1"), (creating(network("net-2")), "n-2")]

    assert shown(adopted(state(), attempts)) == [("n-1", False), ("n-2", True)]
    assert shown(adopted(state(), [attempts[0], attempts[0]])) == [("n-1", False)]


def test_of_two_names_the_one_that_is_there_stays() -> None:
    attempts = [(creating(topic("a")), "t-a"), (creating(topic("b")), "t-b")]
    edited = adopted(state(), attempts)
    without_a = state(*[one for one in edited["resources"][2:] if one["id"] != "t-a"])

    assert shown(replaced(without_a, successors(edited))) == [("t-b", False)]


def test_an_earlier_recovery_is_taken_up_and_what_is_dropped_goes() -> None:
    first = adopted(state(), [(creating(bucket()), "acme-data"), (creating(topic("a")), "t-a")])
    made = first["resources"][2]

    assert shown(adopted(first, [(creating({**made, "initErrors": []}), "acme-data")])) == [
        ("acme-data", False)
    ]


def test_only_what_a_refresh_reads_is_marked_for_it() -> None:
    there = state(bucket(id="acme-data"), topic("a", id="t", pendingReplacement=True))
    resources = there["resources"]
    there["pending_operations"] = [{"type": "updating", "resource": one} for one in resources]

    edited = adopted(there, [])

    assert [one["id"] for one in unfinished(edited)] == ["acme-data"]
    assert "pending_operations" not in edited
