"""What a shell does with a script: whether it puts the last program in its own place.

A shell that is process 1 passes no signal on. `exec` puts the program in its place, and some shells
do so by themselves for the last command. Measured on 2026-11-30 with what Debian 12 ships: bash 5.2
replaces itself by the last command when that is simple and without redirection, BusyBox 1.35 ash
also with one, dash 0.5.12 never. Older versions of bash do so for a single command (since long) and
at the end of a `&&` list (4.4), but at the end of a `;` list only since 5.1, which images still in
use do not have. `sh` is any of the three.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from spotproof_gke.rules.shell_words import REDIRECTION, WORD, tokens

_QUICK = """: [ [[ cat cd chmod chown cp date declare echo env exit export false hostname local ls
mkdir mv printenv printf pwd read return rm set shift sleep tail test touch trap true ulimit umask
unset wait"""
QUICK = frozenset(_QUICK.split())
"""Commands that have nothing to save when they are stopped."""

REPLACED_AT_THE_END = ("ash", "ksh", "mksh", "zsh")
"""Shells that put the last simple command in their own place, whatever stands before it."""

_UNSEEN = (".", "source", "eval")
_ASSIGNMENT = re.compile(r"^[A-Za-z_]\w*\+?=")
_CLOSED_BY = {
    "if": "fi",
    "case": "esac",
    "for": "done",
    "select": "done",
    "while": "done",
    "until": "done",
    "{": "}",
}
_GO_ON = ("then", "do", "else", "elif")
_NEGATIONS = ("!", "time")


@dataclass
class Command:
    """A simple command; or the end of a compound one, which has no words.

    Attributes:
        words: Its words, assignments in front of it left out.
        depth: How many compound commands it stands in.
        before: The operator in front of it, "" for the first.
        after: The operator behind it, "" for the last.
        redirected: Whether a redirection belongs to it.
        negated: Whether `!` or `time` stands in front of it.
        is_end: Whether it stands for a compound command that ends here.
    """

    words: list[str] = field(default_factory=list)
    depth: int = 0
    before: str = ""
    after: str = ""
    redirected: bool = False
    negated: bool = False
    is_end: bool = False

    @property
    def is_aside(self) -> bool:
        """Whether a process of its own runs it: in a pipeline or in the background."""
        return self.before in ("|", "|&") or self.after in ("|", "|&", "&")

    @property
    def program(self) -> Sequence[str]:
        """The program with its arguments: what follows `exec`, when it is that."""
        if self.words[:1] != ["exec"]:
            return self.words
        rest = self.words[1:]
        while rest and rest[0].startswith("-"):
            rest = rest[2 if rest[0] == "-a" else 1 :]
        return rest

    @property
    def replaces(self) -> bool:
        """Whether it puts a program in the place of the shell."""
        return self.words[:1] == ["exec"] and bool(self.program) and not self.is_aside

    @property
    def is_real(self) -> bool:
        """Whether it is a program that could have something to save."""
        return bool(self.program) and self.program[0].rsplit("/", 1)[-1] not in QUICK


def shell_stays(shell: str, script: str) -> bool:
    """Whether a shell stays in front of the program that a script is there for.

    A script without any such program is in order, and so is one that traps SIGTERM, or whose end is
    taken from elsewhere (`source`, `eval`).

    Args:
        shell: The shell's name without its directory, for example `bash`.
        script: What stands behind `-c`.
    """
    commands = list(_commands(script))
    real = [command for command in commands if command.is_real]
    if not real or any(_traps_term(command.words) for command in commands):
        return False
    for command in commands:
        if command.replaces and not command.depth and command.before in ("", ";", "\n"):
            return not command.is_real
    last = commands[-1]
    if last.replaces and not last.depth:
        return not last.is_real
    if last.is_end:
        return last.is_aside or not any(command.replaces for command in commands)
    if last.words[0] in _UNSEEN:
        return False
    return not _is_replaced(shell, last, commands)


def _is_replaced(shell: str, last: Command, commands: Sequence[Command]) -> bool:
    """Whether a shell puts the last command in its own place without `exec`."""
    if last.depth or last.is_aside or last.negated or not last.is_real:
        return False
    if shell in REPLACED_AT_THE_END:
        return True
    chained = all(each.before in ("", "&&", "||") and not each.is_end for each in commands)
    trapped = any(each.words[:1] == ["trap"] for each in commands)
    return shell == "bash" and chained and not trapped and not last.redirected


def _traps_term(words: Sequence[str]) -> bool:
    if words[:1] != ["trap"] or len(words) < 3 or words[1] in ("", "-"):
        return False
    return any(word.upper() in ("TERM", "SIGTERM", "15") for word in words[2:])


class _Reader:
    """Turns tokens into commands."""

    def __init__(self) -> None:
        self.closers: list[str] = []
        self.now = Command()
        # Between `for` and `do`, and before each `)` of a `case`, stand words that are no commands.
        self.header = ""

    def _begin(self, before: str, is_end: bool = False) -> None:
        self.now = Command(depth=len(self.closers), before=before, is_end=is_end)

    def finish(self, after: str) -> Iterator[Command]:
        """The command read so far, if there is one, and a new one after the operator `after`."""
        if self.now.words or (self.now.is_end and not self.now.depth):
            self.now.after = after
            yield self.now
            self._begin(after)
        elif after != "\n":
            self._begin(after)

    def word(self, token: str) -> None:
        """Take the next word."""
        if self.header and token not in ("esac", "do"):
            return
        if self.now.words:
            self.now.words.append(token)
        elif token in _CLOSED_BY:
            self.closers.append(_CLOSED_BY[token])
            self.header = {"case": ")", "for": "do", "select": "do"}.get(token, "")
            self._begin(self.now.before)
        elif self.closers and token == self.closers[-1]:
            self.header = ""
            self.closers.pop()
            self._begin(self.now.before, is_end=True)
        elif token in _GO_ON:
            self.header = ""
        elif token in _NEGATIONS:
            self.now.negated = True
        elif not _ASSIGNMENT.match(token):
            self.now.words.append(token)

    def operator(self, token: str) -> Iterator[Command]:
        """Take the next operator."""
        if self.header:
            if token == self.header:
                self.header = ""
                self._begin("")
        elif token == "(":
            self.closers.append(")")
            self._begin(self.now.before)
        elif token == ")" and self.closers[-1:] == [")"]:
            yield from self.finish(";")
            self.closers.pop()
            self._begin(";", is_end=True)
        else:
            yield from self.finish(token)
            if token.startswith(";") and len(token) > 1 and self.closers[-1:] == ["esac"]:
                self.header = ")"


def _commands(script: str) -> Iterator[Command]:
    """The simple commands of a script, in its order, and the ends of outermost compound ones."""
    reader = _Reader()
    for kind, token in tokens(script):
        if kind == WORD:
            reader.word(token)
        elif kind == REDIRECTION:
            reader.now.redirected = True
        else:
            yield from reader.operator(token)
    yield from reader.finish("")
