"""Decides on work that has no end of its own: services, builds, notebooks."""

from spotproof_gke.capacity import Capacity
from spotproof_gke.strategy import odds
from spotproof_gke.strategy.ends import on_demand, too_old
from spotproof_gke.strategy.place import CLASSES, Place
from spotproof_gke.strategy.question import Question
from spotproof_gke.strategy.verdict import Verdict, because, neither
from spotproof_gke.strategy.words import Instead, Kind, Strategy
from spotproof_gke.versions import FEATURES


def stateless(question: Question, place: Place) -> Verdict | None:
    """Services without state: split them, unless nothing of them may go."""
    if question.kind is not Kind.STATELESS:
        return None
    if question.replicas is None or question.replicas == 1:
        reasons = (because("neither-one-replica"),)
        second = (Strategy.SPLIT, because("not-split-yet"))
    elif question.latency_critical:
        reasons = (because("neither-latency"), because("neither-latency-opinion"))
        second = (Strategy.SPLIT, because("not-split-latency"))
    elif question.interruptible is False:
        reasons = (because("neither-serving-interrupted"),)
        second = (Strategy.RESERVATION, because("not-reservation-ahead"))
    else:
        return _split(question, place)
    instead, more = place.what_stays()
    return neither(instead, *reasons, *more, second=second[0], why_not=second[1])


def _split(question: Question, place: Place) -> Verdict:
    reason = because("split-replicas", replicas=f"{question.replicas} replicas")
    if not place.anywhere(Capacity.ON_DEMAND) and not place.has(CLASSES):
        return neither(
            Instead.NEWER_VERSION,
            *place.what_stays()[1],
            second=Strategy.CHAIN,
            why_not=too_old(question, CLASSES),
            version=FEATURES[CLASSES].version,
        )
    if not place.anywhere(Capacity.ON_DEMAND):
        return Verdict(
            Strategy.CHAIN,
            (reason, because("chain-not-on-demand", accelerator=question.accelerator)),
            Strategy.SPOT,
            because("not-spot-alone"),
            chain=(Capacity.SPOT, Capacity.FLEX_START),
        )
    return Verdict(
        Strategy.SPLIT,
        (reason,),
        Strategy.ON_DEMAND,
        because("not-on-demand-price"),
        chain=(Capacity.SPOT, Capacity.ON_DEMAND),
    )


def builds(question: Question, place: Place) -> Verdict | None:
    """Builds and tests of CI, which are short and run again."""
    if question.kind is not Kind.CI:
        return None
    if question.interruptible is False:
        return on_demand(place, because("on-demand-ci"))
    if odds.repeats(question) > odds.MOST_REPEATS:
        return on_demand(place, odds.again(question))
    return Verdict(
        Strategy.SPOT,
        (because("spot-ci"),),
        Strategy.ON_DEMAND,
        because("not-on-demand-price"),
    )


def notebook(question: Question, place: Place) -> Verdict | None:
    """Somebody's environment for development."""
    if question.kind is not Kind.NOTEBOOK:
        return None
    if not question.resumes:
        return on_demand(place, because("on-demand-notebook"))
    return Verdict(
        Strategy.SPOT,
        (because("spot-notebook"), because("notebook-kernel")),
        Strategy.ON_DEMAND,
        because("not-on-demand-price"),
    )
