"""Ranks of a PyTorch job end together, and its data loaders outlive a signal to the group."""

import signal
import socket
from pathlib import Path

import pytest

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


@pytest.mark.parametrize("loop", [ANY_RANK, AGREED_STOP])
def test_a_signal_to_one_rank_ends_all_at_the_same_step(loop: str) -> None:
    told = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": free_port(), "WORLD_SIZE": "2"}
    source = RANK.format(loop=loop)
    with running(source, RANK="0", **told) as first, running(source, RANK="1", **told) as second:
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
