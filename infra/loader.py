"""Reads the keys of a stack file and lets the components judge their arguments."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from fit import limits_reached
from guard_settings import fill_guard, judge_namespaces, wants_guard
from sections import CLUSTER_SUPPLIED, OUTPUT, POOL_SECTIONS, SECTIONS, WORK_QUEUES, Section
from spotproof.autopilot import AutopilotClusterArgs
from spotproof.cluster import GkeClusterArgs, GkeClusterPlan, plan_gke_cluster
from spotproof.cluster_base import ClusterPlan, plan_cluster
from spotproof.pool_plan import PoolPlan
from spotproof.reader import TABLES_OUT_OF_DATE, Reader, camel_case
from spotproof.workloads.system_placement_guard import SystemPlacementGuardPlan
from spotproof_gke.grace import Mode
from spotproof_gke.problems import Problem, did_you_mean, nearest
from spotproof_gke.versions import parse
from wiring import Surroundings, Wiring
from work_settings import judge_identities, judge_queue_names
from workload_sections import GUARD, WORKLOAD_SECTIONS, LayerSettings, objects
from workload_settings import nested, read_layer

NAMESPACE = "spotproof"
"""The name before a setting that is right in every project, whatever the project is called."""

_OTHERS = ("gcp", "kubernetes", "pulumi")
_LAYER = tuple(LayerSettings.__annotations__)
_POOL_PATHS = tuple(f"{camel_case(section.key)}." for section in POOL_SECTIONS)
PROJECT_KEY = "gcp:project"

HIDDEN_PROJECT = "a-secret-project"
"""Stands for a project id that was given as a secret while the other settings are judged."""


class Loader:
    """One pass over a stack's configuration, which collects every problem.

    Args:
        values: Configuration by full key (`spotproof:region`).
        secrets: Keys whose values are encrypted.
        project: The name in Pulumi.yaml: `pulumi config set region` writes it before the key.
    """

    def __init__(
        self, values: Mapping[str, Any], secrets: Collection[str], project: str = NAMESPACE
    ) -> None:
        self.problems: list[Problem] = []
        self._namespaces = {NAMESPACE, project} - {*_OTHERS}
        own = self._own(values)
        self._project = values.get(PROJECT_KEY)
        for key in sorted(secrets):
            name = self._setting(key) or key
            if own.pop(name, None) is not None or key == PROJECT_KEY:
                rule = "settings shape the plan and are shown in it, so none is a secret"
                self._problem(name, "a secret", rule, "set it again without --secret")
        if PROJECT_KEY in secrets:
            self._project = HIDDEN_PROJECT
        for key in values:
            namespace = key.partition(":")[0]
            if namespace not in self._namespaces and nearest(namespace, [NAMESPACE]):
                right = key.replace(namespace, NAMESPACE, 1)
                rule = "the program reads only settings under its own name"
                self._problem(key, "…", rule, f'did you mean "{right}"?')
        known = [f for f in GkeClusterArgs.__annotations__ if f not in CLUSTER_SUPPLIED]
        self._top = self._snake(own, [*known, "mode", *_LAYER, *SECTIONS], "")

    def _setting(self, key: str) -> str:
        """The name of a setting of the program without what stands before it; "" of others."""
        namespace, _, name = key.partition(":")
        return name if namespace in self._namespaces else ""

    def _own(self, values: Mapping[str, Any]) -> dict[str, Any]:
        own: dict[str, Any] = {}
        for key, value in values.items():
            name = self._setting(key)
            if not name or value is None:
                continue
            if name in own:
                both = " and ".join(f"{one}:{name}" for one in sorted(self._namespaces))
                self._problem(name, "…", f"this stands twice, as {both}", "remove one of them")
            own[name] = value
        return own

    def settings(self) -> dict[str, Any]:
        """The fields of `Settings`."""
        mode = Reader(
            {"mode": self._top.get("mode")}, ["mode"], "", camel_case, self.problems
        ).choice("mode", Mode, Mode.STANDARD)
        if mode is Mode.AUTOPILOT:
            self._refuse_on_autopilot()
        args = {k: v for k, v in self._top.items() if k not in {*SECTIONS, *_LAYER, "mode"}}
        args = self._nested_snake(args)
        planned = self._cluster(args, mode)
        cluster = planned.cluster if isinstance(planned, GkeClusterPlan) else planned
        trust = {TABLES_OUT_OF_DATE: True} if args.get(TABLES_OUT_OF_DATE) is True else {}
        found: dict[str, dict[str, Any]] = {}
        pools: dict[str, PoolPlan] = {}
        for section in SECTIONS.values():
            if section in (GUARD, *WORKLOAD_SECTIONS):
                continue
            supplied = {**self._supplied(section, cluster), **trust}
            if section.many:
                found[section.key], plans = self._many(section, supplied)
                if section in POOL_SECTIONS:
                    paths = {f"{camel_case(section.key)}.{k}": plan for k, plan in plans.items()}
                    pools.update(paths)
            elif not (section.standard_only and mode is Mode.AUTOPILOT):
                found[section.key] = self._one(section, supplied)
        judge_identities(found, self.problems)
        judge_queue_names(found[WORK_QUEUES.key], self._problem)
        provisions = False
        if isinstance(planned, GkeClusterPlan):
            self._fits(planned, pools)
            provisions = planned.auto_provisioning is not None
        broken = any(p.key.startswith(_POOL_PATHS) for p in self.problems)
        around = Surroundings(mode, cluster.region, found, None if broken else pools, provisions)
        manifests, least = self._workloads(around, trust, found)
        return {
            "project": cluster.project,
            "region": cluster.region,
            "cluster_name": cluster.cluster_name,
            "mode": mode,
            "deletion_protection": cluster.deletion_protection,
            "trust": trust,
            "cluster": args,
            "sections": found,
            **read_layer(self._top, self.problems),
            "manifests": tuple(manifests),
            "least_version": least,
        }

    def _workloads(
        self, around: Surroundings, trust: Mapping[str, Any], found: dict[str, dict[str, Any]]
    ) -> tuple[list[dict[str, Any]], str]:
        """Judge what is inside the cluster, and add its arguments to `found`.

        Returns:
            The objects as far as they are known, and the least version that knows all of them.
        """
        wiring = Wiring(around, self._problem)
        manifests: list[dict[str, Any]] = []
        least = ""
        for section in WORKLOAD_SECTIONS:
            found[section.key], plans = self._many(section, trust, wiring)
            for key, plan in plans.items():
                path = f"{camel_case(section.key)}.{key}"
                if not any(p.key.startswith(path) for p in self.problems):
                    wiring.judge_objects(path, plan)
                manifests += objects(plan)
                least = _newer(least, getattr(plan, "minimum_version", ""))
        guard = self._guard(manifests, found)
        if guard is None:
            return manifests, least
        return [*objects(guard), *manifests], _newer(least, guard.minimum_version)

    def _guard(
        self, manifests: Sequence[Mapping[str, Any]], found: dict[str, dict[str, Any]]
    ) -> SystemPlacementGuardPlan | None:
        """Judge the guard, and add its arguments to `found`; None when there is to be none."""
        path = camel_case(GUARD.key)
        given = self._top.get(GUARD.key)
        args = self._snake(self._mapping(given, path), GUARD.own_fields, f"{path}.")
        wanted = wants_guard(
            isinstance(given, Mapping), args, self._top.get("workloads"), self.problems
        )
        fill_guard(args, manifests)
        plan = self._judge(path, args, {}, GUARD, GUARD.component_name())
        found[GUARD.key] = {}
        if not wanted:
            return None
        judge_namespaces(plan.guard.system_namespaces, found, self._problem)
        found[GUARD.key] = {key: v for key, v in args.items() if key not in GUARD.more_fields}
        return plan

    def _refuse_on_autopilot(self) -> None:
        keys = [key for key, section in SECTIONS.items() if section.standard_only]
        for key in [*keys, "auto_provisioning"]:
            if self._top.pop(key, None) is not None:
                rule = "an Autopilot cluster has no pools: a pod just asks for Spot or flex-start"
                self._problem(camel_case(key), "…", rule, "remove it, or set mode to standard")

    def _cluster(self, args: dict[str, Any], mode: Mode) -> ClusterPlan | GkeClusterPlan:
        if "cluster_name" not in args:
            rule = "the cluster's fixed name is required"
            self._problem("clusterName", None, rule, "add it")
        given = {**args, "network_id": OUTPUT, "subnetwork_id": OUTPUT}
        if self._project is not None:
            given["project"] = self._project
        kind: Any = AutopilotClusterArgs if mode is Mode.AUTOPILOT else GkeClusterArgs
        reader = Reader(
            given,
            kind.__annotations__,
            "",
            lambda key: PROJECT_KEY if key == "project" else camel_case(key),
            self.problems,
        )
        plan = plan_cluster if mode is Mode.AUTOPILOT else plan_gke_cluster
        return plan(reader, "cluster")

    def _supplied(self, section: Section, cluster: ClusterPlan) -> dict[str, Any]:
        """Values of the arguments that the program supplies to a section's components."""
        values = {
            "project": cluster.project,
            "region": cluster.region,
            "network_name": cluster.cluster_name,
            "cluster": OUTPUT,
            "cluster_name": cluster.cluster_name,
            "cluster_location": cluster.region,
            "node_service_account": OUTPUT,
        }
        return {key: value for key, value in values.items() if key in section.supplied}

    def _one(self, section: Section, supplied: Mapping[str, Any]) -> dict[str, Any]:
        path = camel_case(section.key)
        raw = self._mapping(self._top.get(section.key), path)
        args = self._snake(raw, section.own_fields, f"{path}.")
        self._judge(path, args, supplied, section, section.component_name())
        return args

    def _many(
        self, section: Section, supplied: Mapping[str, Any], wiring: Wiring | None = None
    ) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
        """Arguments and plans of a section's components, by their keys in the stack file."""
        raw = self._top.get(section.key)
        path = camel_case(section.key)
        if raw is not None and not isinstance(raw, Mapping):
            fix = f"write NAME: {{{camel_case(section.own_fields[0])}: …}}"
            self._problem(path, raw, "this is a mapping from a name to its settings", fix)
            raw = None
        args: dict[str, dict[str, Any]] = {}
        plans: dict[str, Any] = {}
        for key, value in (raw or {}).items():
            at = f"{path}.{key}"
            own = self._snake(self._mapping(value, at), section.own_fields, f"{at}.")
            args[str(key)] = own
            now = supplied
            if wiring is not None:
                own.update(nested(own, section.args, f"{at}.", self._snake))
                now = {**supplied, **wiring.fill(section, at, str(key), own)}
            if section is WORK_QUEUES and self._top.get("cluster_name"):
                args[str(key)].setdefault("queue_name", f"{self._top['cluster_name']}-{key}")
            name = section.component_name(str(key))
            plans[str(key)] = self._judge(at, own, now, section, name)
        return args, plans

    def _judge(
        self,
        path: str,
        args: Mapping[str, Any],
        supplied: Mapping[str, Any],
        section: Section,
        name: str,
    ) -> Any:
        """Let a component judge its arguments; those supplied were judged before."""
        args = {key: value for key, value in args.items() if key not in section.more_fields}
        reader = Reader({**args, **supplied}, section.args.__annotations__, f"{path}.", camel_case)
        planned = section.plan(reader, name)
        hidden = {f"{path}.{camel_case(key)}" for key in supplied}
        for found in reader.problems:
            # The name of a component is its key in the stack file, so it has no key of its own.
            key = path if found.key == f"{path}.name" else found.key
            if key not in hidden:
                self._problem(key, found.value, found.rule, found.fix)
        return planned

    def _fits(self, planned: GkeClusterPlan, pools: Mapping[str, PoolPlan]) -> None:
        unclear = any(p.key.startswith("autoProvisioning.") for p in self.problems)
        if planned.auto_provisioning is not None and not unclear:
            self.problems += limits_reached(planned.auto_provisioning, pools)

    def _mapping(self, value: Any, path: str) -> Mapping[Any, Any]:
        if value is None:
            return {}
        if isinstance(value, Mapping):
            return value
        self._problem(path, value, "this is a mapping of settings", "write key: value pairs")
        return {}

    def _nested_snake(self, args: dict[str, Any]) -> dict[str, Any]:
        """The cluster's own nested settings, their keys spelt as arguments."""
        result = dict(args)
        for key in ("auto_provisioning", "maintenance_window"):
            if key in args:
                fields = GkeClusterArgs.__annotations__[key].__args__[0].__annotations__
                path = camel_case(key)
                result[key] = self._snake(self._mapping(args[key], path), fields, f"{path}.")
        return result

    def _snake(self, raw: Mapping[Any, Any], fields: Sequence[str], path: str) -> dict[str, Any]:
        """`raw` with its keys spelt as arguments; a key that is no setting is a problem."""
        spelt = {camel_case(field): field for field in fields}
        for key in raw:
            if key not in spelt:
                fix = did_you_mean(key, spelt)
                self._problem(f"{path}{key}", "…", "there is no such setting", fix)
        return {spelt[key]: value for key, value in raw.items() if key in spelt}

    def _problem(self, key: str, value: object, rule: str, fix: str) -> None:
        self.problems.append(Problem(key, value, rule, fix))


def _newer(one: str, other: str) -> str:
    """The newer of two versions, of which "" is the oldest."""
    return max(one, other, key=lambda version: parse(version) if version else (0,))
