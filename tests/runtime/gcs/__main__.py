"""The server as a process: prints its address, and ends when its standard input does."""

import sys

from tests.runtime.gcs.server import GcsServer

if __name__ == "__main__":
    print(GcsServer().start().url, flush=True)
    sys.stdin.read()
