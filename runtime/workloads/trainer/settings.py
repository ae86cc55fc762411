"""What the trainer is told on its command line."""

import argparse
import threading
from collections.abc import Sequence
from dataclasses import dataclass

from spotproof_gke.contract import CHECKPOINT_LOCATION_VARIABLE

MOST_SUMS = 100 * 100
"""Different sums of two numbers of two digits."""


@dataclass(frozen=True)
class Settings:
    """One run of the trainer.

    Attributes:
        checkpoints: location, None for the one in the environment.
        backend: `torch`, or `numpy` where no PyTorch is.
        steps: of the whole run, over all its lives.
        sums: size of the data set.
        batch_size: sums in one step.
        seed: of data, shuffles and weights.
        evaluate_every: steps between two evaluations.
        save_every: how many steps may be unsaved; None lets the interruption rate decide.
        loader_workers: processes that fetch data ahead.
        pause_seconds: by which each step is longer.
    """

    checkpoints: str | None
    backend: str
    steps: int
    sums: int
    batch_size: int
    seed: int
    evaluate_every: int
    save_every: int | None
    loader_workers: int
    pause_seconds: float


def parse(arguments: Sequence[str]) -> Settings:
    """Reads the command line; leaves with 2 and a message when it is wrong."""
    parser = argparse.ArgumentParser(
        prog="trainer",
        description="Train a small model to add two numbers; interrupt it whenever you like.",
    )
    add = parser.add_argument
    add("--checkpoints", help=f"directory or gs://BUCKET/RUN; else {CHECKPOINT_LOCATION_VARIABLE}")
    add("--backend", choices=("torch", "numpy"), default="torch", help="default: torch")
    add("--steps", type=_count, default=2000, help="of the whole run; default: 2000")
    add("--sums", type=_count, default=4000, help="size of the data set; default: 4000")
    add("--batch-size", type=_count, default=64, help="default: 64")
    add("--seed", type=_whole, default=0, help="of data, shuffles and weights; default: 0")
    add("--evaluate-every", type=_count, default=500, metavar="STEPS", help="default: 500")
    add("--save-every", type=_count, metavar="STEPS", help="default: by the interruption rate")
    add("--loader-workers", type=_whole, default=0, help="processes; PyTorch only; default: 0")
    add("--pause-seconds", type=_seconds, default=0.0, help="makes each step longer, to try it out")
    given = parser.parse_args(arguments)
    if given.sums > MOST_SUMS:
        parser.error(f"--sums {given.sums}: there are {MOST_SUMS} different ones")
    return Settings(**vars(given))


def _count(text: str) -> int:
    return _whole(text, least=1)


def _whole(text: str, least: int = 0) -> int:
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if number < least:
        raise argparse.ArgumentTypeError(f"{text}: a whole number, at least {least}")
    return number


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= threading.TIMEOUT_MAX:
        raise argparse.ArgumentTypeError(f"{text}: a number of seconds, 0 or more")
    return seconds
