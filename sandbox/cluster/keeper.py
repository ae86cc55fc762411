"""`python -m sandbox.cluster.keeper FOLDER`: ends a folder's processes once its input ends.

Whoever holds the other end of that pipe need do nothing: when it is killed, the system closes it.
"""

import sys
from pathlib import Path

from sandbox.cluster.daemons import Daemons


def main() -> None:
    """Waits for the end of the input, then ends what the folder's register names."""
    sys.stdin.buffer.read()
    Daemons(Path(sys.argv[1])).stop()


if __name__ == "__main__":
    main()
