"""`python -m sandbox.cloud`: look into the emulated cloud, change it, order faults.

    show [--json]                              what is in the cloud
    drift taint POOL KEY=VALUE:EFFECT          set a taint (KEY- removes it)
    drift resize POOL NODES                    nodes in each zone
    drift delete TYPE NAME                     delete a resource
    drift set TYPE NAME PATH VALUE             write one value, such as nodeConfig.machineType
    reset [--yes]                              delete everything; stacks still think it is there
    fault add KIND [--type --name --operation --times --seconds]
    fault list | fault clear

The cloud is that of `make up` unless --sandbox names another sandbox's folder.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sandbox.cloud import drift
from sandbox.cloud.faults import (
    ALWAYS,
    FILE,
    KINDS,
    OPERATIONS,
    USED,
    Faults,
    FaultsError,
    numbered,
    parse,
    read_faults,
    read_used,
    write_faults,
)
from sandbox.cloud.finding import CommandError
from sandbox.cloud.show import as_json, as_table
from sandbox.cloud.store import BrokenStoreError, Store
from sandbox.paths import GENERATED

STANDING = GENERATED / "sandbox"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; a user's mistake becomes an error on standard error, and code 1."""
    options = _parser().parse_args(arguments)
    try:
        return options.run(_folder(options), options)
    except (BrokenStoreError, CommandError, FaultsError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def _folder(options: argparse.Namespace) -> Path:
    folder = options.sandbox.resolve()
    if folder.is_dir():
        return folder
    if options.sandbox == STANDING and options.run is _fault_add:
        folder.mkdir(parents=True)  # faults may be ordered before the first run
        return folder
    raise CommandError(f"{folder} is no sandbox's folder: `make up` makes one, or give --sandbox")


def _show(folder: Path, options: argparse.Namespace) -> int:
    things = Store(folder).everything()
    print(as_json(things) if options.json else as_table(things))
    return 0


def _taint(folder: Path, options: argparse.Namespace) -> int:
    return _say(drift.taint(Store(folder), options.pool, options.taint))


def _resize(folder: Path, options: argparse.Namespace) -> int:
    return _say(drift.resize(Store(folder), options.pool, options.nodes))


def _delete(folder: Path, options: argparse.Namespace) -> int:
    return _say(drift.delete(Store(folder), options.type, options.name))


def _set(folder: Path, options: argparse.Namespace) -> int:
    store = Store(folder)
    return _say(drift.set_value(store, options.type, options.name, options.path, options.value))


def _say(text: str) -> int:
    print(text)
    return 0


def _reset(folder: Path, options: argparse.Namespace) -> int:
    store = Store(folder)
    count = len(store.everything())
    if count and not options.yes:
        if not sys.stdin.isatty():
            raise CommandError(f"reset deletes {count} resources of {folder}; say so with --yes")
        if input(f"Delete {count} resources of {folder}? [y/N] ").strip().lower() != "y":
            raise CommandError("nothing was deleted")
    print(f"deleted {drift.reset(store)} resources; `refresh` tells the stacks")
    return 0


def _fault_add(folder: Path, options: argparse.Namespace) -> int:
    names = ("kind", "type", "name", "operation", "times", "seconds")
    given = {name: getattr(options, name) for name in names}
    entry = {name: value for name, value in given.items() if value is not None}
    added = parse({"faults": [entry]}, "the new rule").rules
    with (store := Store(folder)).locked():
        faults = read_faults(folder / FILE)
        fresh = Faults(faults.rules + added, faults.apis_start_disabled)
        write_faults(store.path.parent / FILE, fresh)
    return _fault_list(folder, options)


def _fault_list(folder: Path, options: argparse.Namespace) -> int:
    faults = read_faults(folder / FILE)
    used = read_used(folder)
    if faults.apis_start_disabled:
        print("APIs start disabled")
    for key, rule in numbered(faults.rules):
        words = " ".join(
            f"{k}={v}" for k, v in rule.to_file().items() if k not in ("kind", "times")
        )
        of = "always" if rule.times is None else f"of {rule.times}"
        print(f"{rule.kind}  {words or 'every request'}  used {used.get(key, 0)} {of}")
    if not faults.rules:
        print("no faults are ordered")
    return 0


def _fault_clear(folder: Path, options: argparse.Namespace) -> int:
    for name in (FILE, USED):
        (folder / name).unlink(missing_ok=True)
    print("no faults are ordered")
    return 0


def _times(text: str) -> Any:
    return int(text) if text.isdecimal() else text


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m sandbox.cloud",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--sandbox", type=Path, default=STANDING, metavar="DIR", help="default: %(default)s"
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _command(commands, "show", _show).add_argument("--json", action="store_true")
    _command(commands, "reset", _reset).add_argument("--yes", action="store_true")
    drifts = commands.add_parser("drift").add_subparsers(required=True, metavar="CHANGE")
    _command(drifts, "taint", _taint, "pool", "taint")
    resize = _command(drifts, "resize", _resize, "pool")
    resize.add_argument("nodes", type=int)
    _command(drifts, "delete", _delete, "type", "name")
    _command(drifts, "set", _set, "type", "name", "path", "value")
    faults = commands.add_parser("fault").add_subparsers(required=True, metavar="ACTION")
    add = _command(faults, "add", _fault_add)
    add.add_argument("kind", help=", ".join(KINDS))
    add.add_argument("--type", help="a type's name or token, * and ? allowed; default: all")
    add.add_argument("--name", help="name in the program or in the cloud; default: all")
    add.add_argument("--operation", help=f"{', '.join(OPERATIONS)}; default: all that fit")
    add.add_argument("--times", type=_times, help=f"a number, or {ALWAYS}; default: 1")
    add.add_argument("--seconds", type=float, help="how long slow waits")
    _command(faults, "list", _fault_list)
    _command(faults, "clear", _fault_clear)
    return parser


def _command(commands: Any, name: str, run: Any, *arguments: str) -> argparse.ArgumentParser:
    parser = commands.add_parser(name)
    parser.set_defaults(run=run)
    for argument in arguments:
        parser.add_argument(argument)
    return parser


if __name__ == "__main__":
    sys.exit(main())
