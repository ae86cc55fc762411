"""Locks that an engine left in a sandbox's backend when it was killed."""

import json
import os
import socket
from pathlib import Path


def abandoned(backend: Path) -> list[Path]:
    """Lock files of processes of this machine that are gone."""
    files = (backend / ".pulumi" / "locks").rglob("*.json")
    return [file for file in files if _is_abandoned(file)]


def _is_abandoned(file: Path) -> bool:
    try:
        lock = json.loads(file.read_text())
        if lock["hostname"] != socket.gethostname():
            return False
        os.kill(lock["pid"], 0)
    except ProcessLookupError:
        return True
    except (OSError, ValueError, LookupError):
        return False
    return False
