"""The engine's messages, loaded without the rest of Pulumi's SDK."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

_ABOVE = ("pulumi", "pulumi.runtime", "pulumi.runtime.proto")


@contextmanager
def without_the_sdk() -> Iterator[None]:
    """Inside it, modules of `pulumi.runtime.proto` load alone, as if the packages above were empty.

    A run of the engine starts three processes that only speak with it. The whole SDK would take
    each of them 0.15 s of processor time, more than all else that they load. Where the SDK is
    loaded already, it is used; an `import pulumi` afterwards loads it as ever.
    """
    found = None if "pulumi" in sys.modules else find_spec("pulumi")
    if found is None or found.origin is None:
        yield
        return
    folder = Path(found.origin).parent.parent
    for name in _ABOVE:
        empty = ModuleType(name)
        empty.__path__ = [str(folder.joinpath(*name.split(".")))]
        sys.modules[name] = empty
    try:
        yield
    finally:
        for name in _ABOVE:
            del sys.modules[name]
