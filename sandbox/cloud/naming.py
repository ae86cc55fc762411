"""Names that the provider makes up: the logical name, a hyphen and seven hexadecimal digits."""

import hashlib
import uuid
from typing import Any

DEFAULTS = "__defaults"
"""Where the provider notes which inputs it filled in itself."""


def auto_name(logical: str, seed: bytes) -> str:
    """A name for the resource `logical`; the same for the same seed."""
    digits = hashlib.sha256(seed + logical.encode()).hexdigest() if seed else uuid.uuid4().hex
    return f"{logical}-{digits[:7]}"


def kept_name(olds: dict[str, Any], prop: str) -> str | None:
    """The name made up on an earlier run, which a later one keeps."""
    name = olds.get(prop)
    return name if isinstance(name, str) and prop in (olds.get(DEFAULTS) or ()) else None


def urn_parts(urn: str) -> tuple[str, str]:
    """Type token and logical name in a URN `urn:pulumi:stack::project::parents$type::name`."""
    _, _, types, name = urn.split("::", 3)
    return types.split("$")[-1], name
