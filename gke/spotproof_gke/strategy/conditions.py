"""What has to hold for an answer to be right."""

from spotproof_gke import scenarios
from spotproof_gke.capacity import Capacity
from spotproof_gke.grace import Budget, Mode, termination_budget
from spotproof_gke.strategy import odds
from spotproof_gke.strategy.place import Place
from spotproof_gke.strategy.question import RUNS_TO_AN_END, Question
from spotproof_gke.strategy.sentences import seconds
from spotproof_gke.strategy.verdict import Because, Verdict, because
from spotproof_gke.strategy.words import ClusterMode, Instead, Kind, Strategy
from spotproof_gke.versions import FEATURES

_ON_SPOT = (Strategy.SPOT, Strategy.CHAIN, Strategy.SPLIT)
_EXTENDED = "extended-shutdown"
_ON_FLEX = (Strategy.FLEX_START, Strategy.FLEX_START_QUEUED)


def conditions(place: Place, verdict: Verdict) -> list[Because]:
    """What has to hold, in the order in which to see to it."""
    question, strategy = place.question, verdict.strategy
    if strategy in _ON_SPOT:
        found = _on_spot(place, verdict)
    elif strategy in _ON_FLEX:
        found = _on_flex(question, verdict)
    else:
        found = _stays(question, verdict)
    if Capacity.RESERVATION in verdict.chain or strategy is Strategy.RESERVATION:
        found.append(because("reservation-zone"))
    return found


def _budget(question: Question, capacity: Capacity) -> Budget:
    mode = Mode.AUTOPILOT if question.mode is ClusterMode.AUTOPILOT else Mode.STANDARD
    return termination_budget(capacity, mode)


def _on_spot(place: Place, verdict: Verdict) -> list[Because]:
    question = place.question
    found = [because("sigterm", budget=_budget(question, Capacity.SPOT).seconds)]
    if question.kind is Kind.TRAINING and question.checkpoints is not False:
        found += _saves(place, verdict)
    if question.kind is Kind.BATCH:
        found.append(because("idempotent"))
    if verdict.strategy is Strategy.SPLIT:
        found.append(_share(question))
    if question.kind in RUNS_TO_AN_END:
        found.append(because("failures"))
    if question.nodes > 1 and question.kind is Kind.TRAINING:
        found.append(because("spot-gang"))
    found += [because("budgets"), because("stock")]
    if question.accelerator is not None:
        found.append(because("quota"))
    if verdict.strategy is Strategy.CHAIN:
        found.append(because("chain-last"))
    if Capacity.FLEX_START in verdict.chain:
        found.append(_lifetime())
    return [*found, because("system-home")]


def _saves(place: Place, verdict: Verdict) -> list[Because]:
    plan = odds.saving(place.question)
    found = [
        because(
            "interval",
            interval=seconds(plan.interval.seconds),
            save=f"{plan.save_seconds:g}",
            between=seconds(plan.between_seconds),
        )
    ]
    if plan.fits:
        return found
    budget = _budget(place.question, Capacity.SPOT)
    words = {"save": f"{plan.save_seconds:g}", "budget": budget.seconds}
    # The pools of a compute class, and those of Autopilot, are not the stack's own.
    own_pools = verdict.strategy is Strategy.SPOT and place.has(_EXTENDED)
    if own_pools and plan.save_seconds <= (budget.most_seconds or 0):
        version = FEATURES[_EXTENDED].version
        return [*found, because("save-fits-extended", **words, version=version)]
    return [*found, because("save-too-slow", **words)]


def _share(question: Question) -> Because:
    market = scenarios.scenario(odds.SCENARIO)
    return because(
        "share",
        share=(question.replicas or 0) // 2,
        burst=market.burst_nodes,
        window=f"{market.burst_window_seconds / 60:g}",
    )


def _on_flex(question: Question, verdict: Verdict) -> list[Because]:
    found = [_lifetime()]
    if verdict.stretches:
        found.append(because("stretches"))
    found += [
        because("sigterm", budget=_budget(question, Capacity.FLEX_START).seconds),
        because("wait"),
        because("quota"),
    ]
    if verdict.strategy is Strategy.FLEX_START_QUEUED:
        found.append(because("gang"))
    return [*found, because("system-home")]


def _lifetime() -> Because:
    return because("lifetime", lifetime="7 days, or what `nodeLifetimeSeconds` says")


def _stays(question: Question, verdict: Verdict) -> list[Because]:
    instead = verdict.instead.name if verdict.instead else None
    if instead == Instead.SYSTEM_POOL.value:
        return [because("system-home")]
    keeps = verdict.strategy in (Strategy.ON_DEMAND, Strategy.RESERVATION)
    if keeps or instead in (Instead.ON_DEMAND.value, Instead.RESERVATION.value):
        gpu = question.accelerator is not None
        return [because("host-maintenance" if gpu else "upgrades")]
    return []
