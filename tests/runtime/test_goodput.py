"""What a run has done with its time is told rightly, whatever its files look like."""

import json
import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import spotproof_runtime
from spotproof_gke.problems import ProblemsError
from spotproof_runtime.event_files import read_files
from spotproof_runtime.goodput import BadputType, Figures, figures
from spotproof_runtime.lives import KNOWN_EVENTS
from spotproof_runtime.report_text import headline
from tests.runtime.event_lines import Lines, as_process, first_life, last_life, second_life

SAVE = BadputType.UNPRODUCTIVE_CHECKPOINT_SAVE_TIME
RESTORE = BadputType.UNPRODUCTIVE_CHECKPOINT_RESTORE_TIME
LOST = BadputType.WASTED_PROGRESS_FROM_DISRUPTION
GAP = BadputType.INFRASTRUCTURE_RECOVERY_FROM_DISRUPTION


def _figures(path: Path, *texts: str) -> Figures:
    names: list[str] = []
    for number, text in enumerate(texts):
        file = path / f"{number}.jsonl"
        file.write_text(text, encoding="utf-8")
        names.append(str(file))
    return figures(read_files(names).of_run(None))


def _whole_run() -> Lines:
    return last_life(second_life(first_life(Lines())))


def test_all_time_of_a_run_is_told_and_adds_up_as_counted_by_hand(tmp_path: Path) -> None:
    found = _figures(tmp_path, _whole_run().text)
    assert [life.outcome for life in found.lives] == ["none", "saved", "finished"]
    assert found.elapsed_seconds == pytest.approx(330)
    held = [[(a - 1.7e9, b - 1.7e9) for a, b in life.saving] for life in found.lives]
    assert held == [[(65, 70)], [(212, 216)], []]
    seconds = {kind: value for kind, value in found.badput_seconds.items() if value}
    # Starts: 5 + 5 + 5; restores: 5 + 10 + 10; gaps: 95 to 155 and 216 to 300; saves: 5 + 4.
    # The first life warms up for 5 s, the second for 2. After its save, at 70 s, it does 25 steps
    # that are lost.
    assert seconds == {
        BadputType.TRAINING_PREP: pytest.approx(15),
        BadputType.PROGRAM_STARTUP: pytest.approx(5 + 2),
        SAVE: pytest.approx(9),
        RESTORE: pytest.approx(25),
        LOST: pytest.approx(25),
        GAP: pytest.approx(60 + 84),
    }
    assert found.productive_seconds + sum(seconds.values()) == pytest.approx(330)
    assert found.goodput == pytest.approx((330 - 15 - 7 - 9 - 25 - 25 - 144) / 330)


def test_badput_has_the_names_of_googles_library() -> None:
    assert [kind.value for kind in BadputType] == [
        "TPU_INITIALIZATION",
        "TRAINING_PREP",
        "PROGRAM_STARTUP",
        "DATA_LOADING_SYNC",
        "DATA_LOADING_ASYNC",
        "UNPRODUCTIVE_CHECKPOINT_SAVE_TIME",
        "UNPRODUCTIVE_CHECKPOINT_RESTORE_TIME",
        "WASTED_PROGRESS_FROM_DISRUPTION",
        "INFRASTRUCTURE_RECOVERY_FROM_DISRUPTION",
        "CUSTOM_BADPUT_EVENTS",
        "OTHER",
    ]


def test_steps_saves_and_lost_stretches_are_counted(tmp_path: Path) -> None:
    lines = first_life(Lines()).at(96, "save_failed", step=75, error="403")
    found = _figures(tmp_path, last_life(second_life(lines)).text)
    assert (found.run, found.steps, found.saves, found.failed_saves) == ("run-42", 100, 2, 1)
    spans = [
        None if span is None else (span[0] - 1.7e9, span[1] - 1.7e9) for span in found.lost_spans
    ]
    assert spans == [(65, 96), None, None]
    assert found.mapping()["finished"] is True
    assert _figures(tmp_path, first_life(Lines()).text).mapping()["finished"] is False


def test_each_interruption_says_what_it_cost(tmp_path: Path) -> None:
    killed, saved = _figures(tmp_path, _whole_run().text).interruptions
    assert (killed.life, killed.outcome, killed.lost_steps) == (1, "none", 25)
    assert killed.lost_seconds == pytest.approx(25)
    assert killed.save_seconds is None
    assert killed.resume_seconds == pytest.approx(155 + 17 - 95)
    assert (saved.life, saved.outcome, saved.lost_steps, saved.lost_seconds) == (2, "saved", 0, 0)
    assert saved.save_seconds == pytest.approx(6)


def test_a_life_killed_before_its_first_word_of_progress_had_resumed(tmp_path: Path) -> None:
    lines = first_life(Lines()).at(120, "run_started", seconds=5.0)
    lines = last_life(lines.at(130, "restored", step=50, seconds=10.0, skipped=[]))
    first, second = _figures(tmp_path, lines.text).interruptions
    assert first.resume_seconds == pytest.approx(35)
    assert second.resume_seconds == pytest.approx(300 + 15 - 130)


def test_lives_in_files_of_their_own_and_in_any_order_are_one_run(tmp_path: Path) -> None:
    whole = _figures(tmp_path, _whole_run().text)
    parts = [part(Lines()).text for part in (last_life, first_life, second_life)]
    apart = _figures(tmp_path, *parts)
    assert apart.mapping() == whole.mapping()
    assert _figures(tmp_path, "".join(parts)).mapping() == whole.mapping()


def test_processes_that_write_to_one_file_at_once_are_told_apart(tmp_path: Path) -> None:
    one = as_process(first_life(Lines()).text, 7).splitlines(keepends=True)
    two = as_process(first_life(Lines(), begin=1.0).text, 8).splitlines(keepends=True)
    mixed = "".join(a + b for a, b in zip(one, two, strict=True))
    found = _figures(tmp_path, mixed)
    assert [len(life.events) for life in found.lives] == [len(one), len(two)]
    assert any("several processes at once" in note for note in found.notes)


def test_lives_of_a_container_are_told_apart_by_their_restore(tmp_path: Path) -> None:
    lines = [json.loads(line) for line in _whole_run().text.splitlines()]
    text = "".join(json.dumps(e | {"pid": 1}) + "\n" for e in lines if e["event"] != "run_started")
    found = _figures(tmp_path, text)
    assert [life.outcome for life in found.lives] == ["none", "saved", "finished"]


def test_a_restore_that_falls_back_undoes_the_work_of_all_lives_since(tmp_path: Path) -> None:
    lines = second_life(first_life(Lines()))
    lines.at(305, "checkpoint_skipped", name="90", why="model.bin is missing")
    lines.at(310, "restored", step=20, seconds=5.0, skipped=["90: model.bin is missing"])
    lines.at(330, "progress", step=40, steps=20, seconds=20.0)
    found = _figures(tmp_path, lines.text)
    assert found.skipped == ["90: model.bin is missing"]
    # The first life from step 20 on, at 35 s, less its save; the whole second one less its.
    assert found.badput_seconds[LOST] == pytest.approx((95 - 35 - 5) + (61 - 17 - 4))
    assert found.interruptions[-1].lost_steps == 70
    assert found.productive_seconds == pytest.approx(20 + 20)


def test_a_notice_without_an_end_was_too_late(tmp_path: Path) -> None:
    lines = first_life(Lines()).at(96, "notice", remaining_seconds=13, reason="SIGTERM")
    lines = second_life(lines)
    assert _figures(tmp_path, lines.text).interruptions[0].outcome == "too_late"


def test_steps_done_after_the_last_word_of_progress_are_lost_too(tmp_path: Path) -> None:
    lines = first_life(Lines())
    lines.at(99, "interrupted", outcome="none", step=50, lost_steps=29, seconds=0.0)
    found = _figures(tmp_path, second_life(lines).text)
    assert found.interruptions[0].lost_steps == 29
    assert found.badput_seconds[LOST] == pytest.approx(29)


def test_an_error_is_no_interruption(tmp_path: Path) -> None:
    failed = second_life(first_life(Lines()).at(96, "run_failed"))
    found = _figures(tmp_path, failed.text)
    assert [life.outcome for life in found.lives] == ["failed", "saved"]
    assert [each.life for each in found.interruptions] == [2]
    hopeless = first_life(Lines()).at(99, "hopeless", step=50, lives=5)
    assert [life.outcome for life in _figures(tmp_path, hopeless.text).lives] == [
        "none",
        "hopeless",
    ]


@pytest.mark.parametrize(("outcome", "seconds"), [("too_late", 8), ("flushed", 8), ("none", 0)])
def test_a_last_save_that_did_not_land_took_its_time_all_the_same(
    tmp_path: Path, outcome: str, seconds: float
) -> None:
    lines = first_life(Lines()).at(95, "notice", remaining_seconds=13, reason="SIGTERM")
    lines.at(96, "save_started", step=75)
    lines.at(104, "interrupted", outcome=outcome, step=50, lost_steps=25, seconds=8.0)
    found = _figures(tmp_path, second_life(lines).text)
    assert found.badput_seconds[SAVE] == pytest.approx(9 + seconds)
    assert found.interruptions[0].outcome == outcome
    assert found.interruptions[0].save_seconds == pytest.approx(9)
    assert found.badput_seconds[LOST] == pytest.approx(34 - seconds)


def test_an_interruption_without_an_outcome_has_saved_nothing(tmp_path: Path) -> None:
    found = _figures(tmp_path, first_life(Lines()).at(96, "interrupted").text)
    assert [each.outcome for each in found.interruptions] == ["none"]


def test_a_run_that_keeps_its_own_checkpoints_is_told_by_its_steps(tmp_path: Path) -> None:
    lines = Lines().at(0, "run_started", seconds=0.0)
    lines.at(20, "progress", step=10, steps=10, seconds=10.0)
    lines.at(60, "progress", step=50, steps=40, seconds=40.0)
    lines.at(100, "run_started", seconds=0.0)
    lines.at(120, "progress", step=40, steps=10, seconds=10.0)
    found = _figures(tmp_path, lines.text)
    assert found.interruptions[0].lost_steps == 20
    assert found.badput_seconds[LOST] == pytest.approx(20)
    assert found.badput_seconds[BadputType.TRAINING_PREP] == pytest.approx(20)


def test_a_second_loop_of_steps_does_not_undo_the_first(tmp_path: Path) -> None:
    lines = first_life(Lines()).at(99, "progress", step=4, steps=4, seconds=4.0)
    assert _figures(tmp_path, lines.text).steps == 75


def test_a_run_that_goes_on_has_lost_nothing_yet(tmp_path: Path) -> None:
    found = _figures(tmp_path, first_life(Lines()).text)
    assert found.interruptions == []
    assert found.badput_seconds[LOST] == 0
    assert any("the last life has no end" in note for note in found.notes)


def test_a_line_torn_by_a_kill_costs_nothing_but_itself(tmp_path: Path) -> None:
    lines = first_life(Lines()).raw('{"time": 1700000096.5, "event": "save_star')
    found = _figures(tmp_path, last_life(second_life(lines)).text)
    # What the next life has written behind it is read.
    assert found.mapping() == _figures(tmp_path, _whole_run().text).mapping()
    torn = _figures(tmp_path, _whole_run().text + '{"time": 170000')
    assert torn.goodput == found.goodput
    assert any("0.jsonl: torn or spoiled event in line 19, left out" in n for n in torn.notes)


def test_a_pods_log_is_read_with_all_that_else_it_holds(tmp_path: Path) -> None:
    text = "".join(
        f"WARNING: something about gpus {{}}\n2026-11-30T12:00:00Z {line}\n[1, 2]\n\n"
        for line in _whole_run().text.splitlines()
    )
    found = _figures(tmp_path, "\ufeff" + text)
    assert found.goodput == _figures(tmp_path, _whole_run().text).goodput
    assert any("36 lines are no events" in note for note in found.notes)


def test_events_of_unknown_names_are_noted_and_left_out(tmp_path: Path) -> None:
    lines = first_life(Lines()).at(60, "coffee_made", cups=2)
    found = _figures(tmp_path, lines.text)
    assert any("coffee_made (1)" in note for note in found.notes)


@pytest.mark.parametrize("back", [5.0, 3600.0])
def test_a_clock_that_is_set_back_does_not_change_the_figures(tmp_path: Path, back: float) -> None:
    lines = [json.loads(line) for line in first_life(Lines()).text.splitlines()]
    for line in lines[4:]:
        line["time"] -= back
    found = _figures(tmp_path, "".join(json.dumps(line) + "\n" for line in lines))
    usual = _figures(tmp_path, first_life(Lines()).text)
    assert found.elapsed_seconds == pytest.approx(usual.elapsed_seconds, abs=6)
    noted = [note for note in found.notes if "the clock went back by 36" in note]
    assert len(noted) == (1 if back > 60 else 0)


def test_a_clock_set_back_by_less_than_has_passed_is_found_by_the_progress(tmp_path: Path) -> None:
    def lines(back: float) -> str:
        return (
            Lines()
            .at(10, "restored", step=0, seconds=5.0)
            .at(20, "progress", step=10, steps=10, seconds=10.0)
            .at(310 - back, "save_finished", step=300, blocking_seconds=0.1, total_seconds=1)
            .at(320 - back, "progress", step=310, steps=300, seconds=300.0)
            .text
        )

    usual, found = _figures(tmp_path, lines(0)), _figures(tmp_path, lines(200))
    assert usual.notes == found.notes[1:]
    assert "0.jsonl:4: the clock went back by 200 s" in found.notes[0]
    assert found.elapsed_seconds == usual.elapsed_seconds == pytest.approx(315)


@pytest.mark.parametrize(
    "spoiled",
    [
        '{"time": "now", "event": "restored"}',
        '{"time": NaN, "event": "restored"}',
        '{"time": 1e999, "event": "restored"}',
        '{"time": -5, "event": "restored"}',
        '{"time": 1, "event": 5}',
        '{"time": 1}',
        '{"time": ' + "9" * 5000 + ', "event": "restored"}',
        '{"time": ' + "[" * 5000,
        '{"time": {"time": {"time": ',
    ],
)
def test_a_spoiled_line_is_noted_and_left_out(tmp_path: Path, spoiled: str) -> None:
    found = _figures(tmp_path, spoiled + "\n" + _whole_run().text)
    assert len(found.lives) == 3
    assert any("torn or spoiled event in line 1," in note for note in found.notes)


@pytest.mark.parametrize("value", [None, "x", -1, True, [], {}, float("nan"), 10**400])
def test_fields_that_cannot_be_do_not_stop_the_report(tmp_path: Path, value: object) -> None:
    lines = [json.loads(line) for line in _whole_run().text.splitlines()]
    kept = ("time", "event", "pid", "run")
    text = "".join(
        json.dumps({k: v if k in kept else value for k, v in line.items()}) + "\n" for line in lines
    )
    found = _figures(tmp_path, text)
    total = found.productive_seconds + sum(found.badput_seconds.values())
    assert total == pytest.approx(found.elapsed_seconds)


def _cut(rng: random.Random, text: str) -> str:
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(text))
        text = text[:at] + text[at + rng.randint(1, 80) :]
    return text


def _some(rng: random.Random, text: str) -> str:
    lines = text.splitlines(keepends=True)
    return "".join(rng.sample(lines, rng.randint(1, len(lines))))


@pytest.mark.parametrize("spoil", [_cut, _some])
def test_whatever_a_file_lacks_and_in_any_order_the_times_add_up(
    tmp_path: Path, spoil: Callable[[random.Random, str], str]
) -> None:
    rng = random.Random(11)
    for _ in range(200):
        try:
            found = _figures(tmp_path, spoil(rng, _whole_run().text))
        except ProblemsError:
            continue
        total = found.productive_seconds + sum(found.badput_seconds.values())
        assert total == pytest.approx(found.elapsed_seconds)
        assert min(found.productive_seconds, *found.badput_seconds.values()) >= -1e-6
        for each in found.interruptions:
            assert min(each.lost_steps, each.lost_seconds, each.save_seconds or 0) >= 0


def test_a_queue_worker_has_counts_of_messages_and_no_goodput(tmp_path: Path) -> None:
    lines = (
        Lines()
        .at(1, "message_started", messages=3, items=30, had=0)
        .at(2, "message_stored", items=30)
        .at(3, "message_acked", messages=2, lost=0)
        .at(4, "notice", remaining_seconds=13, reason="SIGTERM")
        .at(5, "message_given_back", messages=1, reason="SIGTERM")
    )
    found = _figures(tmp_path, lines.text)
    assert found.goodput is None
    assert found.messages == {"started": 3, "stored": 30, "acked": 2, "given_back": 1}
    assert [each.outcome for each in found.interruptions] == ["saved"]


def test_a_worker_killed_with_a_message_in_hand_has_saved_nothing(tmp_path: Path) -> None:
    lines = (
        Lines()
        .at(1, "message_started", messages=3, items=30, had=0)
        .at(3, "message_acked", messages=2, lost=0)
        .at(4, "notice", remaining_seconds=13, reason="SIGTERM")
    )
    assert [each.outcome for each in _figures(tmp_path, lines.text).interruptions] == ["none"]


def test_every_event_that_the_library_records_is_known() -> None:
    sources = Path(spotproof_runtime.__file__).parent.rglob("*.py")
    recorded = [
        name
        for source in sources
        for name in re.findall(r'\brecord\(\s*"(\w+)"', source.read_text(encoding="utf-8"))
    ]
    assert recorded
    assert set(recorded) <= KNOWN_EVENTS


def test_every_file_that_cannot_be_read_is_named_at_once(tmp_path: Path) -> None:
    with pytest.raises(ProblemsError) as raised:
        read_files([str(tmp_path / "none.jsonl"), str(tmp_path), "nul\0"])
    assert len(raised.value.problems) == 3
    assert "none.jsonl: can't be read: No such file" in str(raised.value)


def test_an_empty_file_is_noted_and_none_but_empty_files_are_refused(tmp_path: Path) -> None:
    found = _figures(tmp_path, "", _whole_run().text)
    assert any("0.jsonl holds no event" in note for note in found.notes)
    with pytest.raises(ProblemsError, match="there is no event in any of the files"):
        _figures(tmp_path, "", "nothing\n")


def test_of_several_runs_one_must_be_chosen(tmp_path: Path) -> None:
    file = tmp_path / "two.jsonl"
    file.write_text(first_life(Lines("a")).text + last_life(Lines("b")).text)
    reading = read_files([str(file)])
    with pytest.raises(ProblemsError, match=r"the files hold several runs \(a, b\)"):
        reading.of_run(None)
    with pytest.raises(ProblemsError, match="--run = 'c': the files do not hold it, but a, b"):
        reading.of_run("c")
    assert figures(reading.of_run("b")).run == "b"


def test_the_chosen_interval_and_the_estimate_are_part_of_the_figures(tmp_path: Path) -> None:
    lines = first_life(Lines()).at(96, "interval_chosen", fixed="500 steps", estimate_seconds=657.3)
    interval = _figures(tmp_path, lines.text).interval
    assert interval == {"fixed": "500 steps", "estimate_seconds": 657.3}


def test_waiting_for_an_upload_is_time_of_saving(tmp_path: Path) -> None:
    badput = BadputType.UNPRODUCTIVE_CHECKPOINT_SAVE_TIME
    without = _figures(tmp_path, first_life(Lines()).text).badput_seconds[badput]
    lines = first_life(Lines()).at(95, "save_awaited", step=75, seconds=3.0)
    assert _figures(tmp_path, lines.text).badput_seconds[badput] == pytest.approx(without + 3)


def _worker_life(lines: Lines, begin: float, *then: tuple[float, str]) -> Lines:
    lines = lines.at(begin, "message_started", messages=1, items=1, had=0)
    for after, event in then:
        lines = lines.at(begin + after, event, messages=1)
    return lines


def test_the_work_of_a_queue_worker_is_told_by_what_became_of_it(tmp_path: Path) -> None:
    lines = _worker_life(Lines(), 0, (10, "message_stored"), (11, "message_acked"))
    lines = _worker_life(lines, 20, (3, "message_failed"), (4, "message_given_back"))
    lines = _worker_life(lines, 30, (2, "message_given_back"), (3, "message_given_back"))
    lines = _worker_life(lines, 40, (5, "message_timed_out"), (6, "message_given_back"))
    lines = _worker_life(lines, 50, (7, "lease_failed"))
    found = _figures(tmp_path, lines.text)
    told = {"stored": 11, "failed": 10, "given_back": 2, "unfinished": 7}
    assert found.mapping()["message_seconds"] == pytest.approx(told)
    assert ("work stored", "11.0 s, 36.67 %") in headline(found)
    assert _figures(tmp_path, first_life(Lines()).text).message_seconds == {}
