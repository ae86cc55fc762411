"""Pub/Sub's topics: Topic."""

import re

from sandbox.cloud.problems import ApiError
from sandbox.cloud.types.base import Cloud, Config, Kind
from sandbox.cloud.types.durations import normal, outside
from sandbox.cloud.types.values import Properties, block, last_part, path_of
from spotproof_gke.locations import zones_of

TOPIC = "gcp:pubsub/topic:Topic"
SUBSCRIPTION = "gcp:pubsub/subscription:Subscription"
TOPIC_MEMBER = "gcp:pubsub/topicIAMMember:TopicIAMMember"
DELETED = "_deleted-topic_"
RETENTION_SECONDS = (600, 2_678_400)
_NAME = re.compile(r"(?!goog)[A-Za-z][A-Za-z0-9_.~+%-]{2,254}")


def topic_path(reference: str, project: str) -> str:
    """The id of a topic given by name or id."""
    path = path_of(reference)
    return path if path.startswith("projects/") else f"projects/{project}/topics/{path}"


def missing_topic(cloud: Cloud, identifier: str) -> bool:
    """Whether this would be a topic of the own project, and is not there.

    Topics of other projects are taken on trust.
    """
    own = identifier.startswith(f"projects/{cloud.config.project}/")
    foreign = re.fullmatch(r"projects/[^/]+/topics/[^/]+", identifier) and not own
    return not foreign and cloud.find(TOPIC, identifier) is None


def no_resource(identifier: str) -> ApiError:
    """What Pub/Sub says of a topic or subscription that it does not have."""
    return ApiError(404, f"Resource not found (resource={last_part(identifier)})")


def bad_name(name: str, project: str, kind: str) -> list[str]:
    """A complaint about the name of a topic or subscription."""
    if _NAME.fullmatch(name):
        return []
    return [
        f"Invalid resource name given (name=projects/{project}/{kind}/{name}). It has 3 to 255 "
        "letters, digits and -_.~+%, begins with a letter, and not with goog"
    ]


class PubSubKind(Kind):
    """What topics and subscriptions share."""

    labels = "labels"
    collection = ""

    def identify(self, inputs: Properties) -> str:
        return f"projects/{inputs['project']}/{self.collection}/{inputs['name']}"

    def ids(self, identifier: str, config: Config) -> list[str]:
        if "/" not in identifier:
            return [f"projects/{config.project}/{self.collection}/{identifier}"]
        project = identifier.removeprefix("projects/").partition("/")[0]
        return [f"projects/{project}/{self.collection}/{last_part(identifier)}"]

    def already_exists(self, identifier: str) -> ApiError:
        name = last_part(identifier)
        return ApiError(409, f"Resource already exists in the project (resource={name})")


class Topic(PubSubKind):
    """A topic."""

    token, table, called, collection = TOPIC, "topic", "Topic", "topics"
    local = ("deletionPolicy",)

    def refuse(self, cloud: Cloud, inputs: Properties, old: Properties | None) -> list[str]:
        return [
            *bad_name(inputs["name"], inputs["project"], self.collection),
            *outside(
                "topic.message_retention_duration",
                inputs.get("messageRetentionDuration"),
                *RETENTION_SECONDS,
            ),
            *_storage(inputs),
        ]

    def serve(self, cloud: Cloud, inputs: Properties, old: Properties | None) -> Properties:
        served = dict(inputs)
        if served.get("messageRetentionDuration"):
            served["messageRetentionDuration"] = normal(served["messageRetentionDuration"])
        return served

    def delete(self, cloud: Cloud, identifier: str, state: Properties) -> None:
        super().delete(cloud, identifier, state)
        for subscription, properties in cloud.all(SUBSCRIPTION):
            if properties["topic"] == identifier:
                orphan = {**properties, "topic": DELETED}
                cloud.store.put(SUBSCRIPTION, subscription, orphan)
        for member, properties in cloud.all(TOPIC_MEMBER):
            if properties["topic"] == identifier:
                cloud.store.remove(TOPIC_MEMBER, member)


def _storage(inputs: Properties) -> list[str]:
    if "messageStoragePolicy" not in inputs:
        return []
    regions = block(inputs, "messageStoragePolicy").get("allowedPersistenceRegions") or []
    where = "topic.message_storage_policy.allowed_persistence_regions"
    if not regions:
        return [f"{where} is empty: it names at least one region"]
    return [
        f"{where} '{region}' is not a known region, in lower case"
        for region in regions
        if region != region.lower() or not zones_of(region)
    ]


KINDS = (Topic(),)
