"""Decides on work that runs to an end: training and batch, and what is left over."""

from dataclasses import replace

from spotproof_gke.capacity import Capacity
from spotproof_gke.rules.pool_capacity import NODE_LIFETIME_SECONDS
from spotproof_gke.strategy import odds
from spotproof_gke.strategy.place import CLASSES, Place
from spotproof_gke.strategy.question import RUNS_TO_AN_END, Question
from spotproof_gke.strategy.sentences import duration
from spotproof_gke.strategy.verdict import Because, Verdict, because, neither
from spotproof_gke.strategy.words import Instead, Kind, Strategy
from spotproof_gke.versions import FEATURES

LONGEST_HOURS = NODE_LIFETIME_SECONDS[1] / 3600
"""How long a flex-start node lives at most."""

DAY_HOURS = 24.0
"""How long work on on-demand nodes may run for no upgrade to be in its way: it lies between two
maintenance windows, which open on some days of a week."""


def interruptible(question: Question, place: Place) -> Verdict | None:
    """Work that may lose its node: Spot, unless too little of the time would stay work."""
    if question.kind not in RUNS_TO_AN_END or not question.resumes:
        return None
    if not place.anywhere(Capacity.SPOT):
        return None
    if question.checkpoints is False and odds.repeats(question) > odds.MOST_REPEATS:
        why = odds.again(question)
        found = _unwasted(question, place, why)
        if found is not None:
            return found
        found = uninterrupted(question, place)
        return replace(found, reasons=(why, *found.reasons))
    reasons = [because("spot-batch" if question.kind is Kind.BATCH else "spot-resumes")]
    if question.kind is Kind.TRAINING and question.checkpoints is not False:
        if odds.saving(question).waste.goodput < odds.LEAST_GOODPUT:
            found = _unwasted(question, place, odds.wastes(question))
            if found is not None:
                return found
        reasons.append(odds.share(question))
    if question.start_flexible is False and place.has(CLASSES):
        return _chain(question, place, *reasons)
    return Verdict(Strategy.SPOT, tuple(reasons), *_second_to_spot(question, place))


def _second_to_spot(question: Question, place: Place) -> tuple[Strategy, Because]:
    if question.start_flexible is False:
        return Strategy.CHAIN, too_old(question, CLASSES)
    if question.accelerator is None or not place.anywhere(Capacity.FLEX_START):
        return Strategy.ON_DEMAND, because("not-flex-cpu")
    gang = question.nodes > 1
    second = Strategy.FLEX_START_QUEUED if gang else Strategy.FLEX_START
    return second, because("not-flex-needless")


def _chain(question: Question, place: Place, *reasons: Because) -> Verdict:
    last = Capacity.ON_DEMAND
    more = [because("chain-now")]
    if not place.anywhere(last):
        last = Capacity.FLEX_START
        more.append(because("chain-not-on-demand", accelerator=question.accelerator))
    return Verdict(
        Strategy.CHAIN,
        (*reasons, *more),
        Strategy.SPOT,
        because("not-spot-alone"),
        chain=(Capacity.SPOT, last),
    )


def _unwasted(question: Question, place: Place, why: Because) -> Verdict | None:
    """Flex-start for work that may be interrupted but should not; None where that is not right."""
    if question.start_flexible is False or question.accelerator is None:
        return None
    if question.hours is None or not place.anywhere(Capacity.FLEX_START):
        return None
    too_long = question.hours > LONGEST_HOURS and question.checkpoints is not True
    if too_long or not place.has(flex_feature(question)):
        return None
    found = _flex(question, place)
    return Verdict(
        found.strategy,
        (why, *found.reasons),
        Strategy.SPOT,
        because("not-spot-interrupts"),
        stretches=found.stretches,
    )


def flex_feature(question: Question) -> str:
    """The feature of GKE that flex-start nodes for this work need."""
    return "flex-start-queued" if question.nodes > 1 else "flex-start"


def uninterrupted(question: Question, place: Place) -> Verdict:
    """Work that must not be interrupted, or is taken to be so: has an answer to everything."""
    if question.accelerator is None:
        return _without_gpu(question, place)
    if question.start_flexible is True:
        return _waits(question, place)
    return _starts_now(question, place)


def _without_gpu(question: Question, place: Place) -> Verdict:
    if question.hours is None or question.hours <= DAY_HOURS:
        return on_demand(place, because("on-demand-no-gpu"))
    long = because("neither-now-long-cpu", duration=duration(question.hours))
    return neither(
        Instead.ON_DEMAND,
        because("on-demand-no-gpu"),
        long,
        second=Strategy.SPOT,
        why_not=because("not-spot-until-saves"),
    )


def _waits(question: Question, place: Place) -> Verdict:
    feature = flex_feature(question)
    if question.hours is None and question.checkpoints is not True:
        return neither(
            Instead.FIND_OUT,
            because("neither-unknown"),
            second=Strategy.FLEX_START,
            why_not=because("not-flex-once-known"),
        )
    if question.checkpoints is not True and (question.hours or 0) > LONGEST_HOURS:
        return _too_long(question, because("neither-too-long", **_duration(question)))
    if not place.anywhere(Capacity.FLEX_START):
        return on_demand(place)
    if not place.has(feature):
        return neither(
            Instead.NEWER_VERSION,
            too_old(question, feature),
            second=Strategy.ON_DEMAND,
            why_not=because("not-on-demand-price"),
            version=FEATURES[feature].version,
        )
    return _flex(question, place)


def _flex(question: Question, place: Place) -> Verdict:
    reasons: list[Because] = []
    stretches = question.hours is None or question.hours > LONGEST_HOURS
    if stretches:
        reasons.append(because("flex-stretches", **_duration(question)))
    else:
        reasons.append(because("flex-single", **_duration(question)))
    if question.nodes > 1:
        reasons.append(because("flex-gang", nodes=question.nodes))
    strategy = Strategy.FLEX_START if question.nodes == 1 else Strategy.FLEX_START_QUEUED
    scarce = "not-on-demand-price" if question.nodes == 1 else "not-on-demand-scarce"
    second = (Strategy.ON_DEMAND, because(scarce))
    if not place.anywhere(Capacity.ON_DEMAND):
        second = (Strategy.RESERVATION, because("not-reservation-ahead"))
    return Verdict(strategy, tuple(reasons), *second, stretches=stretches)


def _starts_now(question: Question, place: Place) -> Verdict:
    now = because("neither-now")
    if question.hours is None:
        return neither(
            Instead.FIND_OUT,
            now,
            because("neither-unknown"),
            second=Strategy.FLEX_START,
            why_not=because("not-flex-if-waits"),
        )
    if question.hours <= DAY_HOURS:
        return on_demand(place, because("on-demand-day", **_duration(question)))
    instead, more = place.what_stays()
    long = because("neither-now-long", **_duration(question))
    if question.hours > LONGEST_HOURS:
        return _too_long(question, now, long)
    return neither(
        instead,
        now,
        *(more or [long]),
        second=Strategy.FLEX_START if question.nodes == 1 else Strategy.FLEX_START_QUEUED,
        why_not=because("not-flex-if-waits"),
    )


def _too_long(question: Question, *reasons: Because) -> Verdict:
    return neither(
        Instead.RESERVATION,
        *reasons,
        second=Strategy.SPOT,
        why_not=because("not-spot-until-saves"),
    )


def on_demand(place: Place, *reasons: Because) -> Verdict:
    """On-demand nodes, or neither where what is needed is not sold so."""
    instead, more = place.what_stays()
    if more:
        return neither(
            instead,
            *reasons,
            *more,
            second=Strategy.FLEX_START,
            why_not=because("not-flex-if-waits"),
        )
    return Verdict(Strategy.ON_DEMAND, reasons, Strategy.SPOT, because("not-spot-interrupts"))


def _duration(question: Question) -> dict[str, str]:
    text = "a while" if question.hours is None else duration(question.hours)
    return {"duration": text, "Duration": text[0].upper() + text[1:]}


def too_old(question: Question, feature: str) -> Because:
    """That the cluster's version lacks a feature, as a reason."""
    needed = FEATURES[feature]
    what = needed.what[0].upper() + needed.what[1:]
    what = what.partition(" (")[0]
    return because("neither-old", what=what, version=needed.version, has=question.version)
