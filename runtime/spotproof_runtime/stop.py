"""What a program may ask about its end, and the error that ends it early."""

from typing import Protocol

from spotproof_gke.contract import EXIT_HOPELESS, EXIT_INTERRUPTED


class Stop(Protocol):
    """Whether and when the program must end. `Interruption` is the real one."""

    @property
    def requested(self) -> bool:
        """Whether the program was told to end."""
        ...

    def remaining(self) -> float:
        """Seconds until the program must have ended; `math.inf` while no end is known."""
        ...

    def wait(self, seconds: float) -> bool:
        """Sleeps, but not beyond a request to end; returns `requested`."""
        ...


class Interrupted(SystemExit):
    """The program ends before its work is done.

    Attributes:
        code: the exit code of the process, 143 unless said otherwise.
    """

    def __init__(self, code: int = EXIT_INTERRUPTED) -> None:
        super().__init__(code)


class Hopeless(SystemExit):
    """No retry can help: the process exits with 42 and a Job fails at once.

    `Interruption` prints the message when its block is left by it.

    Attributes:
        code: the exit code of the process, 42.
        message: what is wrong and what to do.
    """

    def __init__(self, message: str) -> None:
        super().__init__(EXIT_HOPELESS)
        self.message = message

    def __str__(self) -> str:
        return self.message
