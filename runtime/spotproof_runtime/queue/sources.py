"""Items from files, from a bucket or from rows, with keys that stay the same."""

import csv
import glob
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from importlib import import_module
from pathlib import Path
from typing import Any

from spotproof_runtime.queue.messages import Item, stable_key

KEY_DIGITS = 16
"""How many hexadecimal digits of a SHA-256 go into the key of a file: enough to tell two contents
of one path apart."""


def from_files(patterns: Iterable[str], *, root: str | Path = ".") -> Iterator[Item]:
    """One item per file, in the order of their paths.

    The key is the path below `root` with the start of the content's SHA-256: a changed file is new
    work, the same one under another root is not.

    Args:
        patterns: as in a shell, `**` for all folders below; relative ones below `root`.
        root: the folder that paths are relative to.

    Raises:
        ValueError: no file matches a pattern.
    """
    base = Path(root).resolve()
    found: set[Path] = set()
    for pattern in patterns:
        names = glob.glob(str(base / pattern), recursive=True)
        matched = {path for name in names if (path := Path(name)).is_file()}
        if not matched:
            raise ValueError(f"no file matches {pattern!r} in {base}")
        found |= matched
    for path in sorted(found):
        digest = hashlib.sha256()
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
        name = path.relative_to(base).as_posix() if path.is_relative_to(base) else str(path)
        yield Item(
            stable_key(f"{name}@{digest.hexdigest()[:KEY_DIGITS]}"),
            {"path": name, "size_bytes": path.stat().st_size, "sha256": digest.hexdigest()},
        )


def from_bucket(location: str, *, match: str = "*", client: Any = None) -> Iterator[Item]:
    """One item per object of a listing, in its order.

    The key is the address with the object's CRC32C, so that an object written again with the same
    content is the same work.

    Args:
        location: `gs://BUCKET` or `gs://BUCKET/PREFIX`.
        match: pattern of the names below the bucket; `*` also matches slashes.
        client: a `google.cloud.storage.Client`; one with the default credentials when omitted.

    Raises:
        ValueError: the location cannot be used.
    """
    bucket, _, prefix = location.removeprefix("gs://").partition("/")
    if not location.startswith("gs://") or not bucket:
        raise ValueError(f"location {location!r}: write gs://BUCKET/PREFIX")
    storage = client or import_module("google.cloud.storage").Client(project="none")
    for blob in storage.list_blobs(bucket, prefix=prefix or None):
        if blob.name.endswith("/") or not fnmatchcase(blob.name, match):
            continue
        address = f"gs://{bucket}/{blob.name}"
        yield Item(
            stable_key(f"{address}@{blob.crc32c}"),
            {"url": address, "generation": str(blob.generation), "size_bytes": blob.size},
        )


def from_rows(
    rows: Iterable[Mapping[str, Any]], *, key_columns: Sequence[str] = ()
) -> Iterator[Item]:
    """One item per row.

    The key is made of the key columns, joined with `|`; without any it is the SHA-256 of the row,
    whatever the order of its columns.

    Raises:
        ValueError: a row has no value in a key column; says which row, counted from 1.
    """
    for number, row in enumerate(rows, start=1):
        missing = [column for column in key_columns if row.get(column) in (None, "")]
        if missing:
            raise ValueError(f"row {number} has no value in key column {', '.join(missing)}")
        if key_columns:
            parts = [str(row[column]) for column in key_columns]
            key = stable_key("|".join(part.replace("|", "\\|") for part in parts))
        else:
            text = json.dumps(row, sort_keys=True, separators=(",", ":"), default=str)
            key = hashlib.sha256(text.encode()).hexdigest()
        yield Item(key, dict(row))


def read_rows(path: str | Path) -> Iterator[dict[str, Any]]:
    """The rows of a `.csv`, `.jsonl` or `.ndjson` file.

    Raises:
        ValueError: another ending, or a line that is not a row; says which.
    """
    path = Path(path)
    kind = path.suffix.lower()
    try:
        if kind == ".csv":
            yield from _csv_rows(path)
        elif kind in (".jsonl", ".ndjson"):
            yield from _json_rows(path)
        else:
            raise ValueError(f"{path}: rows are read from .csv, .jsonl and .ndjson files")
    except UnicodeDecodeError:
        raise ValueError(f"{path}: not UTF-8; save it in this encoding") from None


def _csv_rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file, strict=True)
        try:
            names = list(reader.fieldnames or [])
            twice = sorted({name for name in names if names.count(name) > 1})
            if twice:
                columns = ", ".join(twice)
                raise ValueError(f"{path}, line 1: two columns of one name: {columns}")
            for row in reader:
                given: dict[Any, Any] = row
                if None in given or None in given.values():
                    raise ValueError(
                        f"{path}, line {reader.line_num}: not as many fields as the first line"
                    )
                yield row
        except csv.Error as error:
            raise ValueError(f"{path}, line {reader.line_num}: {error}") from None


def _json_rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8-sig") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                row: Any = json.loads(line)
            except ValueError as error:
                raise ValueError(f"{path}, line {number}: not JSON: {error}") from None
            if not isinstance(row, dict):
                raise ValueError(f"{path}, line {number}: a row is a JSON object")
            yield row
