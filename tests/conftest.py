"""What every run of the tests does at its start, and says at its end."""

import gc
from typing import Any

from sandbox.briefly import hurry
from tests.refusals import load

hurry()


def pytest_collection_finish() -> None:
    """Leaves what was loaded out of the search for unused cycles: it stays to the end."""
    gc.freeze()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """The counts of `refusals.yaml` and of the policies' corpus, after a run through them."""
    reports = [each for found in terminalreporter.stats.values() for each in found]
    ran = [getattr(report, "nodeid", "") for report in reports]
    if any("test_refusals" in each for each in ran):
        terminalreporter.section("refusals.yaml")
        terminalreporter.write_line(load().counts())
    if any("test_corpus.py" in each for each in ran):
        from tests.policies import corpus  # only such a run has loaded the packs

        terminalreporter.section("corpus of the policies")
        for line in corpus.score().lines():
            terminalreporter.write_line(line)
