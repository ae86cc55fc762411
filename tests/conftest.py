"""What every run of the tests says at its end."""

from typing import Any

from tests.refusals import load


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """The counts of `refusals.yaml`, after a run that went through its rows."""
    reports = [each for found in terminalreporter.stats.values() for each in found]
    if any("test_refusals" in getattr(report, "nodeid", "") for report in reports):
        terminalreporter.section("refusals.yaml")
        terminalreporter.write_line(load().counts())
