"""What Pub/Sub takes, and what a queue needs whose work waits for capacity.

Source: documentation strings of pulumi-gcp 10.2.0 (`pubsub.Subscription`), read on 2026-11-30.
"""

RETENTION_SECONDS = (604_800, 2_678_400)
"""Least and most retention. Pub/Sub takes 600 s to 31 days and keeps messages for 7 days unless
told otherwise; below that a backlog that waits for capacity would be lost (the least is ours)."""

ACK_DEADLINE_SECONDS = (10, 600)
"""Least and most deadline that Pub/Sub takes."""

MAX_DELIVERY_ATTEMPTS = 100
"""The most that Pub/Sub takes: each preemption burns one, and poison is the worker's to count."""

NEVER = ""
"""The time to live of a subscription that never expires; left out, it goes after 31 idle days."""

DEAD_LETTERS_SUFFIX = "-dead-letters"
"""What the topic of a queue's poison adds to the queue's own name."""
