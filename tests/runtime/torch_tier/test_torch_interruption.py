"""Ranks of a PyTorch job end together, and its data loaders outlive a signal to the group."""

import signal
import socket
from pathlib import Path

import pytest

from spotproof_runtime import Checkpoints
from tests.runtime.program import Program, interrupted, running

pytest.importorskip("torch", reason="needs PyTorch: make test-torch")
pytestmark = pytest.mark.torch

RANK = """
import os, time
import torch
import torch.distributed as distributed
from spotproof_runtime import Interruption
from spotproof_runtime.torch import AgreedStop, any_rank

with Interruption() as stop:
    distributed.init_process_group("gloo")
    step = 0
{loop}
    print("stopped", step, stop.reason.split()[0], round(agreed.remaining()))
    distributed.barrier()  # a rank that has left would be waited for
"""

ANY_RANK = """
    agreed = stop
    while not any_rank(stop):
        step += 1
        if step == 5: print("ready")
        time.sleep(0.01)
"""

AGREED_STOP = """
    agreed = AgreedStop(stop)
    while not agreed.requested:
        agreed.agree()
        step += 1
        if step == 5: print("ready")
        time.sleep(0.01)
"""

TRAINING = """
import json, os, time
import torch
import torch.distributed as distributed
from spotproof_runtime import Checkpoints, Interruption
from spotproof_runtime.torch import AgreedStop

TOTAL = 200

def load(folder):
    return json.loads((folder / "weight").read_text())

with Interruption() as stop:
    distributed.init_process_group("gloo")
    agreed = AgreedStop(stop)
    saves = distributed.get_rank() == 0
    start, weight = 0, 0
    if saves:
        checkpoints = Checkpoints(os.environ["PLACE"], stop=agreed)
        start, weight = checkpoints.restore(load, default=lambda: 0)
    both = torch.tensor([start, weight])
    distributed.broadcast(both, 0)
    start, weight = both.tolist()
    print("start", start)
    for step in (checkpoints if saves else agreed).steps(start, TOTAL):
        agreed.agree()
        gradient = torch.tensor([step])
        distributed.all_reduce(gradient)
        weight += gradient.item()
        print("step", step)
        time.sleep(float(os.environ["STEP_SECONDS"]))
        if saves:
            checkpoints.offer(step, lambda d: (d / "weight").write_text(json.dumps(weight)))
    print("weight", weight)
"""

LOADER = """
import signal, sys, time
import torch
from spotproof_runtime import Interruption, shield_worker

class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 1000

    def __getitem__(self, index):
        time.sleep(0.001)
        return torch.tensor([index])

if __name__ == "__main__":
    with Interruption() as stop:
        loader = torch.utils.data.DataLoader(
            Data(), batch_size=10, num_workers=2, multiprocessing_context="METHOD",
            worker_init_fn=INIT,
        )
        after = 0
        for number, batch in enumerate(loader):
            if number == 3:
                print("ready")
            if stop.requested:
                after += 1
                time.sleep(0.01)
            if after == 20:
                break
        print("after", after)
"""


def free_port() -> str:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return str(found.getsockname()[1])


def ranks(**environment: str) -> tuple[dict[str, str], dict[str, str]]:
    told = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": free_port(), "WORLD_SIZE": "2"}
    return {**told, **environment, "RANK": "0"}, {**told, **environment, "RANK": "1"}


@pytest.mark.parametrize("loop", [ANY_RANK, AGREED_STOP])
def test_a_signal_to_one_rank_ends_all_at_the_same_step(loop: str) -> None:
    source = RANK.format(loop=loop)
    zero, one = ranks()
    with running(source, **zero) as first, running(source, **one) as second:
        both: list[Program] = [first, second]
        for rank in both:
            rank.read_until("ready")
        second.send(signal.SIGTERM)
        ended = [rank.end() for rank in both]
    assert [one.code for one in ended] == [143, 143], ended
    (step, reason, left), (other_step, other_reason, other_left) = (
        one.output[-1].split()[1:] for one in ended
    )
    assert step == other_step
    assert (reason, other_reason) == ("another", "SIGTERM")
    assert abs(int(left) - int(other_left)) <= 1


@pytest.mark.parametrize("told_rank", [0, 1])
def test_a_training_on_two_ranks_stops_at_one_step_with_one_commit_and_goes_on(
    told_rank: int, tmp_path: Path
) -> None:
    place = {"PLACE": str(tmp_path / "run")}
    zero, one = ranks(STEP_SECONDS="0.02", **place)
    with running(TRAINING, **zero) as first, running(TRAINING, **one) as second:
        both = (first, second)
        for rank in both:
            rank.read_until("step 5")
        both[told_rank].send(signal.SIGTERM)
        ended = [rank.end() for rank in both]
    assert [rank.code for rank in ended] == [143, 143], ended
    assert ended[0].output[-1] == ended[1].output[-1]
    done = int(ended[0].output[-1].removeprefix("step ")) + 1
    assert Checkpoints(tmp_path / "run").all_steps() == [done]

    zero, one = ranks(STEP_SECONDS="0", **place)
    with running(TRAINING, **zero) as first, running(TRAINING, **one) as second:
        ended = [rank.end() for rank in (first, second)]
    assert [rank.code for rank in ended] == [0, 0], ended
    for rank in ended:
        assert rank.output[0] == f"start {done}"
        assert rank.output[-1] == f"weight {sum(2 * step for step in range(200))}"


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_of_a_data_loader_outlive_a_signal_to_the_group(
    method: str, tmp_path: Path
) -> None:
    path = tmp_path / "program.py"
    init = "None" if method == "fork" else "shield_worker"
    path.write_text(LOADER.replace("METHOD", method).replace("INIT", init))
    ended = interrupted(path, group=True)
    assert (ended.code, ended.output) == (143, ["ready", "after 20"]), ended.errors
    assert "Traceback" not in ended.errors
