"""An error in one line that may be kept and published: no secret in it."""

import os
import re

MOST_BYTES = 1024
"""The longest value of an attribute that Pub/Sub takes."""

_CREDENTIALS = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*://)[^\s/]+@")
_ASSIGNED = re.compile(
    r"((?:password|passwd|secret|token|api[_-]?key|authorization)[\"']?\s*[=:]\s*)"
    r"(?:bearer\s+)?[\"']?[^\s\"',;&]+",
    re.IGNORECASE,
)
_SECRET_NAME = re.compile(r"PASSW|SECRET|TOKEN|CREDENTIAL|API_?KEY|DATABASE_URL|DSN", re.IGNORECASE)
_LEAST_SECRET = 6


def error_text(error: BaseException | str, *, most_bytes: int = MOST_BYTES) -> str:
    """The text of an error, short and without what looks like a secret.

    Left out are credentials in addresses, values after words like `password=`, and the values of
    environment variables whose names tell of a secret.
    """
    text = str(error)
    for name, value in os.environ.items():
        if len(value) >= _LEAST_SECRET and _SECRET_NAME.search(name):
            text = text.replace(value, f"<{name}>")
    text = _CREDENTIALS.sub(r"\1***@", text)
    text = _ASSIGNED.sub(r"\1***", text)
    line = " ".join(text.replace("\0", "\\0").split())
    return line.encode(errors="backslashreplace")[:most_bytes].decode(errors="ignore")


def error_class(error: BaseException) -> str:
    """The class of an error with its module, short for built-in ones."""
    kind = type(error)
    prefix = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    return f"{prefix}{kind.__qualname__}"[:256]
