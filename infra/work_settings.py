"""Judges identities and work queues as a stack file says them."""

from collections.abc import Callable, Mapping
from typing import Any

from spotproof.identities import read_workload
from spotproof.reader import Reader, camel_case
from spotproof_gke import names
from spotproof_gke.problems import Problem, did_you_mean

Note = Callable[[str, object, str, str], None]
"""Notes a problem: key, value, rule and fix."""


def judge_identities(found: Mapping[str, Mapping[str, Any]], problems: list[Problem]) -> None:
    """Note what is wrong with identities, which no component judges as a stack file says them."""
    queues = found["work_queues"]
    for key, args in found["identities"].items():
        path = f"identities.{key}."
        read = Reader(args, args, path, camel_case, problems)
        read_workload(read, "service_account")
        read.boolean("checkpoints", default=False)
        if account := read.text("google_service_account", default=None):
            read.extend(names.account_id_problems("google_service_account", account))
        for side in ("publishes_to", "works_on"):
            for queue in read.texts(side, default=()):
                if queue not in queues:
                    rule = "this is not one of the stack's work queues"
                    fix = did_you_mean(queue, queues) if queues else "add it to workQueues"
                    read.problem(side, queue, rule, fix)
        if not any(args.get(one) for one in ("checkpoints", "publishes_to", "works_on")):
            rule = "an identity is for something that it may reach"
            fix = "set checkpoints to true, or name a queue in worksOn or publishesTo"
            problems.append(Problem(path.rstrip("."), None, rule, fix))


def judge_queue_names(queues: Mapping[str, Mapping[str, Any]], note: Note) -> None:
    """Pools of different sections have different prefixes, so they never meet; queues may."""
    names_seen: dict[str, str] = {}
    for key, args in queues.items():
        name = args.get("queue_name")
        for part in (name, f"{name}-dead-letters"):
            other = names_seen.setdefault(str(part), key)
            if other != key:
                rule = f"the queue {other} has the topic {part} already"
                note(f"workQueues.{key}", name, rule, "give it another queueName")
