"""A sink from one line of text, for commands and environments."""

from spotproof_gke.contract import DATABASE_URL_VARIABLE
from spotproof_runtime.sinks.gcs import GcsSink
from spotproof_runtime.sinks.postgres import PostgresSink
from spotproof_runtime.sinks.sqlite import SqliteSink

FORMS = "gs://BUCKET/PREFIX, sqlite:PATH, postgres or postgres:TABLE"
"""What `sink_for` takes."""


def sink_for(text: str, *, version: int = 0) -> GcsSink | PostgresSink | SqliteSink:
    """The sink that a text names: `gs://BUCKET/PREFIX`, `sqlite:PATH`, `postgres[:TABLE]`.

    The address of the database is never part of it: it comes from `SPOTPROOF_DATABASE_URL`.

    Raises:
        ValueError: the text names none, or what it names cannot be used.
    """
    if text.startswith("gs://"):
        return GcsSink(text, version=version)
    kind, _, rest = text.partition(":")
    if "@" in text or rest.startswith("//"):
        raise ValueError(
            f"{kind}: an address of a database is a secret: put it into {DATABASE_URL_VARIABLE} "
            f"and write one of {FORMS}"
        )
    if kind == "sqlite" and rest:
        return SqliteSink(rest, version=version)
    if kind == "postgres":
        return PostgresSink(rest or "results", version=version)
    raise ValueError(f"sink {text!r}: write one of {FORMS}")
