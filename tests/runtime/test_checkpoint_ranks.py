"""Of a program in several processes one saves, and all go on from the same checkpoint."""

from pathlib import Path

import pytest

from spotproof_gke.problems import ProblemsError
from spotproof_runtime import Hopeless
from tests.runtime.checkpoint_runs import FakeStop, checkpoints, is_interrupted, load, train, write

RANKS = 8


@pytest.fixture
def run(tmp_path: Path) -> str:
    return str(tmp_path / "run")


def test_only_rank_0_saves(run: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "3")
    stop = FakeStop()
    made = train(run, 3, stop=stop)
    assert made.all_steps() == []
    assert stop.is_done
    monkeypatch.setenv("RANK", "0")
    assert train(run, 3).all_steps() == [2, 3]


def test_all_ranks_end_after_the_same_step(run: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ends = []
    for rank in range(2):
        monkeypatch.setenv("RANK", str(rank))
        stop, done = FakeStop(), []
        made = checkpoints(run, stop=stop)

        def body(step: int, stop=stop, done=done, made=made) -> None:
            done.append(step)
            if step == 2:
                stop.request(60)
            made.offer(step, lambda directory: write(directory, step + 1))

        is_interrupted(made, 0, 10, body)
        ends.append(done[-1])
    assert ends == [2, 2]
    assert made.latest_step() == 3


def test_one_interruption_of_many_ranks_is_one_life(
    run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(5):
        for rank in range(RANKS):
            monkeypatch.setenv("RANK", str(rank))
            checkpoints(run).restore(load, default=lambda: 0)
    monkeypatch.setenv("RANK", "0")
    with pytest.raises(Hopeless):
        checkpoints(run).restore(load, default=lambda: 0)


def test_the_program_can_say_who_saves(run: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "3")
    assert train(run, 1, saves=True, run="rank-3").all_steps() == [1]
    monkeypatch.setenv("RANK", "0")
    assert train(run, 1, saves=False).all_steps() == []


def test_pods_with_an_index_do_not_take_each_others_state(
    run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JOB_COMPLETION_INDEX", "1")
    with pytest.raises(ProblemsError, match=r"JOB_COMPLETION_INDEX = 1: .*give run="):
        checkpoints(run)
    assert train(run, 1, run="pod-1").all_steps() == [1]
    assert train(run, 1, saves=False).all_steps() == []
    monkeypatch.setenv("JOB_COMPLETION_INDEX", "0")
    assert train(run, 1).all_steps() == [1]
