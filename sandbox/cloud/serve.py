"""`python -m sandbox.cloud.serve`: the plugin that the sandbox's engine starts.

It prints its port and serves until the engine goes. It refuses to start for any engine but the
sandbox's: nothing here may ever write into the state of a real stack.
"""

import os
import signal
import sys
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from sandbox.briefly import hurry
from sandbox.messages import without_the_sdk

MESSAGE_BYTES = 400 * 1024 * 1024
ORPHAN_POLL_SECONDS = 0.5


def refusal(environment: Mapping[str, str]) -> str | None:
    """Why the emulated cloud must not serve in this environment; None when it may."""
    directory = environment.get("SPOTPROOF_SANDBOX_DIR", "")
    if not directory or not os.path.isabs(directory):
        return "SPOTPROOF_SANDBOX_DIR is not set to the sandbox's directory"
    wanted = {
        "PULUMI_BACKEND_URL": f"file://{directory}/backend",
        "PULUMI_HOME": f"{directory}/home",
    }
    for name, value in wanted.items():
        if environment.get(name) != value:
            return f"{name} is not the sandbox's own ({value})"
    return None if os.path.isdir(directory) else f"{directory} is no directory"


def main() -> int:
    """Serve the emulated cloud of this process's environment."""
    engine = os.getppid()
    problem = refusal(os.environ)
    if problem:
        print(
            f"The emulated cloud serves the sandbox's engine only, and {problem}. "
            "Start it through the project's make targets.",
            file=sys.stderr,
        )
        return 2
    hurry()
    # Imported late: a refusal must not wait for them.
    import grpc

    with without_the_sdk():
        from pulumi.runtime.proto import provider_pb2_grpc

        from sandbox.cloud.provider import Provider
    from sandbox.cloud.store import Store

    store = Store(Path(os.environ["SPOTPROOF_SANDBOX_DIR"]))
    provider = Provider(store)
    server = grpc.server(
        ThreadPoolExecutor(max_workers=16),
        options=[
            ("grpc.max_receive_message_length", MESSAGE_BYTES),
            ("grpc.max_send_message_length", MESSAGE_BYTES),
        ],
    )
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(provider, server)
    port = server.add_insecure_port("127.0.0.1:0")
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    server.start()
    print(port, flush=True)
    while not stopped.wait(ORPHAN_POLL_SECONDS):
        # An engine that was killed leaves its plugin behind: finish what was begun, then go.
        if os.getppid() != engine and provider.busy == 0:
            break
    server.stop(grace=5).wait()
    with suppress(FileNotFoundError):  # the sandbox was removed meanwhile
        store.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
