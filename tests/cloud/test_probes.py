"""The emulated provider does what the real one was seen to do."""

from collections import Counter
from pathlib import Path

from tests.cloud import probes
from tests.cloud.harness import Emulated


def test_every_observed_row_of_a_supported_type_is_reproduced(tmp_path: Path) -> None:
    if not probes.rows():
        return  # the observations do not come with the project
    cloud = Emulated(tmp_path)
    made = probes.base(cloud)
    counts: Counter[str] = Counter(unsupported=len(probes.unsupported()))
    disagreements = {}
    for row in probes.rows():
        found = probes.disagreement(row, cloud, made)
        counts[row["by"] or "accepted"] += 1
        if found:
            disagreements[row["id"]] = found
    print(f"agreement: {dict(counts)}, disagreements: {len(disagreements)}")
    assert not disagreements
