"""What every run of the runtime's tests says at its end: the figures that tests have recorded."""

from typing import Any


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Each figure that a test gave to `record_property("figure", ...)`, a line each."""
    passed = terminalreporter.stats.get("passed", [])
    figures = [value for each in passed for name, value in each.user_properties if name == "figure"]
    if figures:
        terminalreporter.section("figures")
        for figure in sorted(figures):
            terminalreporter.write_line(figure)
