"""What tests of the runtime share: fixtures, and at the end the figures that were recorded."""

import multiprocessing.util
import shutil
import signal
import tempfile
from collections.abc import Iterator
from typing import Any

import pytest

from tests.runtime.gcs.fixtures import gcs, gcs_process, place
from tests.runtime.queue_fixtures import database, emulator, fleet, new_fleet, queue, sink

__all__ = [
    "database",
    "emulator",
    "fleet",
    "gcs",
    "gcs_process",
    "new_fleet",
    "place",
    "queue",
    "sink",
]


# A shell starts what it runs in the background with Ctrl-C ignored, and every child inherits that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def temporary_directory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Temporary files of killed programs go with the tests."""
    made = tmp_path_factory.mktemp("tmp")
    # It removes its own at the end of the process, and complains where somebody else did.
    multiprocessing.util.get_temp_dir()
    before, tempfile.tempdir = tempfile.tempdir, str(made)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(made))
        yield
    tempfile.tempdir = before
    shutil.rmtree(made, ignore_errors=True)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Each figure that a test gave to `record_property("figure", ...)`, a line each."""
    passed = terminalreporter.stats.get("passed", [])
    figures = [value for each in passed for name, value in each.user_properties if name == "figure"]
    if figures:
        terminalreporter.section("figures")
        for figure in sorted(figures):
            terminalreporter.write_line(figure)
