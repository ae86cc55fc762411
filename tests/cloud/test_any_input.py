"""Whatever a program registers, the answer is a plan, a resource or a refusal: never a crash."""

import random
import string
from pathlib import Path
from typing import Any

import pytest

from sandbox.cloud.schema import Field
from sandbox.cloud.types import kinds
from sandbox.cloud.wire import UNKNOWN
from tests.cloud import plain
from tests.cloud.harness import PROJECT, REGION, Emulated, Refused

REFERENCES = [
    "net",
    "sub",
    "base",
    f"projects/{PROJECT}/global/networks/net",
    f"projects/{PROJECT}/locations/{REGION}/clusters/base",
    f"projects/{PROJECT}/serviceAccounts/ghost@{PROJECT}.iam.gserviceaccount.com",
    REGION,
    f"{REGION}-a",
    "us-central1-a",
    "10.0.0.0/20",
    "172.16.0.0/28",
    "roles/viewer",
    "user:a@example.com",
    "compute.googleapis.com",
    "g2-standard-4",
    "nvidia-l4",
    "cpu",
    "NO_SCHEDULE",
    "SURGE",
    "BLUE_GREEN",
    "3600s",
]
ANYTHING: list[Any] = ["", "on", 0, 7, 1.5, True, [], ["a"], {}, {"a": 1}, None]
ODD = string.ascii_letters + string.digits + "-_./: é"
RESOURCES_OF_EACH_TYPE = 150


class Program:
    """Makes inputs up: mostly of the right shape, now and then of another, or unknown."""

    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed)

    def inputs(self, fields: dict[str, Field], depth: int = 4) -> dict[str, Any]:
        given = [field for field in fields.values() if not field.output]
        optional = [field for field in given if not field.required]
        count = min(len(optional), self.random.randrange(6)) if depth else 0
        chosen = self.random.sample(optional, count)
        required = [field for field in given if field.required and self.random.random() < 0.98]
        return {field.name: self._value(field, depth - 1) for field in [*required, *chosen]}

    def _value(self, field: Field, depth: int) -> Any:
        die = self.random.random()
        if die < 0.03:
            return self.random.choice(ANYTHING)
        if die < 0.06:
            return UNKNOWN
        if field.kind == "block":
            return self.inputs(field.fields, max(depth, 0))
        if field.kind == "blocks":
            return [self.inputs(field.fields, max(depth, 0)) for _ in range(self._few())]
        if field.kind == "list":
            return [self._scalar(field.element) for _ in range(self._few())]
        if field.kind == "map":
            return {self._text(): self._scalar(field.element) for _ in range(self._few())}
        return self._scalar(field.kind)

    def _few(self) -> int:
        return self.random.randrange(3)

    def _scalar(self, kind: str) -> Any:
        if kind == "bool":
            return self.random.random() < 0.5
        if kind in ("int", "float"):
            return self.random.choice([-1, 0, 1, 2, 30, 64, 100, 604800])
        return self._text()

    def _text(self) -> str:
        if self.random.random() < 0.8:
            return self.random.choice(REFERENCES)
        return "".join(self.random.choices(ODD, k=self.random.randrange(50)))


@pytest.mark.parametrize("token", sorted(kinds()))
def test_inputs_of_any_shape_are_answered(tmp_path: Path, token: str) -> None:
    program = Program(token)
    fields = kinds()[token].schema.fields
    cloud = Emulated(tmp_path)
    cloud.create(plain.NETWORK, "net", {"name": "net"})
    cloud.create(plain.CLUSTER, "base", plain.cluster(subnetwork=None, name="base"))
    planned = 0
    for number in range(RESOURCES_OF_EACH_TYPE):
        try:
            recorded = cloud.create(token, f"resource-{number}", program.inputs(fields))
            planned += 1
            # With something unknown there is a plan, and nothing to refresh.
            assert not recorded.id or cloud.refresh(recorded) is not None
            cloud.up(recorded, program.inputs(fields))
        except Refused:
            continue
    assert planned, "nothing was accepted, so nothing was tried but the refusals"
