"""The guard judges what a change adds: what was there before lives on, and can be deleted."""

from collections.abc import Iterator
from typing import Any

import pytest
from lightkube.resources.apps_v1 import DaemonSet
from lightkube.resources.apps_v1 import Deployment as Deployments
from lightkube.resources.core_v1 import Pod

from sandbox.cluster.control_plane import ControlPlane
from sandbox.cluster.guard import there_before
from spotproof_gke.admission import Guard, GuardAction
from tests.cluster.conftest import system_pool
from tests.cluster.guard_specs import (
    COMPUTE_CLASS,
    EVERY_TAINT,
    FLEX_START,
    PREEMPTIBLE,
    PROVISIONING,
    QUEUED,
    SPOT,
    Spec,
    expression,
    prefers,
    requires,
    selects,
    tolerates,
)
from tests.cluster.guarded import (
    CONTROLLER,
    OF_CONTROLLERS,
    PERSON,
    Server,
    guarding,
    make_namespaces,
    server_of,
    workload,
)

GUARD = Guard(
    name="changes",
    system_namespaces=("platform",),
    gke_action=GuardAction.DENY,
    critical_action=GuardAction.DENY,
    exempt_users=("deployer@example.com",),
)
MANAGER = "system:addon-manager"
OFF_SPOT = requires([expression(SPOT, "DoesNotExist")])
OFF_PROVISIONED = requires([expression(PROVISIONING, "NotIn", "spot")])
ON_DEMAND = requires([expression(PROVISIONING, "In", "standard")])


@pytest.fixture(scope="module")
def server(plane: ControlPlane) -> Iterator[Server]:
    """The API server, asked by a person without any special group."""
    with server_of(plane.kubeconfig) as server:
        make_namespaces(server, ["platform", "edge"])
        with guarding(server, GUARD):
            yield server.asked_by(PERSON)


@pytest.fixture
def was_there(server: Server) -> Iterator[Any]:
    """Makes an object as if it had been there before the guard."""
    made: list[dict[str, Any]] = []

    def make(manifest: dict[str, Any]) -> dict[str, Any]:
        reply = server.asked_by(MANAGER).create(manifest)
        assert reply.ok, reply.body
        made.append(manifest)
        return manifest

    yield make
    for manifest in made:
        server.asked_by(MANAGER).delete(manifest)


CHANGES: list[tuple[str, Spec, Spec, bool]] = [
    ("nothing of nodes", {}, {"hostNetwork": True}, False),
    ("a blanket toleration", {}, EVERY_TAINT, True),
    ("a Spot toleration", {}, tolerates(SPOT, "true"), True),
    ("a flex-start toleration", {}, tolerates(FLEX_START, exists=True), True),
    ("a queued toleration", {}, tolerates(QUEUED, "true"), True),
    ("a preemptible toleration", {}, tolerates(PREEMPTIBLE, "true"), True),
    ("a Spot selector", {}, selects(SPOT, "true"), True),
    ("a flex-start selector", {}, selects(PROVISIONING, "flex-start"), True),
    ("a Spot class", {}, selects(COMPUTE_CLASS, "autopilot-spot"), True),
    ("a Spot affinity", {}, requires([expression(SPOT, "Exists")]), True),
    ("a Spot preference", {}, prefers(expression(SPOT, "In", "true")), True),
    ("a node by name", {}, {"nodeName": "gke-a-b-c"}, True),
    ("a node by field", {}, requires(fields=[expression("metadata.name", "In", "n")]), True),
    ("a GPU toleration", {}, tolerates("nvidia.com/gpu", exists=True), False),
    ("no more than before", EVERY_TAINT, {**EVERY_TAINT, "hostNetwork": True}, False),
    ("a selector besides", EVERY_TAINT, {**EVERY_TAINT, **selects(SPOT, "true")}, True),
    ("another key", tolerates(SPOT, "true"), tolerates(FLEX_START, "true"), True),
    ("another value", selects(PROVISIONING, "spot"), selects(PROVISIONING, "flex-start"), True),
    ("a blanket for a key", tolerates(SPOT, "true"), EVERY_TAINT, True),
    ("a key for a blanket", EVERY_TAINT, tolerates(SPOT, "true"), False),
    ("any value for one", tolerates(SPOT, "true"), tolerates(SPOT, exists=True), True),
    ("one value for any", tolerates(SPOT, exists=True), tolerates(SPOT, "true"), False),
    ("off Spot besides", EVERY_TAINT, {**EVERY_TAINT, **OFF_SPOT}, False),
    ("off Spot no more", {**EVERY_TAINT, **OFF_SPOT}, EVERY_TAINT, True),
    ("off flex-start too", {**EVERY_TAINT, **OFF_SPOT}, {**EVERY_TAINT, **ON_DEMAND}, False),
    ("off flex-start no more", {**EVERY_TAINT, **ON_DEMAND}, {**EVERY_TAINT, **OFF_SPOT}, True),
    (
        "a toleration of what is open, off Spot no more",
        {**tolerates(FLEX_START, exists=True), **OFF_SPOT},
        tolerates(FLEX_START, exists=True),
        False,
    ),
    (
        "a toleration for a blanket, off Spot no more",
        {**EVERY_TAINT, **OFF_SPOT},
        tolerates(SPOT, "true"),
        True,
    ),
    ("open as before", {**EVERY_TAINT, **OFF_SPOT}, {**EVERY_TAINT, **OFF_PROVISIONED}, False),
    ("nothing any more", {**EVERY_TAINT, **selects(SPOT, "true")}, {}, False),
    ("the same node", {"nodeName": "n"}, {"nodeName": "n", "hostNetwork": True}, False),
]


@pytest.mark.parametrize(
    ("before", "after", "denied"), [c[1:] for c in CHANGES], ids=[c[0] for c in CHANGES]
)
@pytest.mark.parametrize("kind", ["Deployment", "CronJob"])
def test_a_change_is_denied_for_what_it_adds(
    server: Server, was_there: Any, kind: str, before: Spec, after: Spec, denied: bool
) -> None:
    was_there(workload(kind, before, "platform", "changing"))

    reply = server.replace(workload(kind, after, "platform", "changing"), dry_run=True)

    assert reply.denied is denied


@pytest.mark.parametrize(
    ("namespace", "before", "after", "denied"),
    [
        ("platform", {}, EVERY_TAINT, True),
        ("platform", {}, tolerates(SPOT, exists=True), True),
        ("platform", {}, tolerates(FLEX_START, "true"), True),
        ("platform", {}, tolerates("nvidia.com/gpu", exists=True), False),
        ("platform", tolerates(SPOT, "true"), EVERY_TAINT, True),
        ("kube-system", {}, EVERY_TAINT, True),
        ("edge", {}, EVERY_TAINT, False),
        ("edge", {"priorityClassName": "system-node-critical"}, EVERY_TAINT, True),
    ],
)
def test_a_toleration_added_to_a_pod_is_denied(
    server: Server, was_there: Any, namespace: str, before: Spec, after: Spec, denied: bool
) -> None:
    pod = was_there(workload("Pod", before, namespace, "changing"))
    there = server.get(pod).body["spec"]["tolerations"]
    tolerations = [*there, *after["tolerations"]]

    reply = server.patch(pod, {"spec": {"tolerations": tolerations}}, dry_run=True)

    assert reply.denied is denied


@pytest.mark.parametrize(
    "after",
    [selects(SPOT, "true"), requires([expression(SPOT, "Exists")])],
    ids=["selector", "affinity"],
)
def test_a_pod_that_waits_at_a_gate_gets_no_spot_selector(
    server: Server, was_there: Any, after: Spec
) -> None:
    """Before its scheduling a pod may still be given other nodes."""
    pod = was_there(
        workload("Pod", {"schedulingGates": [{"name": "acme.io/quota"}]}, "platform", "gated")
    )

    assert server.patch(pod, {"spec": after}, dry_run=True).denied
    assert not server.patch(pod, {"spec": selects(PROVISIONING, "standard")}, dry_run=True).denied


def test_labels_of_a_pod_that_was_there_can_change(server: Server, was_there: Any) -> None:
    for spec in (EVERY_TAINT, {"nodeName": "gke-a-b-c"}):
        pod = was_there(workload("Pod", spec, "platform", f"old-{len(spec.get('nodeName', ''))}"))

        assert server.patch(pod, {"metadata": {"labels": {"seen": "yes"}}}).ok


def test_a_label_of_a_namespace_is_judged_when_it_comes(server: Server) -> None:
    label = "cloud.google.com/default-compute-class"
    platform = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "platform"}}
    spot = {"metadata": {"labels": {label: "autopilot-spot"}}}
    manager = server.asked_by(MANAGER)

    assert server.patch(platform, spot, dry_run=True).denied
    assert manager.patch(platform, spot).ok
    assert server.patch(platform, {"metadata": {"labels": {"team": "sre"}}}).ok
    assert manager.patch(platform, {"metadata": {"labels": {label: None}}}).ok
    assert server.patch(platform, {"metadata": {"labels": {label: "n4"}}}, dry_run=True).ok


def test_a_workload_that_becomes_critical_is_judged_as_a_new_one(
    server: Server, was_there: Any
) -> None:
    was_there(workload("Deployment", EVERY_TAINT, "edge", "changing"))
    critical = {**EVERY_TAINT, "priorityClassName": "system-cluster-critical"}
    changed = workload("Deployment", critical, "edge", "changing")

    assert server.replace(changed, dry_run=True).denied


def test_one_that_was_critical_before_goes_on(server: Server, was_there: Any) -> None:
    critical = {**EVERY_TAINT, "priorityClassName": "system-cluster-critical"}
    was_there(workload("Deployment", critical, "edge", "changing"))
    changed = workload("Deployment", {**critical, "hostNetwork": True}, "edge", "changing")

    assert not server.replace(changed, dry_run=True).denied


@pytest.mark.parametrize(
    ("user", "groups", "denied"),
    [
        (PERSON, (), True),
        (PERSON, ("system:masters",), True),
        ("deployer@example.com", (), False),
        ("deployer@example.com.evil.example", (), True),
        (MANAGER, (), False),
        ("system:kube-controller-manager", (), False),
        ("system:cloud-controller-manager", (), False),
        ("system:gke-common-webhooks", (), False),
        ("system:anonymous", ("system:unauthenticated",), True),
        ("system:admin", (), True),
        ("systemic@example.com", (), True),
        ("system:node:gke-a-b-c", ("system:nodes",), False),
        (CONTROLLER.format("daemon-set-controller"), OF_CONTROLLERS, False),
        (CONTROLLER.format("replicaset-controller"), OF_CONTROLLERS, False),
        (CONTROLLER.format("job-controller"), OF_CONTROLLERS, False),
        (
            "system:serviceaccount:gke-managed-cim:operator",
            ("system:serviceaccounts", "system:serviceaccounts:gke-managed-cim"),
            False,
        ),
        (
            "system:serviceaccount:platform:deployer",
            ("system:serviceaccounts", "system:serviceaccounts:platform"),
            True,
        ),
        (
            "system:serviceaccount:kube-systems:deployer",
            ("system:serviceaccounts", "system:serviceaccounts:kube-systems"),
            True,
        ),
        ("service-42@container-engine-robot.iam.gserviceaccount.com", (), False),
        ("service-42@container-engine-robot.iam.gserviceaccount.com.evil.example", (), True),
        ("x-service-42@container-engine-robot.iam.gserviceaccount.com", (), True),
    ],
)
@pytest.mark.parametrize("namespace", ["platform", "kube-system"])
def test_managers_of_the_cluster_always_pass_and_nobody_else(
    server: Server, namespace: str, user: str, groups: tuple[str, ...], denied: bool
) -> None:
    asking = server.asked_by(user, *groups)

    for kind in ("Pod", "Deployment"):
        reply = asking.create(workload(kind, EVERY_TAINT, namespace), dry_run=True)
        assert reply.denied is denied


def test_a_pod_made_by_hand_passes_for_no_daemon_sets(server: Server) -> None:
    pod = workload("Pod", EVERY_TAINT, "platform")
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": "1-2-3"}
    pod["metadata"]["ownerReferences"] = [{**owner, "controller": True}]

    assert server.create(pod, dry_run=True).denied
    its_own = server.asked_by(CONTROLLER.format("daemon-set-controller"), *OF_CONTROLLERS)
    assert its_own.create(pod, dry_run=True).ok


def test_daemon_sets_run_everywhere(server: Server, world: Any) -> None:
    cluster = world(system_pool())
    agent = workload("DaemonSet", EVERY_TAINT, "platform", "agent")

    assert server.create(agent).ok
    cluster.settled("agent", 1, "platform")

    assert cluster.nodes_of("agent", "platform") == ["system"]
    cluster.client.delete(DaemonSet, "agent", namespace="platform")


def test_a_deployment_of_before_is_scaled_and_rolled_out_and_deleted(
    server: Server, was_there: Any, world: Any
) -> None:
    cluster = world(system_pool())
    old = was_there(workload("Deployment", EVERY_TAINT, "platform", "old", replicas=1))
    cluster.settled("old", 1, "platform")

    assert server.patch(old, {"spec": {"replicas": 2}}).ok
    cluster.settled("old", 2, "platform")
    (first, second) = cluster.pods("old", "platform")
    annotated = {"spec": {"template": {"metadata": {"annotations": {"restarted": "now"}}}}}
    assert server.patch(old, annotated).ok

    def rolled_out() -> bool:
        names = {pod.metadata.name for pod in cluster.pods("old", "platform")}
        return len(names) == 2 and not names & {first.metadata.name, second.metadata.name}

    cluster.wait("both pods are new", rolled_out)
    assert server.delete(old, how="Foreground").ok
    cluster.wait("it is gone", lambda: server.get(old).status == 404)
    cluster.wait("its pods are gone", lambda: not cluster.pods("old", "platform"))


def test_what_was_there_before_is_listed(
    plane: ControlPlane, server: Server, was_there: Any
) -> None:
    was_there(workload("Deployment", EVERY_TAINT, "platform", "old", replicas=1))
    was_there(workload("CronJob", selects(SPOT, "true"), "kube-system", "nightly"))
    was_there(workload("Deployment", {}, "platform", "fine", replicas=0))
    was_there(workload("Deployment", EVERY_TAINT, "edge", "theirs", replicas=0))
    was_there(workload("DaemonSet", EVERY_TAINT, "platform", "agent"))

    found = list(there_before(plane.client(), GUARD))

    assert [(each.resource, each.value) for each in found] == [
        ("old", "Deployment in namespace platform, "
         "tolerates every taint (operator Exists without a key)"),
        ("nightly", f"CronJob in namespace kube-system, selects {SPOT}=true"),
    ]  # fmt: skip


def test_what_is_on_its_way_out_may_change_in_any_way(server: Server, was_there: Any) -> None:
    """Whatever a controller does to it then, it must not hang in the namespace for ever."""
    held = workload("Deployment", {}, "platform", "held", replicas=0)
    held["metadata"]["finalizers"] = ["acme.io/held"]
    was_there(held)
    assert server.delete(held).ok
    changed = {"spec": {"template": {"spec": EVERY_TAINT}}}

    assert server.patch(held, changed, dry_run=True).ok
    assert server.patch(held, {"metadata": {"finalizers": None}}).ok
    assert server.get(held).status == 404


def test_no_system_pod_gets_to_nodes_past_the_guard(server: Server, world: Any) -> None:
    """Neither by a toleration, nor by one that is added later, nor by the name of a node."""
    cluster = world(system_pool())
    assert server.create(workload("Pod", {"nodeSelector": {"no": "node"}}, "platform", "waits")).ok
    (waiting,) = cluster.settled("waits", 1, "platform")
    pod = workload("Pod", {}, "platform", "waits")
    there = server.get(pod).body["spec"]["tolerations"]

    blanket = EVERY_TAINT["tolerations"]
    assert server.patch(pod, {"spec": {"tolerations": [*there, *blanket]}}).denied
    assert server.create(workload("Pod", {"nodeName": "any"}, "platform", "named")).denied
    assert [one.metadata.name for one in cluster.client.list(Pod, namespace="platform")] == [
        "waits"
    ]
    assert not waiting.spec.nodeName
    assert not list(cluster.client.list(Deployments, namespace="platform"))
