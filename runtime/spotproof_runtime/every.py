"""A fixed interval between saves, in steps, epochs or seconds."""

from dataclasses import dataclass
from math import inf

from spotproof_gke.problems import Problem, raise_if_any


@dataclass(frozen=True)
class Every:
    """A fixed interval: exactly one of these.

    Attributes:
        steps: No more than this many steps are ever unsaved. Saves that hold up the work come at
            each multiple, also after a resume in between; those beside it come earlier.
        epochs: The same in epochs; needs `steps_per_epoch`.
        seconds: No more than this many seconds of work, and the step at work, are ever unsaved.
        steps_per_epoch: How many steps make an epoch.

    Raises:
        ProblemsError: for none, two of them, or a number that can't be.
    """

    steps: int | None = None
    epochs: int | None = None
    seconds: float | None = None
    steps_per_epoch: int | None = None

    def __post_init__(self) -> None:
        raise_if_any("fixed checkpoint interval", self._problems())

    def _problems(self) -> list[Problem]:
        given = {"steps": self.steps, "epochs": self.epochs, "seconds": self.seconds}
        chosen = {key: value for key, value in given.items() if value is not None}
        problems: list[Problem] = []
        if len(chosen) != 1:
            found = " and ".join(chosen) or "none"
            problems.append(
                Problem(
                    "Every",
                    None,
                    f"takes exactly one of steps, epochs and seconds, {found} given",
                    "give one, for example Every(steps=500)",
                )
            )
        whole = {**chosen, "steps_per_epoch": self.steps_per_epoch}
        for key, value in whole.items():
            kinds = (int, float) if key == "seconds" else int
            good = isinstance(value, kinds) and not isinstance(value, bool) and 0 < value < inf
            if value is not None and not good:
                kind = "a number" if key == "seconds" else "a whole number"
                problems.append(Problem(key, value, f"must be {kind} above 0", "give one"))
        if (self.epochs is None) != (self.steps_per_epoch is None):
            problems.append(
                Problem(
                    "steps_per_epoch",
                    self.steps_per_epoch,
                    "goes with epochs, and epochs with it",
                    "give both, for example Every(epochs=1, steps_per_epoch=len(loader))",
                )
            )
        return problems

    @property
    def in_steps(self) -> int | None:
        """The interval in steps, None for one in seconds."""
        if self.epochs is not None and self.steps_per_epoch is not None:
            return self.epochs * self.steps_per_epoch
        return self.steps

    def __str__(self) -> str:
        if self.seconds is not None:
            return f"{self.seconds:g} s"
        many = self.epochs if self.epochs is not None else self.steps
        unit = "epoch" if self.epochs is not None else "step"
        return f"{many} {unit}{'s' if many != 1 else ''}"
