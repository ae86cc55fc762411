"""What has bitten people in the field is kept by a test each."""

import ast
import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
CASES = yaml.safe_load((ROOT / "tests" / "cases.yaml").read_text(encoding="utf-8"))
FIELD_CASES = ROOT.parent / "shared" / "cases.md"
SECTIONS = (
    "Node pools, taints, Spot, GPUs",
    "Flex-start / DWS / Kueue",
    "NAP, autoscaling, system pods",
    "Cluster lifecycle",
    "Buckets",
)


@pytest.mark.parametrize(("number", "test"), CASES["cases"].items())
def test_the_test_of_a_case_exists(number: int, test: str) -> None:
    path, _, name = test.partition("::")
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    names = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    assert not name or name in names


def test_every_field_case_is_kept_or_said_to_come_later() -> None:
    if not FIELD_CASES.exists():
        pytest.skip("the list of field cases is not here")
    text = FIELD_CASES.read_text(encoding="utf-8")
    numbers: set[int] = set()
    for section in SECTIONS:
        part = text.partition(f"## {section}\n")[2].partition("\n## ")[0]
        assert part, section
        numbers |= {int(found) for found in re.findall(r"^(\d+)\. ", part, flags=re.M)}
    assert numbers == set(CASES["cases"]) | set(CASES["later"])
