"""A Pub/Sub topic that keeps messages in certain regions only keeps them near its clusters.

Why: a message that is published from a region that the policy leaves out is stored in the nearest
one that it allows, so that it travels between regions on its way in and out. With enforceInTransit
Pub/Sub refuses publish and pull requests from such a region (FAILED_PRECONDITION).
Source: docs.cloud.google.com/pubsub/docs/resource-location-restriction, read on 2026-11-30.
"""

from collections.abc import Iterator, Mapping

from spotproof_gke.rules.cluster_evidence import ClusterEvidence
from spotproof_gke.rules.clusters import region_or_none
from spotproof_gke.rules.finding import Finding, Stack, shown
from spotproof_gke.rules.reading import UNKNOWN, dig, is_true, items, text

TOPIC = "gcp:pubsub/topic:Topic"
RULE = "the storage regions of a topic hold the region of a cluster that uses it"


def topic_storage(stack: Stack, cluster_locations: Mapping[str, str] = {}) -> Iterator[Finding]:
    """Findings for topics whose storage regions leave out the region of every cluster near them.

    Near are the clusters in the nearest component above the topic, else all.

    Args:
        stack: The stack.
        cluster_locations: Regions or zones of clusters of other stacks, by cluster name.
    """
    evidence = ClusterEvidence(stack, cluster_locations)
    for topic in stack.of_type(TOPIC):
        policy = topic.get("messageStoragePolicy")
        given = dig(policy, "allowedPersistenceRegions")
        stated = (UNKNOWN,) if given is UNKNOWN else items(given)
        allowed = {text(region).lower() for region in stated if text(region)}
        places = evidence.near(topic)
        regions = {region_or_none(place) for place in places}
        known = {region for region in regions if region}
        if not stated or not places or known & allowed:
            continue
        if UNKNOWN in stated or UNKNOWN in places:
            what = "whether allowedPersistenceRegions holds the region of a cluster"
            fix = "give the cluster's location and the storage regions as plain values"
            yield topic.finding(what, RULE, fix, certain=False)
        elif known:
            refused = is_true(dig(policy, "enforceInTransit"))
            effect = (
                "Pub/Sub refuses requests from there, because of enforceInTransit"
                if refused
                else "messages from there are stored in another region"
            )
            where = shown("+".join(sorted(allowed)))
            runs = shown("+".join(sorted(known)))
            yield topic.finding(
                f"allowedPersistenceRegions is {where}, while clusters run in {runs}: {effect}",
                RULE,
                "add the clusters' region to allowedPersistenceRegions, or remove the policy",
            )
