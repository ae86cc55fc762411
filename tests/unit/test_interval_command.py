"""`spotproof interval`: how often to save, and what is wasted then."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spotproof_gke.checkpoint_plan import plan
from spotproof_gke.cli import main


def said(capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    assert main(["interval", "--json", *options]) == 0
    return json.loads(capsys.readouterr().out)


def test_command_says_what_the_library_plans(capsys: pytest.CaptureFixture[str]) -> None:
    found = said(capsys, "--save-seconds", "12", "--scenario", "rough", "--nodes", "4")
    planned = plan(save_seconds=12, scenario="rough", nodes=4)

    assert found["intervalSeconds"] == pytest.approx(planned.interval.seconds, abs=0.1)
    assert found["goodput"] == pytest.approx(planned.waste.goodput, abs=0.001)
    assert found["fits"] is planned.fits is True


def test_size_and_speed_do_for_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    found = said(capsys, "--state-gib", "40", "--mib-per-second", "512")

    assert found["saveSeconds"] == 80
    assert found["fits"] is False


def test_more_nodes_are_interrupted_more_often(capsys: pytest.CaptureFixture[str]) -> None:
    one, eight = (said(capsys, "--save-seconds", "5", "--nodes", n) for n in ("1", "8"))

    assert eight["betweenSeconds"] < one["betweenSeconds"]
    assert eight["intervalSeconds"] < one["intervalSeconds"]


def test_extended_shutdown_makes_room_for_a_longer_save(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert said(capsys, "--save-seconds", "90")["fits"] is False
    longer = said(capsys, "--save-seconds", "90", "--shutdown-seconds", "120")

    assert longer["fits"] is True
    assert longer["budgetSeconds"] == 105


def test_rate_of_ones_own_counts_in_the_place_of_a_scenario(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = said(capsys, "--save-seconds", "5", "--between-hours", "6")

    assert found["betweenSeconds"] == 6 * 3600
    assert found["scenario"] == "own"


def test_plan_is_compared_with_fixed_intervals(capsys: pytest.CaptureFixture[str]) -> None:
    storm = ("--save-seconds", "5", "--scenario", "storm", "--landing-chance", "0")
    found = said(capsys, *storm)

    assert [each["intervalSeconds"] for each in found["compared"]] == [1800, 3600]
    assert all(each["total"] > found["waste"]["total"] for each in found["compared"])
    assert main(["interval", *storm]) == 0
    out = capsys.readouterr().out
    assert "Save every " in out
    assert "every hour" in out


@pytest.mark.parametrize(
    ("options", "extend"),
    [
        (["--save-seconds", "90"], True),
        (["--save-seconds", "90", "--mode", "autopilot"], False),
        (["--save-seconds", "90", "--capacity", "flex-start", "--between-hours", "5"], False),
        (["--save-seconds", "106"], False),
        (["--save-seconds", "106", "--shutdown-seconds", "120"], False),
        (["--save-seconds", "90", "--shutdown-seconds", "30"], True),
    ],
)
def test_shutdown_is_to_be_extended_only_where_the_save_then_fits(
    options: list[str], extend: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    found = said(capsys, *options)

    assert found["fits"] is False
    (note,) = [each for each in found["notes"] if "is lost each time" in each]
    assert ("extend the shutdown" in note) is extend


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "give --save-seconds, or both --state-gib and --mib-per-second"),
        (["--state-gib", "4"], "--mib-per-second: how long a save takes is not known"),
        (["--save-seconds", "5", "--state-gib", "4"], "is given beside --state-gib"),
        (["--save-seconds", "nan"], "--save-seconds = nan"),
        (["--state-gib", "-1", "--mib-per-second", "5"], "--state-gib -1: give a number above 0"),
        (["--save-seconds", "5", "--scenario", "roguh"], 'did you mean "rough"?'),
        (["--save-seconds", "5", "--nodes", "0"], "--nodes = 0"),
        (["--save-seconds", "5", "--between-hours", "0"], "--between-hours 0"),
        (["--save-seconds", "5", "--between-hours", "4", "--scenario", "calm"], "one of the two"),
        (["--save-seconds", "5", "--shutdown-seconds", "60"], "GKE takes 0, 30, 120"),
        (["--save-seconds", "5", "--between-hours", "inf"], "--between-hours inf: give a number"),
        (["--state-gib", "1e13", "--mib-per-second", "5"], "above 0 and below 1e+12"),
        (
            ["--save-seconds", "5", "--shutdown-seconds", "120", "--mode", "autopilot"],
            "of Standard clusters alone; leave it out",
        ),
        (
            ["--save-seconds", "5", "--shutdown-seconds", "30", "--capacity", "flex-start"],
            "of Standard clusters alone; leave it out",
        ),
        (
            ["--save-seconds", "5", "--blocking-seconds", "6"],
            "--blocking-seconds = 6.0: a save holds up the work for no longer than it takes, 5 s",
        ),
        (
            ["--state-gib", "1", "--mib-per-second", "1024", "--blocking-seconds", "2"],
            "no longer than it takes, 1 s",
        ),
        (["--save-seconds", "5", "--capacity", "on-demand"], "the scenarios are of Spot nodes"),
        (["--save-seconds", "5", "--landing-chance", "2"], "--landing-chance = 2.0"),
    ],
)
def test_mistakes_are_said_in_the_names_of_options(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["interval", *options]) == 2

    out, err = capsys.readouterr()
    assert not out
    assert message in err
    assert "save_seconds" not in err


def test_all_mistakes_come_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["interval", "--save-seconds", "-1", "--nodes", "0", "--restore-seconds", "-1"]) == 2
    )

    assert "3 problems" in capsys.readouterr().err


_NUMBER = st.one_of(st.floats(), st.floats(0, 1e4), st.integers(-2, 10**6))


@settings(max_examples=40, deadline=None)
@given(save=_NUMBER, between=_NUMBER, restore=_NUMBER, nodes=st.integers(-1, 200_000))
def test_no_numbers_raise(save: float, between: float, restore: float, nodes: int) -> None:
    options = [
        f"--save-seconds={save}",
        f"--between-hours={between}",
        f"--restore-seconds={restore}",
        f"--nodes={nodes}",
    ]

    assert main(["interval", *options]) in (0, 2)
