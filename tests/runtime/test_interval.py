"""When a save is due: by what the run has measured, or at the interval its user has fixed."""

import io
import json
from math import inf

import pytest

from spotproof_gke.problems import ProblemsError
from spotproof_runtime import EventLog, Every, History, SaveInterval


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def _due_steps(policy: SaveInterval, steps: range) -> list[int]:
    found: list[int] = []
    for step in steps:
        if policy.due(step):
            found.append(step)
            policy.saved(0.1)
    return found


def test_the_first_save_comes_after_half_a_minute_to_measure_its_cost() -> None:
    clock = Clock()
    policy = SaveInterval(clock=clock)
    policy.restored(5)
    assert not policy.due(1)
    clock.now += 29
    assert not policy.due(2)
    clock.now += 1
    assert policy.due(3)


def test_after_the_first_save_its_cost_and_the_prior_decide() -> None:
    clock = Clock()
    policy = SaveInterval(clock=clock)
    policy.saved(10)
    # Young for 10 s, 3 h and a half that lands: sqrt(2 * 10 * 10,800 / 0.5) = 657 s.
    assert policy.seconds_until_due() == pytest.approx(657.3, abs=0.1)
    clock.now += 658
    assert policy.due(1)
    assert policy.estimate().blocking_seconds == 10


def test_the_time_given_by_the_caller_counts() -> None:
    clock = Clock()
    policy = SaveInterval(clock=clock)
    assert policy.due(1, now=clock.now + 31)
    assert not policy.due(1, now=clock.now)


def test_interruptions_shorten_the_interval_and_saves_that_land_lengthen_it() -> None:
    def interval(landed: bool) -> float:
        policy = SaveInterval(clock=Clock())
        for _ in range(20):
            policy.interrupted(landed)
        policy.saved(10)
        return policy.seconds_until_due()

    usual = SaveInterval(clock=Clock())
    usual.saved(10)
    assert interval(landed=False) < 0.5 * usual.seconds_until_due() < interval(landed=True)


def test_a_life_that_had_not_begun_to_work_counts_for_nothing() -> None:
    policy = SaveInterval(clock=Clock())
    policy.interrupted(working=False)
    assert policy.history == History()


def test_restoring_is_no_time_at_risk() -> None:
    clock = Clock()
    policy = SaveInterval(clock=clock)
    clock.now += 500
    policy.restored(500)
    clock.now += 40
    assert policy.history.exposure_seconds == 40
    assert policy.history.restore_seconds == (500,)


def test_a_program_that_restores_nothing_works_from_its_first_step_on() -> None:
    clock = Clock()
    policy = SaveInterval(clock=clock)
    clock.now += 500
    for step in range(1, 4):
        policy.due(step)
        clock.now += 100
    assert policy.history.exposure_seconds == 300


def test_one_save_that_hung_does_not_change_the_interval() -> None:
    policy = SaveInterval(clock=Clock())
    for seconds in (10, 10, 10, 960, 10):
        policy.saved(seconds)
    assert policy.estimate().blocking_seconds == 10


def test_a_failed_save_is_tried_again_after_an_interval_not_at_the_next_step() -> None:
    clock = Clock()
    policy = SaveInterval(clock=clock)
    clock.now += 30
    assert policy.due(1)
    policy.failed()
    assert not policy.due(2)
    clock.now += 30
    assert policy.due(3)
    assert policy.history.blocking_seconds == ()


def test_a_quiet_stretch_lengthens_the_interval_while_it_lasts() -> None:
    clock = Clock()
    policy = SaveInterval(clock=clock)
    policy.saved(10)
    policy.due(1)
    clock.now += 650
    longer = 657.3 * ((6 * 3600 + 650) / (6 * 3600)) ** 0.5
    assert policy.seconds_until_due() == pytest.approx(longer - 650, abs=0.1)
    clock.now += 12 * 3600 - 650
    policy.saved(10)
    assert policy.seconds_until_due() == pytest.approx(657 * 3**0.5, rel=0.01)


def test_steps_decide_at_multiples_also_after_a_resume_in_between() -> None:
    every = Every(steps=100)
    assert _due_steps(SaveInterval(fixed=every), range(1, 351)) == [100, 200, 300]
    assert _due_steps(SaveInterval(fixed=every), range(0, 351)) == [100, 200, 300]
    assert _due_steps(SaveInterval(fixed=every), range(138, 351)) == [200, 300]
    assert _due_steps(SaveInterval(fixed=every), range(101, 351)) == [200, 300]
    assert _due_steps(SaveInterval(fixed=Every(steps=1)), range(1, 4)) == [1, 2, 3]


def test_steps_begin_where_the_run_was_restored() -> None:
    policy = SaveInterval(fixed=Every(steps=100))
    policy.restored(3)
    assert not policy.due(138)
    assert policy.due(200)


def test_the_fields_say_all_that_the_estimate_rests_on() -> None:
    policy = SaveInterval(History(3, 1, 21_600), clock=Clock())
    policy.restored(120)
    policy.saved(10)
    assert policy.fields() == {
        "fixed": None,
        "estimate_seconds": pytest.approx(536.7, abs=0.1),
        "best_seconds": pytest.approx(536.7, abs=0.1),
        "bound": None,
        "blocking_seconds": 10,
        "restore_seconds": 120,
        "between_seconds": 8640,
        "landing_chance": 0.4,
        "warning": None,
    }


def test_a_save_that_came_late_does_not_shift_the_multiples() -> None:
    policy = SaveInterval(fixed=Every(steps=10))
    assert not policy.due(9)
    assert policy.due(10)
    assert policy.due(13)
    policy.saved(1)
    assert not policy.due(19)
    assert policy.due(20)


def test_epochs_are_so_many_steps_and_seconds_go_by_the_clock() -> None:
    epochs = SaveInterval(fixed=Every(epochs=2, steps_per_epoch=30))
    assert _due_steps(epochs, range(1, 130)) == [60, 120]
    clock = Clock()
    seconds = SaveInterval(fixed=Every(seconds=600), clock=clock)
    clock.now += 599
    assert not seconds.due(1)
    clock.now += 1
    assert seconds.due(2)
    assert epochs.seconds_until_due() == inf


@pytest.mark.parametrize(
    ("given", "text"),
    [({"steps": 500}, "500 steps"), ({"seconds": 90.0}, "90 s"), ({"steps": 1}, "1 step")],
)
def test_a_fixed_interval_says_what_it_is_and_what_the_estimate_would_be(
    given: dict[str, float], text: str
) -> None:
    policy = SaveInterval(fixed=Every(**given), clock=Clock())  # type: ignore[arg-type]
    assert policy.fields()["estimate_seconds"] is None
    policy.saved(10)
    assert policy.fields()["fixed"] == text
    assert policy.fields()["estimate_seconds"] == pytest.approx(657.3)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "Every: takes exactly one of steps, epochs and seconds, none given"),
        (
            {"steps": 5, "seconds": 5},
            "takes exactly one of steps, epochs and seconds, steps and se",
        ),
        ({"steps": 0}, "steps = 0: must be a whole number above 0"),
        ({"steps": 2.5}, "steps = 2.5: must be a whole number above 0"),
        ({"steps": True}, "steps = True: must be a whole number above 0"),
        ({"seconds": -1}, "seconds = -1: must be a number above 0"),
        ({"seconds": inf}, "seconds = inf: must be a number above 0"),
        ({"seconds": "60"}, "seconds = '60': must be a number above 0"),
        ({"epochs": 1}, "steps_per_epoch: goes with epochs"),
        ({"steps": 1, "steps_per_epoch": 5}, "steps_per_epoch = 5: goes with epochs"),
    ],
)
def test_a_fixed_interval_that_cannot_be_is_refused(given: dict[str, float], message: str) -> None:
    with pytest.raises(ProblemsError) as raised:
        Every(**given)  # type: ignore[arg-type]
    assert message in str(raised.value)


def test_the_event_says_the_interval_once_and_again_when_it_moves() -> None:
    stream, clock = io.StringIO(), Clock()
    policy = SaveInterval(events=EventLog(stream), clock=clock)
    for _ in range(5):
        policy.saved(10)
    for _ in range(5):
        policy.interrupted()
    events = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert {event["event"] for event in events} == {"interval_chosen"}
    assert events[0]["estimate_seconds"] == pytest.approx(657.3)
    assert 2 <= len(events) <= 6
    assert events[-1]["estimate_seconds"] < events[0]["estimate_seconds"]


def test_a_save_too_slow_for_the_market_is_said_in_the_event() -> None:
    stream = io.StringIO()
    policy = SaveInterval(
        History(interruptions=100, exposure_seconds=36_000),
        events=EventLog(stream),
        clock=Clock(),
    )
    policy.saved(100)
    (event,) = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert event["bound"] == "shortest"
    assert "a save is too slow" in event["warning"]


def test_what_a_run_has_learned_survives_as_plain_data() -> None:
    clock = Clock()
    policy = SaveInterval(clock=clock)
    policy.restored(3)
    clock.now += 700
    policy.saved(10)
    policy.interrupted(landed=True)
    text = json.dumps(policy.history.mapping())
    again = History.from_mapping(json.loads(text))
    assert again == policy.history
    assert again == History(1, 1, 700, (10,), (3,))
    assert SaveInterval(again, clock=Clock()).estimate().landing_chance == pytest.approx(2 / 3)


def test_an_end_that_left_no_word_counts_half_an_interval_of_work() -> None:
    policy = SaveInterval(History(blocking_seconds=(10,)), clock=Clock())
    policy.interrupted()
    assert policy.history.exposure_seconds == pytest.approx(657.3 / 2, abs=0.1)


def test_only_the_newest_measurements_are_kept() -> None:
    history = History()
    for value in range(100):
        history = history.with_save(value).with_restore(value)
    assert history.blocking_seconds == tuple(range(68, 100))
    assert len(history.restore_seconds) == 32


@pytest.mark.parametrize(
    "spoiled",
    [
        None,
        [],
        "history",
        {},
        {"interruptions": "3", "exposure_seconds": None, "blocking_seconds": "10"},
        {"interruptions": -1, "landed": 5, "exposure_seconds": float("nan")},
        {"interruptions": float("inf"), "blocking_seconds": [None, "x", -1, float("nan"), True]},
        {"interruptions": 10**400, "exposure_seconds": 10**400, "restore_seconds": [10**400]},
    ],
)
def test_a_history_that_cannot_be_read_is_left_out_and_the_run_goes_on(spoiled: object) -> None:
    assert History.from_mapping(spoiled) == History()


def test_a_measurement_that_cannot_be_is_left_out() -> None:
    policy = SaveInterval(clock=Clock())
    policy.saved(-1)
    policy.saved(float("nan"))
    policy.restored(inf)
    assert policy.history.blocking_seconds == policy.history.restore_seconds == ()
