"""What all cases have in common: sizes, rooms, and runs that take turns."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.report import Row
from bench.room import Room, room_of_program
from bench.timing import Sample, ratio
from sandbox.engine import Engine
from sandbox.progress import say

PROGRAMS = Path(__file__).parent / "programs"
PROJECT = "acme-ml"
Run = Callable[[], Sample]


@dataclass(frozen=True)
class Sizes:
    """How many resources the generated programs have."""

    start: int = 10
    few: int = 100
    many: int = 1000
    few_in_state: int = 500
    many_in_state: int = 5000

    @property
    def pools(self) -> int:
        return self.many // 5


SMALL = Sizes(start=10, few=20, many=40, few_in_state=20, many_in_state=40)
"""To see that the benchmark works."""


@dataclass(frozen=True)
class Setting:
    """What the cases have in common.

    Attributes:
        folder: an empty folder for sandboxes.
        runs: how often each side is run.
        warm: whether each side is run once before, uncounted.
    """

    engine: Engine
    folder: Path
    runs: int
    sizes: Sizes
    warm: bool = True

    def interleaved(self, sides: Mapping[str, Run]) -> dict[str, list[Sample]]:
        """Runs the sides in turn, so that a load of the machine hits all alike."""
        samples: dict[str, list[Sample]] = {name: [] for name in sides}
        for number in range(-1 if self.warm else 0, self.runs):
            # Every second round goes the other way, so that no side always comes first.
            for name in list(sides)[:: -1 if number % 2 else 1]:
                sample = sides[name]()
                say(f"  {name}: {sample.wall:.1f} s" + ("" if number >= 0 else " (uncounted)"))
                if number >= 0:
                    samples[name].append(sample)
        return samples

    def many(
        self, name: str, resources: int, clusters: int, pools: int, idle: bool = False
    ) -> Room:
        """A room with the generated program."""
        counts = {"resources": resources, "clusters": clusters, "pools": pools}
        config = {"gcp:project": PROJECT} | {f"bench:{key}": value for key, value in counts.items()}
        program = PROGRAMS / "many.py"
        return room_of_program(self.folder / name, self.engine, program, config, idle_provider=idle)


def compared(
    name: str, samples: Mapping[str, list[Sample]], one: str, other: str, goal: float | None = None
) -> Row:
    """How much longer one side takes than the other."""
    pairs = list(zip(samples[one], samples[other], strict=True))
    return Row(
        name,
        len(pairs),
        ratio([(a.wall, b.wall) for a, b in pairs]),
        ratio([(a.cpu, b.cpu) for a, b in pairs]),
        goal,
        detail=f"{median_wall(samples[one]):.2f} / {median_wall(samples[other]):.2f}",
        data={one: seconds(samples[one]), other: seconds(samples[other])},
    )


def median_wall(samples: list[Sample]) -> float:
    """In seconds."""
    return median(sample.wall for sample in samples)


def seconds(samples: list[Sample]) -> list[dict[str, float]]:
    """The samples for JSON."""
    return [{"wall": round(one.wall, 3), "cpu": round(one.cpu, 3)} for one in samples]
