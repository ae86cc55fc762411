"""Services of the tests, started when a test first asks for them, and figures at the end."""

import os
from collections.abc import Iterator
from typing import Any

import pytest

from tests.runtime.services import Postgres, postgres, pubsub_emulator


@pytest.fixture(scope="session")
def emulator() -> Iterator[str]:
    """Address of Google's Pub/Sub emulator, which the clients find in the environment."""
    before = os.environ.get("PUBSUB_EMULATOR_HOST")
    with pubsub_emulator() as address:
        os.environ["PUBSUB_EMULATOR_HOST"] = address
        yield address
    if before is None:
        del os.environ["PUBSUB_EMULATOR_HOST"]
    else:
        os.environ["PUBSUB_EMULATOR_HOST"] = before


@pytest.fixture(scope="session")
def database() -> Iterator[Postgres]:
    """A PostgreSQL that a test may stop, if it starts it again."""
    with postgres() as server:
        yield server


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Each figure that a test gave to `record_property("figure", ...)`, a line each."""
    passed = terminalreporter.stats.get("passed", [])
    figures = [value for each in passed for name, value in each.user_properties if name == "figure"]
    if figures:
        terminalreporter.section("figures")
        for figure in sorted(figures):
            terminalreporter.write_line(figure)
