"""The guard and the policy pack give the same verdict on the same manifests."""

import random
import re
from collections.abc import Iterator

import pytest

from sandbox.cluster.control_plane import ControlPlane
from spotproof_gke.admission import DOUBT, Guard, GuardAction, findings
from tests.cluster.guard_specs import (
    DOUBTFUL,
    KEPT_OFF,
    OWN_TAINT,
    SPECS,
    SPOT_CLASS,
    Spec,
    random_spec,
)
from tests.cluster.guarded import (
    BLANKET_SPEC,
    KINDS,
    PERSON,
    Server,
    guarding,
    make_namespaces,
    server_of,
    workload,
)

GUARD = Guard(
    name="strict",
    system_namespaces=("platform", "infra-*"),
    gke_action=GuardAction.DENY,
    critical_action=GuardAction.DENY,
    spot_classes=(SPOT_CLASS,),
    spot_taint_keys=(OWN_TAINT,),
)
NAMESPACES = ("platform", "infra-dns", "gke-managed-cim", "gmp-system", "edge")
RANDOM_SPECS = 300


@pytest.fixture(scope="module")
def server(plane: ControlPlane) -> Iterator[Server]:
    with server_of(plane.kubeconfig) as server:
        make_namespaces(server, NAMESPACES)
        with guarding(server, GUARD):
            yield server.asked_by(PERSON)


_AFFINITY_VALUE = re.compile(r"=\S+(?= by node affinity)")


def _without_values(clauses: set[str]) -> set[str]:
    """Of several values of one expression the pack names the first alone, the guard each."""
    return {_AFFINITY_VALUE.sub("", each) for each in clauses}


def pack(manifest: Spec) -> set[str]:
    """What the policy pack finds, each clause as the guard words it."""
    found = findings(GUARD, manifest)
    return _without_values(
        {("" if each.certain else DOUBT) + each.value.partition(", ")[2] for each in found}
    )


def guard(server: Server, manifest: Spec) -> set[str]:
    """What the guard finds when somebody creates it."""
    return _without_values(server.create(manifest, dry_run=True).clauses)


@pytest.mark.parametrize("name", SPECS)
def test_the_guard_denies_what_the_pack_reports(server: Server, name: str) -> None:
    for kind in KINDS:
        manifest = workload(kind, SPECS[name], "platform")

        found = guard(server, manifest)

        assert found == pack(manifest), kind
        assert bool(found) == (name not in KEPT_OFF and kind != "DaemonSet"), kind


@pytest.mark.parametrize("name", DOUBTFUL)
def test_the_guard_denies_what_only_the_nodes_could_tell(server: Server, name: str) -> None:
    found = guard(server, workload("Pod", DOUBTFUL[name], "platform"))

    assert any(each.startswith(DOUBT) for each in found)


def test_the_guard_agrees_with_the_pack_on_random_specifications(server: Server) -> None:
    source = random.Random(20261130)
    judged = {True: 0, False: 0}
    for _ in range(RANDOM_SPECS):
        manifest = workload("Deployment", random_spec(source), "platform")
        found = guard(server, manifest)
        assert found == pack(manifest), manifest
        judged[bool(found)] += 1
    assert min(judged.values()) > RANDOM_SPECS / 5


@pytest.mark.parametrize("kind", ["Pod", "Deployment", "CronJob"])
@pytest.mark.parametrize(
    ("namespace", "priority", "denied"),
    [
        ("platform", "", True),
        ("infra-dns", "", True),
        ("kube-system", "", True),
        ("kube-public", "", True),
        ("gke-managed-cim", "", True),
        ("gmp-system", "", True),
        ("default", "", False),
        ("edge", "", False),
        ("edge", "system-cluster-critical", True),
        ("edge", "system-node-critical", True),
        ("platform", "system-node-critical", True),
    ],
)
def test_the_guard_looks_where_the_pack_looks(
    server: Server, kind: str, namespace: str, priority: str, denied: bool
) -> None:
    spec = {**BLANKET_SPEC, **({"priorityClassName": priority} if priority else {})}
    manifest = workload(kind, spec, namespace)

    assert server.create(manifest, dry_run=True).denied is denied
    assert bool(pack(manifest)) is denied
    assert not server.create(workload(kind, {}, namespace), dry_run=True).denied


@pytest.mark.parametrize("label", ["default-compute-class", "default-compute-class-non-daemonset"])
@pytest.mark.parametrize(
    ("namespace", "chosen", "denied"),
    [
        ("infra-new", "autopilot-spot", True),
        ("infra-new", SPOT_CLASS, True),
        ("infra-new", "n4", False),
        ("gke-managed-new", "autopilot-spot", True),
        ("training-new", "autopilot-spot", False),
    ],
)
def test_no_system_namespace_gives_its_pods_a_spot_class(
    server: Server, label: str, namespace: str, chosen: str, denied: bool
) -> None:
    """GKE adds the class of this label to pods as they are made, where no guard looks again."""
    labels = {f"cloud.google.com/{label}": chosen}
    manifest = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": namespace, "labels": labels},
    }

    reply = server.create(manifest, dry_run=True)

    assert reply.denied is denied
    assert bool(list(findings(GUARD, manifest))) is denied
    if denied:
        assert f"Namespace {namespace}: gives its pods the class {chosen}" in reply.message


def test_each_workload_is_denied_by_one_policy_of_the_guard(server: Server) -> None:
    spec = {**BLANKET_SPEC, "priorityClassName": "system-cluster-critical"}
    for namespace, scope in (("platform", "own"), ("kube-system", "gke"), ("edge", "critical")):
        reply = server.create(workload("Pod", spec, namespace), dry_run=True)
        assert f"'strict-{scope}'" in reply.message


def test_a_denial_names_the_workload_the_value_the_rule_and_the_fix(server: Server) -> None:
    reply = server.create(workload("Deployment", BLANKET_SPEC, "platform"), dry_run=True)

    # A 403 would be taken by the Pulumi provider for a lack of rights, and pass a preview.
    assert reply.status == 422
    for part in (
        "Deployment platform/work: tolerates every taint (operator Exists without a key)",
        "Rule: a system workload neither selects nor tolerates Spot nodes",
        "Fix: remove",
    ):
        assert part in reply.message
