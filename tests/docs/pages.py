"""The Markdown pages of the project, their fenced blocks, and the commands in those."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_FOLDERS = ("docs", "gke", "components", "policies", "runtime", "sandbox", "examples", ".github")
_NOT_OURS = {".venv", ".venv-torch", "node_modules", "build", "dist"}
_FENCE = re.compile(
    r"^(?P<indent> *)```(?P<language>[\w-]*)[^\n`]*\n(?P<text>.*?)^ *``` *$", re.M | re.S
)
_DECIMAL = re.compile(r"\d+\\?\.\d+")


@dataclass(frozen=True)
class Command:
    """A command as a person types it, and what the page shows of its output."""

    text: str
    output: str


@dataclass(frozen=True)
class Block:
    """A fenced block, without the indentation of a list around it."""

    page: str
    """Path of its page in the project."""

    number: int
    """How many blocks stand before it in its page."""

    language: str
    text: str

    @property
    def id(self) -> str:
        return f"{self.page}-{self.number}"

    @property
    def first(self) -> str:
        """Its first line, by which it is called elsewhere."""
        return self.text.partition("\n")[0].strip()

    def commands(self) -> list[Command]:
        """The commands of a block of `console` (after `$ `) or `sh` (each line)."""
        if self.language == "sh":
            return [Command(line, "") for line in re.sub(r"\\\n", "", self.text).splitlines()]
        found: list[Command] = []
        typed: list[str] = []
        shown: list[str] = []
        for line in self.text.splitlines():
            if line.startswith("$ "):
                if typed:
                    found.append(_command(typed, shown))
                typed, shown = [line[2:]], []
            elif typed and not shown and (line.startswith("> ") or typed[-1].endswith("\\")):
                typed.append(line.removeprefix("> "))
            else:
                shown.append(line)
        return [*found, _command(typed, shown)] if typed else found


def _command(typed: list[str], shown: list[str]) -> Command:
    return Command("\n".join(typed), "".join(f"{line}\n" for line in shown))


@cache
def pages() -> tuple[Path, ...]:
    """Every page of the project, those that are generated too."""
    found = set(ROOT.glob("*.md"))
    for folder in _FOLDERS:
        found |= {
            page
            for page in (ROOT / folder).rglob("*.md")
            if not _NOT_OURS.intersection(page.relative_to(ROOT).parts)
        }
    return tuple(sorted(found))


@cache
def blocks() -> tuple[Block, ...]:
    """Every fenced block of every page."""
    return tuple(block for page in pages() for block in _blocks_of(page))


def block(page: str, first: str) -> Block:
    """The only block of a page that begins with this line."""
    (found,) = [one for one in blocks() if (one.page, one.first) == (page, first)]
    return found


def prose(page: Path) -> str:
    """The text of a page without its blocks."""
    return _FENCE.sub("", page.read_text(encoding="utf-8"))


def inline_commands() -> list[tuple[str, str]]:
    """Page and text of each command that a sentence names, with at least one word after it."""
    command = re.compile(r"`((?:pulumi|make|spotproof|gcloud|kubectl|git|pip) [^`]+)`")
    return [
        (str(page.relative_to(ROOT)), text)
        for page in pages()
        for text in dict.fromkeys(command.findall(prose(page)))
    ]


def _blocks_of(page: Path) -> Iterator[Block]:
    name = str(page.relative_to(ROOT))
    for number, match in enumerate(_FENCE.finditer(page.read_text(encoding="utf-8"))):
        text = re.sub(rf"^{match['indent']}", "", match["text"], flags=re.M)
        yield Block(name, number, match["language"], text)


def came(shown: str, output: str) -> bool:
    """Whether an output is what a page shows.

    A line `…` in the page stands for any lines, `…` in a line for any text. Figures with a decimal
    point differ from run to run, and so may the width of blank space.
    """
    parts = [
        r"(?:.*\n)*?"
        if line == "…"
        else _DECIMAL.sub(r"[\\d.]+", re.escape(line)).replace("…", ".*?") + r"\n"
        for line in _squeezed(shown)
    ]
    text = "".join(f"{line}\n" for line in _squeezed(output))
    return re.fullmatch("".join(parts), text) is not None


def _squeezed(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.rstrip().splitlines()]
