"""Processes that only speak with the engine load its messages, and nothing else of the SDK."""

import subprocess
import sys

from sandbox.paths import ROOT

PROGRAM = """
import sys
from sandbox.messages import without_the_sdk
with without_the_sdk():
    from pulumi.runtime.proto import provider_pb2
print("pulumi.resource" in sys.modules, provider_pb2.CreateRequest(urn="a").urn)
import pulumi
from pulumi.runtime.proto import provider_pb2 as again
print(pulumi.Output.__name__, again is provider_pb2)
with without_the_sdk():
    print(pulumi is sys.modules["pulumi"])
"""


def test_messages_come_without_the_sdk_which_can_be_loaded_afterwards() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True)

    assert done.stdout.splitlines() == ["False a", "Output True", "True"], done.stderr


def test_the_language_host_starts_without_the_sdk() -> None:
    program = "import sys, sandbox.engine.language_python; print('pulumi.resource' in sys.modules)"

    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)

    assert done.stdout == "False\n", done.stderr
