"""`python -m batch_inference`: SIGTERM gives back what is not done, and that is a good end."""

import sys

from spotproof_gke.contract import EXIT_DONE
from spotproof_runtime import EventLog, Interruption


def main() -> int:
    events = EventLog()
    with Interruption(exit_code=EXIT_DONE, events=events) as stop:
        events.record_start()
        # Imported here: a worker may be told to end before its libraries are loaded.
        from batch_inference.run import run

        return run(sys.argv[1:], stop, events)
    return EXIT_DONE


if __name__ == "__main__":
    sys.exit(main())
