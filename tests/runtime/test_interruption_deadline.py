"""The deadline: the budget and the node's lifetime as the environment says them."""

import math
import signal
import time

import pytest

from spotproof_gke import grace
from spotproof_gke.capacity import Capacity
from spotproof_runtime import SettingsError
from spotproof_runtime.node_end import NODE_BOOT_SECONDS
from spotproof_runtime.notices import MARGIN_SECONDS, NODE_END, Notices
from spotproof_runtime.settings import DEFAULT_BUDGET_SECONDS, read_settings
from tests.runtime.program import running

BUDGET = "SPOTPROOF_TERMINATION_BUDGET_SECONDS"
LIFETIME = "SPOTPROOF_NODE_LIFETIME_SECONDS"
TORCHELASTIC = "TORCHELASTIC_RUN_ID"
SIGTERM = signal.SIGTERM.name
SIGINT = signal.SIGINT.name

BEGIN = """
import os, signal, time, warnings
from spotproof_runtime import Interruption

"""


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_the_budget_is_that_of_a_spot_node_when_nothing_is_said() -> None:
    assert read_settings({}) == (DEFAULT_BUDGET_SECONDS, None)
    assert grace.termination_budget(Capacity.SPOT).seconds == DEFAULT_BUDGET_SECONDS


@pytest.mark.parametrize(
    ("variables", "budget"),
    [
        ({BUDGET: "105"}, 105),
        ({BUDGET: "7.5"}, 7.5),
        ({BUDGET: "0"}, 0),
        ({BUDGET: "105", TORCHELASTIC: "run"}, 30),
        ({BUDGET: "10", TORCHELASTIC: "run"}, 10),
        ({TORCHELASTIC: "run"}, 15),
    ],
)
def test_the_budget_is_what_the_environment_says(variables: dict[str, str], budget: float) -> None:
    assert read_settings(variables).budget_seconds == budget


@pytest.mark.parametrize("value", ["", "soon", "-1", "nan", "inf", "1e999", "15s", "0x0f"])
@pytest.mark.parametrize("variable", [BUDGET, LIFETIME])
def test_a_value_that_is_no_number_of_seconds_is_refused(variable: str, value: str) -> None:
    with pytest.raises(SettingsError) as caught:
        read_settings({variable: value})
    text = str(caught.value)
    assert f"{variable} = {value!r}: this is a number of seconds" in text


def test_all_wrong_variables_are_named_at_once_without_a_traceback() -> None:
    text = BEGIN + "Interruption()"
    with running(text, **{BUDGET: "soon", LIFETIME: "0"}) as program:
        ended = program.end()
    assert ended.code == 1
    assert BUDGET in ended.errors
    assert LIFETIME in ended.errors
    assert "Traceback" not in ended.errors


def test_no_end_is_known_before_a_notice() -> None:
    assert Notices(15, clock=Clock()).remaining() == math.inf


def test_what_remains_after_sigterm_is_the_budget_less_a_margin_and_runs_down_to_0() -> None:
    clock = Clock()
    notices = Notices(15, clock=clock)
    notices.note(SIGTERM)
    assert notices.remaining() == 15 - MARGIN_SECONDS
    clock.now += 10
    notices.note(SIGTERM)
    assert notices.remaining() == 5 - MARGIN_SECONDS
    clock.now += 10
    assert notices.remaining() == 0


def test_a_sigterm_after_another_request_has_its_own_budget() -> None:
    clock = Clock()
    notices = Notices(15, clock=clock)
    notices.note("a notice")
    clock.now += 10
    assert notices.remaining() == 5 - MARGIN_SECONDS
    notices.note(SIGTERM)
    notices.note(SIGINT)
    assert notices.remaining() == 15 - MARGIN_SECONDS
    assert notices.first == ("a notice", 1000.0)


def test_the_end_of_a_node_counts_from_the_start_and_sigterm_may_come_first() -> None:
    clock = Clock()
    notices = Notices(15, node_end=1100, clock=clock)
    assert notices.remaining() == 100 - MARGIN_SECONDS
    assert not notices.requested
    notices.note(NODE_END)
    assert notices.remaining() == 100 - MARGIN_SECONDS, "a save may take longer than a budget"
    notices.note(SIGTERM)
    assert notices.remaining() == 15 - MARGIN_SECONDS
    clock.now = 1099
    assert notices.remaining() == 0


def node_lifetime(end_in_seconds: float) -> str:
    """The lifetime of a node that was booted when this machine was, and ends soon."""
    up = time.clock_gettime(time.CLOCK_BOOTTIME)
    return str(up + end_in_seconds + NODE_BOOT_SECONDS)


@pytest.mark.skipif(not hasattr(time, "CLOCK_BOOTTIME"), reason="no boot time here")
def test_the_end_of_a_node_is_a_notice_ahead_of_it() -> None:
    text = (
        BEGIN
        + """
with Interruption(node_end_lead_seconds=100) as stop:
    print(stop.requested, 90 < stop.remaining() < 110)
    print(stop.wait(60), stop.reason, 80 < stop.remaining() < 100)
"""
    )
    with running(text, **{LIFETIME: node_lifetime(103)}) as program:
        ended = program.end()
    assert (ended.code, ended.output) == (143, ["False True", "True node end True"])


@pytest.mark.skipif(not hasattr(time, "CLOCK_BOOTTIME"), reason="no boot time here")
def test_a_program_that_starts_at_the_end_of_its_node_leaves_it_at_once() -> None:
    text = (
        BEGIN
        + """
with Interruption() as stop:
    stop.wait(60)
    print(stop.reason)
"""
    )
    with running(text, **{LIFETIME: node_lifetime(20)}) as program:
        ended = program.end()
    assert (ended.code, ended.output) == (143, ["node end"])


def test_a_node_that_is_up_for_longer_than_it_lives_has_no_known_end() -> None:
    text = (
        BEGIN
        + """
with warnings.catch_warnings(record=True) as caught:
    with Interruption() as stop:
        print(stop.remaining(), stop.wait(0.2), len(caught), caught[0].message)
"""
    )
    with running(text, **{LIFETIME: "1"}) as program:
        ended = program.end()
    assert ended.code == 0
    assert ended.output[0].startswith("inf False 1 the end of this node is not known")


def test_a_signal_that_comes_while_the_rest_is_asked_for_is_noted_all_the_same() -> None:
    class Reason(str):
        """Compared, it lets a signal come."""

        __hash__ = str.__hash__

        def __ne__(self, other: object) -> bool:
            notices.note(SIGTERM)
            return str.__ne__(self, other)

    notices = Notices(15, clock=Clock())
    notices.note(Reason("mine"))
    assert notices.remaining() == 15 - MARGIN_SECONDS


@pytest.mark.parametrize("lead", [0, -1, math.nan, math.inf])
def test_a_lead_that_is_no_time_is_refused(lead: float) -> None:
    from spotproof_runtime import Interruption

    with pytest.raises(ValueError, match="node_end_lead_seconds"):
        Interruption(node_end_lead_seconds=lead)
