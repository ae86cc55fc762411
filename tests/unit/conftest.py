from pathlib import Path

import pytest

from tests.cloud.harness import Emulated
from tests.unit.change_examples import PROJECT
from tests.unit.furnished import furnish


@pytest.fixture(scope="session")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An emulated cloud with what components refer to; tests take copies of it."""
    folder = tmp_path_factory.mktemp("cloud")
    cloud = Emulated(folder, project=PROJECT, region="")
    furnish(cloud)
    cloud.store.flush()
    return folder
