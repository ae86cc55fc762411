"""The words and operators of a shell script, as far as a reader needs them who runs nothing.

Source: POSIX.1-2017, Shell Command Language, 2.2 to 2.7 (quoting, tokens, redirection).
"""

import re
from collections.abc import Iterator, Sequence

WORD, OPERATOR, REDIRECTION = "word", "operator", "redirection"

_TOKEN = re.compile(
    r"(?P<blank>(?:[ \t\r]|\\\n)+|(?<![^\s;&|()])#[^\n]*)"
    r"|(?P<redirection>&>>?|\d*(?:<<<|<<-?|<>|>>|>\||[<>]&?(?!\()))"
    r"|(?P<operator>;;&?|;&|&&|\|\||\|&|[;&|\n()])"
)
_EXPANSIONS = {"(": ")", "{": "}"}


def tokens(script: str) -> Iterator[tuple[str, str]]:
    """Each token with its kind; words without their quotes, without what redirections name."""
    at, target_follows = 0, False
    documents: list[str] = []
    while at < len(script):
        found = _TOKEN.match(script, at)
        if found is None:
            word, at = _word(script, at)
            if not target_follows:
                yield WORD, word
            target_follows = False
            continue
        at, kind, token = found.end(), str(found.lastgroup), found.group()
        if kind == REDIRECTION:
            target_follows = True
            if token.endswith(("<<", "<<-")):
                blank = re.compile(r"[ \t]*").match(script, at)
                documents.append(_word(script, blank.end() if blank else at)[0])
        elif token == "\n":
            at = _after_documents(script, at, documents)
            documents = []
        if kind != "blank":
            yield kind, token


def _after_documents(script: str, at: int, ends: Sequence[str]) -> int:
    for word in ends:
        end = re.compile(rf"^\t*{re.escape(word)}$", re.MULTILINE).search(script, at)
        at = end.end() if end else len(script)
    return at


def _word(script: str, at: int) -> tuple[str, int]:
    """The word at a place, and where it ends."""
    said, start = [], at
    while at < len(script):
        letter, next_ = script[at], script[at + 1 : at + 2]
        if letter == "\\":
            said.append(next_.strip("\n"))
            at += 2
        elif letter in "'\"`":
            end = _closing(script, at + 1, letter)
            said.append(script[at + 1 : end])
            at = end + 1
        elif (letter == "$" and next_ in _EXPANSIONS) or (letter in "<>" and next_ == "("):
            end = _closing(script, at + 2, _EXPANSIONS[next_])
            said.append(script[at : end + 1])
            at = end + 1
        elif letter in " \t\r\n;&|()<>" and at > start:
            break
        else:
            said.append(letter)
            at += 1
    return "".join(said), at


def _closing(script: str, at: int, mark: str) -> int:
    """Where a quotation or an expansion ends, its mark included; those inside it end before."""
    marks = [mark]
    while at < len(script):
        letter, next_, mark = script[at], script[at + 1 : at + 2], marks[-1]
        if letter == mark:
            marks.pop()
            if not marks:
                return at
        elif letter == "\\" and mark != "'":
            at += 1
        elif mark != "'" and letter == "$" and next_ in _EXPANSIONS:
            marks.append(_EXPANSIONS[next_])
            at += 1
        elif mark in ")}" and letter in "'\"`":
            marks.append(letter)
        at += 1
    return len(script)
