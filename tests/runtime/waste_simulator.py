"""Runs of a training on a virtual clock: the real decision when to save, simulated interruptions.

A life of the program restores, works in steps and saves when the policy says so, until its node is
taken away; then the save on SIGTERM lands or not. What a life knows of earlier ones is what stands
in the newest checkpoint, as in `spotproof_runtime.checkpoints`.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from math import ceil

import numpy as np

from spotproof_gke import interval
from spotproof_runtime.every import Every
from spotproof_runtime.history import History
from spotproof_runtime.interval import SaveInterval

HOUR = 3600.0


@dataclass(frozen=True)
class Market:
    """How nodes are taken away: mean time up, and how it is spread."""

    name: str
    mean_hours: float
    sigma: float | None = None
    burst_share: float = 0.0
    nodes: int = 1

    def lifetimes(self, count: int, seed: int) -> list[float]:
        """Seconds from start to interruption of `count` lives in random order; their mean is exact.

        A life that begins in a burst ends within its three minutes, for the next node goes too.
        """
        rng = random.Random(seed)
        short = [rng.uniform(0, 180) for _ in range(round(count * self.burst_share))]
        rest = count - len(short)
        mean = (self.mean_hours * HOUR * count - sum(short)) / rest
        drawn = short + interval.lives(mean, self.sigma, rest)
        rng.shuffle(drawn)
        return drawn


@dataclass(frozen=True)
class Program:
    """How long it takes a program to save and to restore, and how long its steps are."""

    save_seconds: float = 10.0
    restore_seconds: float = 120.0
    step_seconds: float = 1.0
    save_noise: float = 0.0
    """Standard deviation of the logarithm of a save's time."""
    stuck_chance: float = 0.0
    """How many saves hang for 20 times as long."""

    def save_time(self, rng: random.Random) -> float:
        noisy = self.save_seconds * rng.lognormvariate(0, self.save_noise)
        return noisy * (20 if rng.random() < self.stuck_chance else 1)


class Ended(Enum):
    """What the next life finds of how the one before ended."""

    SAVED = "its save on SIGTERM landed"
    EARLY = "it had not begun to work, and said so"
    UNKNOWN = "it left no word"


@dataclass
class Run:
    """One run of a program from its first life on, and how its time was spent.

    Attributes:
        jump: Whether to go to the next save at once instead of asking after each step.
    """

    program: Program
    rng: random.Random
    fixed: Every | None = None
    jump: bool = True
    prior_seconds: float = interval.PRIOR_MEAN_SECONDS
    longest_seconds: float = interval.LONGEST_SECONDS
    now: float = 0.0
    step: int = 0
    history: History = field(default_factory=History)
    ended: Ended | None = None
    kept_seconds: float = 0.0
    saves: int = 0

    def live(self, lifetime: float, lands: bool) -> None:
        """One life of `lifetime` seconds, whose save on SIGTERM lands or not."""
        end = self.now + lifetime
        policy = SaveInterval(
            self.history,
            fixed=self.fixed,
            prior_seconds=self.prior_seconds,
            longest_seconds=self.longest_seconds,
            clock=lambda: self.now,
        )
        if self.ended is not None:
            policy.interrupted(
                landed=self.ended is Ended.SAVED, working=self.ended is not Ended.EARLY
            )
        self.history = policy.history
        self.ended = Ended.UNKNOWN
        if lifetime <= self.program.restore_seconds:
            self.now = end
            self.ended = Ended.EARLY if lands else Ended.UNKNOWN
            return
        self.now += self.program.restore_seconds
        policy.restored(self.program.restore_seconds)
        unsaved = 0.0
        while True:
            unsaved += self._work(policy, end)
            took = self.program.save_time(self.rng)
            if self.now + took > end:
                break
            self.now += took
            self._saved(policy, took, unsaved)
            unsaved = 0.0
        self.now = end
        if lands:
            took = self.program.save_time(self.rng)
            self.now += took
            self._saved(policy, took, unsaved)
            self.ended = Ended.SAVED

    def _work(self, policy: SaveInterval, end: float) -> float:
        """Works until a save is due or the node is taken away; returns the seconds of work."""
        length = self.program.step_seconds
        began = self.step
        while self.now + length <= end:
            steps = 1
            if self.jump:
                steps = max(ceil(policy.seconds_until_due(self.now) / length - 1e-9), 1)
                steps = min(steps, int((end - self.now) / length))
            self.now += steps * length
            self.step += steps
            if policy.due(self.step, self.now):
                return (self.step - began) * length
        self.now = end
        return (self.step - began) * length

    def _saved(self, policy: SaveInterval, took: float, unsaved: float) -> None:
        policy.saved(took)
        self.saves += 1
        self.kept_seconds += unsaved
        self.history = policy.history


def simulated_waste(
    program: Program,
    lifetimes: Sequence[float],
    lands: Sequence[bool],
    *,
    lives_per_run: int,
    fixed: Every | None = None,
    seed: int = 1,
    nodes: int = 1,
    longest_seconds: float = interval.LONGEST_SECONDS,
    jump: bool = True,
) -> float:
    """The share of all time that was not work kept; each run starts knowing nothing.

    Args:
        program: What is run.
        lifetimes: Seconds of each life.
        lands: Whether its save on SIGTERM lands.
        lives_per_run: After how many lives the next run starts.
        fixed: A fixed interval in place of the policy's.
        seed: Of the times that saves take.
        nodes: How many nodes the program needs at once.
        longest_seconds: The limit of the policy's interval.
        jump: Whether to go to the next save at once instead of asking after each step.
    """
    rng = random.Random(seed)
    elapsed = kept = 0.0
    for first in range(0, len(lifetimes), lives_per_run):
        run = Run(
            program,
            rng,
            fixed,
            jump,
            prior_seconds=interval.PRIOR_MEAN_SECONDS / nodes,
            longest_seconds=longest_seconds,
        )
        for at in range(first, min(first + lives_per_run, len(lifetimes))):
            run.live(lifetimes[at], lands[at])
        elapsed += run.now
        kept += run.kept_seconds
    return 1 - kept / elapsed


def waste_of_fixed(
    program: Program, lifetimes: Sequence[float], lands: Sequence[bool], seconds: float
) -> float:
    """What `simulated_waste` gives for a fixed interval, for saves that take the same time."""
    save = program.save_seconds
    lived = np.asarray(lifetimes)
    landed = np.asarray(lands)
    working = np.maximum(lived - program.restore_seconds, 0)
    started = np.floor(working / (seconds + save))
    rest = np.minimum(working - started * (seconds + save), seconds)
    alive = landed & (working > 0)
    kept = started * seconds + np.where(alive, rest, 0)
    return float(1 - kept.sum() / (lived + np.where(alive, save, 0)).sum())


def least_waste(
    program: Program, lifetimes: Sequence[float], lands: Sequence[bool]
) -> tuple[float, float]:
    """The fixed interval that wastes least on these lives, found by search, and its waste."""
    tried = np.geomspace(5, 20_000, 300)
    wastes = [waste_of_fixed(program, lifetimes, lands, float(t)) for t in tried]
    best = int(np.argmin(wastes))
    return float(tried[best]), wastes[best]


def landings(count: int, chance: float, seed: int) -> list[bool]:
    """Which of `count` last saves land; their share is exact."""
    drawn = [index < round(count * chance) for index in range(count)]
    random.Random(seed).shuffle(drawn)
    return drawn
