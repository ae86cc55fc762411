"""Each item of an epoch is seen exactly once, however many lives the epoch takes."""

import json
from collections import Counter
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotproof_gke.problems import ProblemsError
from spotproof_runtime import ResumableBatches


def _resumed(batches: ResumableBatches, **changed: int | bool) -> ResumableBatches:
    """The same batches in a next life, from what a checkpoint held."""
    same = {
        "size": batches.size,
        "batch_size": batches.batch_size,
        "seed": batches.seed,
        "shuffle": batches.shuffle,
        "drop_last": batches.drop_last,
        "replica": batches.replica,
        "replicas": batches.replicas,
    }
    born = ResumableBatches(**(same | changed))
    born.load_state_dict(json.loads(json.dumps(batches.state_dict())))
    return born


def test_an_epoch_in_three_lives_sees_each_item_once_in_the_order_of_one_life() -> None:
    whole = [item for batch in ResumableBatches(100, seed=7) for item in batch]
    seen, cursors = [], []
    batches = ResumableBatches(100, seed=7)
    for count in (30, 10, 60):
        seen += [item for _ in range(count) for item in batches.take()]
        cursors.append(batches.seen)
        batches = _resumed(batches)
    assert cursors == [30, 40, 100]
    assert sorted(seen) == list(range(100))
    assert seen == whole != sorted(whole)


def test_what_a_loader_has_fetched_ahead_is_not_counted_as_seen() -> None:
    batches = ResumableBatches(100, batch_size=10, seed=1)

    def fetching_ahead() -> Iterator[list[int]]:
        yield from list(batches)

    feed = batches.feed(fetching_ahead())
    first = [next(feed) for _ in range(3)]
    assert batches.seen == 30
    rest = list(_resumed(batches))
    assert sorted(item for batch in first + rest for item in batch) == list(range(100))


def test_a_loop_over_epochs_resumes_within_one_and_goes_on_to_the_next() -> None:
    one = ResumableBatches(10, batch_size=3, seed=2)
    whole = [batch for _ in range(3) for batch in one.feed(one)]
    assert one.epoch == 3
    batches = ResumableBatches(10, batch_size=3, seed=2)
    found = []
    for lives in range(len(whole)):
        batches = _resumed(batches)
        found.append(next(batches.feed_endlessly(batches)))
        assert len(found) == lives + 1
    assert found == whole


def test_a_checkpoint_after_the_last_batch_leaves_the_end_of_the_epoch_to_the_next_life() -> None:
    batches = ResumableBatches(6, batch_size=3)
    feed = batches.feed(batches)
    next(feed), next(feed)
    batches = _resumed(batches)
    ends = []
    for epoch in range(batches.epoch, 2):
        steps = len(list(batches.feed(batches)))
        ends.append((epoch, steps))
    assert ends == [(0, 0), (1, 2)]


def test_epochs_and_seeds_have_orders_of_their_own() -> None:
    batches = ResumableBatches(50, batch_size=50, seed=0)
    first, second = batches.take(), batches.take()
    other = ResumableBatches(50, batch_size=50, seed=1)
    assert len({tuple(order) for order in (first, second, other.take(), other.take())}) == 4
    assert ResumableBatches(50, batch_size=50, shuffle=False).take() == list(range(50))


def test_the_order_is_the_one_that_checkpoints_of_today_were_written_with() -> None:
    assert ResumableBatches(10, batch_size=10, seed=3).take() == [1, 7, 2, 9, 3, 8, 0, 6, 4, 5]


def test_each_item_comes_first_about_as_often_as_any_other() -> None:
    batches = ResumableBatches(8, batch_size=8)
    first = Counter(batches.take()[0] for _ in range(4000))
    assert set(first) == set(range(8))
    assert max(first.values()) < 1.25 * min(first.values())


@given(
    size=st.integers(1, 60),
    replicas=st.integers(1, 4),
    batch_size=st.integers(1, 7),
    shuffle=st.booleans(),
    cuts=st.lists(st.integers(0, 20), max_size=4),
    seed=st.integers(0, 5),
)
def test_replicas_share_an_epoch_and_have_as_many_steps_wherever_it_is_cut(
    size: int, replicas: int, batch_size: int, shuffle: bool, cuts: list[int], seed: int
) -> None:
    each: list[list[list[int]]] = []
    for replica in range(replicas):
        batches = ResumableBatches(
            size,
            batch_size=batch_size,
            seed=seed,
            shuffle=shuffle,
            replica=replica,
            replicas=replicas,
        )
        got: list[list[int]] = []
        for cut in cuts:
            got += [batches.take() for _ in range(min(cut, len(batches)))]
            batches = _resumed(batches)
        each.append(got + list(batches))
    assert len({tuple(map(len, got)) for got in each}) == 1
    times = Counter(item for got in each for batch in got for item in batch)
    assert set(times) == set(range(size))
    assert sum(times.values()) - size == -size % replicas


def test_drop_last_leaves_out_what_is_not_a_full_batch_on_every_replica() -> None:
    taken = [
        list(ResumableBatches(103, batch_size=10, drop_last=True, replica=one, replicas=2))
        for one in (0, 1)
    ]
    assert [len(batches) for batches in taken] == [5, 5]
    items = [item for batches in taken for batch in batches for item in batch]
    assert len(items) == len(set(items)) == 100


def test_a_run_that_resumes_with_other_replicas_and_batches_still_sees_each_item_once() -> None:
    seen = []
    pair = [ResumableBatches(90, batch_size=8, seed=5, replica=one, replicas=2) for one in (0, 1)]
    for batches in pair:
        seen += [item for _ in range(3) for item in batches.take()]
    assert pair[0].state_dict() == pair[1].state_dict()
    alone = _resumed(pair[0], replica=0, replicas=1, batch_size=5)
    seen += [item for batch in alone for item in batch]
    assert sorted(seen) == list(range(90))


def _said(attempt: Callable[[], object]) -> str:
    with pytest.raises(ProblemsError) as refused:
        attempt()
    return str(refused.value)


def test_the_position_of_another_data_set_is_refused_with_all_that_differs() -> None:
    state = ResumableBatches(100, seed=1).state_dict()
    said = _said(lambda: ResumableBatches(120, seed=2).load_state_dict(state))
    assert "size = 120: the checkpoint has 100" in said
    assert "seed = 2: the checkpoint has 1" in said
    assert "a checkpoint location of its own" in said
    incomplete = {"size": 100, "seed": 0, "shuffle": True}
    said = _said(lambda: ResumableBatches(100).load_state_dict(incomplete))
    assert "epoch: this is missing" in said
    assert "seen: this is missing" in said
    said = _said(lambda: ResumableBatches(100, seed=1).load_state_dict(state | {"seen": 101}))
    assert "seen = 101: this is from 0 to 100" in said


def test_numbers_that_do_not_fit_are_refused_all_at_once() -> None:
    said = _said(lambda: ResumableBatches(0, batch_size=0, replica=2, replicas=2))
    assert "size = 0: this is 1 or more" in said
    assert "batch_size = 0: this is 1 or more" in said
    assert "replica = 2: replicas are numbered from 0" in said
    said = _said(lambda: ResumableBatches(7, batch_size=4, replicas=2, drop_last=True))
    assert "size = 7: a step takes 8 items" in said


@pytest.mark.parametrize(("count", "said"), [(11, "more batches"), (9, "1 batches left")])
def test_a_loader_with_batches_of_its_own_is_refused(count: int, said: str) -> None:
    batches = ResumableBatches(10)
    with pytest.raises(ValueError, match=said):
        list(batches.feed(range(count)))
