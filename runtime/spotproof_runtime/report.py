"""`python -m spotproof_runtime.report EVENTS...`: what a run has done with its time.

EVENTS are files of JSON lines, for example logs of the pods of a Job; `-` is standard input.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from spotproof_gke.problems import Problem, ProblemsError
from spotproof_runtime.event_files import read_files
from spotproof_runtime.goodput import Figures, figures
from spotproof_runtime.report_html import html
from spotproof_runtime.report_text import text


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code: 0, or 1 when the files can't be reported on."""
    options = _parser().parse_args(arguments)
    try:
        found = figures(read_files(options.events).of_run(options.run))
        _write(found, options.html, options.json)
    except ProblemsError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _write(found: Figures, html_file: str | None, as_json: bool) -> None:
    if html_file is not None:
        try:
            # The names of folders, and so of runs, need not be text.
            page = html(found).encode(errors="backslashreplace")
            Path(html_file).write_bytes(page)
        except OSError as error:
            raise ProblemsError(
                "report",
                [
                    Problem(
                        "--html", html_file, f"can't be written: {error.strerror}", "name a file"
                    )
                ],
            ) from error
    if as_json:
        print(json.dumps(found.mapping(), indent=2))
    elif html_file is None:
        print(text(found))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m spotproof_runtime.report",
        description="Goodput, lost work and interruptions of a run, from its events.",
    )
    parser.add_argument(
        "events",
        metavar="EVENTS",
        nargs="+",
        help="file of JSON lines, such as a pod's log; - is standard input",
    )
    parser.add_argument("--run", help="name of the run, when the files hold several")
    parser.add_argument("--html", metavar="FILE", help="write a page with the timeline to FILE")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
