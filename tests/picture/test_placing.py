"""A picture places pods as the emulated cluster does, which judges them by code of its own."""

import random
from typing import Any

import pytest

from sandbox.cluster.nodes import shape_of
from sandbox.cluster.placement import selects, tolerates
from spotproof_gke.picture.placing import may_run
from spotproof_gke.picture.pools import drawn_pools
from spotproof_gke.picture.program import program_of
from spotproof_gke.program_documents import document_of
from tests.picture.stacks import POOL, cluster, resource, state

KEYS = {
    "cloud.google.com/gke-spot": ("true",),
    "cloud.google.com/gke-flex-start": ("true",),
    "cloud.google.com/gke-provisioning": ("spot", "flex-start", "standard"),
    "cloud.google.com/gke-nodepool": ("p0", "p1"),
    "cloud.google.com/gke-accelerator": ("nvidia-l4", "nvidia-tesla-t4"),
    "acme.example/team": ("red", "blue"),
    "nvidia.com/gpu": ("present",),
}
OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")


class Made:
    """Pools and pods that are made up."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(f"placing {seed}")

    def _pair(self) -> tuple[str, str]:
        key = self.chance.choice(list(KEYS))
        return key, self.chance.choice(KEYS[key])

    def pool(self, name: str) -> dict[str, Any]:
        effects = ("NO_SCHEDULE", "NO_EXECUTE", "PREFER_NO_SCHEDULE")
        taints = [
            {"key": key, "value": value, "effect": self.chance.choice(effects)}
            for key, value in dict(
                self._pair() for _ in range(self.chance.choice((0, 1, 2)))
            ).items()
        ]
        config: dict[str, Any] = {
            "machineType": self.chance.choice(("e2-standard-4", "g2-standard-8")),
            "taints": taints,
            "labels": {"acme.example/team": self.chance.choice(("red", "blue", "green"))},
        }
        how = self.chance.choice(("spot", "preemptible", "flexStart", ""))
        queued = {"enabled": not how and self.chance.random() < 0.3}
        return {
            "name": name,
            "nodeConfig": config | ({how: True} if how else {}),
            "queuedProvisioning": queued,
        }

    def pod(self) -> dict[str, Any]:
        return {
            "nodeSelector": dict(self._pair() for _ in range(self.chance.choice((0, 0, 1, 2)))),
            "tolerations": [self._toleration() for _ in range(self.chance.choice((0, 1, 2, 3)))],
            "affinity": self._affinity() if self.chance.random() < 0.4 else {},
        }

    def _toleration(self) -> dict[str, Any]:
        key, value = self._pair()
        effect = self.chance.choice(("NoSchedule", "NoExecute", ""))
        form = self.chance.choice(("equal", "exists", "all"))
        given = {
            "equal": {"key": key, "operator": "Equal", "value": value},
            "exists": {"key": key, "operator": "Exists"},
            "all": {"operator": "Exists"},
        }[form]
        return given | ({"effect": effect} if effect else {})

    def _affinity(self) -> dict[str, Any]:
        terms = [
            {"matchExpressions": self._expressions()} for _ in range(self.chance.choice((1, 2)))
        ]
        required = {"nodeSelectorTerms": terms}
        return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}

    def _expressions(self) -> list[dict[str, Any]]:
        found = []
        for _ in range(self.chance.choice((1, 2))):
            (key, value), operator = self._pair(), self.chance.choice(OPERATORS)
            values = {"values": [value]} if operator in ("In", "NotIn") else {}
            found.append({"key": key, "operator": operator, **values})
        return found


@pytest.mark.parametrize("seed", range(8))
def test_pods_stand_where_the_emulated_cluster_puts_them(seed: int) -> None:
    made = Made(seed)
    pools = [made.pool(f"p{number}") for number in range(6)] + [{"name": "home", "nodeConfig": {}}]
    document = state(cluster(), *(resource(POOL, pool["name"], pool) for pool in pools))
    drawn = drawn_pools(program_of(document_of("file", document)).stack.of_type(POOL))
    shapes = [shape_of(pool, beside_pools_without_gpus=True) for pool in pools]

    known = 0
    for _ in range(100):
        pod = made.pod()
        for one, shape in zip(drawn, shapes, strict=True):
            answer = may_run(pod, one.target)
            expected = selects(pod, shape.labels) and tolerates(pod, shape.taints)
            assert answer in (expected, None), (pod, shape)
            known += answer is not None
    assert known > 600
