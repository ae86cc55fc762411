"""`python -m trainer`: from its first line on, SIGTERM is a request to save and leave."""

import sys

from spotproof_gke.contract import EXIT_DONE
from spotproof_runtime import EventLog, Interruption


def main() -> int:
    events = EventLog()
    with Interruption(events=events) as stop:
        events.record_start()
        # Imported here: loading PyTorch takes seconds, in which a node may be taken away too.
        from trainer.run import run

        return run(sys.argv[1:], stop, events)
    return EXIT_DONE


if __name__ == "__main__":
    sys.exit(main())
