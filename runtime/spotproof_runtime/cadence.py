"""What decides when a save is due."""

from typing import Protocol


class Cadence(Protocol):
    """Decides when a save is due. `SaveInterval` is the real one."""

    def due(self, step: int, now: float | None = None) -> bool:
        """Whether to save after `step`."""
        ...

    def saved(self, blocking_seconds: float) -> None:
        """A save has let go of the work."""
        ...

    def failed(self) -> None:
        """A save has failed."""
        ...

    def restored(self, seconds: float) -> None:
        """The state is there and the work begins."""
        ...

    def interrupted(self, landed: bool = False, working: bool = True) -> None:
        """A life has ended before its work was done."""
        ...
