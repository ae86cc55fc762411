"""Which subscriptions are judged, and how certain that is."""

from typing import Any

import pytest

from spotproof_gke.rules.finding import Finding, Resource, Stack
from spotproof_gke.rules.reading import UNKNOWN
from spotproof_gke.rules.work_queues import SUBSCRIPTION, dead_letters, expiry, retention

SPOT = {"cloud.google.com/gke-spot": "true"}


def _queue(name: str, depends: dict[str, tuple[str, ...]] | None = None, **props: Any) -> Resource:
    given = {"name": name, "topic": f"{name}-topic", **props}
    stated = {**dict.fromkeys(given, ()), **(depends or {})}
    return Resource(SUBSCRIPTION, name, f"urn:{name}", given, stated)


def _pool(config: Any) -> Resource:
    stated = {"nodeConfig": ("urn:elsewhere",)}
    props = {"name": "pool", "nodeConfig": config}
    return Resource("gcp:container/nodePool:NodePool", "pool", "urn:pool", props, stated)


def _worker(
    selector: Any = SPOT, depends: tuple[str, ...] = ("urn:elsewhere",), **container: Any
) -> Resource:
    spec = {"nodeSelector": selector, "containers": [{"name": "worker", **container}]}
    props = {"spec": {"template": {"spec": spec}}}
    stated = {"spec": depends}
    return Resource("kubernetes:apps/v1:Deployment", "worker", "urn:worker", props, stated)


def _found(*resources: Resource, rule: Any = dead_letters) -> dict[str, Finding]:
    return {each.resource: each for each in rule(Stack(resources))}


@pytest.mark.parametrize("rule", [dead_letters, expiry, retention])
def test_finding_is_certain_only_where_a_node_can_certainly_be_taken_away(rule: Any) -> None:
    queue = _queue("work", messageRetentionDuration="600s")

    assert _found(queue, _pool({"spot": True}), rule=rule)["work"].certain
    assert not _found(queue, _pool(UNKNOWN), rule=rule)["work"].certain
    assert not _found(queue, _pool({"spot": False}), rule=rule)
    assert not _found(queue, rule=rule)


def test_one_pool_that_can_be_taken_away_is_enough() -> None:
    home = Resource("gcp:container/nodePool:NodePool", "home", "urn:home", {"nodeConfig": {}})

    assert _found(_queue("work"), home, _pool({"spot": True}))["work"].certain


def test_dead_letter_topic_that_is_not_known_yet_is_there_when_it_is_a_resource() -> None:
    pool = _pool({"spot": True})
    topic = {"deadLetterTopic": UNKNOWN}
    of_a_resource = {"deadLetterPolicy": ("urn:poison",)}

    assert not _found(_queue("a", of_a_resource, deadLetterPolicy=topic), pool)
    later = _found(_queue("b", of_a_resource, deadLetterPolicy=UNKNOWN), pool)["b"]
    assert "topic of deadLetterPolicy" in later.value
    assert not later.certain
    none = _found(_queue("c"), pool)["c"]
    assert "no deadLetterPolicy" in none.value


@pytest.mark.parametrize(
    "container",
    [
        {"command": ["work", "--subscription=work"]},
        {"args": ["projects/acme/subscriptions/work"]},
        {"env": [{"name": "QUEUE", "value": "work"}]},
    ],
    ids=str,
)
def test_queue_that_an_interruptible_worker_names_is_judged_alone(container: Any) -> None:
    found = _found(_queue("work"), _queue("billing"), _worker(**container))

    assert {name: each.certain for name, each in found.items()} == {"work": True}


def test_queue_that_only_workloads_at_home_name_is_left_alone() -> None:
    worker = _worker(selector={}, args=["billing"])

    assert set(_found(_queue("work"), _queue("billing"), worker, _pool({"spot": True}))) == {"work"}


def test_worker_that_may_be_at_home_leaves_all_in_doubt() -> None:
    found = _found(_queue("work"), _queue("more"), _worker(selector=UNKNOWN, args=["work"]))

    assert {name: each.certain for name, each in found.items()} == {"work": False, "more": False}


def test_value_that_is_not_known_may_name_another_queue_unless_it_is_a_queues_own() -> None:
    args = ["--queue=work", UNKNOWN]
    queues = _queue("work"), _queue("more")

    other = _found(*queues, _worker(args=args))
    assert {name: each.certain for name, each in other.items()} == {"work": True, "more": False}
    own = _found(*queues, _worker(args=args, depends=("urn:work",)))
    assert set(own) == {"work"}


def test_open_worker_beside_a_plain_one_leaves_other_queues_in_doubt() -> None:
    plain, open_ = _worker(args=["work"]), _worker(args=UNKNOWN)

    for workers in ((plain, open_), (open_, plain)):
        found = _found(_queue("work"), _queue("more"), *workers)
        assert {name: each.certain for name, each in found.items()} == {"work": True, "more": False}


def test_nameless_queue_may_be_the_one_that_a_worker_names() -> None:
    nameless = Resource(SUBSCRIPTION, "late", "urn:late", {"name": UNKNOWN}, {"name": ("urn:x",)})

    found = _found(_queue("work"), nameless, _worker(args=["work"]))

    assert {name: each.certain for name, each in found.items()} == {"work": True, "late": False}


def test_empty_word_names_no_queue_without_a_name() -> None:
    nameless = Resource(SUBSCRIPTION, "auto", "urn:auto", {"topic": "a"}, {"topic": ()})

    assert set(_found(nameless, _queue("work"), _worker(args=["", "work"]))) == {"work"}


def test_subscription_of_dead_letters_is_known_by_its_topics_name_in_either_form() -> None:
    aside = {"deadLetterPolicy": {"deadLetterTopic": "projects/acme/topics/poison"}}
    pool = _pool({"spot": True})
    kept = Resource(SUBSCRIPTION, "kept", "urn:kept", {"topic": "projects/other/topics/poison"})

    assert not _found(_queue("work", **aside), kept, pool)
    assert set(_found(kept, pool)) == {"kept"}
