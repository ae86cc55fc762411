"""Leases, errors of single calls, and the text of an error, each by itself."""

import io
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from google.api_core.exceptions import (
    Forbidden,
    GoogleAPICallError,
    InvalidArgument,
    NotFound,
    ServiceUnavailable,
    Unauthorized,
    from_grpc_status,
)
from google.rpc.error_details_pb2 import ErrorInfo
from grpc import StatusCode

from spotproof_runtime import EventLog
from spotproof_runtime.error_text import MOST_BYTES, error_class, error_text
from spotproof_runtime.queue.leases import LeaseKeeper
from spotproof_runtime.queue.pulling import Pulling
from spotproof_runtime.queue.subscription import (
    Received,
    Subscription,
    dead_letter_topic_of,
    subscription_name,
)
from spotproof_runtime.queue.work_times import WorkTimes
from tests.runtime.queues import FakeStop
from tests.runtime.services import ServiceMissing, postgres, pubsub_emulator, wait_for


class Leases:
    """A clock and a Pub/Sub that knows when leases end."""

    def __init__(self, deadline_seconds: float, step_seconds: int = 60) -> None:
        self.now = 0.0
        self.ends: dict[str, float] = {}
        self.expired: list[str] = []
        self.errors = 0
        self.failures = 0
        self.lost: set[str] = set()
        self._deadline_seconds = deadline_seconds
        self.keeper = LeaseKeeper(
            self._extend, step_seconds=step_seconds, failed=self._failed, clock=lambda: self.now
        )

    def take(self, ack_id: str) -> None:
        self.ends[ack_id] = self.now + self._deadline_seconds
        # The thread never runs: the clock is the test's.
        self.keeper._thread = threading.Thread()
        self.keeper.hold([ack_id])

    def pass_seconds(self, seconds: int) -> None:
        for _ in range(seconds * 2):
            self.now += 0.5
            self.keeper.step()
            self.expired += [each for each, end in self.ends.items() if end <= self.now]
            self.ends = {each: end for each, end in self.ends.items() if end > self.now}

    def _extend(self, ack_ids: Sequence[str], seconds: int) -> set[str]:
        if self.errors > 0:
            self.errors -= 1
            raise OSError("no route")
        self.ends.update({ack_id: self.now + seconds for ack_id in ack_ids})
        return self.lost

    def _failed(self, error: Exception) -> None:
        self.failures += 1


@pytest.mark.parametrize("deadline_seconds", [10, 60, 600])
@pytest.mark.parametrize("step_seconds", [10, 60])
def test_work_of_many_deadlines_is_one_delivery(deadline_seconds: int, step_seconds: int) -> None:
    leases = Leases(deadline_seconds, step_seconds)
    leases.take("a")
    leases.pass_seconds(10 * 600)
    assert leases.expired == []


def test_a_killed_worker_holds_a_message_for_one_step_at_most() -> None:
    leases = Leases(deadline_seconds=600, step_seconds=60)
    leases.take("a")
    for _ in range(100):
        leases.pass_seconds(7)
        assert leases.ends["a"] - leases.now <= 60


def test_a_failed_step_is_taken_again_before_the_lease_ends() -> None:
    leases = Leases(deadline_seconds=10, step_seconds=10)
    leases.take("a")
    for _ in range(20):
        leases.errors = 3
        leases.pass_seconds(20)
    assert leases.expired == []
    assert leases.failures == 60


def test_what_was_let_go_or_lost_is_extended_no_more() -> None:
    leases = Leases(deadline_seconds=10, step_seconds=10)
    leases.take("a")
    leases.take("b")
    assert leases.keeper.release(["a", "c"]) == ["a"]
    assert leases.keeper.release(["a"]) == [], "whoever lets it go settles it, nobody else"
    leases.lost = {"b"}
    leases.pass_seconds(60)
    assert sorted(leases.expired) == ["a", "b"]
    assert leases.keeper.release(["b"]) == []


def test_the_thread_takes_a_step_for_what_came_while_it_slept() -> None:
    taken: list[str] = []

    def extend(ack_ids: Sequence[str], seconds: int) -> set[str]:
        taken.extend(ack_ids)
        return set()

    keeper = LeaseKeeper(extend, step_seconds=60)
    keeper.hold(["a"])
    wait_for(lambda: "a" in taken, "the first step", 10)
    keeper.hold(["b"])
    wait_for(lambda: "b" in taken, "the first step of the second", 10)
    keeper.close()


class Client:
    """Answers calls with errors, then takes them."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.taken: list[str] = []

    def acknowledge(self, *, ack_ids: Sequence[str], **more: object) -> None:
        if self.errors:
            raise self.errors.pop(0)
        self.taken += ack_ids


def error(code: StatusCode, **reasons: str) -> GoogleAPICallError:
    made = from_grpc_status(code, "refused")
    made._details = [ErrorInfo(reason="x", metadata=reasons)] if reasons else []
    return made


def acknowledge(client: Client, *ack_ids: str) -> set[str]:
    return Subscription("projects/p/subscriptions/s", client=client).acknowledge(ack_ids)


def test_an_acknowledgement_is_tried_again_while_the_service_is_away() -> None:
    client = Client(error(StatusCode.UNAVAILABLE), error(StatusCode.DEADLINE_EXCEEDED))
    assert acknowledge(client, "a", "b") == set()
    assert client.taken == ["a", "b"]


def test_with_exactly_once_each_acknowledgement_has_its_own_outcome() -> None:
    reasons = {
        "a": "PERMANENT_FAILURE_INVALID_ACK_ID",
        "b": "TRANSIENT_FAILURE_UNORDERED_ACK_ID",
    }
    client = Client(error(StatusCode.FAILED_PRECONDITION, **reasons))
    assert acknowledge(client, "a", "b", "c") == {"a"}
    assert client.taken == ["b"], "c was taken by the call that failed for the others"


def test_a_refusal_that_lasts_is_raised() -> None:
    with pytest.raises(GoogleAPICallError):
        acknowledge(Client(error(StatusCode.PERMISSION_DENIED)), "a")


class Refusing(Subscription):
    """A subscription whose pulls fail."""

    def __init__(self, refusal: Exception) -> None:
        super().__init__("projects/p/subscriptions/s", client=Client())
        self.refusal: Exception | None = refusal

    def pull(self, most: int, *, seconds: float) -> list[Received]:
        if self.refusal is not None:
            raise self.refusal
        return []


class Patient(FakeStop):
    """Does not wait, but says how long it would have."""

    def __init__(self) -> None:
        super().__init__()
        self.waited: list[float] = []

    def wait(self, seconds: float) -> bool:
        self.waited.append(seconds)
        return False


def pulling(refusal: Exception) -> tuple[Pulling, Patient, list[float]]:
    stop, clock = Patient(), [1000.0]
    made = Pulling(Refusing(refusal), stop, events=EventLog(io.StringIO()), clock=lambda: clock[0])
    return made, stop, clock


def test_a_service_that_is_away_is_waited_for_with_growing_pauses() -> None:
    made, stop, clock = pulling(ServiceUnavailable("away"))
    for _ in range(30):
        assert made.pull(1) == []
        clock[0] += 60
    assert stop.waited[0] <= 0.5
    assert 15 <= stop.waited[-1] <= 30


@pytest.mark.parametrize("refusal", [Forbidden("403"), NotFound("404"), Unauthorized("401")])
def test_a_refusal_may_settle_but_not_for_ever(refusal: Exception) -> None:
    made, _, clock = pulling(refusal)
    for _ in range(10):
        assert made.pull(1) == []
        clock[0] += 60
    clock[0] += 1
    with pytest.raises(type(refusal)):
        made.pull(1)


def test_a_call_that_is_wrong_is_raised_at_once() -> None:
    with pytest.raises(InvalidArgument):
        pulling(InvalidArgument("max_messages"))[0].pull(1)


def test_the_dead_letter_topic_is_the_one_that_work_queue_makes() -> None:
    topic = dead_letter_topic_of("projects/p/subscriptions/work")
    assert topic == "projects/p/topics/work-dead-letters"


def test_the_subscription_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPOTPROOF_SUBSCRIPTION", "projects/p/subscriptions/s")
    assert subscription_name(None) == "projects/p/subscriptions/s"


@pytest.mark.parametrize(
    "text",
    [
        "cannot connect to postgresql://joe:p@s3cr3t-pw@10.0.0.1/db",
        "Authorization: Bearer s3cr3t-pw",
        'login failed: {"password": "s3cr3t-pw"}',
        "api_key=s3cr3t-pw is not valid",
        "the vault gave s3cr3t-token away",
    ],
)
def test_an_error_is_published_without_its_secrets(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MODEL_API_TOKEN", "s3cr3t-token")
    shown = error_text(ValueError(text))
    assert "s3cr3t" not in shown
    assert shown[:3] == text[:3]


def test_any_error_fits_into_an_attribute() -> None:
    shown = error_text(ValueError("ä\0\ud800\n" * 5000))
    assert len(shown.encode()) <= MOST_BYTES
    assert "\n" not in shown
    assert error_class(GoogleAPICallError("x")) == "google.api_core.exceptions.GoogleAPICallError"


def test_the_estimate_is_the_users_until_enough_was_measured() -> None:
    times = WorkTimes(30.0)
    assert times.expected_seconds() == 30.0
    for seconds in (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 9.0):
        times.add(seconds)
    assert times.expected_seconds() == 9.0
    assert WorkTimes().expected_seconds() is None
    with pytest.raises(ValueError, match="0 s or more"):
        WorkTimes(float("nan"))


def test_a_service_that_is_not_installed_is_named_and_not_skipped(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SPOTPROOF_PUBSUB_EMULATOR_DIR", str(tmp_path))
    monkeypatch.setenv("SPOTPROOF_POSTGRES_BIN", str(tmp_path))
    with (
        pytest.raises(ServiceMissing, match="google-cloud-cli-pubsub-emulator"),
        pubsub_emulator(),
    ):
        pass
    with pytest.raises(ServiceMissing, match="postgresql-15"), postgres():
        pass
