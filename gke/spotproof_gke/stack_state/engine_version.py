"""Versions of the Pulumi engine: what one prints, and whether it meets what a project demands."""

import os
import re
import subprocess
from pathlib import Path

_COMPARATORS = {
    ">=": lambda have, want: have >= want,
    "<=": lambda have, want: have <= want,
    ">": lambda have, want: have > want,
    "<": lambda have, want: have < want,
    "=": lambda have, want: have == want,
}


def parse(text: str) -> tuple[int, int, int] | None:
    """`v3.274.1` and `3.274.1-alpha.1` as numbers; None where there is no version in the text."""
    match = re.match(r"v?(\d+)\.(\d+)\.(\d+)", text.strip())
    return (int(match[1]), int(match[2]), int(match[3])) if match else None


def satisfies(version: str, requirement: str) -> bool:
    """Whether a version meets comparisons separated by spaces or commas, all of which must hold.

    Raises:
        ValueError: the requirement has another form.
    """
    have = parse(version)
    if have is None:
        return False
    for term in re.split(r"[\s,]+", re.sub(r"([<>=])\s+", r"\1", requirement.strip())):
        match = re.fullmatch(r"(>=|<=|>|<|=)?(v?\d+\.\d+\.\d+)", term)
        want = parse(match[2]) if match else None
        if match is None or want is None:
            raise ValueError(
                f"requiredPulumiVersion {requirement!r}: {term!r} is not a comparison "
                "such as '>=3.272.0'"
            )
        if not _COMPARATORS[match[1] or "="](have, want):
            return False
    return True


def of(pulumi: Path) -> str:
    """What `pulumi version` prints.

    Raises:
        OSError: it cannot be run.
        ValueError: it failed, hung, or printed no version.
    """
    try:
        result = subprocess.run(
            [pulumi, "version"],
            capture_output=True,
            text=True,
            timeout=60,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "PULUMI_SKIP_UPDATE_CHECK": "1"},
        )
    except subprocess.TimeoutExpired:
        raise ValueError("`pulumi version` did not end within 60 s") from None
    version = result.stdout.strip()
    if result.returncode != 0 or parse(version) is None:
        raise ValueError(
            f"`pulumi version` ended with {result.returncode} and printed {version[:80]!r}"
        )
    return version
