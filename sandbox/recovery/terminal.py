"""Questions to the person at the terminal."""

import sys


class Terminal:
    """Standard input and standard error; answers are those of a person, or there are none."""

    @property
    def interactive(self) -> bool:
        return sys.stdin.isatty() and sys.stderr.isatty()

    def confirm(self, question: str) -> bool:
        """Only a yes is one."""
        return self.text(f"{question} [y/N] ").lower() in ("y", "yes")

    def text(self, question: str) -> str:
        """One line, without spaces at its ends; empty at the end of the input."""
        print(question, end="", file=sys.stderr, flush=True)
        return sys.stdin.readline().strip()
