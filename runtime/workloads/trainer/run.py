"""The training loop: restore, train, offer a checkpoint after each step."""

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from spotproof_gke.contract import EXIT_DONE, EXIT_ERROR
from spotproof_gke.problems import ProblemsError
from spotproof_runtime import CheckpointError, Checkpoints, EventLog, Every, Interruption
from trainer.settings import Settings, parse

if TYPE_CHECKING:
    from trainer.training import Training


def run(arguments: Sequence[str], stop: Interruption, events: EventLog) -> int:
    """Trains until all steps are done or `stop` says so; returns the exit code."""
    settings = parse(arguments)
    try:
        return _train(settings, stop, events)
    except (CheckpointError, ProblemsError, ModuleNotFoundError) as error:
        print(f"error: {error}", file=sys.stderr)
        return EXIT_ERROR


def _train(settings: Settings, stop: Interruption, events: EventLog) -> int:
    interval = Every(steps=settings.save_every) if settings.save_every else None
    checkpoints = Checkpoints(settings.checkpoints, stop=stop, interval=interval, events=events)

    from trainer.training import Training

    training = Training(settings)
    start, training = checkpoints.restore(training.load, default=lambda: training)
    for step in checkpoints.steps(start, settings.steps):
        training.step()
        checkpoints.offer(step, training.save, data_position=training.position())
        if (step + 1) % settings.evaluate_every == 0:
            _evaluate(training, step, stop)
    print(json.dumps({"steps": settings.steps, **training.result()}), flush=True)
    return EXIT_DONE


def _evaluate(training: "Training", step: int, stop: Interruption) -> None:
    """Prints how many held-out sums the model gets right; gives up once told to end."""
    right = 0
    for rows in training.held_out_batches():
        if stop.requested:
            return
        right += training.model.right(rows)
    share = right / len(training.held_out)
    line = {"step": step, "loss": training.loss, "right": round(share, 3)}
    print(json.dumps(line), flush=True)
