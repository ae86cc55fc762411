"""Decides: the first rule that has an answer gives it."""

from collections.abc import Callable, Iterator

from spotproof_gke.capacity import Capacity
from spotproof_gke.strategy import ends, odds, serving
from spotproof_gke.strategy.place import CLASSES, Place, sold_words
from spotproof_gke.strategy.question import Question
from spotproof_gke.strategy.verdict import Verdict, because, neither
from spotproof_gke.strategy.words import Instead, Kind, Strategy

Rule = Callable[[Question, Place], Verdict | None]


def decide(question: Question, place: Place) -> Verdict:
    """The one verdict on a question."""
    return next(_verdicts(question, place))


def _verdicts(question: Question, place: Place) -> Iterator[Verdict]:
    for rule in _RULES:
        found = rule(question, place)
        if found is not None:
            yield found


def _tpu(question: Question, place: Place) -> Verdict | None:
    if question.tpu is None:
        return None
    return neither(Instead.NOT_YET, because("neither-tpu", tpu=question.tpu))


def _what_must_stay(question: Question, place: Place) -> Verdict | None:
    if question.kind is Kind.SYSTEM:
        return neither(
            Instead.SYSTEM_POOL,
            because("neither-system"),
            second=Strategy.ON_DEMAND,
            why_not=because("not-own-pool"),
        )
    second, why_not = Strategy.RESERVATION, because("not-reservation-ahead")
    if question.kind is Kind.STATEFUL:
        reasons = [because("neither-stateful")]
    elif question.local_state:
        reasons = [because("neither-local-state")]
        second, why_not = Strategy.SPOT, because("not-spot-until-saves")
    elif question.sla:
        reasons = [because("neither-sla"), because("neither-sla-flex")]
    else:
        return None
    instead, more = place.what_stays()
    return neither(instead, *reasons, *more, second=second, why_not=why_not)


def _hardware(question: Question, place: Place) -> Verdict | None:
    """What can't be had, or in one way alone."""
    if question.accelerator is None or not place.zones_known:
        return None
    if not place.anywhere(None):
        machines = question.accelerator
        if question.gpus:
            machines = f"a machine with {question.gpus} or more {question.accelerator}"
        return neither(
            Instead.OTHER_PLACE,
            because("neither-not-here", region=place.region, machines=machines),
        )
    reserved_only = not place.anywhere(Capacity.SPOT) and not place.anywhere(Capacity.FLEX_START)
    if reserved_only and question.reservation is None:
        return neither(
            Instead.RESERVATION,
            because(
                "neither-reservation-only",
                accelerator=question.accelerator,
                sold=sold_words(place),
            ),
        )
    return None


def _reservation(question: Question, place: Place) -> Verdict | None:
    if question.reservation is None or not place.anywhere(Capacity.RESERVATION):
        return None
    if _spare_may_go(question) and place.anywhere(Capacity.SPOT) and place.has(CLASSES):
        return Verdict(
            Strategy.CHAIN,
            (because("chain-reservation"),),
            Strategy.RESERVATION,
            because("not-reservation-full"),
            chain=(Capacity.RESERVATION, Capacity.SPOT),
        )
    return Verdict(
        Strategy.RESERVATION,
        (because("reserved"),),
        Strategy.CHAIN,
        because("not-chain-steady"),
    )


def _spare_may_go(question: Question) -> bool:
    """Whether what the reservation does not hold may be on Spot."""
    if question.kind is Kind.STATELESS:
        several = question.replicas is not None and question.replicas > 1
        return several and not question.latency_critical and question.interruptible is not False
    if question.kind is Kind.CI:
        return question.interruptible is not False
    begins_again = question.checkpoints is False
    return question.resumes and not (begins_again and odds.repeats(question) > odds.MOST_REPEATS)


_RULES: tuple[Rule, ...] = (
    _tpu,
    _hardware,
    _what_must_stay,
    _reservation,
    serving.stateless,
    serving.builds,
    serving.notebook,
    ends.interruptible,
    ends.uninterrupted,
)
"""In the order in which they are asked; the last has an answer to everything."""
