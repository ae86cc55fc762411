"""The report of a run: as text, as JSON and as one page that needs nothing else."""

import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from spotproof_runtime.report import main
from spotproof_runtime.report_text import duration
from tests.runtime.event_lines import Lines, first_life, last_life, second_life


@pytest.fixture
def events(tmp_path: Path) -> str:
    return last_life(second_life(first_life(Lines()))).file(tmp_path / "events.jsonl")


class Page(HTMLParser):
    """What a page holds; tells tags that are not closed in order."""

    VOID = ("meta", "rect", "wbr")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.text += data


def _page(events: str, tmp_path: Path) -> Page:
    file = tmp_path / "report.html"
    assert main([events, "--html", str(file)]) == 0
    page = Page(file.read_text(encoding="utf-8"))
    assert page.open == []
    return page


def test_the_command_prints_the_figures(events: str) -> None:
    asked = [sys.executable, "-m", "spotproof_runtime.report", events]
    found = subprocess.run(asked, capture_output=True, text=True, timeout=60)
    assert found.returncode == 0, found.stderr
    assert "run run-42" in found.stdout
    assert re.search(r"goodput +31\.82 %", found.stdout)
    assert re.search(r"WASTED_PROGRESS_FROM_DISRUPTION +25\.0 s +7\.58 %", found.stdout)
    assert "life 1, 2023-11-14 22:14:55 UTC: none, 25 steps lost (25.0 s)" in found.stdout


def test_events_can_come_from_a_pipe(events: str) -> None:
    asked = [sys.executable, "-m", "spotproof_runtime.report", "-", "--json"]
    text = Path(events).read_text(encoding="utf-8")
    found = subprocess.run(asked, input=text, capture_output=True, text=True, timeout=60)
    assert json.loads(found.stdout)["lives"] == 3, found.stderr


def test_json_holds_every_figure(events: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([events, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["goodput"] == pytest.approx(0.318182)
    assert list(found) == [
        *("run", "goodput", "elapsed_seconds", "goodput_seconds", "badput_seconds", "lives"),
        *("finished", "steps", "saves", "failed_saves", "skipped_checkpoints", "lost_steps"),
        *("interruptions", "interval", "messages", "message_seconds", "notes"),
    ]
    assert found["lost_steps"] == 25
    assert sum(found["badput_seconds"].values()) + found["goodput_seconds"] == pytest.approx(330)
    assert [each["outcome"] for each in found["interruptions"]] == ["none", "saved"]


def test_the_page_shows_lives_saves_and_lost_work(events: str, tmp_path: Path) -> None:
    page = _page(events, tmp_path)
    assert page.tags.count("svg") == 3
    fills = [value for name, value in page.attributes if name == "fill"]
    # Saves: one in the first life, and in the second one the last, part of its end.
    assert fills.count("#1f4e8c") == 2
    assert fills.count("#c0392b") == 1
    for words in (
        "Life 1",
        "interrupted, nothing saved",
        "interrupted, saved",
        "finished",
        "31.82 %",
    ):
        assert words in page.text


def test_the_page_loads_nothing_and_runs_nothing(events: str, tmp_path: Path) -> None:
    page = _page(events, tmp_path)
    assert not {"script", "img", "link", "iframe", "a"} & set(page.tags)
    assert not any("http" in value or "url(" in value for _, value in page.attributes)
    assert any("default-src 'none'" in value for _, value in page.attributes)


def test_what_a_program_has_written_is_text_in_the_page(tmp_path: Path) -> None:
    attack = "<script>alert('1')</script>\"&"
    lines = first_life(Lines(run=attack))
    lines.at(100, "checkpoint_skipped", name=attack, why=attack).at(101, attack)
    lines.at(102, "interrupted", outcome=attack, step=1, lost_steps=1, seconds=0.0)
    lines.at(103, "interval_chosen", fixed=attack, estimate_seconds=5)
    page = _page(lines.file(tmp_path / "events.jsonl"), tmp_path)
    assert "script" not in page.tags
    assert page.text.count(attack) >= 4


def test_a_run_in_a_folder_whose_name_is_no_text_has_a_page(tmp_path: Path) -> None:
    file = first_life(Lines(run="/mnt/caf\udce9")).file(tmp_path / "events.jsonl")
    assert main([file, "--html", str(tmp_path / "page.html")]) == 0
    assert "/mnt/caf\\udce9" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_control_characters_of_a_program_do_not_reach_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main([first_life(Lines(run="a\x1b[2Jb\nc")).file(tmp_path / "events.jsonl")])
    assert "run a\\x1b[2Jb\\nc" in capsys.readouterr().out


def test_shapes_stay_within_their_bar_and_thousands_of_saves_are_thinned(tmp_path: Path) -> None:
    lines = Lines().at(5, "restored", step=0, seconds=5.0, skipped=[])
    for step in range(1, 5001):
        lines.at(step * 10, "save_started", step=step)
        lines.at(step * 10 + 1, "save_finished", step=step, blocking_seconds=1, total_seconds=1)
    file = lines.file(tmp_path / "events.jsonl")
    assert main([file, "--html", str(tmp_path / "many.html")]) == 0
    text = (tmp_path / "many.html").read_text(encoding="utf-8")
    assert len(text) < 100_000
    for left, width in re.findall(r'<rect x="([-0-9.]+)" y="0" width="([-0-9.]+)"', text):
        assert 0 <= float(left) <= float(left) + float(width) <= 1000.1


def test_a_run_of_one_event_has_a_report(tmp_path: Path) -> None:
    file = Lines(run=None).at(0, "run_started").file(tmp_path / "events.jsonl")
    assert "run without a name" in _page(file, tmp_path).text.lower()
    assert main([file, "--json"]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no-such-file"], "no-such-file: can't be read: No such file or directory"),
        (["{events}", "--run", "other"], "--run = 'other': the files do not hold it, but run-42"),
        (["{events}", "--html", "no/such/folder.html"], "can't be written: No such file or direc"),
    ],
)
def test_a_mistake_is_answered_with_one_message_and_exit_code_1(
    events: str, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main([each.format(events=events) for each in arguments]) == 1
    found = capsys.readouterr().err
    assert found.startswith("error: ")
    assert message in found


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (None, "-"),
        (0, "0.0 s"),
        (59.94, "59.9 s"),
        (59.96, "1 min 00 s"),
        (3599.6, "1 h 00 min"),
        (86_399, "23 h 59 min"),
        (90_000, "1 d 01 h"),
    ],
)
def test_durations_are_said_as_people_do(seconds: float | None, words: str) -> None:
    assert duration(seconds) == words
