"""Reads a question out of plain values: every problem found, one error."""

import re
from collections.abc import Mapping
from enum import Enum
from math import inf
from typing import Any, TypeVar

from spotproof_gke import gpu_nodes, locations, versions
from spotproof_gke.gpu_names import SHORT, accelerator_named
from spotproof_gke.interval import number_problems
from spotproof_gke.problems import Problem, did_you_mean, raise_if_any
from spotproof_gke.strategy.question import DEPENDS, RUNS_TO_AN_END, Question, missing
from spotproof_gke.strategy.words import ClusterMode, Kind

MOST = 10_000
"""Upper bound of nodes and replicas, to catch a slip."""

MOST_HOURS = 100_000.0
"""Upper bound of hours that are not without an end, likewise: eleven years."""

_TPU = re.compile(r"(cloud-)?tpu.*|v[2-7]([epx]|lite)?([-_].*)?|ct[3-9].*|trillium|ironwood")
_WITHOUT = ("none", "cpu", "no")
_RESERVATION = re.compile(r"[a-z0-9][a-z0-9/.:-]*")

_ENDING = tuple(each.value for each in RUNS_TO_AN_END)
_NOT_FOR = {
    "checkpoints": (("stateless", "ci"), "work of this kind has nothing to go on from"),
    "replicas": (_ENDING, "work that runs to an end has nodes, not replicas"),
    "latency_critical": (_ENDING, "nobody waits for answers of work that runs to an end"),
}
"""Kinds of work of which something can't be said, with the rule."""


def read_question(given: Mapping[str, Any], *, complete: bool = False) -> Question:
    """The question in `given`, whose keys are the attributes of `Question`.

    None counts as left out. Enumerations are given by their words, `accelerator` by GKE's name or a
    short one (`l4`, `h100`), a TPU or `none`; `hours` is a number, `inf` for ever.

    Args:
        given: What is known.
        complete: Whether it is a problem that something decisive is not known, see `missing`.

    Raises:
        ProblemsError: Something is wrong; it lists all problems with their keys.
    """
    read = _Reading(given)
    question = read.question()
    if complete and question is not None:
        wrong = {problem.key for problem in read.problems}
        lacks = missing(question, accelerator_given="accelerator" in read.given)
        read.problems += [problem for problem in lacks if problem.key not in wrong]
    raise_if_any("question", read.problems)
    assert question is not None
    return question


Word = TypeVar("Word", bound=Enum)


class _Reading:
    """One pass over what was given; problems are collected."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.problems: list[Problem] = []
        self.given = {key: value for key, value in given.items() if value is not None}
        known = Question.__dataclass_fields__
        for key in self.given:
            if key not in known:
                self._problem(
                    key, "…", "there is no such part of a question", did_you_mean(key, known)
                )

    def question(self) -> Question | None:
        kind = self._word("kind", Kind)
        if "kind" not in self.given:
            words = ", ".join(each.value for each in Kind)
            self._problem("kind", None, DEPENDS, f"name one of {words}")
        accelerator, tpu = self._accelerator()
        found = {
            "accelerator": accelerator,
            "tpu": tpu,
            "gpus": self._gpus(accelerator, tpu),
            "nodes": self._count("nodes") or 1,
            "replicas": self._count("replicas"),
            "hours": self._number("hours", endless=True, above=True),
            "save_seconds": self._number("save_seconds"),
            "region": self._region(),
            "mode": self._word("mode", ClusterMode) or ClusterMode.NONE,
            "version": self._version(),
            "reservation": self._reservation(),
            **{key: self._flag(key) for key in ("interruptible", "checkpoints", "start_flexible")},
            **{key: self._flag(key) or False for key in ("latency_critical", "local_state", "sla")},
        }
        self._judge_together()
        return Question(kind, **found) if kind is not None else None

    def _accelerator(self) -> tuple[str | None, str | None]:
        name = self.given.get("accelerator")
        tpu = self.given.get("tpu")
        if name is None or (isinstance(name, str) and name.lower() in _WITHOUT):
            return None, tpu
        if isinstance(name, str) and _TPU.fullmatch(name.lower()):
            return None, name
        found = accelerator_named(name)
        if found is None:
            rule = "this is no GPU that our tables know"
            self._problem("accelerator", name, rule, did_you_mean(name, SHORT))
        return found, tpu

    def _gpus(self, accelerator: str | None, tpu: str | None) -> int | None:
        gpus = self._count("gpus")
        if gpus is None or tpu or "accelerator" in {problem.key for problem in self.problems}:
            return gpus
        if accelerator is None:
            rule = "GPUs have a type"
            self._problem("gpus", gpus, rule, "name an accelerator such as l4, or leave it out")
        elif gpus > (most := gpu_nodes.most_gpus(accelerator)):
            rule = f"a node has at most {most} of {accelerator}"
            self._problem("gpus", gpus, rule, "ask for fewer, on more nodes")
        return gpus

    def _judge_together(self) -> None:
        kind = getattr(self.given.get("kind"), "value", self.given.get("kind"))
        for key, (kinds, rule) in _NOT_FOR.items():
            if kind in kinds and self.given.get(key) not in (None, False):
                self._problem(key, self.given[key], rule, "leave it out, or name another kind")

    def _word(self, key: str, words: type[Word]) -> Word | None:
        value = self.given.get(key)
        if value is None or isinstance(value, words):
            return value
        known = [each.value for each in words]
        if value in known:
            return words(value)
        self._problem(key, value, "this is not one of its words", did_you_mean(value, known))
        return None

    def _count(self, key: str) -> int | None:
        value = self.given.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST:
            self._problem(key, value, f"this is a whole number from 1 to {MOST}", "give one")
            return None
        return value

    def _number(self, key: str, *, endless: bool = False, above: bool = False) -> float | None:
        value = self.given.get(key)
        if value is None:
            return None
        found = number_problems(key, value, above=above, endless=endless, most=inf)
        if endless and not found and MOST_HOURS < value < inf:
            rule = f"this is at most {MOST_HOURS:g}, or without an end"
            found = [Problem(key, value, rule, "say `forever` for work without an end")]
        self.problems += found
        return None if found else value

    def _flag(self, key: str) -> bool | None:
        value = self.given.get(key)
        if value is not None and not isinstance(value, bool):
            self._problem(key, value, "this is true or false", "leave it out where it is not known")
            return None
        return value

    def _region(self) -> str | None:
        value = self.given.get("region")
        if value is None:
            return None
        name = value.lower() if isinstance(value, str) else value
        if name in locations.REGIONS:
            return name
        fix = did_you_mean(name, locations.REGIONS)
        if isinstance(name, str) and locations.is_zone(name):
            fix = f'did you mean "{locations.region_of(name)}"? The answer names its zones'
        self._problem("region", value, "this is no region that our tables know", fix)
        return None

    def _version(self) -> str | None:
        value = self.given.get("version")
        if value is None:
            return None
        try:
            versions.parse(str(value))
        except ValueError as error:
            self._problem("version", value, str(error), "leave it out where it is not known")
            return None
        return str(value)

    def _reservation(self) -> str | None:
        value = self.given.get("reservation")
        if value is None or (isinstance(value, str) and _RESERVATION.fullmatch(value)):
            return value
        rule = "a reservation has a name in lower case, or projects/PROJECT/reservations/NAME"
        self._problem(
            "reservation", value, rule, "write it as `gcloud compute reservations list` does"
        )
        return None

    def _problem(self, key: str, value: object, rule: str, fix: str) -> None:
        self.problems.append(Problem(key, value, rule, fix))
