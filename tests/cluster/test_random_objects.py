"""What random stacks have inside their clusters, judged by a real API server."""

from collections import Counter
from collections.abc import Iterator

import pytest

import settings
import stack_file
from sandbox.cluster import kinds
from sandbox.cluster.control_plane import ControlPlane
from spotproof_gke.problems import ProblemsError
from tests.cluster.guarded import make_namespaces, server_of
from tests.cluster.test_components_apply import Api
from tests.random_stacks import stack
from tests.random_workloads import NAMESPACES

STACKS = range(300)
KINDS = 12
"""How many kinds there are at least; fewer would show little."""

pytestmark = pytest.mark.usefixtures("job_sets")


@pytest.fixture
def api(plane: ControlPlane) -> Iterator[Api]:
    client = plane.client()
    kinds.install(client)
    with server_of(plane.kubeconfig) as server:
        make_namespaces(server, NAMESPACES)
    yield Api(client)
    kinds.remove(client)


def _right(seed: int) -> settings.Settings | None:
    config = {key: value for key, value in stack(seed).items() if value is not None}
    try:
        return settings.load(stack_file.parsed(config), f"seed {seed}")
    except ProblemsError:
        return None


def test_a_strict_server_accepts_each_object_of_a_stack_that_the_settings_take(api: Api) -> None:
    seen: Counter[str] = Counter()
    for seed in STACKS:
        loaded = _right(seed)
        for one in loaded.manifests if loaded else ():
            code, said = api.dry_run(dict(one))
            assert code == 201, f"seed {seed}, {one['kind']} {one['metadata']['name']}: {said}"
            seen[one["kind"]] += 1
    assert len(seen) >= KINDS, seen
