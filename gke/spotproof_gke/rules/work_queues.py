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
    aside = _dead_letter_topics(stack) if queues else set()
    for queue, certain in queues:
        policy = queue.get("deadLetterPolicy")
        topic = dig(policy, "deadLetterTopic")
        if text(topic) or _is_dead_letter_queue(queue, aside):
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
    found = [each for each in stack.of_type(SUBSCRIPTION) if not _is_pushed(each)]
    if not found:
        return ()
    landings = Landings(stack)
    ours: list[_Worker] = []
    taken: set[int] = set()
    answers = [pool.is_interruptible for pool in landings.pools]
    for user, pod, landing in interruptible_pods(stack, landings):
        answers.append(landing.may_end)
        taken.add(id(user))
        if landing.may_end:
            ours.append(_Worker(user, pod.spec))
    if not any(answer is not False for answer in answers):
        return ()
    certain = any(answers)
    named = [queue for queue in found if any(worker.names(queue) for worker in ours)]
    if named:
        # A name that is not known may be the one that a worker states, and the other way round.
        known = {queue.urn for queue in found if queue.urn}
        unclear = any(worker.is_unclear(known) for worker in ours)
        perhaps = [
            queue
            for queue in found
            if queue not in named and (unclear or queue.get("name") is UNKNOWN)
        ]
        return [*((queue, True) for queue in named), *((queue, False) for queue in perhaps)]
    others = [
        _Worker(user, pod.spec)
        for user in stack.resources
        if id(user) not in taken
        for pod in pod_specs(user)
    ]
    strangers = [queue for queue in found if not any(other.names(queue) for other in others)]
    return [(queue, certain) for queue in strangers]


def _is_pushed(queue: Resource) -> bool:
    return any(mapping(queue.get(key)) for key in _PUSHED)


class _Worker:
    """A workload, with the words that could name a subscription."""

    def __init__(self, resource: Resource, spec: object) -> None:
        self.resource = resource
        self.urns = {*resource.depends_on("spec"), *resource.depends_on("template")}
        words = list(_words(spec))
        self._is_open, self._has_unknown = is_open(spec), UNKNOWN in words
        self.words = {text(word).rsplit("/", 1)[-1].rsplit("=", 1)[-1] for word in words}

    def is_unclear(self, queues: Collection[str]) -> bool:
        """Whether it may name a queue in what is not known, beside those that it depends on."""
        return self._is_open or (self._has_unknown and self.urns.isdisjoint(queues))

    def names(self, queue: Resource) -> bool:
        """Whether it depends on a subscription, or names it in a variable or an argument."""
        if queue.urn and queue.urn in self.urns:
            return True
        name = text(queue.get("name"))
        return bool(name) and name in self.words


def _words(spec: object) -> Iterator[Any]:
    for container in containers(spec):
        yield from items(container.get("command"))
        yield from items(container.get("args"))
        for variable in items(container.get("env")):
            yield mapping(variable).get("value")


def _dead_letter_topics(stack: Stack) -> set[str]:
    """Names and URNs of the topics that subscriptions of the stack send dead letters to."""
    found: set[str] = set()
    for each in stack.of_type(SUBSCRIPTION):
        name = text(dig(each.get("deadLetterPolicy"), "deadLetterTopic"))
        found.update((name.rsplit("/", 1)[-1], *each.depends_on("deadLetterPolicy")))
    return found - {""}


def _is_dead_letter_queue(queue: Resource, aside: set[str]) -> bool:
    topic = text(queue.get("topic")).rsplit("/", 1)[-1]
    if topic in aside or not aside.isdisjoint(queue.depends_on("topic")):
        return True
    return any(_DEAD.search(word) for word in (topic, text(queue.get("name")), queue.name))
