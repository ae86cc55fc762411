"""Events as Prometheus metrics; needs the extra `report`.

events = EventLog(listeners=[Metrics()])
start_metrics_server(9464)
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from spotproof_runtime.events import Value
from spotproof_runtime.message_times import MessageTimes

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

_SECONDS = (0.1, 0.3, 1, 3, 10, 30, 60, 120, 300, 900)

_MESSAGE_EVENTS = (
    "started",
    "stored",
    "acked",
    "given_back",
    "failed",
    "timed_out",
    "dead_lettered",
)


class Metrics:
    """Counts and times of what happens to a run; a listener of `EventLog`.

    Args:
        registry: where the metrics go; that of the process when None.

    Raises:
        ImportError: prometheus-client is not installed; names the extra that brings it.
    """

    def __init__(self, registry: "CollectorRegistry | None" = None) -> None:
        client = _client()
        to = {"registry": registry if registry is not None else client.REGISTRY}

        def gauge(name: str, text: str) -> Any:
            return client.Gauge(f"spotproof_{name}", text, **to)

        def counter(name: str, text: str, labels: tuple[str, ...] = ()) -> Any:
            return client.Counter(f"spotproof_{name}", text, labels, **to)

        def seconds(name: str, text: str) -> Any:
            return client.Histogram(f"spotproof_{name}_seconds", text, buckets=_SECONDS, **to)

        self._step = gauge("step", "Steps that are done.")
        self._saved_step = gauge("saved_step", "Steps that the newest checkpoint has behind it.")
        self._saved_bytes = gauge("checkpoint_bytes", "Size of the newest checkpoint.")
        self._interval = gauge("save_interval_seconds", "Estimated best time between two saves.")
        self._between = gauge(
            "between_interruptions_seconds", "Estimated time of work between two interruptions."
        )
        self._saves = counter("saves", "Saves, by how they ended.", ("result",))
        self._skipped = counter("skipped_checkpoints", "Checkpoints that were passed over.")
        self._interruptions = counter("interruptions", "Interruptions, by outcome.", ("outcome",))
        self._lost = counter("lost_steps", "Steps that an interruption undid.")
        self._messages = counter("messages", "Messages, by what became of them.", ("event",))
        self._worked = counter(
            "message_work_seconds", "Time of work on messages, by its result.", ("result",)
        )
        self._times = MessageTimes()
        self._blocking = seconds("save_blocking", "How long a save held up the work.")
        self._total = seconds("save", "How long a save took until it counted.")
        self._restore = seconds("restore", "How long a restore took.")

    def __call__(self, event: Mapping[str, Value]) -> None:
        """Takes one event in; what it does not know it leaves out."""
        name = event.get("event")
        if name == "progress":
            _set(self._step, event, "step")
        elif name == "restored":
            _set(self._step, event, "step")
            _observe(self._restore, event, "seconds")
        elif name == "save_finished":
            self._saves.labels("committed").inc()
            _set(self._saved_step, event, "step")
            _set(self._saved_bytes, event, "bytes")
            _observe(self._blocking, event, "blocking_seconds")
            _observe(self._total, event, "total_seconds")
        elif name == "save_failed":
            self._saves.labels("failed").inc()
        elif name == "checkpoint_skipped":
            self._skipped.inc()
        elif name == "interval_chosen":
            _set(self._interval, event, "estimate_seconds")
            _set(self._between, event, "between_seconds")
        elif name == "interrupted":
            self._interruptions.labels(str(event.get("outcome"))).inc()
            self._lost.inc(_number(event, "lost_steps") or 0)
        elif isinstance(name, str) and name.removeprefix("message_") in _MESSAGE_EVENTS:
            many = _number(event, "items" if name == "message_stored" else "messages")
            self._messages.labels(name.removeprefix("message_")).inc(1 if many is None else many)
            self._time_work(name, _number(event, "time"))

    def _time_work(self, name: str, time: float | None) -> None:
        if time is None:
            return
        before = dict(self._times.seconds)
        self._times.take(name, time)
        for result, seconds in self._times.seconds.items():
            if seconds > before[result]:
                self._worked.labels(result.value).inc(seconds - before[result])


def start_metrics_server(port: int, registry: "CollectorRegistry | None" = None) -> None:
    """Serves the metrics at `http://…:port/metrics`, from a thread that ends with the process.

    Args:
        port: where to listen; name it `metrics` in the pod for Managed Service for Prometheus.
        registry: the one given to `Metrics`.

    Raises:
        ImportError: prometheus-client is not installed.
        OSError: the port is taken.
    """
    client = _client()
    client.start_http_server(port, registry=registry if registry is not None else client.REGISTRY)


def _client() -> Any:
    try:
        import prometheus_client
    except ImportError as error:
        raise ImportError(
            "Prometheus metrics need the package prometheus-client; install "
            '"spotproof-runtime[report]"'
        ) from error
    return prometheus_client


def _number(event: Mapping[str, Value], key: str) -> float | None:
    value = event.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)


def _set(gauge: Any, event: Mapping[str, Value], key: str) -> None:
    value = _number(event, key)
    if value is not None:
        gauge.set(value)


def _observe(histogram: Any, event: Mapping[str, Value], key: str) -> None:
    value = _number(event, key)
    if value is not None:
        histogram.observe(value)
