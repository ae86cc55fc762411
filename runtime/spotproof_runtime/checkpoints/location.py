"""Where a run keeps its checkpoints: `gs://BUCKET/PATH`, or a directory."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from spotproof_gke.contract import CHECKPOINT_LOCATION_VARIABLE
from spotproof_gke.problems import Problem, ProblemsError, raise_if_any
from spotproof_runtime.settings import SettingsError

MAX_PREFIX_BYTES = 500
"""The longest path in a bucket: an object's name has 1024 bytes, files need some of them."""

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):/+")
# Source: cloud.google.com/storage/docs/buckets#naming, read on 2026-11-30.
_BUCKET = re.compile(r"[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]")
_RUN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True)
class BucketLocation:
    """A path in a bucket.

    Attributes:
        bucket: name of the bucket.
        prefix: the path, without slashes at its ends.
    """

    bucket: str
    prefix: str

    def __str__(self) -> str:
        return f"gs://{self.bucket}/{self.prefix}"


@dataclass(frozen=True)
class DirectoryLocation:
    """A directory, be it on a disk or in a mounted bucket.

    Attributes:
        path: the directory, absolute; it need not exist yet.
    """

    path: Path

    def __str__(self) -> str:
        return str(self.path)


Location = BucketLocation | DirectoryLocation


def parse_location(text: str | os.PathLike[str] | None, run: str | None = None) -> Location:
    """Reads where checkpoints go.

    Args:
        text: `gs://BUCKET/PATH` or a directory; None takes `SPOTPROOF_CHECKPOINT_LOCATION`.
        run: a folder of this name below, so that several runs can share one location.

    Raises:
        ProblemsError: everything that is wrong with both.
        SettingsError: the same, where it is the variable that is wrong.
    """
    if text is not None:
        return _parse("location", os.fspath(text), run)
    try:
        written = os.environ.get(CHECKPOINT_LOCATION_VARIABLE, "")
        return _parse(CHECKPOINT_LOCATION_VARIABLE, written, run)
    except ProblemsError as error:
        raise SettingsError(str(error)) from None


def _parse(key: str, written: str, run: str | None) -> Location:
    problems = [*_run_problems(run)]
    if written.lower().startswith("gs:"):
        problems += _bucket_problems(key, written)
        raise_if_any("checkpoints", problems)
        bucket, _, path = written[len("gs://") :].partition("/")
        return BucketLocation(bucket, "/".join(filter(None, (path.strip("/"), run))))
    problems += _directory_problems(key, written)
    raise_if_any("checkpoints", problems)
    directory = Path(written).expanduser().absolute()
    return DirectoryLocation(directory / run if run else directory)


def _run_problems(run: str | None) -> Iterator[Problem]:
    if run is not None and not _RUN.fullmatch(run):
        rule = "the name of a run is 1 to 100 letters, digits, dots, dashes and underscores"
        yield Problem("run", run, rule, "begin it with a letter or a digit, like run-42")


def _bucket_problems(key: str, written: str) -> Iterator[Problem]:
    if not written.startswith("gs://"):
        yield Problem(key, written, "a bucket is addressed by gs://", "write gs://BUCKET/PATH")
        return
    bucket, _, path = written[len("gs://") :].partition("/")
    if not _BUCKET.fullmatch(bucket):
        rule = "the name of a bucket is 3 to 222 lower-case letters, digits, dots, dashes and _"
        yield Problem(key, written, rule, "write gs://BUCKET/PATH with the bucket's name")
    path = path.strip("/")
    if not path:
        rule = "each run has a path of its own in the bucket"
        yield Problem(key, written, rule, f"write it like gs://{bucket or 'BUCKET'}/run-42")
    elif any(part in ("", ".", "..") for part in path.split("/")):
        rule = "a path in a bucket has no empty part and no . or .."
        yield Problem(key, written, rule, "write the path out")
    if not path.isprintable():
        rule = "a path in a bucket is printable text"
        yield Problem(key, written, rule, "take out line breaks and control characters")
    elif len(path.encode()) > MAX_PREFIX_BYTES:
        rule = f"a path in a bucket has at most {MAX_PREFIX_BYTES} bytes"
        yield Problem(key, written, rule, "take a shorter one")


def _directory_problems(key: str, written: str) -> Iterator[Problem]:
    scheme = _SCHEME.match(written)
    if not written.strip():
        rule = "checkpoints need a place that outlives the pod"
        fix = f"give gs://BUCKET/PATH or a directory, or set {CHECKPOINT_LOCATION_VARIABLE}"
        yield Problem(key, None, rule, fix)
    elif scheme:
        rule = f"checkpoints go to Cloud Storage or to a directory, and {scheme[1]} is neither"
        yield Problem(key, written, rule, "write gs://BUCKET/PATH or the path of a directory")
    elif written.startswith("~") and os.path.expanduser(written).startswith("~"):
        rule = "a path that begins with ~ is in a home, and there is no home of this name"
        yield Problem(key, written, rule, "write the whole path, or ./~ for a folder named so")
    elif "\0" in written:
        yield Problem(key, written, "a path has no zero byte", "take it out")
    elif os.path.exists(written) and not os.path.isdir(written):
        yield Problem(key, written, "checkpoints go into a directory", "name one, or a new one")
