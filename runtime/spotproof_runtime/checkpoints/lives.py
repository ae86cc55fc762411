"""How often a run has begun from the same checkpoint: again and again, and it is hopeless.

Each life of a run leaves a mark, `run/lives/STEP-LIFE`, which says where it began. A life that is
interrupted leaves it behind; one that ends by itself, done or with an error, takes it back.
"""

import re
import uuid

from spotproof_runtime.checkpoints.checksums import crc32c_of
from spotproof_runtime.checkpoints.store import ObjectStore

DEFAULT_LIMIT = 5
"""How many lives in a row may be interrupted before a newer checkpoint exists."""

_FOLDER = "run/lives/"
_MARK = re.compile(r"run/lives/([0-9]{12})-[0-9a-f]{32}")


class Lives:
    """The marks of a run's lives.

    Args:
        store: where they are.
        leaves_mark: whether this process stands for the life of the run; others see no marks.
    """

    def __init__(self, store: ObjectStore, *, leaves_mark: bool = True) -> None:
        self._store = store
        self._leaves_mark = leaves_mark
        self._own: str | None = None
        self._earlier: dict[str, int] = {}

    def look(self) -> int:
        """Finds the marks of earlier lives, and returns how many were interrupted."""
        if not self._leaves_mark:
            # It could not tell the mark of the present life from those of earlier ones.
            return 0
        for each in self._store.list(_FOLDER):
            found = _MARK.fullmatch(each.name)
            if found:
                self._earlier[each.name] = int(found[1])
        return len(self._earlier)

    def begun_at(self, step: int) -> int:
        """How many earlier lives began at `step` and were interrupted."""
        return sum(1 for begun in self._earlier.values() if begun == step)

    def begin(self, step: int) -> None:
        """Leaves a mark of this life, which begins at `step`; the last of several holds."""
        self.take_back()
        if not self._leaves_mark:
            return
        name = f"{_FOLDER}{step:012d}-{uuid.uuid4().hex}"
        self._own = name
        self._store.put(name, b"", crc32c_of(b""))

    def forget_earlier(self) -> None:
        """Removes the marks of earlier lives, now that there is a newer checkpoint."""
        for name in list(self._earlier):
            self._store.delete(name)
            del self._earlier[name]

    def take_back(self) -> None:
        """Removes the mark of this life, which was not interrupted, or has lost nothing."""
        name, self._own = self._own, None
        if name is not None:
            self._store.delete(name)
