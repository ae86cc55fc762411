"""`python -m sandbox.sdks nodejs FOLDER` writes the SDK for a language into a folder."""

import argparse
import sys
from pathlib import Path

from sandbox.go_build import BuildError
from sandbox.progress import StepError
from sandbox.sdks import LANGUAGES, generate


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m sandbox.sdks", description=__doc__)
    parser.add_argument("language", choices=LANGUAGES)
    parser.add_argument("folder", type=Path)
    asked = parser.parse_args()
    try:
        generate(asked.language, asked.folder.absolute())
    except (BuildError, StepError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
