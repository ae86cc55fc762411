"""`python -m sandbox.engine` makes sure that there is an engine, and prints its path."""

import sys

from sandbox.engine import EngineError, ensure


def main() -> int:
    try:
        engine = ensure()
    except EngineError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted: what was built so far is kept", file=sys.stderr)
        return 130
    print(engine.pulumi)
    return 0


if __name__ == "__main__":
    sys.exit(main())
