"""Which capacity should this work take? An answer with reasons, each with its source.

    question = read_question({"kind": "training", "interruptible": True, "accelerator": "l4"})
    advise(question).strategy

Texts and guidance stand in `data/strategies.yaml`, the facts about machines, zones and versions in
the tables that everything else uses too. Nothing is asked of a cloud.
"""

from spotproof_gke.strategy.answer import Answer, advise
from spotproof_gke.strategy.question import Question, missing
from spotproof_gke.strategy.reading import read_question
from spotproof_gke.strategy.words import ClusterMode, Kind, Strategy

__all__ = [
    "Answer",
    "ClusterMode",
    "Kind",
    "Question",
    "Strategy",
    "advise",
    "missing",
    "read_question",
]
