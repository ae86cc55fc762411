"""Sets poison aside, with the error that made it poison."""

from typing import Any

from spotproof_runtime.error_text import error_class, error_text
from spotproof_runtime.queue.clients import new_publisher

PUBLISH_SECONDS = 10.0
"""How long publishing one dead letter may take, its retries included."""

MOST_ATTRIBUTES = 90
"""How many attributes of the message are kept; Pub/Sub takes 100."""


class DeadLetters:
    """Publishes messages to a dead letter topic.

    Args:
        topic: `projects/PROJECT/topics/NAME`.
        client: a `google.cloud.pubsub_v1.PublisherClient`; made at first use when omitted.
    """

    def __init__(self, topic: str, *, client: Any = None) -> None:
        self.topic = topic
        self._client = client

    def publish(
        self,
        payload: bytes,
        attributes: dict[str, str],
        error: BaseException,
        *,
        errors: int,
        message_id: str,
        attempt: int,
    ) -> None:
        """Publishes one message and waits until Pub/Sub has it.

        Args:
            payload: what could not be worked on.
            attributes: of the message that it came in; kept.
            error: the last one.
            errors: how many there were.
            message_id: of the message that it came in.
            attempt: which delivery of that message failed; 0 where Pub/Sub does not count.
        """
        kept = {
            name: value
            for name, value in list(attributes.items())[:MOST_ATTRIBUTES]
            if not name.startswith(("goog", "CloudPubSub"))  # Pub/Sub's own cannot be published
        }
        about = {
            "spotproof-error": error_class(error),
            "spotproof-error-text": error_text(error),
            "spotproof-errors": str(errors),
            "spotproof-message-id": message_id,
            "spotproof-attempt": str(attempt),
        }
        self._publisher().publish(self.topic, payload, **(kept | about)).result(
            timeout=PUBLISH_SECONDS
        )

    def _publisher(self) -> Any:
        if self._client is None:
            self._client = new_publisher()
        return self._client
