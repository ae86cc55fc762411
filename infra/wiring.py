"""Judges how what is inside the cluster fits the stack around it, and fills in what follows."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from section import Section
from spotproof.pool_plan import PoolPlan
from spotproof.reader import camel_case
from spotproof_gke.capacity import Capacity
from spotproof_gke.grace import Mode
from spotproof_gke.problems import did_you_mean
from spotproof_gke.workloads.scheduling import NodesFrom
from work_settings import Note
from workload_sections import FLEX_START_JOBS, KUEUE_QUEUES, NAME_ARGUMENT, objects

A_BUCKET = "bucket-of-the-stack"
A_SUBSCRIPTION = "projects/project-of-the-stack/subscriptions/queue-of-the-stack"
"""Stand for outputs of other components while arguments are judged."""

_PREFIX = re.compile(r"[^/\s]+(/[^/\s]+)*")


@dataclass
class Surroundings:
    """What a stack has around its workloads.

    Attributes:
        mode: Mode of the cluster.
        region: Region of the cluster.
        sections: Arguments of the other components by section.
        pools: Plans of the pools by their paths; None when they are not right themselves.
        provisions: Whether the cluster makes pools by itself.
    """

    mode: Mode
    region: str
    sections: Mapping[str, Mapping[str, Any]]
    pools: Mapping[str, PoolPlan] | None
    provisions: bool


class Wiring:
    """One pass over the workloads of a stack; problems go to `note`."""

    def __init__(self, around: Surroundings, note: Note) -> None:
        self._around = around
        self._note = note
        self._prefixes: dict[str, str] = {}
        self._objects: dict[tuple[str, ...], str] = {}

    def fill(self, section: Section, path: str, key: str, args: dict[str, Any]) -> dict[str, Any]:
        """Complete `args` in place with what follows from the stack.

        Returns:
            Stand-ins for arguments that only the update will know.
        """
        name = NAME_ARGUMENT[section.key]
        if args.get(name) is None:
            args[name] = key
        supplied: dict[str, Any] = {}
        known = section.args.__annotations__
        if "cluster_location" in known:
            supplied["cluster_location"] = self._around.region
        if section is KUEUE_QUEUES and self._around.mode is Mode.AUTOPILOT:
            for flavor in _mappings(args.get("flavors")):
                flavor.setdefault("nodes", NodesFrom.AUTOPILOT.value)
        if "nodes" in known:
            self._fill_nodes(section, path, args)
        if "checkpoint_location" in known:
            supplied |= self._fill_checkpoints(path, key, args)
        if "subscription" in known:
            supplied |= self._fill_queue(path, args)
        return supplied

    def judge_objects(self, path: str, plan: object) -> None:
        """Note what two workloads would both make."""
        for one in objects(plan):
            above = one["metadata"]
            parts = (one["apiVersion"], one["kind"], above.get("namespace", ""), above["name"])
            other = self._objects.setdefault(parts, path)
            if other != path:
                rule = f"{other} makes the {one['kind']} {above['name']} already"
                self._note(path, above["name"], rule, "give one of the two another name")

    def _fill_nodes(self, section: Section, path: str, args: dict[str, Any]) -> None:
        nodes = args.get("nodes")
        autopilot = NodesFrom.AUTOPILOT.value
        if self._around.mode is Mode.AUTOPILOT:
            if nodes is None:
                args["nodes"] = autopilot
            elif nodes in (NodesFrom.POOL.value, NodesFrom.AUTO_PROVISIONING.value):
                rule = "an Autopilot cluster makes the nodes itself"
                self._note(f"{path}.nodes", nodes, rule, "leave it out")
        elif nodes == autopilot:
            self._note(f"{path}.nodes", nodes, "this cluster is Standard", "leave it out")
        elif nodes == NodesFrom.AUTO_PROVISIONING.value and not self._around.provisions:
            rule = "the cluster makes no pools by itself"
            self._note(f"{path}.nodes", nodes, rule, "add autoProvisioning, or a pool")
        elif nodes in (None, NodesFrom.POOL.value) and args.get("compute_class") is None:
            self._fill_grace(section, path, args)

    def _fill_grace(self, section: Section, path: str, args: dict[str, Any]) -> None:
        """Find the pools of a workload, which say how long its pods have when a node goes."""
        if self._around.pools is None:
            return
        capacity = Capacity.SPOT
        if section is FLEX_START_JOBS:
            queued = args.get("queue") is not None or args.get("provisioning_request") is True
            capacity = Capacity.FLEX_START_QUEUED if queued else Capacity.FLEX_START
        accelerator = args.get("accelerator")
        fitting = [
            pool
            for pool in self._around.pools.values()
            if pool.capacity is capacity
            and (pool.gpu.accelerator if pool.gpu else None) == accelerator
        ]
        if not fitting:
            of = f" with {accelerator}" if accelerator else " without GPUs"
            rule = f"the stack has no {capacity.value} pool{of}, so its pods would wait for ever"
            fix = "add such a pool, or name a computeClass"
            if self._around.provisions:
                fix += ", or set nodes to auto-provisioning"
            key = "accelerator" if accelerator else "nodes"
            self._note(f"{path}.{key}", accelerator, rule, fix)
        graces = {pool.shutdown_seconds for pool in fitting}
        keys = ("shutdown_grace_seconds", "critical_shutdown_grace_seconds")
        known = section.args.__annotations__
        if len(graces) == 1 and keys[0] in known and all(args.get(key) is None for key in keys):
            args.update(zip(keys, graces.pop() or (), strict=False))

    def _fill_checkpoints(self, path: str, key: str, args: dict[str, Any]) -> dict[str, Any]:
        at = f"{path}.checkpointPrefix"
        prefix = args.get("checkpoint_prefix")
        elsewhere = [
            name
            for name in ("checkpoint_location", "checkpoint_claim", "checkpoint_bucket")
            if args.get(name) is not None
        ]
        if elsewhere:
            if prefix is not None:
                rule = "this is for checkpoints in the bucket of the stack"
                self._note(at, prefix, rule, f"leave it or {camel_case(elsewhere[0])} out")
            args.pop("checkpoint_prefix", None)
            return {}
        prefix = args["checkpoint_prefix"] = key if prefix is None else prefix
        if not isinstance(prefix, str) or not _PREFIX.fullmatch(prefix):
            rule = "a prefix is a path without spaces and without a slash at either end"
            self._note(at, prefix, rule, "write it like run-1")
        else:
            other = self._prefixes.setdefault(prefix, path)
            if other != path:
                rule = f"{other} has this prefix, and two runs would mix their checkpoints"
                self._note(at, prefix, rule, "give each run a prefix of its own")
        self._fill_account(path, args, self._reaching_checkpoints(), "checkpoints")
        return {"checkpoint_location": f"gs://{A_BUCKET}/run"}

    def _reaching_checkpoints(self) -> list[str]:
        checkpoints = self._around.sections.get("checkpoints") or {}
        identities = self._around.sections.get("identities") or {}
        named = [one["service_account"] for one in identities.values() if one.get("checkpoints")]
        return [*_texts(checkpoints.get("workloads")), *_texts(named)]

    def _fill_queue(self, path: str, args: dict[str, Any]) -> dict[str, Any]:
        queue = args.get("work_queue")
        if queue is None:
            return {}
        at = f"{path}.workQueue"
        if args.get("subscription") is not None:
            rule = "this is the work queue of the stack that workers take work from"
            self._note(at, queue, rule, "leave it or subscription out")
            return {}
        queues = self._around.sections.get("work_queues") or {}
        if not isinstance(queue, str) or queue not in queues:
            rule = "this is not one of the stack's work queues"
            fix = did_you_mean(queue, queues) if queues else "add it to workQueues"
            self._note(at, queue, rule, fix)
        else:
            identities = self._around.sections.get("identities") or {}
            named = [
                one["service_account"]
                for one in identities.values()
                if queue in _texts(one.get("works_on"))
            ]
            found = [*_texts(queues[queue].get("workers")), *_texts(named)]
            self._fill_account(path, args, found, f"workQueues.{queue}.workers")
        return {"subscription": A_SUBSCRIPTION}

    def _fill_account(
        self, path: str, args: dict[str, Any], reaching: list[str], where: str
    ) -> None:
        """Find the service account that may reach what the workload needs."""
        namespace, at = args.get("namespace"), f"{path}.serviceAccount"
        if not isinstance(namespace, str) or not namespace:
            return
        where = "checkpoints.workloads" if where == "checkpoints" else where
        here = [one for one in dict.fromkeys(reaching) if one.startswith(f"{namespace}/")]
        given = args.get("service_account")
        if given is None and len(here) == 1:
            args["service_account"] = here[0].partition("/")[2]
        elif given is None:
            rule = f"no service account of namespace {namespace} may reach what it needs"
            fix = f"add {namespace}/NAME to {where}"
            if here:
                rule = "several service accounts may reach what it needs"
                fix = "name one of " + ", ".join(here)
            self._note(at, None, rule, fix)
        elif isinstance(given, str) and f"{namespace}/{given.rpartition('/')[2]}" not in here:
            rule = "this service account may not reach what the workload needs"
            name = f"{namespace}/{given.rpartition('/')[2]}"
            fix = f"add {name} to {where}"
            self._note(at, given, rule, fix + (f", or use {' or '.join(here)}" if here else ""))


def _mappings(value: object) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _texts(value: object) -> list[str]:
    found = value if isinstance(value, (list, tuple)) else ()
    return [one for one in found if isinstance(one, str)]
