"""Command: `python -m spotproof_runtime.publish files|bucket|rows ... --topic TOPIC`."""

import argparse
import sys
from collections.abc import Iterable, Sequence

from spotproof_gke.contract import EXIT_DONE, EXIT_ERROR
from spotproof_runtime.queue.messages import MOST_ITEMS, Item
from spotproof_runtime.queue.publisher import Published, publish, show
from spotproof_runtime.queue.sources import from_bucket, from_files, from_rows, read_rows
from spotproof_runtime.sinks.choice import FORMS, sink_for
from spotproof_runtime.sinks.protocol import Sink

EXIT_USAGE = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Publishes what the arguments name; returns the exit code of the command.

    0: all is published; 1: some of it is not, and another run does the rest; 2: the arguments
    cannot be used.
    """
    parser = _parser()
    given = parser.parse_args(arguments)
    try:
        sink: Sink | None = None
        if given.skip_stored_in:
            sink = sink_for(given.skip_stored_in, version=given.version)
        items = _items(given)
        if given.dry_run:
            return _count(items)
        done = publish(
            items,
            given.topic,
            items_per_message=given.items_per_message,
            sink=sink,
            progress=show,
        )
    except (ValueError, ImportError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return EXIT_USAGE
    except Exception as error:  # the cloud's or the sink's; a traceback would tell nobody more
        print(f"error: {type(error).__name__}: {error}", file=sys.stderr)
        print("Run the same command again: the keys stay the same.", file=sys.stderr)
        return EXIT_ERROR
    return _told(done)


def _told(done: Published) -> int:
    if not done.seen:
        print("error: nothing to publish: the source is empty", file=sys.stderr)
        return EXIT_USAGE
    for problem in done.problems:
        print(f"not published: {problem}", file=sys.stderr)
    if done.failed:
        print(
            f"error: {done.failed} items are not published; run the same command again",
            file=sys.stderr,
        )
        return EXIT_ERROR
    return EXIT_DONE


def _items(given: argparse.Namespace) -> Iterable[Item]:
    if given.source == "files":
        return from_files(given.patterns, root=given.root)
    if given.source == "bucket":
        return from_bucket(given.location, match=given.match)
    return from_rows(
        (row for path in given.paths for row in read_rows(path)), key_columns=given.key or ()
    )


def _count(items: Iterable[Item]) -> int:
    number = 0
    for number, item in enumerate(items, start=1):
        if number <= 10:
            print(item.key)
    print(f"{number} items; nothing was published", file=sys.stderr)
    return EXIT_DONE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m spotproof_runtime.publish",
        description="Splits a dataset into messages. It can be run again: keys stay the same.",
    )
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--topic", required=True, help="projects/PROJECT/topics/NAME")
    common.add_argument(
        "--items-per-message",
        type=int,
        default=1,
        metavar="N",
        help=f"1 to {MOST_ITEMS}; fewer lose less when a worker is taken away (default: 1)",
    )
    common.add_argument("--skip-stored-in", metavar="SINK", help=f"leave out what it has: {FORMS}")
    common.add_argument(
        "--version", type=int, default=0, help="version of the sink's rows that counts (default: 0)"
    )
    common.add_argument("--dry-run", action="store_true", help="count and show the first keys")
    sources = parser.add_subparsers(dest="source", required=True)
    files = sources.add_parser("files", parents=[common], help="one item per file")
    files.add_argument("patterns", nargs="+", metavar="PATTERN", help="'images/**/*.jpg'")
    files.add_argument("--root", default=".", help="folder that paths are relative to (default: .)")
    bucket = sources.add_parser("bucket", parents=[common], help="one item per object")
    bucket.add_argument("location", metavar="gs://BUCKET/PREFIX")
    bucket.add_argument("--match", default="*", help="pattern of the objects' names (default: *)")
    rows = sources.add_parser("rows", parents=[common], help="one item per row")
    rows.add_argument("paths", nargs="+", metavar="FILE", help=".csv, .jsonl or .ndjson")
    rows.add_argument(
        "--key",
        action="append",
        metavar="COLUMN",
        help="column that names the row, may be repeated (default: the whole row's SHA-256)",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
