"""What stands beside the clusters: buckets, queues, and who may reach what."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from spotproof_gke.audit.evidence import printable
from spotproof_gke.picture.overview import Item, Verdict
from spotproof_gke.rules.bucket_references import BUCKET
from spotproof_gke.rules.bucket_users import services_of
from spotproof_gke.rules.cluster_evidence import ClusterEvidence
from spotproof_gke.rules.finding import Resource, Stack
from spotproof_gke.rules.reading import UNKNOWN, dig, text
from spotproof_gke.rules.region_match import checkpoint_buckets
from spotproof_gke.rules.topic_region import TOPIC
from spotproof_gke.rules.work_queues import (
    SUBSCRIPTION,
    dead_letter_topics,
    is_dead_letter_queue,
    is_pushed,
)

NETWORK, SUBNETWORK = "gcp:compute/network:Network", "gcp:compute/subnetwork:Subnetwork"

_MEMBER = re.compile(r"IAMMember$|IamMember$")
_SUBJECT = re.compile(r"/subject/ns/([^/]+)/sa/([^/]+)$")
_OLD_SUBJECT = re.compile(r"^serviceAccount:[^\[\]]+\.svc\.id\.goog\[([^/\]]+)/([^\]]+)\]$")
_OF_GOOGLE = re.compile(r"@(gcp-sa-[a-z-]+|container-engine-robot)\.iam\.gserviceaccount\.com$")
_VERBS = {
    "storage.objectUser": "reads and writes",
    "storage.objectAdmin": "reads and writes",
    "storage.objectViewer": "reads",
    "storage.objectCreator": "writes",
    "storage.legacyBucketReader": "lists",
    "pubsub.publisher": "publishes to",
    "pubsub.subscriber": "pulls from",
    "iam.workloadIdentityUser": "acts as",
}
_TARGETS = ("bucket", "topic", "subscription", "serviceAccountId", "repository", "project")


def survey_networks(stack: Stack) -> list[str]:
    """The networks of a stack, each with the regions of its subnetworks."""
    subnets = stack.of_type(SUBNETWORK)
    regions = sorted({text(each.get("region")) for each in subnets} - {""})
    where = f" in {', '.join(regions)}" if regions else ""
    return [printable(f"{_name(each)}{where}") for each in stack.of_type(NETWORK)]


def survey_buckets(stack: Stack) -> list[Item]:
    """The buckets, each with its location and whether that is its cluster's region."""
    findings = {each.urn: each for each in checkpoint_buckets(stack)}
    served = {id(bucket) for bucket, _ in services_of(stack, ClusterEvidence(stack))}
    return [
        _bucket(each, findings.get(each.urn), id(each) in served) for each in stack.of_type(BUCKET)
    ]


def _bucket(bucket: Resource, finding: Any, is_served: bool) -> Item:
    location = bucket.get("location")
    where = "location not known" if location is UNKNOWN else text(location) or "US"
    if finding and finding.certain:
        reason = printable(finding.value.partition(" (")[0])
        return Item(_name(bucket), (printable(where), reason), Verdict.MISMATCH)
    if finding:
        return Item(_name(bucket), (printable(where), "match not known"))
    if is_served:
        line = printable(f"{where}, the region of its cluster")
        return Item(_name(bucket), (line,), Verdict.MATCH)
    return Item(_name(bucket), (printable(where), "tied to no cluster"))


def survey_queues(stack: Stack) -> list[Item]:
    """The queues that somebody pulls from, each with where its dead letters go."""
    aside = dead_letter_topics(stack)
    queues = [each for each in stack.of_type(SUBSCRIPTION) if not is_pushed(each)]
    found = [_queue(each) for each in queues if not is_dead_letter_queue(each, aside)]
    taken = {_last(each.get("topic")) for each in stack.of_type(SUBSCRIPTION)}
    urns = {urn for each in stack.of_type(SUBSCRIPTION) for urn in each.depends_on("topic")}
    for topic in stack.of_type(TOPIC):
        name = _name(topic)
        if name not in taken and topic.urn not in urns and not {name, topic.urn} & aside:
            found.append(Item(name, ("a topic without a subscription here",)))
    return found


def _queue(queue: Resource) -> Item:
    policy = queue.get("deadLetterPolicy")
    topic = dig(policy, "deadLetterTopic")
    if text(topic):
        line = f"dead letters: {_last(topic)}"
        return Item(_name(queue), (printable(line),), Verdict.MATCH)
    if topic is UNKNOWN or policy is UNKNOWN:
        known = queue.depends_on("deadLetterPolicy")
        name = printable(known[0].rpartition("::")[2]) if known else "topic not known"
        return Item(_name(queue), (f"dead letters: {name}",), Verdict.MATCH)
    return Item(_name(queue), ("no dead letters: what always fails comes back",), Verdict.MISMATCH)


def survey_identities(stack: Stack) -> list[Item]:
    """Who may reach what, by the grants to one member on one resource that the stack makes."""
    grants: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for resource in stack.resources:
        if not resource.type.startswith("gcp:") or not _MEMBER.search(resource.type):
            continue
        who = _who(resource.get("member"))
        if who:
            role = text(resource.get("role")).removeprefix("roles/")
            grants[who][_target(resource)].append(_VERBS.get(role, role or "a role not known"))
    return [Item(printable(who), _lines(targets)) for who, targets in sorted(grants.items())]


def _lines(targets: Mapping[str, Sequence[str]]) -> list[str]:
    found = []
    for target, verbs in sorted(targets.items()):
        telling = {verb for verb in verbs if verb != "lists"} or set(verbs)
        found.append(printable(f"{', '.join(sorted(telling))} {target}"))
    return found


def _who(member: Any) -> str:
    """What a member is called; "" for Google's own."""
    if member is UNKNOWN:
        return "identities not known yet"
    given = text(member)
    subject = _SUBJECT.search(given) or _OLD_SUBJECT.match(given)
    if subject:
        return f"{subject[1]}/{subject[2]}"
    if _OF_GOOGLE.search(given):
        return ""
    return given.rpartition(":")[2].partition("@")[0]


def _target(resource: Resource) -> str:
    for key in _TARGETS:
        value = resource.get(key)
        if text(value):
            return f"{_kind(key)}{_last(value).partition('@')[0]}"
        if value is UNKNOWN:
            depended = resource.depends_on(key)
            return depended[0].rpartition("::")[2] if depended else "a resource not known"
    return "a resource not known"


def _kind(key: str) -> str:
    return {"serviceAccountId": "", "project": "in project "}.get(key, f"{key} ")


def _last(value: Any) -> str:
    return text(value).rpartition("/")[2]


def _name(resource: Resource) -> str:
    return printable(text(resource.get("name")) or resource.name)
