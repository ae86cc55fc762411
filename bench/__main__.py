"""`python -m bench`: measures, and prints a table. A goal that is missed is no failure."""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench import report
from bench.cases import CASES
from bench.setting import SMALL, Setting, Sizes
from bench.timing import BenchError, adopt_orphans
from sandbox.emulated import EmulatedError
from sandbox.engine import EngineError, ensure
from sandbox.progress import heartbeat, say

USERS_ERRORS = (BenchError, EmulatedError, EngineError)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the benchmark; 1 when it cannot measure, 0 also where a goal is missed."""
    options = _parser().parse_args(arguments)
    if options.json and not options.json.parent.is_dir():
        print(f"error: --json {options.json}: there is no such folder; make it", file=sys.stderr)
        return 1
    try:
        with tempfile.TemporaryDirectory(prefix="spotproof-bench-") as folder:
            _run(options, Path(folder))
    except USERS_ERRORS as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    return 0


def _run(options: argparse.Namespace, folder: Path) -> None:
    engine = ensure()
    where = report.machine(engine.version)
    if not adopt_orphans():
        say("  CPU times miss plugins that outlive their engine: this system is no Linux")
    rows: list[report.Row] = []
    for name in options.only or CASES:
        (folder / name).mkdir()
        setting = Setting(
            engine,
            folder / name,
            options.runs,
            SMALL if options.small else Sizes(),
            warm=not options.small,
        )
        with heartbeat(name, "", every_seconds=3600):
            measured = CASES[name](setting)
        # A run takes long, and one that is broken off has told what it knows.
        say(f"\n{report.table(measured)}\n")
        rows += measured
    print(f"\n{report.table(rows)}\n\n{where}")
    if options.small:
        print("Small stacks: this shows that the benchmark works, and measures nothing.")
    missed = [row.name for row in rows if row.verdict == "MISSED"]
    print(f"goals missed: {len(missed)}" + "".join(f"\n  - {name}" for name in missed))
    if options.json:
        options.json.write_text(report.as_json(rows, where))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--only", action="append", choices=list(CASES), help="may be repeated")
    parser.add_argument("--runs", type=_positive, default=5, help="of each side (default: 5)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure there too")
    parser.add_argument("--small", action="store_true", help="small stacks, to try it out")
    return parser


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r}: a whole number from 1 on is wanted")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
