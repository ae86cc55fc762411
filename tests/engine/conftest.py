"""Tests in this folder run the real engine, except those that say otherwise."""

from pathlib import Path

import pytest

from sandbox.engine import Engine, lookup
from sandbox.environment import Sandbox

HERE = Path(__file__).parent
WITHOUT_ENGINE = {"test_engine_selection.py", "test_engine_launcher.py"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE) and item.path.name not in WITHOUT_ENGINE:
            item.add_marker(pytest.mark.engine)


@pytest.fixture(scope="session")
def engine() -> Engine:
    """The engine that `make engine` provided; without one, the tests that need it fail."""
    return lookup()


@pytest.fixture
def sandbox_dir(tmp_path: Path, engine: Engine) -> Path:
    """A new sandbox: home with plugins, empty backend, empty cloud."""
    sandbox = Sandbox(tmp_path / "sandbox")
    sandbox.prepare(engine)
    return sandbox.folder
