"""The guard in the cluster: no system workload gets a way onto nodes that can be taken away."""

from dataclasses import dataclass
from typing import Any, TypedDict

import pulumi
from typing_extensions import NotRequired

from spotproof.reader import Reader
from spotproof.workloads.made import declare
from spotproof_gke import kubernetes_names
from spotproof_gke.admission import Guard, GuardAction, guard_manifests, pattern_problems
from spotproof_gke.rules.system_pods import CRITICAL_PRIORITY_CLASSES
from spotproof_gke.versions import FEATURES


class SystemPlacementGuardArgs(TypedDict):
    """Arguments of `SystemPlacementGuard`."""

    system_namespaces: list[str]
    """System namespaces of your own, in which it denies; `*` matches any ending; may be empty."""

    gke_action: NotRequired[GuardAction]
    """What it does in the namespaces of GKE and Kubernetes: `audit` or `deny`; `audit` when omitted."""

    critical_action: NotRequired[GuardAction]
    """What it does about pods of critical priority in other namespaces: `audit` or `deny`; `audit` when omitted."""

    spot_classes: NotRequired[list[str]]
    """Compute classes that may take Spot or flex-start nodes; GKE's own `autopilot-spot` alone when omitted."""

    spot_taint_keys: NotRequired[list[str]]
    """Keys of taints of your own that mark such nodes, with any value; none when omitted."""

    critical_priority_classes: NotRequired[list[str]]
    """Priority classes that count as critical; the two of Kubernetes' own when omitted."""

    exempt_daemon_sets: NotRequired[bool]
    """Whether DaemonSets, which run on every node on purpose, are passed over; true when omitted."""

    exempt_users: NotRequired[list[str]]
    """Users whose requests always pass, besides GKE's and Kubernetes' own managers; none when omitted."""

    guard_name: NotRequired[str]
    """Beginning of the names of its policies, fixed; the component's name when omitted."""


@dataclass(frozen=True)
class SystemPlacementGuardPlan:
    """Checked arguments of a `SystemPlacementGuard`.

    Attributes:
        guard: What the guard watches.
        manifests: Its policies and bindings, by role.
        minimum_version: The least GKE version that serves them.
    """

    guard: Guard
    manifests: dict[str, dict[str, Any]]
    minimum_version: str = FEATURES["admission-policies"].version


def plan_system_placement_guard(read: Reader, name: str) -> SystemPlacementGuardPlan:
    """Judge the arguments of a `SystemPlacementGuard`; problems are noted on `read`."""
    namespaces = read.texts("system_namespaces")
    read.extend(pattern_problems("system_namespaces", namespaces))
    guard = Guard(
        name=read.name("guard_name", kubernetes_names.object_name_problems, default=name),
        system_namespaces=namespaces,
        gke_action=read.choice("gke_action", GuardAction, GuardAction.AUDIT),
        critical_action=read.choice("critical_action", GuardAction, GuardAction.AUDIT),
        spot_classes=_names(read, "spot_classes"),
        spot_taint_keys=_taint_keys(read),
        critical_priority_classes=_names(
            read, "critical_priority_classes", CRITICAL_PRIORITY_CLASSES
        ),
        exempt_daemon_sets=read.boolean("exempt_daemon_sets", default=True),
        exempt_users=read.texts("exempt_users", default=()),
    )
    return SystemPlacementGuardPlan(guard, guard_manifests(guard))


def _names(read: Reader, key: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
    names = read.texts(key, default=default)
    for name in names:
        read.extend(kubernetes_names.subdomain_problems(key, name))
    return names


def _taint_keys(read: Reader) -> tuple[str, ...]:
    keys = read.texts("spot_taint_keys", default=())
    for key in keys:
        for found in kubernetes_names.label_problems("", {key: ""}):
            read.problem("spot_taint_keys", key, found.rule, found.fix)
    return keys


class SystemPlacementGuard(pulumi.ComponentResource):
    """Admission policies (Kubernetes 1.30 or newer) that keep system workloads off Spot; in a stack that goes up before the workloads."""

    policy_names: pulumi.Output[list[str]]
    """Names of its policies; each has a binding of the same name."""

    def __init__(
        self,
        name: str,
        args: SystemPlacementGuardArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        read = Reader(args, SystemPlacementGuardArgs.__annotations__)
        plan = plan_system_placement_guard(read, name)
        read.finish(f"SystemPlacementGuard {name}")
        super().__init__("spotproof:index:SystemPlacementGuard", name, None, opts)
        read.warn(self)
        policies: list[pulumi.CustomResource] = []
        for role, manifest in plan.manifests.items():
            is_binding = "policyName" in manifest["spec"]
            made = declare(
                self,
                f"{name}-{role}",
                manifest,
                depends_on=policies[-1:] if is_binding else (),
            )
            if not is_binding:
                policies.append(made)
        self.policy_names = pulumi.Output.all(
            *(policy.metadata["name"] for policy in policies)  # pyright: ignore[reportAttributeAccessIssue]
        )
        self.register_outputs({"policyNames": self.policy_names})
