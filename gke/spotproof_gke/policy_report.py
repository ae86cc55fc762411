"""`python -m spotproof_gke.policy_report EVENTS`: a run's violations as SARIF and as Markdown.

EVENTS are what the engine writes; `spotproof_gke.policy_events` says which commands do.

    $ pulumi policy analyze --json --file state.json --policy-pack PACK > events.jsonl
    $ python -m spotproof_gke.policy_report events.jsonl --sarif policies.sarif

Exit codes: 0 the report is written; 1 it cannot be; 3 it is written, and the run ended before all
policies had judged, so that a violation may be missing. Whether a violation fails a pipeline is the
engine's affair: its own exit code says so.
"""

import argparse
import importlib.util
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from spotproof_gke.policy_events import EventsError, Judgement, Violation, read
from spotproof_gke.sarif import PolicyFacts, sarif

NOT_WHOLE = 3
_SOURCES = (".py", ".ts", ".js", ".go", ".cs", ".java", ".yaml", ".yml", ".tf", ".pp")
_NOT_OURS = ("node_modules", "venv", "site-packages", "__pycache__", "vendor")
_LARGEST_BYTES = 1_000_000
_MOST_ROWS = 100
_LONGEST_CELL = 400
_LONGEST_TABLE = 60_000
"""A comment on GitHub holds 65,536 characters."""


class ReportError(Exception):
    """The report cannot be written; the text says why and what to do."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the reports; see the module for the exit codes."""
    options = _parser().parse_args(arguments)
    if not (options.sarif or options.markdown):
        _parser().error("say what to write: --sarif FILE, --markdown FILE, or both")
    try:
        judgement = read(_lines(options.events))
        facts = dict(_facts(options.policy_pack))
        shown = _without_excepted(judgement) if options.leave_out_excepted else judgement
        if options.sarif:
            places = Places(options.program, options.project_file)
            log = sarif(shown, places, facts, options.category)
            _write(options.sarif, json.dumps(log, indent=2) + "\n")
        if options.markdown:
            _write(options.markdown, markdown(judgement, facts))
    except (ReportError, EventsError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if not judgement.whole:
        print("note: the run ended before all policies had judged", file=sys.stderr)
        return NOT_WHOLE
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m spotproof_gke.policy_report",
        description="Writes what policy packs found as SARIF and as Markdown.",
    )
    parser.add_argument("events", help="the engine's JSON events, one a line; - for standard input")
    parser.add_argument("--sarif", metavar="FILE", help="write SARIF 2.1.0; - for standard output")
    parser.add_argument("--markdown", metavar="FILE", help="write a table, such as for a comment")
    parser.add_argument(
        "--policy-pack", metavar="DIR", action="append", default=[], type=Path,
        help="a pack that ran: its policies' titles, remediation and pages; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--program", metavar="DIR", type=Path,
        help="the program: a result is shown at the only line that quotes the resource's name",
    )  # fmt: skip
    parser.add_argument(
        "--project-file", metavar="FILE", default="Pulumi.yaml",
        help="where all other results are shown (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--category", default="", help="tells several stacks apart, such as the stack's name"
    )
    parser.add_argument(
        "--leave-out-excepted", action="store_true",
        help="leave excepted violations out of the SARIF, for services that show suppressed ones",
    )  # fmt: skip
    return parser


class Places:
    """Where a violation is shown: at the only line of the program that quotes its resource.

    Args:
        program: the program's folder, or None to show all at the project file.
        project_file: the project file, relative to the repository.
    """

    def __init__(self, program: Path | None, project_file: str) -> None:
        self._default = (Path(project_file).as_posix(), 1)
        self._lines: list[tuple[str, int, str]] = []
        if program is None:
            return
        if not program.is_dir():
            raise ReportError(f"--program {program}: there is no such folder")
        for file in sorted(_sources(program)):
            text = file.read_text(encoding="utf-8", errors="replace")
            for number, line in enumerate(text.splitlines(), start=1):
                self._lines.append((_from_here(file), number, line))

    def __call__(self, violation: Violation) -> tuple[str, int]:
        """The file, relative to the repository, and the line from 1 on."""
        name = re.escape(violation.resource)
        if not name:
            return self._default
        # A quoted string, or a key of YAML.
        quoted = re.compile(rf"""["'`]{name}["'`]|^\s*{name}:\s*$""")
        found = [(file, number) for file, number, line in self._lines if quoted.search(line)]
        return found[0] if len(found) == 1 else self._default


def _from_here(file: Path) -> str:
    """Where a file is in the repository, whose root is the working directory."""
    here = Path.cwd()
    absolute = file.resolve()
    return (absolute.relative_to(here) if absolute.is_relative_to(here) else file).as_posix()


def _sources(folder: Path) -> Iterator[Path]:
    for file in folder.rglob("*"):
        inside = file.relative_to(folder).parts
        hidden = any(part.startswith(".") or part in _NOT_OURS for part in inside)
        is_source = file.suffix in _SOURCES and not file.name.startswith("Pulumi")
        if is_source and not hidden and file.is_file() and file.stat().st_size <= _LARGEST_BYTES:
            yield file


def markdown(judgement: Judgement, facts: Mapping[str, PolicyFacts]) -> str:
    """A heading, the number of violations and a table of them, worst first."""
    shown = sorted(judgement.violations, key=lambda one: (not one.fails, one.pack, one.policy))
    failing = sum(one.fails for one in shown)
    ran = ", ".join(f"{name} {version}" for name, version in sorted(judgement.packs.items()))
    if not judgement.whole:
        result = "**The run ended before all policies had judged.**"
    elif not shown:
        result = "Nothing was found."
    else:
        result = f"Findings: {len(shown)}, of which {failing} fail the run."
    parts = ["### Policies", f"{result} Packs: {ran or 'none'}."]
    if shown:
        rows = [_row(one, facts.get(one.policy)) for one in shown[:_MOST_ROWS]]
        while sum(map(len, rows)) > _LONGEST_TABLE:
            rows.pop()
        head = ["| level | policy | resource | finding |", "| --- | --- | --- | --- |"]
        parts.append("\n".join([*head, *rows]))
        if len(rows) < len(shown):
            parts.append(f"… and {len(shown) - len(rows)} more")
    return "\n\n".join(parts) + "\n"


def _row(one: Violation, facts: PolicyFacts | None) -> str:
    policy = f"[{one.policy}]({facts.url})" if facts and facts.url else _cell(one.policy)
    resource = f"{_cell(one.type)} {_cell(one.resource)}".strip() or "the stack"
    reasons = [f"{name}: {reason}" for name, reason in one.exceptions]
    level = f"excepted ({_cell('; '.join(reasons))})" if reasons else _cell(one.level)
    return f"| {level} | {policy} | {resource} | {_cell(one.message)} |"


def _cell(text: str) -> str:
    """Text that stays text, and in its cell."""
    line = " ".join(text.split())
    if len(line) > _LONGEST_CELL:
        line = f"{line[:_LONGEST_CELL]} …"
    return re.sub(r"([\\`*_{}\[\]<>|@#!~])", r"\\\1", line)


def _without_excepted(judgement: Judgement) -> Judgement:
    kept = tuple(one for one in judgement.violations if not one.exceptions)
    return Judgement(judgement.packs, kept, judgement.whole)


def _facts(packs: Sequence[Path]) -> Iterator[tuple[str, PolicyFacts]]:
    for pack in packs:
        for policy in _policies(pack):
            yield (
                policy.name,
                PolicyFacts(
                    title=policy.display_name or "",
                    rule=policy.description or "",
                    remediation=policy.remediation_steps or "",
                    url=policy.url or "",
                    severity=policy.severity.value if policy.severity else "",
                    level=policy.enforcement_level.value if policy.enforcement_level else "",
                    tags=tuple(policy.tags or ()),
                ),
            )


def _policies(pack: Path) -> Sequence[Any]:
    """The list `POLICIES` of a pack's `policy.py`, as our packs have it."""
    file = pack / "policy.py"
    if not file.is_file():
        raise ReportError(f"--policy-pack {pack}: there is no policy.py with the list POLICIES")
    spec = importlib.util.spec_from_file_location(f"policy_of_{pack.name}", file)
    if spec is None or spec.loader is None:
        raise ReportError(f"--policy-pack {pack}: policy.py cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except ImportError as error:
        raise ReportError(
            f"--policy-pack {pack}: {error}. Run this with the Python of the pack's virtualenv"
        ) from None
    except Exception as error:  # The pack may be another's, and may do anything.
        what = f"{type(error).__name__}: {error}"
        raise ReportError(f"--policy-pack {pack}: policy.py cannot be loaded: {what}") from None
    if not hasattr(module, "POLICIES"):
        raise ReportError(f"--policy-pack {pack}: policy.py has no list POLICIES")
    return module.POLICIES


def _lines(events: str) -> list[str]:
    try:
        if events == "-":
            return sys.stdin.read().splitlines()
        return Path(events).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ReportError(f"{events}: {_reason(error)}") from None


def _write(file: str, text: str) -> None:
    if file == "-":
        sys.stdout.write(text)
        return
    try:
        Path(file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise ReportError(f"{file}: {_reason(error)}") from None


def _reason(error: OSError | UnicodeDecodeError) -> str:
    if isinstance(error, FileNotFoundError):
        return "there is no such file or folder"
    return error.strerror or str(error) if isinstance(error, OSError) else "this is no UTF-8"


if __name__ == "__main__":
    sys.exit(main())
