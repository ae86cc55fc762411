"""Which process of a distributed program saves: one, or a run has several writers of one state.

Sources: docs.pytorch.org/docs/stable/elastic/run.html (RANK) and kubernetes.io/docs/concepts/
workloads/controllers/job (JOB_COMPLETION_INDEX), read on 2026-11-30.
"""

from collections.abc import Mapping

from spotproof_gke.problems import Problem, raise_if_any

RANK_VARIABLE = "RANK"
INDEX_VARIABLE = "JOB_COMPLETION_INDEX"


def process_saves(saves: bool | None, run: str | None, environment: Mapping[str, str]) -> bool:
    """Whether this process saves.

    Args:
        saves: what the program says; None leaves it to the environment.
        run: the run that the program names.
        environment: that of the process.

    Raises:
        ProblemsError: other pods of the Job use the same run, and nobody says which one saves.
    """
    if saves is not None:
        return saves
    rank = _number(environment, RANK_VARIABLE)
    if rank is not None:
        return rank == 0
    index = _number(environment, INDEX_VARIABLE)
    if index and run is None:
        rule = "pods of one Job that save into one run take each other's state for their own"
        fix = (
            'give run=f"pod-{index}" if each has a state of its own, or saves=index == 0 if all '
            "have the same"
        )
        raise_if_any("checkpoints", [Problem(INDEX_VARIABLE, index, rule, fix)])
    return True


def _number(environment: Mapping[str, str], name: str) -> int | None:
    text = environment.get(name, "")
    return int(text) if text.isdecimal() else None
