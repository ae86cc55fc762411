"""Whether a command of a page can be typed: what it names exists. It is not run.

Programs, subcommands, flags, make targets, stacks, files and folders are looked up in the thing
itself: the Makefile, the sources of a module, the help of the engine. For programs of others there
is a table (`foreign_commands.yaml`).
"""

import contextlib
import io
import re
import shlex
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import typer
import yaml

from sandbox import stacks
from sandbox.cloud import __main__ as cloud
from spotproof_gke.commands import line
from tests.docs.installs import in_checkout, pip_problems
from tests.docs.pages import ROOT

HelpOf = Callable[[tuple[str, ...]], str]
"""What `pulumi WORDS --help` prints."""

_SEPARATORS = {"&&", "||", "|", ";"}
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*", re.S)
_WRITTEN_BY_THE_READER = {"exceptions.json", "policy-config.json", "state.json"}
_FILTERS = {"head", "tail", "grep"}
_VARIABLES = {"STACK", "ARGS", "YES", "FILE", "LEVELS", "PYTHON"}
_PULUMI_TARGETS = {"up", "preview", "refresh", "destroy", "policy"}
_MODULE_TARGETS = {"bench": "bench", "drill": "sandbox.drill", "recover": "sandbox.recovery"}


@cache
def _foreign() -> dict[str, list[str]]:
    text = (Path(__file__).parent / "foreign_commands.yaml").read_text(encoding="utf-8")
    return {name: entry.get("flags", []) for name, entry in yaml.safe_load(text).items()}


@cache
def _targets() -> set[str]:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    lines = re.findall(r"^([a-z][a-z -]*):.*## ", makefile, flags=re.M)
    return {name for names in lines for name in names.split()}


def problems(text: str, help_of: HelpOf, folder: Path = ROOT) -> list[str]:
    """What is wrong with a line of shell, in words; a `cd` counts for what follows it in the line.

    Args:
        text: The line, with its pipes and substitutions.
        help_of: Asks the engine.
        folder: Where it is typed.
    """
    found: list[str] = []
    for words in _simple(text):
        if words[0] == "cd":
            folder = folder / words[1]
            found += [] if folder.is_dir() else [f"there is no folder {words[1]}"]
            continue
        found += _problems_of(words, help_of, folder)
    return found


def folder_after(text: str, folder: Path) -> Path:
    """Where a shell is after a line."""
    for words in _simple(text):
        folder = folder / words[1] if words[0] == "cd" else folder
    return folder


def _simple(text: str) -> Iterator[list[str]]:
    """The simple commands of a line, without assignments in front and without redirections."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars="&|;<>")
    lexer.whitespace_split = True
    words: list[str] = []
    skip = False
    for word in [*lexer, ";"]:
        if word in _SEPARATORS:
            while words and _ASSIGNMENT.fullmatch(words[0]):
                words.pop(0)
            if words:
                yield words
            words = []
        elif skip or set(word) <= {"<", ">"}:
            skip = not skip
        else:
            words.append(word)


def _problems_of(words: list[str], help_of: HelpOf, folder: Path) -> list[str]:
    program, rest = words[0], words[1:]
    if program in _FILTERS:
        return []
    name = program.rpartition("/")[2]
    if program == "eval":
        return problems(rest[0].removeprefix("$(").removesuffix(")"), help_of, folder)
    if program == ".":
        return [] if rest[0].endswith("/bin/activate") else [f"{rest[0]} activates nothing"]
    if name == "make":
        return _make(rest, help_of)
    if name == "pulumi":
        return _pulumi(rest, help_of)
    if name == "pip":
        return pip_problems(rest, folder)
    if name in ("python", "python3"):
        return _module(rest, folder)
    if name == "spotproof":
        return _spotproof(rest)
    return _foreign_problems(words)


def _make(words: list[str], help_of: HelpOf) -> list[str]:
    given = dict(word.partition("=")[::2] for word in words if "=" in word)
    targets = [word for word in words if "=" not in word and word != "-s"]
    found = [f"there is no target {name}" for name in targets if name not in _targets()]
    found += [f"make knows no {name}" for name in given if name not in _VARIABLES]
    stack = given.get("STACK", "sandbox")
    found += [] if stack in ("…", *stacks.names()) else [f"there is no stack {stack}"]
    levels = given.get("LEVELS", "dev")
    if (
        levels not in _WRITTEN_BY_THE_READER
        and not (ROOT / "policies" / "levels" / f"{levels}.json").is_file()
    ):
        found.append(f"there are no levels {levels}")
    further = shlex.split(given.get("ARGS", ""))
    for target in targets if further else []:
        if target in _PULUMI_TARGETS:
            found += _pulumi([target.replace("policy", "preview"), *further], help_of)
        elif target in _MODULE_TARGETS:
            found += _module(["-m", _MODULE_TARGETS[target], *further], ROOT)
        else:
            found.append(f"{target} takes no ARGS that a test knows")
    return found


def _pulumi(words: list[str], help_of: HelpOf) -> list[str]:
    leading: list[str] = []
    for word in words:
        if word.startswith("-") or ":" in word or "/" in word:
            break
        leading.append(word)
    shown = help_of(tuple(leading))
    usage = re.search(r"^Usage:\n +pulumi ?(.*)$", shown, flags=re.M)
    if usage is None:
        return [f"pulumi knows no {' '.join(leading)}"]
    signature = usage[1].split()
    command = [word for word in signature if re.fullmatch(r"[a-z][a-z-]*", word)]
    aliases = re.search(r"^Aliases:\n +(.*)$", shown, flags=re.M)
    if aliases and leading[len(command) - 1] in aliases[1].split(", "):
        command[-1] = leading[len(command) - 1]
    takes = [word for word in signature if word not in (*command, "[flags]", "[command]")]
    if leading[: len(command)] != command:
        return [f"pulumi {' '.join(leading)}: it is `pulumi {usage[1]}`"]
    if len(leading) > len(command) and not takes:
        return [f"pulumi {' '.join(command)} takes no {leading[len(command)]}"]
    found = _flags(words[len(command) :], shown)
    for before, path in pairwise(words):
        if path.isupper():  # A word for the reader to replace.
            continue
        if before == "--policy-pack" and not in_checkout(path, ROOT).is_dir():
            found.append(f"there is no policy pack {path}")
    return found


def _flags(words: list[str], shown: str) -> list[str]:
    known = set(re.findall(r"(?<![\w-])(--?[A-Za-z][\w-]*)", shown))
    flags = [word.partition("=")[0] for word in words if re.fullmatch(r"--?[A-Za-z].*", word)]
    return [f"there is no flag {flag}" for flag in flags if flag not in known]


def _module(words: list[str], folder: Path) -> list[str]:
    if words[0] != "-m":
        return [] if (folder / words[0]).is_file() else [f"there is no {words[0]}"]
    module, rest = words[1], words[2:]
    if module in ("venv", "pip"):
        return [] if module == "venv" else pip_problems(rest, folder)
    if module == "pytest":
        paths = [word for word in rest if "/" in word]
        return [f"there is no {one}" for one in paths if not (folder / one).exists()]
    places = [folder, *(ROOT / project for project in ("gke", "components", "runtime"))]
    paths = [place / module.replace(".", "/") for place in places]
    there = [one for one in paths if one.is_dir() or one.with_suffix(".py").is_file()]
    if not there:
        return [f"there is no module {module} in {folder.name}"]
    path = there[0]
    if module == "sandbox.cloud":
        return _emulated_cloud(rest)
    if not any(word.startswith("-") for word in rest):
        return []
    sources = sorted(path.rglob("*.py")) if path.is_dir() else [path.with_suffix(".py")]
    return _flags(rest, "".join(source.read_text(encoding="utf-8") for source in sources))


def _emulated_cloud(words: list[str]) -> list[str]:
    """What the command's own parser says; on no sandbox's folder it does nothing else."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        try:
            cloud.main(["--sandbox", "/nowhere", *words])
        except SystemExit:
            return [said.getvalue().strip().splitlines()[-1]]
    return []


def _spotproof(words: list[str]) -> list[str]:
    """What the command's own definition says."""
    group: Any = typer.main.get_command(line.application())
    name = words[0] if words else "--help"
    if name.startswith("-"):
        return []
    if name not in group.commands:
        return [f"spotproof knows no {name}"]
    flags = {
        flag for one in group.commands[name].params for flag in (*one.opts, *one.secondary_opts)
    }
    return _flags(words[1:], " ".join(flags | {"-h", "--help"}))


def _foreign_problems(words: list[str]) -> list[str]:
    words = [words[0].rpartition("/")[2], *words[1:]]
    names = [name for name in _foreign() if words[: len(name.split())] == name.split()]
    if not names:
        return [f"`{' '.join(words)}` is in no table of what may be called"]
    name = max(names, key=len)
    flags = [word.partition("=")[0] for word in words if re.match(r"--?[A-Za-z]", word)]
    return [f"{name} has no flag {flag}" for flag in flags if flag not in _foreign()[name]]
