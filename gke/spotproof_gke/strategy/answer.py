"""The answer to a question, and all that belongs to it."""

from dataclasses import dataclass
from math import isinf
from typing import Any

from spotproof_gke.capacity import Capacity
from spotproof_gke.strategy import texts
from spotproof_gke.strategy.assumptions import assumptions
from spotproof_gke.strategy.conditions import conditions
from spotproof_gke.strategy.diversity import Also, also
from spotproof_gke.strategy.needs import Need, needs, nodes_from
from spotproof_gke.strategy.place import place_of
from spotproof_gke.strategy.question import Question
from spotproof_gke.strategy.rules import decide
from spotproof_gke.strategy.snippets import Snippet, snippet
from spotproof_gke.strategy.texts import Source, Statement
from spotproof_gke.strategy.verdict import Verdict
from spotproof_gke.strategy.words import Instead, Strategy

_CAPACITY = {
    Strategy.SPOT: Capacity.SPOT,
    Strategy.CHAIN: Capacity.SPOT,
    Strategy.SPLIT: Capacity.SPOT,
    Strategy.FLEX_START: Capacity.FLEX_START,
    Strategy.FLEX_START_QUEUED: Capacity.FLEX_START_QUEUED,
    Strategy.ON_DEMAND: Capacity.ON_DEMAND,
    Strategy.RESERVATION: Capacity.RESERVATION,
}
_CAPACITY_INSTEAD = {
    Instead.ON_DEMAND.value: Capacity.ON_DEMAND,
    Instead.SYSTEM_POOL.value: Capacity.ON_DEMAND,
    Instead.RESERVATION.value: Capacity.RESERVATION,
    Instead.OTHER_PLACE.value: Capacity.SPOT,
    Instead.NEWER_VERSION.value: Capacity.FLEX_START,
}


@dataclass(frozen=True)
class Answer:
    """What to take, why, and what follows.

    Attributes:
        question: The question.
        strategy: What to take.
        title: The same in words.
        instead: What to do where it is neither Spot nor flex-start; None elsewhere.
        chain: Kinds of capacity in order, where a compute class takes several.
        reasons: Why, the first the most important.
        second: What comes next; None when nothing does.
        why_not: Why that was not taken.
        region: The region of the rest of the answer.
        also: What else to allow; None where there is nothing to obtain.
        nodes_from: Where flex-start nodes should come from, and why; None elsewhere.
        conditions: What has to hold.
        needs: The versions of GKE that it needs.
        assumptions: What was not said and what was taken for it, each a sentence.
        snippet: The part of a stack file to paste; None where there is nothing to declare.
    """

    question: Question
    strategy: Strategy
    title: str
    instead: str | None
    chain: tuple[Capacity, ...]
    reasons: tuple[Statement, ...]
    second: Strategy | None
    why_not: Statement | None
    region: str
    also: Also | None
    nodes_from: str | None
    conditions: tuple[Statement, ...]
    needs: tuple[Need, ...]
    assumptions: tuple[str, ...]
    snippet: Snippet | None

    @property
    def statements(self) -> tuple[Statement, ...]:
        """All sentences that have sources or are opinions."""
        why_not = (self.why_not,) if self.why_not else ()
        return (*self.reasons, *why_not, *self.conditions)

    @property
    def sources(self) -> tuple[Source, ...]:
        """The guidance that the answer follows, each once, that of the first reason first."""
        found = {each.name: each for one in self.statements for each in one.sources}
        return tuple(found.values())

    @property
    def silent(self) -> bool:
        """Whether guidance is silent on a reason for the answer itself."""
        return any(each.opinion for each in self.reasons)

    @property
    def uncertain(self) -> tuple[str, ...]:
        """What the answer is not certain of, each a sentence."""
        opinions = [
            f'Guidance is silent on "{each.text}": ours is an opinion, because {each.opinion}.'
            for each in self.statements
            if each.opinion
        ]
        if self.nodes_from:
            opinions.append(
                "Guidance is silent on where flex-start nodes should come from: ours is an "
                "opinion, for the reasons given."
            )
        return (*self.assumptions, *opinions)

    def as_data(self) -> dict[str, Any]:
        """The answer as plain data, for JSON; all keys are always there."""
        return {
            "question": _question(self.question),
            "strategy": self.strategy.value,
            "title": self.title,
            "instead": self.instead,
            "chain": [each.value for each in self.chain],
            "reasons": [_sentence(each) for each in self.reasons],
            "second": self.second.value if self.second else None,
            "whyNot": _sentence(self.why_not) if self.why_not else None,
            "region": self.region,
            "allowAlso": _also(self.also, self.region),
            "nodesFrom": self.nodes_from,
            "conditions": [_sentence(each) for each in self.conditions],
            "needs": [vars(each) for each in self.needs],
            "uncertain": list(self.uncertain),
            "snippet": self.snippet.text() if self.snippet else None,
            "workload": self.snippet.form if self.snippet else None,
            "sources": [
                {"name": each.name, **_address(each), "says": each.says} for each in self.sources
            ],
        }


def advise(question: Question) -> Answer:
    """The answer to a question; what is not known is taken the careful way, and said."""
    place = place_of(question)
    verdict = decide(question, place)
    capacity = _capacity(verdict)
    return Answer(
        question=question,
        strategy=verdict.strategy,
        title=texts.facts("strategies")[verdict.strategy.value]["title"],
        instead=texts.instead(verdict.instead) if verdict.instead else None,
        chain=verdict.chain,
        reasons=tuple(texts.reason(each) for each in verdict.reasons),
        second=verdict.second,
        why_not=texts.reason(verdict.why_not) if verdict.why_not else None,
        region=place.region,
        also=also(place, capacity) if capacity else None,
        nodes_from=nodes_from(place, verdict),
        conditions=tuple(texts.condition(each) for each in conditions(place, verdict)),
        needs=needs(place, verdict),
        assumptions=tuple(assumptions(place, verdict)),
        snippet=snippet(place, verdict),
    )


def _capacity(verdict: Verdict) -> Capacity | None:
    """The kind of capacity that most of the answer's nodes are."""
    if verdict.instead is not None:
        return _CAPACITY_INSTEAD.get(verdict.instead.name)
    return _CAPACITY[verdict.strategy]


def _question(question: Question) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in vars(question).items():
        word, *more = key.split("_")
        name = word + "".join(each.capitalize() for each in more)
        found[name] = getattr(value, "value", value)
    if question.hours is not None and isinf(question.hours):
        found["hours"] = "forever"
    return found


def _sentence(statement: Statement) -> dict[str, Any]:
    return {
        "name": statement.name,
        "text": statement.text,
        "sources": [_address(each) for each in statement.sources],
        "opinion": statement.opinion,
    }


def _address(source: Source) -> dict[str, str]:
    return {"address": source.address, "readOn": source.read_on}


def _also(found: Also | None, region: str) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "machineType": found.machine,
        "zones": list(found.zones),
        "machineTypes": [
            {"name": each, "accelerator": None, "gpus": 0, "gpuMemoryGb": 0, "zones": None}
            if isinstance(each, str)
            else {
                "name": each.name,
                "accelerator": each.accelerator,
                "gpus": each.gpus,
                "gpuMemoryGb": each.gpu_memory_gb,
                "zones": list(each.zones_in(region)),
            }
            for each in found.machine_types
        ],
        "regions": {region: list(zones) for region, zones in found.regions.items()},
        "how": found.how,
        "unknown": list(found.unknown),
    }
