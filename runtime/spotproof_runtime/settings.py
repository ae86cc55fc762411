"""What the environment says about the end of the program: its budget, and its node's lifetime."""

import math
import os
from collections.abc import Mapping
from typing import NamedTuple

from spotproof_gke.contract import NODE_LIFETIME_VARIABLE, TERMINATION_BUDGET_VARIABLE

DEFAULT_BUDGET_SECONDS = 15.0
"""What an ordinary pod has on Spot; see `spotproof_gke.grace`, which this equals."""

TORCHELASTIC_SECONDS = 30.0
"""What torchrun leaves its workers between SIGTERM and SIGKILL."""

TORCHELASTIC_VARIABLE = "TORCHELASTIC_RUN_ID"
"""Environment variable that torchrun sets for its workers."""

Wrong = tuple[str, str, str, str]
"""Variable, value, rule and fix."""


class SettingsError(SystemExit):
    """The environment cannot be used; uncaught it prints its text and exits with 1.

    It is no plain exception, since a traceback says nothing about a variable of a pod.
    """


class Settings(NamedTuple):
    """What the environment says.

    Attributes:
        budget_seconds: from SIGTERM to the end of the program.
        node_lifetime_seconds: from the start of the node to its end, None when it is not known.
    """

    budget_seconds: float
    node_lifetime_seconds: float | None


def read_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """Reads the budget and the node's lifetime.

    Args:
        environment: the variables, those of this process when None.

    Raises:
        SettingsError: a variable holds no number of seconds; the text names all that are wrong.
    """
    variables = os.environ if environment is None else environment
    wrong: list[Wrong] = []
    budget = _seconds(variables, TERMINATION_BUDGET_VARIABLE, 0, wrong)
    lifetime = _seconds(variables, NODE_LIFETIME_VARIABLE, 1, wrong)
    if wrong:
        raise SettingsError(_text(wrong))
    if budget is None:
        budget = DEFAULT_BUDGET_SECONDS
    if TORCHELASTIC_VARIABLE in variables:
        budget = min(budget, TORCHELASTIC_SECONDS)
    return Settings(budget, lifetime)


def _seconds(
    variables: Mapping[str, str], name: str, least: int, wrong: list[Wrong]
) -> float | None:
    given = variables.get(name)
    if given is None:
        return None
    try:
        seconds = float(given)
    except ValueError:
        seconds = math.nan
    if not least <= seconds < math.inf:
        rule = f"this is a number of seconds, {least} or more"
        wrong.append((name, given, rule, "write one like 15, or remove the variable"))
    return seconds


def _text(wrong: list[Wrong]) -> str:
    # A program that starts pays nothing for a report that it does not make.
    from spotproof_gke.problems import Problem, ProblemsError

    return str(ProblemsError("environment", [Problem(*one) for one in wrong]))
