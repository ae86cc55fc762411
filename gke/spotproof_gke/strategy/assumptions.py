"""What was not said, and what was taken for it."""

from collections.abc import Iterator

from spotproof_gke.capacity import Capacity
from spotproof_gke.strategy import odds
from spotproof_gke.strategy.needs import needs
from spotproof_gke.strategy.place import Place
from spotproof_gke.strategy.question import RUNS_TO_AN_END
from spotproof_gke.strategy.verdict import Verdict
from spotproof_gke.strategy.words import Instead, Kind, Strategy

_SETTLED = (Instead.NOT_YET.value, Instead.OTHER_PLACE.value, Instead.SYSTEM_POOL.value)


def assumptions(place: Place, verdict: Verdict) -> Iterator[str]:
    """What an answer took for what was not said, each in a sentence."""
    question = place.question
    if verdict.instead is not None and verdict.instead.name in _SETTLED:
        return
    if question.kind in RUNS_TO_AN_END and not (question.local_state or question.sla):
        yield from _of_ends(place, verdict)
    if question.kind is Kind.STATELESS and question.replicas is None:
        yield "How many replicas serve was not said; taken as one."
    if question.kind in (Kind.CI, Kind.STATELESS) and question.interruptible is None:
        yield "Whether it may lose its node was not said; work of this kind may, as a rule."
    if question.kind is Kind.NOTEBOOK and question.interruptible is None:
        yield "Whether it may lose its node was not said; taken as no, since somebody uses it."
    if place.assumed:
        yield f"No region was named; {place.region} stands for it, so its zones are an example."
    if question.version is None and needs(place, verdict):
        yield "The cluster's version was not named; see what the answer needs."
    unusable = question.reservation and not place.anywhere(Capacity.RESERVATION)
    if unusable:
        yield f"The reservation {question.reservation} was left out: this hardware has none."


def _of_ends(place: Place, verdict: Verdict) -> Iterator[str]:
    question = place.question
    on_spot = verdict.strategy in (Strategy.SPOT, Strategy.CHAIN)
    if question.interruptible is None and question.checkpoints is None:
        yield "Whether it may lose its node was not said; taken as no."
    elif question.interruptible is None and on_spot:
        yield "It saves, so it is taken to survive the loss of its node."
    if question.checkpoints is None and question.resumes and question.kind is Kind.TRAINING:
        yield (
            "Whether it goes on from where it saved was not said; taken as yes. "
            "If it begins again each time, say so and ask again."
        )
    if question.start_flexible is None and not question.resumes:
        yield "Whether its start may wait was not said; taken as no."
    elif question.start_flexible is None and on_spot:
        yield "Whether its start may wait was not said; taken as yes."
    if question.save_seconds is None and on_spot and question.kind is Kind.TRAINING:
        yield f"How long a save takes was not said; taken as {odds.SAVE_SECONDS:g} s."
    if verdict.strategy is Strategy.NEITHER and question.checkpoints is None:
        yield "Whether it saves and goes on was not said; taken as no."
    if question.hours is None:
        yield "How long it runs was not said."
