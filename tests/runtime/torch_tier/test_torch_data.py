"""The position in a data set and random numbers, with PyTorch's data loader and generators."""

import json
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from spotproof_runtime import RandomNumbers, ResumableBatches

torch = pytest.importorskip("torch", reason="needs PyTorch: make test-torch")
pytestmark = pytest.mark.torch


class Items:
    """A data set that gives its index, and a random number when asked for."""

    def __init__(self, size: int, noisy: bool = False) -> None:
        self.size, self.noisy = size, noisy

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: int) -> Any:
        return index + (torch.rand(()).item() if self.noisy else 0)


def _life(state: Any, count: int, workers: int) -> tuple[list[list[int]], Any]:
    """Batches of one life, and what its checkpoint holds."""
    batches = ResumableBatches(100, batch_size=5, seed=4)
    if state is not None:
        batches.load_state_dict(json.loads(json.dumps(state)))
    loader = torch.utils.data.DataLoader(Items(100), batch_sampler=batches, num_workers=workers)
    feed = batches.feed_endlessly(loader)
    got = [next(feed).tolist() for _ in range(count)]
    return got, batches.state_dict()


@pytest.mark.parametrize("workers", [0, 2])
def test_interrupted_twice_in_an_epoch_a_data_loader_gives_each_item_once(workers: int) -> None:
    whole, _ = _life(None, 25, workers)
    seen, state = [], None
    for count in (6, 2, 12, 5):
        got, state = _life(state, count, workers)
        seen += got
    assert seen == whole
    assert sorted(item for batch in seen[:20] for item in batch) == list(range(100))
    assert state == {"size": 100, "seed": 4, "shuffle": True, "epoch": 1, "seen": 25}


def test_a_loader_that_starts_again_leaves_the_generator_of_the_program_alone() -> None:
    torch.manual_seed(3)
    before = torch.get_rng_state()
    _life(None, 2, workers=2)
    assert torch.equal(before, torch.get_rng_state())


def test_workers_draw_other_numbers_in_each_epoch_and_after_each_resume() -> None:
    drawn = set()
    batches = ResumableBatches(4, batch_size=1, seed=0, shuffle=False)
    loader = torch.utils.data.DataLoader(
        Items(4, noisy=True), batch_sampler=batches, num_workers=1, persistent_workers=False
    )
    feed = batches.feed_endlessly(loader)
    drawn |= {round(next(feed).item() % 1, 9) for _ in range(6)}
    drawn |= {round(next(batches.feed(loader)).item() % 1, 9)}
    assert len(drawn) == 7


def test_a_loader_that_shuffles_by_itself_is_refused() -> None:
    batches = ResumableBatches(10, batch_size=5)
    loader = torch.utils.data.DataLoader(Items(10), batch_size=5, shuffle=True)
    with pytest.raises(ValueError, match=r"DataLoader\(dataset, batch_sampler=batches\)"):
        next(batches.feed(loader))


def test_pytorchs_generators_go_on_where_they_stood() -> None:
    own = torch.Generator().manual_seed(8)
    numbers = RandomNumbers(dropout=own)
    torch.rand(3), torch.rand(3, generator=own)
    state = json.loads(json.dumps(numbers.state_dict()))
    drawn = torch.rand(5), torch.rand(5, generator=own)
    torch.manual_seed(0)
    other = torch.Generator()
    RandomNumbers(dropout=other).load_state_dict(state)
    again = torch.rand(5), torch.rand(5, generator=other)
    assert all(torch.equal(*pair) for pair in zip(drawn, again, strict=True))


@pytest.fixture
def two_gpus(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[int, Any]]:
    """Stands for the part of torch.cuda that keeps generators: no machine of ours has a GPU."""
    held = {0: torch.arange(16, dtype=torch.uint8), 1: torch.ones(16, dtype=torch.uint8)}
    cuda = SimpleNamespace(
        is_initialized=lambda: True,
        is_available=lambda: True,
        device_count=lambda: len(held),
        get_rng_state_all=lambda: list(held.values()),
        set_rng_state=lambda state, device: held.__setitem__(device, state),
    )
    monkeypatch.setattr(sys.modules["torch"], "cuda", cuda)
    return held


def test_a_machine_with_fewer_gpus_goes_on_and_says_what_differs(
    two_gpus: dict[int, Any],
) -> None:
    numbers = RandomNumbers()
    state = json.loads(json.dumps(numbers.state_dict()))
    kept = two_gpus[0].clone()
    two_gpus[0] = two_gpus[1]
    numbers.load_state_dict(state)
    assert torch.equal(two_gpus[0], kept)
    del two_gpus[1]
    with pytest.warns(UserWarning, match="with 2 GPUs and 1 are here"):
        numbers.load_state_dict(state)
