"""The plugin as a process: how it starts, and how it ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import grpc
import pytest
from google.protobuf import empty_pb2
from pulumi.runtime.proto import provider_pb2_grpc

from sandbox.cloud.schema import sdk_version

COMMAND = [sys.executable, "-m", "sandbox.cloud.serve"]
ROOT = Path(__file__).parents[2]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "SPOTPROOF_SANDBOX_DIR": str(tmp_path),
        "PULUMI_BACKEND_URL": f"file://{tmp_path}/backend",
        "PULUMI_HOME": f"{tmp_path}/home",
    }


def test_it_prints_its_port_serves_and_ends_quietly(environment: dict[str, str]) -> None:
    with subprocess.Popen(
        COMMAND, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        port = process.stdout.readline().strip()
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            stub = provider_pb2_grpc.ResourceProviderStub(channel)
            assert stub.GetPluginInfo(empty_pb2.Empty()).version == sdk_version()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    assert (process.returncode, errors) == (0, "")


def test_it_refuses_an_engine_that_is_not_the_sandboxs(environment: dict[str, str]) -> None:
    environment["PULUMI_BACKEND_URL"] = "https://backend.example.com"
    ended = subprocess.run(
        COMMAND, env=environment, capture_output=True, text=True, timeout=20, check=False
    )
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert "PULUMI_BACKEND_URL is not the sandbox's own" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_it_does_not_outlive_a_killed_engine_for_long(environment: dict[str, str]) -> None:
    script = f"{' '.join(COMMAND)} & echo $!; wait"
    with subprocess.Popen(
        ["sh", "-c", script], env=environment, stdout=subprocess.PIPE, text=True
    ) as engine:
        assert engine.stdout is not None
        plugin = int(engine.stdout.readline())
        engine.stdout.readline()  # the port: it serves
        engine.kill()
        engine.wait()
        deadline = time.monotonic() + 20
        while _runs(plugin) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not _runs(plugin)


def _runs(process: int) -> bool:
    """Whether the process is there and no zombie that nobody has fetched yet."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"
