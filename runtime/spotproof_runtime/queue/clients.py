"""The Google clients, loaded when they are needed."""

from importlib import import_module
from typing import Any


def new_subscriber() -> Any:
    """A `google.cloud.pubsub_v1.SubscriberClient` with the default credentials."""
    return _pubsub().SubscriberClient()


def new_publisher() -> Any:
    """A `google.cloud.pubsub_v1.PublisherClient` with the default credentials."""
    return _pubsub().PublisherClient()


def _pubsub() -> Any:
    try:
        return import_module("google.cloud.pubsub_v1")
    except ImportError:
        raise ImportError(
            "the queue needs google-cloud-pubsub: pip install 'spotproof-runtime[pubsub]'"
        ) from None
