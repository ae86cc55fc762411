"""Where results go: PostgreSQL, objects in a bucket, SQLite, or two methods of your own."""

from typing import TYPE_CHECKING

from spotproof_runtime.lazy import loaded_when_used

if TYPE_CHECKING:
    from spotproof_runtime.sinks.choice import sink_for
    from spotproof_runtime.sinks.gcs import GcsSink
    from spotproof_runtime.sinks.postgres import PostgresSink
    from spotproof_runtime.sinks.protocol import Claims, ErrorBook, Row, RowRefused, Sink
    from spotproof_runtime.sinks.sqlite import SqliteSink

__all__ = [
    "Claims",
    "ErrorBook",
    "GcsSink",
    "PostgresSink",
    "Row",
    "RowRefused",
    "Sink",
    "SqliteSink",
    "sink_for",
]

_MODULES = {
    "Claims": "protocol",
    "ErrorBook": "protocol",
    "GcsSink": "gcs",
    "PostgresSink": "postgres",
    "Row": "protocol",
    "RowRefused": "protocol",
    "Sink": "protocol",
    "SqliteSink": "sqlite",
    "sink_for": "choice",
}

__getattr__ = loaded_when_used(__name__, _MODULES)
