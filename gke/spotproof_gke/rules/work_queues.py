"""Whether a pull subscription keeps work that waits for capacity, and sets poison aside.

Judged are the subscriptions of stacks with nodes that can be taken away. Where such workloads name
some of the subscriptions of their stack, those alone are judged; one that only other workloads name
is not. Push, BigQuery and Cloud Storage subscriptions wait for nobody.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from spotproof_gke.queues import MAX_DELIVERY_ATTEMPTS, RETENTION_SECONDS
from spotproof_gke.rules.checkpoint_uses import is_open
from spotproof_gke.rules.finding import Finding, Resource, Stack, shown
from spotproof_gke.rules.interruptible_pods import Landings, interruptible_pods
from spotproof_gke.rules.reading import UNKNOWN, dig, items, mapping, number, text
from spotproof_gke.rules.workloads import containers, pod_specs

SUBSCRIPTION = "gcp:pubsub/subscription:Subscription"

DEAD_LETTER_RULE = "a queue that interruptible workers pull from sets aside what always fails"
RETENTION_RULE = "a queue keeps work for at least 7 days, since it may wait for capacity"
EXPIRY_RULE = "a queue that waits for capacity never expires"

_PUSHED = ("pushConfig", "bigqueryConfig", "cloudStorageConfig")
_DEAD = re.compile(r"dead[-_.]?letter|dlq", re.IGNORECASE)


def dead_letters(stack: Stack) -> Iterator[Finding]:
    """Findings for queues without a dead-letter topic. A queue of dead letters needs none."""
    queues = _queues(stack)
    aside = dead_letter_topics(stack) if queues else set()
    for queue, certain in queues:
        policy = queue.get("deadLetterPolicy")
        topic = dig(policy, "deadLetterTopic")
        if text(topic) or is_dead_letter_queue(queue, aside):
            continue
        unknown = topic is UNKNOWN
        # The id of a topic that is made in the same update is not known, but there is a topic.
        if unknown and policy is not UNKNOWN and queue.depends_on("deadLetterPolicy"):
            continue
        found = "the topic of deadLetterPolicy" if unknown else "it has no deadLetterPolicy"
        fix = (
            "add a deadLetterPolicy with a topic that has a subscription, and "
            f"maxDeliveryAttempts {MAX_DELIVERY_ATTEMPTS}, since each preemption uses up one"
        )
        yield queue.finding(found, DEAD_LETTER_RULE, fix, certain and not unknown)


def retention(stack: Stack) -> Iterator[Finding]:
    """Findings for queues that keep messages for less than Pub/Sub's own 7 days."""
    least = RETENTION_SECONDS[0]
    fix = f"set messageRetentionDuration to at least {least}s, or leave it out for 7 days"
    for queue, certain in _queues(stack):
        value = queue.get("messageRetentionDuration")
        seconds = number(text(value).removesuffix("s"))
        if value is UNKNOWN or (seconds is not None and seconds < least):
            found = f"messageRetentionDuration is {shown(value)}"
            yield queue.finding(found, RETENTION_RULE, fix, certain and value is not UNKNOWN)


def expiry(stack: Stack) -> Iterator[Finding]:
    """Findings for queues that are deleted when nobody pulls for a while."""
    fix = 'set expirationPolicy with ttl ""'
    for queue, certain in _queues(stack):
        policy = queue.get("expirationPolicy")
        ttl = dig(policy, "ttl")
        if policy is None:
            found = "without expirationPolicy it is deleted after 31 days without a pull"
        elif text(ttl) or ttl is UNKNOWN:
            found = f"expirationPolicy.ttl is {shown(ttl)}"
        else:
            continue
        yield queue.finding(found, EXPIRY_RULE, fix, certain and ttl is not UNKNOWN)


def _queues(stack: Stack) -> Sequence[tuple[Resource, bool]]:
    """The pull subscriptions to judge, and whether it is certain that they are to be judged."""
    found = [each for each in stack.of_type(SUBSCRIPTION) if not is_pushed(each)]
    if not found:
        return ()
    landings = Landings(stack)
    ours, others = _Users(), _Users()
    ending: set[int] = set()
    answers = [pool.is_interruptible for pool in landings.pools]
    for user, pod, landing in interruptible_pods(stack, landings):
        answers.append(landing.may_end)
        ending.add(id(user))
        if landing.may_end:
            ours.add(user, pod.spec)
    if all(answer is False for answer in answers):
        return ()
    named = [ours.name(queue) for queue in found]
    if any(named):
        # A name that is not known may be the one that a worker states, and the other way round.
        unclear = ours.may_name_another({queue.urn for queue in found})
        return [
            (queue, is_named)
            for queue, is_named in zip(found, named, strict=True)
            if is_named or unclear or queue.get("name") is UNKNOWN
        ]
    for user in stack.resources:
        if id(user) not in ending:
            for pod in pod_specs(user):
                others.add(user, pod.spec)
    return [(queue, any(answers)) for queue in found if not others.name(queue)]


def is_pushed(queue: Resource) -> bool:
    """Whether a subscription brings messages to somebody, so that nobody pulls from it."""
    return any(mapping(queue.get(key)) for key in _PUSHED)


class _Users:
    """Workloads that may pull from a subscription: what they depend on, and what they name."""

    def __init__(self) -> None:
        self._urns: set[str] = set()
        self._words: set[str] = set()
        self._open = False
        self._unknown_of: list[set[str]] = []

    def add(self, user: Resource, spec: object) -> None:
        """Take in a workload and its pod specification."""
        urns, words = {*user.depends_on("spec"), *user.depends_on("template")}, list(_words(spec))
        self._urns |= urns
        self._words |= {text(word).rsplit("/", 1)[-1].rsplit("=", 1)[-1] for word in words}
        self._open = self._open or is_open(spec)
        if UNKNOWN in words:
            self._unknown_of.append(urns)

    def name(self, queue: Resource) -> bool:
        """Whether one depends on a subscription, or names it in a variable or an argument."""
        name = text(queue.get("name"))
        return queue.urn in self._urns or (bool(name) and name in self._words)

    def may_name_another(self, queues: Collection[str]) -> bool:
        """Whether one may name a queue in what is not known, beside those that it depends on."""
        return self._open or any(urns.isdisjoint(queues) for urns in self._unknown_of)


def _words(spec: object) -> Iterator[Any]:
    for container in containers(spec):
        yield from items(container.get("command"))
        yield from items(container.get("args"))
        for variable in items(container.get("env")):
            yield mapping(variable).get("value")


def dead_letter_topics(stack: Stack) -> set[str]:
    """Names and URNs of the topics that subscriptions of the stack send dead letters to."""
    found: set[str] = set()
    for each in stack.of_type(SUBSCRIPTION):
        name = text(dig(each.get("deadLetterPolicy"), "deadLetterTopic"))
        found.update((name.rsplit("/", 1)[-1], *each.depends_on("deadLetterPolicy")))
    return found - {""}


def is_dead_letter_queue(queue: Resource, aside: set[str]) -> bool:
    """Whether a subscription holds dead letters: by its topic, one of `aside`, or by its name."""
    topic = text(queue.get("topic")).rsplit("/", 1)[-1]
    if topic in aside or not aside.isdisjoint(queue.depends_on("topic")):
        return True
    return any(_DEAD.search(word) for word in (topic, text(queue.get("name")), queue.name))
