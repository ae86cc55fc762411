"""A mistake in a variable of a pod is one line and an exit with 1, not a traceback."""

import os
import subprocess
import sys

import pytest

CASES = {
    "budget": ("SPOTPROOF_TERMINATION_BUDGET_SECONDS", "soon", "Interruption().__enter__()"),
    "lifetime": ("SPOTPROOF_NODE_LIFETIME_SECONDS", "0", "Interruption().__enter__()"),
    "location": ("SPOTPROOF_CHECKPOINT_LOCATION", "gs://B!/a", "Checkpoints()"),
    "no location": ("SPOTPROOF_CHECKPOINT_LOCATION", "", "Checkpoints()"),
    "subscription": (
        "SPOTPROOF_SUBSCRIPTION",
        "work",
        "QueueWorker(sink=None, stop=Interruption())",
    ),
    "no database": ("SPOTPROOF_DATABASE_URL", "", "PostgresSink('captions', version=1)"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_wrong_variable_is_named_without_a_traceback(case: str) -> None:
    variable, value, statement = CASES[case]
    program = f"from spotproof_runtime import *; {statement}"
    environment = {**os.environ, variable: value}

    ended = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True
    )

    assert ended.returncode == 1
    assert variable in ended.stderr
    assert "Traceback" not in ended.stderr
    assert value in ended.stderr


def test_an_address_of_a_database_that_is_no_text_is_named_but_not_shown() -> None:
    program = "from spotproof_runtime import *; PostgresSink('captions')"
    value = b"postgresql://joe:pa55\xff\xfe@host/db"
    environment = {**os.environb, b"SPOTPROOF_DATABASE_URL": value}

    ended = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True
    )

    assert ended.returncode == 1
    assert "SPOTPROOF_DATABASE_URL" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert "pa55" not in ended.stderr
