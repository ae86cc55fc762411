"""The report of a drill, for people and for programs, and how a drill shows as it goes."""

import io
import json
import re

import pytest

from sandbox.drill.observed import OBSERVATIONS
from sandbox.drill.report import Outcome, Promise, Report
from sandbox.drill.scenes import ALWAYS, SCENES
from sandbox.drill.terminal import Lines, LiveTable, board

SYSTEM = Promise("system-pods-on-demand", "System pods run on on-demand nodes")
SPOT = Promise("spot-job-comes-back", "The Spot job comes back after its node was taken away")
LONG = "gke-spot-l4-pool-507e40c-0004 is gone; trainer-jpdgj runs on another node " * 3
CODES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def outcomes(*kept: "bool | None") -> list[Outcome]:
    return [Outcome(SPOT, each, LONG, 10.84) for each in kept]


@pytest.mark.parametrize(
    ("kept", "ok"),
    [
        ([True, True], True),
        ([True, False], False),
        ([True, None], False),
        ([], False),
    ],
    ids=["all kept", "one broken", "one not tried", "nothing tried"],
)
def test_a_report_is_good_only_when_each_promise_was_tried_and_kept(kept, ok):
    assert Report("drill", outcomes(*kept)).ok is ok


def test_the_text_fits_80_columns_and_counts():
    report = Report("drill of stack " + "x" * 200, outcomes(True, False, None), {"engine": LONG})

    text = report.text()

    assert max(map(len, text.splitlines())) <= 80
    assert text.splitlines()[-1] == "3 promises: 1 kept, 1 BROKEN, 1 not tried"
    assert "10.8 s" in text


def test_the_json_has_name_promise_outcome_evidence_and_seconds(tmp_path):
    file = tmp_path / "report.json"

    Report("drill", outcomes(True), {"engine": "v3"}).write(file)

    assert json.loads(file.read_text()) == {
        "subject": "drill",
        "ok": True,
        "promises": [
            {
                "name": SPOT.name,
                "promise": SPOT.says,
                "kept": True,
                "evidence": LONG,
                "seconds": 10.8,
            }
        ],
        "facts": {"engine": "v3"},
    }


class Screen(io.StringIO):
    """A terminal that is not there; `rows` are what a person would see."""

    def __init__(self, is_terminal: bool = True) -> None:
        super().__init__()
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal

    def rows(self) -> list[str]:
        rows: list[str] = []
        row = 0
        for part in re.split(r"(\x1b\[\d+A\r|\x1b\[J|\n)", self.getvalue()):
            if match := re.fullmatch(r"\x1b\[(\d+)A\r", part):
                row = max(0, row - int(match[1]))
            elif part == "\x1b[J":
                del rows[row:]
            elif part == "\n":
                row += 1
            elif part:
                rows[row:] = [CODES.sub("", part)]
        return rows


def table(screen: Screen, columns: int = 80, rows: int = 40, color: bool = False) -> LiveTable:
    ticks = iter(range(1000))
    return LiveTable(
        screen, color=color, size=lambda: (columns, rows), now=lambda: float(next(ticks))
    )


def run(shown) -> None:
    """A drill of two promises, in events."""
    shown.begin([SYSTEM, SPOT])
    shown.start(SYSTEM)
    shown.doing("waiting for the system pods")
    shown.end(Outcome(SYSTEM, True, "3 pods on pool system", 0.5))
    shown.start(SPOT)
    shown.doing("taking gke-spot-l4 away")
    shown.state(["nodes: 4 on-demand, 1 Spot", "trainer-x: Running, on " + LONG])
    shown.end(Outcome(SPOT, False, "not within 180 s", 180.0))


def test_the_table_shows_the_outcome_of_each_promise_in_its_place():
    screen = Screen()

    shown = table(screen)
    run(shown)
    shown.close()
    shown.close()

    rows = screen.rows()
    assert [row.split()[0] for row in rows] == ["kept", "BROKEN"]
    assert rows[0].split()[-2:] == ["0.5", "s"]


def test_the_table_shows_what_is_tried_and_how_things_stand():
    screen = Screen()
    shown = table(screen)

    shown.begin([SYSTEM, SPOT])
    shown.start(SPOT)
    shown.doing("taking gke-spot-l4 away")
    shown.state(["nodes: 4 on-demand, 1 Spot"])

    rows = screen.rows()
    assert rows[0].startswith("·")
    assert rows[1].startswith("…")
    assert rows[-2:] == ["> taking gke-spot-l4 away", "nodes: 4 on-demand, 1 Spot"]


@pytest.mark.parametrize(
    "promise",
    [*(scene.promise for scene in SCENES), ALWAYS, *(each.promise for each in OBSERVATIONS)],
    ids=lambda promise: promise.name,
)
def test_each_promise_can_be_read_in_80_columns(promise):
    screen = Screen()

    table(screen).begin([promise])

    assert promise.says in screen.rows()[0]


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_no_row_of_the_table_is_wider_than_the_terminal(columns):
    screen = Screen()

    run(table(screen, columns))

    lines = CODES.sub("", screen.getvalue()).replace("\r", "").splitlines()
    assert max(map(len, lines)) < columns


def test_a_table_higher_than_the_terminal_stays_within_it():
    screen = Screen()
    shown = table(screen, rows=5)

    shown.begin([Promise(f"p{n}", f"promise {n}") for n in range(20)])
    shown.doing("waiting")

    assert max(int(up) for up in re.findall(r"\x1b\[(\d+)A", screen.getvalue())) <= 4


def test_what_comes_from_a_cluster_cannot_steer_the_terminal():
    screen = Screen()

    table(screen).state(["pod \x1b[2J\x07 name"])

    assert "\x1b[2J" not in screen.getvalue()
    assert "\x07" not in screen.getvalue()


def test_colors_are_used_unless_they_are_not_wanted():
    with_color, without = Screen(), Screen()

    run(table(with_color, color=True))
    run(table(without, color=False))

    assert "\x1b[32m" in with_color.getvalue()
    assert not re.search(r"\x1b\[[0-9;]*m", without.getvalue())


@pytest.mark.parametrize(
    ("is_terminal", "environment", "kind"),
    [
        (True, {"TERM": "xterm"}, LiveTable),
        (True, {"TERM": "dumb"}, Lines),
        (True, {}, Lines),
        (False, {"TERM": "xterm"}, Lines),
    ],
    ids=["terminal", "dumb terminal", "no TERM", "file"],
)
def test_a_live_table_is_for_terminals_that_can_show_it(is_terminal, environment, kind):
    assert type(board(Screen(is_terminal), environment)) is kind


def test_no_color_is_obeyed_on_a_terminal():
    screen = Screen()

    run(board(screen, {"TERM": "xterm", "NO_COLOR": "1"}))

    assert not re.search(r"\x1b\[[0-9;]*m", screen.getvalue())


def test_without_a_terminal_each_event_is_a_line():
    stream = io.StringIO()
    shown = Lines(stream)

    run(shown)
    shown.doing("waiting for a node")
    shown.doing("waiting for a node")

    assert stream.getvalue().splitlines() == [
        "2 promises",
        f"{SYSTEM.name}: {SYSTEM.says}",
        "  waiting for the system pods",
        "  kept (0.5 s): 3 pods on pool system",
        f"{SPOT.name}: {SPOT.says}",
        "  taking gke-spot-l4 away",
        "  BROKEN (180.0 s): not within 180 s",
        "  waiting for a node",
    ]
