"""Manifests of the guard: one policy and its binding for each scope.

Sources, read on 2026-11-30: kubernetes.io/docs/reference/access-authn-authz/
validating-admission-policy (stable since Kubernetes 1.30); what a real API server and the Pulumi
provider did with them: tests/cluster/test_guard_*.py.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from spotproof_gke.admission.cel import both, either, literal, optional, pod_spec
from spotproof_gke.admission.clauses import Variable, clauses, defaults, shared, tolerated
from spotproof_gke.admission.namespaces import matches
from spotproof_gke.admission.requesters import by_a_manager
from spotproof_gke.admission.scope import Guard, GuardAction, Scope
from spotproof_gke.capacity import PROVISIONING_KEY
from spotproof_gke.interruptible import ON_DEMAND
from spotproof_gke.rules.compute_classes import system_compute_classes
from spotproof_gke.rules.finding import Finding, Resource, Stack
from spotproof_gke.rules.spot_isolation import WORKLOAD_RULE, system_workloads
from spotproof_gke.rules.spot_scheduling import BLANKET
from spotproof_gke.rules.system_pods import SYSTEM_NAMESPACES
from spotproof_gke.rules.workloads import POD_AT
from spotproof_gke.workloads.judge import resource_of

_API = "admissionregistration.k8s.io/v1"
_FIX = (
    "remove what is named here; tolerate each taint that it needs by key, and a compute class by "
    f"its name; or select on-demand nodes ({PROVISIONING_KEY}: {ON_DEMAND})"
)
_RESOURCES: dict[str, tuple[str, ...]] = {
    "": ("Pod", "PodTemplate", "ReplicationController", "Namespace"),
    "apps": ("Deployment", "StatefulSet", "ReplicaSet", "DaemonSet"),
    "batch": ("Job", "CronJob"),
}


def findings(guard: Guard, manifest: Mapping[str, Any]) -> Iterator[Finding]:
    """What the guard holds against a manifest, as the policy pack says it.

    What is not certain there is denied too: the guard has no second look. Kinds whose pods it
    judges later, when their controllers make them, count as well.
    """
    resource = resource_of(manifest)
    namespaces = (*SYSTEM_NAMESPACES, *guard.system_namespaces)
    yield from system_workloads(
        resource,
        namespaces,
        guard.spot_taint_keys,
        guard.exempt_daemon_sets,
        guard.critical_priority_classes,
        guard.spot_classes,
    )
    if manifest["kind"] == "Namespace":
        classes = [_spot_class(name) for name in guard.spot_classes]
        yield from system_compute_classes(Stack([*classes, resource]), namespaces)


def _spot_class(name: str) -> Resource:
    props = {"metadata": {"name": name}, "spec": {"priorities": [{"spot": True}]}}
    return Resource("kubernetes:cloud.google.com/v1:ComputeClass", name, props=props)


def guard_manifests(guard: Guard) -> dict[str, dict[str, Any]]:
    """The policies and bindings of the guard by role, each policy before its binding."""
    found = {}
    for scope, action in guard.actions().items():
        found[f"{scope.value}-policy"] = _policy(guard, scope, action)
        found[f"{scope.value}-binding"] = _binding(guard, scope, action)
    return found


def _binding(guard: Guard, scope: Scope, action: GuardAction) -> dict[str, Any]:
    name = guard.policy_name(scope)
    actions = {GuardAction.AUDIT: ["Audit", "Warn"], GuardAction.DENY: ["Deny"]}[action]
    return {
        "apiVersion": _API,
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": {"policyName": name, "validationActions": actions},
    }


def _policy(guard: Guard, scope: Scope, action: GuardAction) -> dict[str, Any]:
    return {
        "apiVersion": _API,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": guard.policy_name(scope)},
        "spec": {
            # A guard that only watches stops nothing, not even when it fails.
            "failurePolicy": "Fail" if action is GuardAction.DENY else "Ignore",
            "matchConstraints": {"resourceRules": _resource_rules(guard, scope)},
            "matchConditions": [
                # The last changes of an object on its way out take its finalizers away.
                _condition("not-being-deleted", "!has(object.metadata.deletionTimestamp)"),
                _condition("in-scope", _in_scope(guard, scope)),
                _condition("not-by-a-manager", f"!{by_a_manager(guard.exempt_users)}"),
            ],
            "variables": [
                {"name": each.name, "expression": each.expression}
                for each in _variables(guard, scope)
            ],
            # Without a reason of its own a denial is a 422. The Pulumi provider takes a 403 in a
            # preview for a lack of rights, and then says nothing.
            "validations": [
                {
                    "expression": "variables.added.size() == 0",
                    "message": f"{WORKLOAD_RULE}; {_FIX}",
                    "messageExpression": f'{_WHO} + ": " + variables.added.join("; ") + '
                    f"{literal(f'. Rule: {WORKLOAD_RULE}. Fix: {_FIX}.')}",
                }
            ],
        },
    }


_IS_NAMESPACE = 'object.kind == "Namespace"'
_NAME = 'object.metadata.?name.orValue(object.metadata.?generateName.orValue(""))'
_NAMESPACE = f'{_IS_NAMESPACE} ? {_NAME} : request.?namespace.orValue("")'
_WHO = (
    f'object.kind + " " + ({_IS_NAMESPACE} ? "" : request.?namespace.orValue("") + "/") + {_NAME}'
)


def _condition(name: str, expression: str) -> dict[str, str]:
    return {"name": name, "expression": expression}


def _resource_rules(guard: Guard, scope: Scope) -> list[dict[str, Any]]:
    passed = {"DaemonSet"} if guard.exempt_daemon_sets else set()
    if scope is Scope.CRITICAL:
        passed.add("Namespace")
    return [
        {
            "apiGroups": [group],
            "apiVersions": ["v1"],
            "resources": [f"{kind.lower()}s" for kind in kinds if kind not in passed],
            "operations": ["CREATE", "UPDATE"],
        }
        for group, kinds in _RESOURCES.items()
    ]


def _in_scope(guard: Guard, scope: Scope) -> str:
    namespace = f"({_NAMESPACE})"
    own = matches(namespace, guard.system_namespaces)
    gke = matches(namespace, SYSTEM_NAMESPACES)
    if scope is Scope.OWN:
        return own
    if scope is Scope.GKE:
        return gke
    spec = _spec_of("object")
    return f"!{own} && !{gke} && {_is_critical(guard, f'({spec})')}"


def _is_critical(guard: Guard, spec: str) -> str:
    priority = f'{optional(spec, "priorityClassName")}.orValue("")'
    return f"{priority} in {literal(guard.critical_priority_classes)}"


def _spec_of(root: str) -> str:
    kinds = [kind for several in _RESOURCES.values() for kind in several]
    return pod_spec(root, {kind: POD_AT[kind] for kind in kinds if kind in POD_AT})


def _variables(guard: Guard, scope: Scope) -> list[Variable]:
    """The variables, of which `added` lists what a request adds to what was there before."""
    narrower = both(f"{literal(BLANKET)} in variables.before", 'f.startsWith("tolerates ")')
    was_there = either(
        [
            "f in variables.before",
            'variables.before.exists(b, f.startsWith(b + "="))',
            narrower,
        ]
    )
    before = "variables.oldFound + variables.oldDefaults"
    if scope is Scope.CRITICAL:
        before = f"{_is_critical(guard, 'variables.oldSpec')} ? {before} : []"
    return [
        *shared(guard.spot_taint_keys, guard.spot_classes),
        *clauses(_spec_of("object"), "new"),
        *clauses(f"oldObject == null ? {{}} : ({_spec_of('oldObject')})", "old"),
        defaults("object", "newDefaults"),
        defaults("oldObject", "oldDefaults"),
        Variable("found", "variables.newFound + variables.newDefaults"),
        Variable("before", before),
        # What was tolerated before counts as new on nodes that were excluded before.
        Variable("opened", "variables.newOpen.filter(n, !(n in variables.oldOpen))"),
        Variable("widened", tolerated("variables.newTolerations", "variables.opened")),
        Variable("added", f"variables.found.filter(f, f in variables.widened || !{was_there})"),
    ]
