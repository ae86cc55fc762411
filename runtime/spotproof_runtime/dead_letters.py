"""Command: `python -m spotproof_runtime.dead_letters list|replay --subscription NAME`."""

import argparse
import sys
from collections.abc import Sequence
from contextlib import suppress

from spotproof_gke.contract import EXIT_DONE, EXIT_ERROR, SUBSCRIPTION_VARIABLE
from spotproof_runtime.queue.replay import DeadLetterQueue, Letter
from spotproof_runtime.queue.subscription import subscription_name
from spotproof_runtime.report_text import printable
from spotproof_runtime.settings import SettingsError
from spotproof_runtime.sinks.choice import FORMS, sink_for
from spotproof_runtime.sinks.protocol import ErrorBook

EXIT_USAGE = 2

MOST_LETTERS = 1000
"""How many letters one call takes at most: they are all leased until it ends."""

SHOWN_KEYS = 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Shows dead letters or puts them back; returns the exit code of the command.

    0: done; 1: some could not be put back, and another run does the rest; 2: the arguments cannot
    be used.
    """
    given = _parser().parse_args(arguments)
    try:
        errors = sink_for(given.sink) if given.command == "replay" and given.sink else None
        queue = DeadLetterQueue(subscription_name(given.subscription), topic=given.topic)
    except (ValueError, ImportError, OSError, SettingsError) as error:
        print(f"error: {error}", file=sys.stderr)
        return EXIT_USAGE
    try:
        return _run(queue, errors, given)
    except Exception as error:  # the cloud's or the sink's; a traceback would tell nobody more
        print(f"error: {type(error).__name__}: {error}", file=sys.stderr)
        print("What was not put back is still there: run the same command again.", file=sys.stderr)
        return EXIT_ERROR
    finally:
        with suppress(Exception):
            queue.close()


def _run(queue: DeadLetterQueue, errors: ErrorBook | None, given: argparse.Namespace) -> int:
    kept: list[Letter] = []
    put_back = 0
    try:
        for letter in queue.take(given.limit):
            kept.append(letter)
            if not letter.matches(given.key or (), given.error or ()):
                continue
            print(_line(letter))
            if given.command == "replay" and given.yes and letter.keys is not None:
                queue.put_back(letter, errors)
                kept.pop()
                put_back += 1
    finally:
        queue.give_back(kept)
    if given.command == "list":
        return EXIT_DONE
    if given.yes:
        print(f"{put_back} put back to {queue.topic}, {len(kept)} left", file=sys.stderr)
    else:
        print("nothing was put back: add --yes", file=sys.stderr)
    return EXIT_DONE


def _line(letter: Letter) -> str:
    """A letter in a line: what it is, and what went wrong."""
    about = letter.received.attributes
    if letter.keys is None:
        what = f"no message of this library, {len(letter.received.data)} bytes; it is left"
    else:
        more = len(letter.keys) - SHOWN_KEYS
        what = ", ".join(letter.keys[:SHOWN_KEYS]) + (f" and {more} more" if more > 0 else "")
    error = f"{letter.error}: {about.get('spotproof-error-text', '')}" if letter.error else "-"
    count = about.get("spotproof-errors", "-")
    return printable(f"{letter.received.message_id}  {what}  errors {count}  {error}")


def _limit(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= MOST_LETTERS:
        raise argparse.ArgumentTypeError(f"{text}: a whole number, 1 to {MOST_LETTERS}")
    return int(text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m spotproof_runtime.dead_letters",
        description="Shows the dead letters of a queue, and puts them back when their cause is "
        "mended. It can be run again: what is stored is not worked on twice.",
    )
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "--subscription",
        help="that of the work, projects/PROJECT/subscriptions/NAME; the letters are those of "
        f"NAME-dead-letters (default: {SUBSCRIPTION_VARIABLE})",
    )
    common.add_argument("--topic", help="of the work (default: the one of the same NAME)")
    common.add_argument(
        "--limit", type=_limit, default=100, metavar="N", help="how many at most (default: 100)"
    )
    common.add_argument(
        "--key", action="append", help="only letters with this item, may be repeated"
    )
    common.add_argument(
        "--error", action="append", metavar="CLASS", help="only this error, may be repeated"
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", parents=[common], help="show letters and leave them where they are")
    replay = commands.add_parser("replay", parents=[common], help="put letters back to the queue")
    replay.add_argument("--yes", action="store_true", help="do it; without, it is only shown")
    replay.add_argument(
        "--sink",
        help=f"forget the items' errors in it, or one more error sets them aside again: {FORMS}",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
