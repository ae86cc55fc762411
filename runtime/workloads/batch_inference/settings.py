"""What the worker is told on its command line."""

import argparse
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from spotproof_gke.contract import DATABASE_URL_VARIABLE, SUBSCRIPTION_VARIABLE


@dataclass(frozen=True)
class Settings:
    """One worker.

    Attributes:
        sink: where results go, as `sink_for` reads it.
        messages: of one batch.
        laptop: folder for queue and results in the place of Pub/Sub and a database.
        documents: how many sample texts a laptop's queue is filled with.
        pause_seconds: by which each text takes longer.
    """

    sink: str
    messages: int
    laptop: Path | None
    documents: int
    pause_seconds: float


def parse(arguments: Sequence[str]) -> Settings:
    """Reads the command line; leaves with 2 and a message when it is wrong."""
    parser = argparse.ArgumentParser(
        prog="batch_inference",
        description=f"Work on the queue in {SUBSCRIPTION_VARIABLE}: each text becomes a vector.",
    )
    add = parser.add_argument
    add(
        "--sink",
        default="postgres:embeddings",
        help=f"default: postgres:embeddings, in the database of {DATABASE_URL_VARIABLE}",
    )
    add("--messages", type=int, default=1, metavar="N", help="of one batch, 1 to 10; default: 1")
    add("--laptop", type=Path, metavar="FOLDER", help="queue and results in a folder, no cloud")
    add("--documents", type=_whole, default=200, metavar="N", help="with --laptop; default: 200")
    add("--pause-seconds", type=_seconds, default=0.0, help="makes each text slower, to try it out")
    return Settings(**vars(parser.parse_args(arguments)))


def _whole(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text}: a whole number, 0 or more")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= threading.TIMEOUT_MAX:
        raise argparse.ArgumentTypeError(f"{text}: a number of seconds, 0 or more")
    return seconds
