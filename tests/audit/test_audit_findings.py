"""What an audit finds in whole clusters and states, and what it leaves alone."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from spotproof_gke.audit.evidence import Evidence
from spotproof_gke.audit.judge import Report, judge
from spotproof_gke.audit.reading import add_file
from tests.audit import examples
from tests.audit.objects import (
    BLANKET,
    READY_JOB,
    SPOT,
    SPOT_LABELS,
    SPOT_TOLERATION,
    deployment_pod,
    fuse_volume,
    job,
    listed,
    node,
    other,
    pod,
    pod_spec,
    workload,
)


def audit(*contents: Any, config: Any = None) -> Report:
    evidence = Evidence()
    for number, content in enumerate(contents):
        add_file(evidence, f"file-{number}", [content])
    return judge(evidence, config)


def found(report: Report) -> set[tuple[str, str]]:
    pairs = [(each.entry.name, each.where) for each in report.findings]
    assert len(pairs) == len(set(pairs)), "one finding for one fault"
    return set(pairs)


def doubts(report: Report) -> set[tuple[str, str]]:
    return {(each.entry.name, each.where) for each in report.doubts}


def test_faulty_cluster_has_exactly_the_planted_faults() -> None:
    report = audit(examples.faulty_cluster())

    assert found(report) == examples.CLUSTER_FAULTS
    assert not report.doubts


def test_innocent_cluster_has_no_findings() -> None:
    report = audit(examples.innocent_cluster())

    assert not report.findings
    assert not report.doubts


@pytest.mark.parametrize("form", [lambda state: state, examples.checkpoint], ids=["export", "file"])
def test_faulty_state_has_exactly_the_planted_faults(form: Any) -> None:
    report = audit(form(examples.faulty_state()))

    assert found(report) == examples.STATE_FAULTS
    assert doubts(report) == examples.STATE_DOUBTS


@pytest.mark.parametrize("form", [lambda state: state, examples.checkpoint], ids=["export", "file"])
def test_innocent_state_has_no_findings(form: Any) -> None:
    report = audit(form(examples.innocent_state()))

    assert not report.findings
    assert not report.doubts


def test_order_of_the_objects_does_not_matter() -> None:
    cluster = examples.faulty_cluster()
    cluster["items"].reverse()

    assert found(audit(cluster)) == examples.CLUSTER_FAULTS


def test_dump_in_several_files_is_one_cluster() -> None:
    items = examples.faulty_cluster()["items"]
    nodes = listed(*(each for each in items if each["kind"] == "Node"))
    rest = listed(*(each for each in items if each["kind"] != "Node"))

    assert found(audit(rest, nodes)) == examples.CLUSTER_FAULTS


def test_object_in_two_files_is_one_object() -> None:
    report = audit(examples.faulty_cluster(), examples.faulty_cluster())

    assert found(report) == examples.CLUSTER_FAULTS


def test_typed_list_without_the_kinds_of_its_items_is_read() -> None:
    """As `kubectl get --raw` prints it."""
    items = examples.faulty_cluster()["items"]
    files = []
    for kind, version in [("Node", "v1"), ("Pod", "v1"), ("Deployment", "apps/v1")]:
        of_kind = [copy.deepcopy(each) for each in items if each["kind"] == kind]
        for each in of_kind:
            del each["kind"], each["apiVersion"]
        files.append({"kind": f"{kind}List", "apiVersion": version, "items": of_kind})

    assert found(audit(*files)) >= {
        ("spot-pool-taint", "node pool batch"),
        ("system-pod-on-spot", "Deployment kube-system/metrics-server"),
        ("system-workload-off-spot", "Deployment kube-system/mesh-proxy"),
    }


class TestSystemPodsOnSpot:
    """A finding for what has system pods on nodes that are taken away, and for nothing else."""

    def spot_node(self, name: str = "spot-1") -> dict[str, Any]:
        return node(name, "spot", SPOT_LABELS, [SPOT])

    def wheres(self, *objects: Any) -> set[str]:
        home = node("home", "system")
        report = audit(listed(home, self.spot_node(), *objects))
        return {each.where for each in report.findings if each.entry.name == "system-pod-on-spot"}

    @pytest.mark.parametrize(
        ("owner", "where"),
        [
            (None, "Pod kube-system/p"),
            (("ReplicaSet", "controller"), "ReplicaSet kube-system/controller"),
            (("StatefulSet", "store"), "StatefulSet kube-system/store"),
            (("Operated", "thing"), "Operated kube-system/thing"),
            (("DaemonSet", "agent"), None),
            (("Node", "spot-1"), None),
            (("Job", "cleanup"), None),
        ],
        ids=["bare", "ReplicaSet", "StatefulSet", "custom", "DaemonSet", "static", "Job"],
    )
    def test_counts_by_what_made_the_pod(self, owner: Any, where: str | None) -> None:
        made = pod("p", "kube-system", "spot-1", owner)

        assert self.wheres(made) == ({where} if where else set())

    @pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
    def test_finished_pod_does_not_count(self, phase: str) -> None:
        assert not self.wheres(pod("p", "kube-system", "spot-1", phase=phase))

    def test_pod_on_an_on_demand_node_does_not_count(self) -> None:
        assert not self.wheres(pod("p", "kube-system", "home"))

    def test_pod_without_a_node_does_not_count(self) -> None:
        pending = pod("p", "kube-system", "", phase="Pending")

        assert not self.wheres(pending)

    def test_pod_of_a_critical_priority_counts_in_any_namespace(self) -> None:
        spec = pod_spec(priorityClassName="system-cluster-critical")

        assert self.wheres(deployment_pod("ingress", "edge", "spot-1", spec)) == {
            "Deployment edge/ingress"
        }

    def test_pods_of_one_workload_are_one_finding(self) -> None:
        pods = [pod(f"p-{n}", "gmp-system", "spot-1", ("StatefulSet", "rules")) for n in range(3)]
        report = audit(listed(node("home", "system"), self.spot_node(), *pods))

        assert [each.finding.value for each in report.findings] == [
            "3 pods run on Spot nodes of node pool spot (p-0 on spot-1)"
        ]

    def test_pod_whose_node_was_not_seen_is_a_doubt(self) -> None:
        report = audit(listed(node("home", "system"), pod("p", "kube-system", "gone")))

        assert not report.findings
        assert doubts(report) == {("system-pod-on-spot", "Pod kube-system/p")}

    def test_namespaces_can_be_configured(self) -> None:
        config = {"system-pod-on-spot": {"systemNamespaces": ["ops-*"]}}
        objects = [pod("a", "kube-system", "spot-1"), pod("b", "ops-dns", "spot-1")]
        report = audit(listed(node("home", "system"), self.spot_node(), *objects), config=config)

        assert found(report) == {("system-pod-on-spot", "Pod ops-dns/b")}


class TestTaintsOfNodes:
    """Nodes are judged by pool, as they are."""

    def values(self, *nodes: Any, config: Any = None) -> list[str]:
        report = audit(listed(node("home", "system"), *nodes), config=config)
        return [f"{each.where}: {each.finding.value}" for each in report.findings]

    def test_some_nodes_without_the_taint_are_counted(self) -> None:
        assert self.values(
            node("a", "spot", SPOT_LABELS, [SPOT]), node("b", "spot", SPOT_LABELS)
        ) == [
            "node pool spot: Spot nodes without the taint cloud.google.com/gke-spot=true "
            "(1 of 2 nodes)"
        ]

    def test_taint_that_only_asks_does_not_count(self) -> None:
        soft = {**SPOT, "effect": "PreferNoSchedule"}

        assert "does not keep pods out" in self.values(node("a", "spot", SPOT_LABELS, [soft]))[0]

    def test_preemptible_node_counts(self) -> None:
        labels = {"cloud.google.com/gke-preemptible": "true"}

        assert self.values(node("a", "old", labels))[0].startswith("node pool old: preemptible")

    def test_taint_of_ones_own_is_accepted_by_configuration(self) -> None:
        own = {"key": "acme.example/evictable", "value": "yes", "effect": "NoSchedule"}
        config = {"spot-pool-taint": {"acceptedTaintKeys": ["acme.example/evictable"]}}

        assert len(self.values(node("a", "spot", SPOT_LABELS, [own]))) == 1
        assert not self.values(node("a", "spot", SPOT_LABELS, [own]), config=config)

    def test_taint_of_the_moment_keeps_nothing_out(self) -> None:
        passing = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
        config = {"spot-pool-taint": {"acceptedTaintKeys": [passing["key"]]}}

        assert len(self.values(node("a", "spot", SPOT_LABELS, [passing]), config=config)) == 1

    def test_queued_flex_start_pool_needs_none(self) -> None:
        labels = {"cloud.google.com/gke-flex-start": "true", "cloud.google.com/gke-queued": "true"}

        assert not self.values(node("a", "queued", labels))

    def test_rule_can_be_disabled(self) -> None:
        config = {"spot-pool-taint": {"enforcementLevel": "disabled"}}

        assert not self.values(node("a", "spot", SPOT_LABELS), config=config)


class TestHome:
    """System pods need an on-demand node."""

    def names(self, *nodes: Any) -> list[str]:
        return [each.entry.name for each in audit(listed(*nodes)).findings]

    def test_cluster_of_spot_nodes_alone_has_none(self) -> None:
        report = audit(listed(node("a", "spot", SPOT_LABELS, [SPOT])))

        assert [each.entry.severity.value for each in report.findings] == ["critical"]
        assert report.findings[0].finding.value == (
            "no on-demand home for system pods: its nodes are node pool spot Spot (1 node)"
        )

    def test_node_that_system_pods_do_not_tolerate_is_none(self) -> None:
        own = {"key": "team", "value": "a", "effect": "NoSchedule"}

        assert self.names(node("a", "team", None, [own])) == ["on-demand-home-for-system-pods"]

    def test_node_for_managed_components_is_one(self) -> None:
        own = {
            "key": "components.gke.io/gke-managed-components",
            "value": "true",
            "effect": "NoSchedule",
        }

        assert not self.names(node("a", "system", None, [own]))

    def test_cordoned_node_is_still_one(self) -> None:
        cordon = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}

        assert not self.names(node("a", "system", None, [cordon]))


class TestGrace:
    """A pod on a Spot node has its termination budget, whatever it asks for."""

    def report(self, seconds: int, *states: Any) -> Report:
        spec = pod_spec([SPOT_TOLERATION], grace_seconds=seconds)
        dump = listed(
            node("home", "system"),
            node("spot-1", "l4", SPOT_LABELS, [SPOT]),
            deployment_pod("serve", "ml", "spot-1", spec),
        )
        return audit(dump, *states)

    def pool(self, kubelet: Any) -> Any:
        config = {
            "spot": True,
            "taints": [{"key": SPOT["key"], "value": "true", "effect": "NO_SCHEDULE"}],
            "kubeletConfig": kubelet,
        }
        return examples.state(
            examples.row(examples.POOL, "pool", {"name": "l4", "nodeConfig": config})
        )

    @pytest.mark.parametrize(("seconds", "faults"), [(15, 0), (30, 0), (31, 1), (3600, 1)])
    def test_what_kubernetes_writes_itself_is_nobodys_wish(self, seconds: int, faults: int) -> None:
        assert len(self.report(seconds).findings) == faults

    def test_pool_in_the_state_may_extend_the_budget(self) -> None:
        kubelet = {
            "shutdownGracePeriodSeconds": 120,
            "shutdownGracePeriodCriticalPodsSeconds": 20,
        }

        assert not self.report(100, self.pool(kubelet)).findings
        late = self.report(101, self.pool(kubelet))
        assert "has 100 s (120 s of notice less 20 s" in late.findings[0].finding.value

    def test_daemon_set_is_left_alone(self) -> None:
        agent = pod("agent", "ops", "spot-1", ("DaemonSet", "agent"), pod_spec(grace_seconds=600))

        assert not audit(
            listed(node("home", "system"), node("spot-1", "l4", SPOT_LABELS, [SPOT]), agent)
        ).findings


class TestWorkloads:
    """What people declare is judged once, whatever controllers have made of it."""

    def test_deployment_its_replica_set_and_its_pods_are_one_finding(self) -> None:
        spec = pod_spec([BLANKET])
        owner = [{"kind": "Deployment", "name": "mesh", "controller": True}]
        report = audit(
            listed(
                node("home", "system"),
                workload("Deployment", "mesh", "kube-system", spec),
                workload(
                    "ReplicaSet", "mesh-7f9c8d6b5", "kube-system", spec, ownerReferences=owner
                ),
                deployment_pod("mesh", "kube-system", "home", spec),
            )
        )

        assert found(report) == {("system-workload-off-spot", "Deployment kube-system/mesh")}

    def test_pods_alone_stand_for_what_made_them(self) -> None:
        pods = [
            pod(f"p-{n}", "kube-system", "home", ("StatefulSet", "db"), pod_spec([BLANKET]))
            for n in range(3)
        ]

        assert found(audit(listed(node("home", "system"), *pods))) == {
            ("system-workload-off-spot", "StatefulSet kube-system/db")
        }

    def test_old_replica_set_without_pods_is_left_alone(self) -> None:
        owner = [{"kind": "Deployment", "name": "mesh", "controller": True}]
        old = workload(
            "ReplicaSet", "mesh-5c9", "kube-system", pod_spec([BLANKET]), ownerReferences=owner
        )
        old["spec"]["replicas"] = 0

        assert not audit(listed(node("home", "system"), old)).findings

    @pytest.mark.parametrize(
        ("mode", "words"),
        [("Reconcile", "GKE undoes changes"), ("EnsureExists", "remove the toleration")],
    )
    def test_fix_of_what_gke_sets_back_is_another(self, mode: str, words: str) -> None:
        labels = {"addonmanager.kubernetes.io/mode": mode}
        agent = workload("Deployment", "agent", "kube-system", pod_spec([BLANKET]), labels=labels)
        report = audit(listed(node("home", "system"), agent))

        assert report.findings[0].finding.fix.startswith(words)

    def test_finished_job_is_left_alone(self) -> None:
        done = job("old", "ml", pod_spec([SPOT_TOLERATION], restartPolicy="OnFailure"))
        done["status"] = {"conditions": [{"type": "Complete", "status": "True"}], "succeeded": 1}

        assert not audit(listed(done)).findings

    def test_job_of_a_cron_job_is_judged_as_the_cron_job(self) -> None:
        spec = pod_spec([SPOT_TOLERATION], restartPolicy="OnFailure")
        cron = {
            "apiVersion": "batch/v1",
            "kind": "CronJob",
            "metadata": {"name": "nightly", "namespace": "ml"},
            "spec": {"jobTemplate": {"spec": {"template": {"spec": spec}, **READY_JOB}}},
        }
        run = job("nightly-29", "ml", spec, **READY_JOB)
        run["metadata"]["ownerReferences"] = [
            {"kind": "CronJob", "name": "nightly", "controller": True}
        ]

        assert found(audit(listed(cron, run))) == {
            ("spot-job-restart-policy", "CronJob ml/nightly")
        }

    @pytest.mark.parametrize("with_cron_job", [True, False])
    def test_cron_job_whose_pods_landed_on_spot_counts_as_asking_for_it(
        self, with_cron_job: bool
    ) -> None:
        spec = pod_spec(restartPolicy="OnFailure")
        cron = {
            "apiVersion": "batch/v1",
            "kind": "CronJob",
            "metadata": {"name": "nightly", "namespace": "ml"},
            "spec": {"jobTemplate": {"spec": {"template": {"spec": spec}, **READY_JOB}}},
        }
        run = job("nightly-29", "ml", spec, **READY_JOB)
        run["metadata"]["ownerReferences"] = [
            {"kind": "CronJob", "name": "nightly", "controller": True}
        ]
        objects = [cron, run] if with_cron_job else [run]
        report = audit(
            listed(
                node("home", "system"),
                node("s", "spot", SPOT_LABELS, [SPOT]),
                pod("nightly-29-x", "ml", "s", ("Job", "nightly-29"), spec),
                *objects,
            )
        )

        where = "CronJob ml/nightly" if with_cron_job else "Job ml/nightly-29"
        assert found(report) == {("spot-job-restart-policy", where)}

    def test_where_the_scheduler_put_a_pod_is_no_doubt(self) -> None:
        report = audit(listed(node("home", "system"), pod("p", "kube-system", "home")))

        assert not report.doubts


class TestAutopilot:
    """Nodes and system pods are Google's; only pods that ask for Spot themselves are judged."""

    def test_only_work_that_asks_for_spot_is_judged(self) -> None:
        spec = pod_spec([SPOT_TOLERATION], {"cloud.google.com/gke-spot": "true"})
        work = job("train", "ml", {**spec, "restartPolicy": "OnFailure"}, **READY_JOB)
        report = audit(
            listed(
                node("gk3-prod-nap-1", "nap-1", SPOT_LABELS),
                workload("Deployment", "antrea", "kube-system", pod_spec([BLANKET])),
                deployment_pod("antrea", "kube-system", "gk3-prod-nap-1", pod_spec([BLANKET])),
                work,
            )
        )

        assert found(report) == {("spot-job-restart-policy", "Job ml/train")}
        assert any("Autopilot" in note for note in report.notes)


class TestBuckets:
    """A state and a dump together show which bucket serves the live cluster."""

    def state(self, location: str, *more: Any) -> Any:
        given = {"name": "acme-checkpoints", "location": location, **examples.KEPT_CHEAPLY}
        return examples.state(examples.row(examples.BUCKET, "data", given), *more)

    def dump(self, region: str = "us-central1") -> Any:
        return listed(
            node("home", "system", region=region), fuse_volume("checkpoints", "acme-checkpoints")
        )

    def test_mounted_bucket_out_of_region_is_found(self) -> None:
        report = audit(self.state("EUROPE-WEST4"), self.dump())

        assert found(report) == {("checkpoint-bucket-in-cluster-region", "Bucket data")}
        assert "used by workload checkpoints" in report.findings[0].finding.value

    def test_mounted_bucket_in_region_is_innocent(self) -> None:
        assert not audit(self.state("US-CENTRAL1"), self.dump()).findings

    def test_region_is_that_of_the_live_cluster_and_of_no_other(self) -> None:
        elsewhere = examples.row(
            examples.CLUSTER,
            "eu",
            {"name": "eu", "location": "europe-west4", "enableAutopilot": True},
        )

        assert found(audit(self.state("EUROPE-WEST4", elsewhere), self.dump())) == {
            ("checkpoint-bucket-in-cluster-region", "Bucket data")
        }
        assert not audit(self.state("US-CENTRAL1", elsewhere), self.dump()).findings

    def test_bucket_named_by_a_workload_counts(self) -> None:
        spec = pod_spec(command=["train", "--out", "gs://acme-checkpoints/run-1"])
        dump = listed(node("home", "system"), workload("Deployment", "train", "ml", spec))

        assert found(audit(self.state("US"), dump)) == {
            ("checkpoint-bucket-in-cluster-region", "Bucket data")
        }

    def test_bucket_of_no_state_is_said(self) -> None:
        assert any("1 bucket of persistent volumes" in note for note in audit(self.dump()).notes)
        both = audit(self.dump(), self.state("US-CENTRAL1"))
        assert not any("bucket" in note for note in both.notes)

    def test_cluster_in_two_regions_is_said(self) -> None:
        dump = listed(node("a", "p"), node("b", "p", region="us-east1"))

        assert any("several regions" in note for note in audit(dump).notes)


class TestStates:
    """A state shows what is in the cloud; a secret in it is a value that is not known."""

    def pool(self, **more: Any) -> Any:
        config = {"spot": True}
        return examples.row(examples.POOL, "pool", {"name": "p", "nodeConfig": config}, **more)

    def test_pools_without_a_node_are_seen_in_a_state_alone(self) -> None:
        dump, words = listed(node("a", "system")), "node pools that have no node now"

        assert any(words in note for note in audit(dump).notes)
        assert not any(words in note for note in audit(dump, examples.state(self.pool())).notes)

    @pytest.mark.parametrize("mark", ["delete", "pendingReplacement"])
    def test_what_is_to_be_deleted_is_left_alone(self, mark: str) -> None:
        assert found(audit(examples.state(self.pool()))) == {("spot-pool-taint", "NodePool pool")}
        assert not audit(examples.state(self.pool(**{mark: True}))).findings

    def test_resource_that_was_only_looked_up_is_judged_by_its_outputs(self) -> None:
        outputs = {"name": "p", "nodeConfig": {"spot": True}}
        looked_up = examples.row(examples.POOL, "pool", {}, outputs, external=True)

        assert found(audit(examples.state(looked_up))) == {("spot-pool-taint", "NodePool pool")}

    def test_output_value_with_a_signature_is_opened(self) -> None:
        wrapped = {examples.SIGNATURE: "d0e6a833031e9bbcd3f4e8bde6ca49a4", "value": {"spot": True}}
        row = examples.row(examples.POOL, "pool", {"name": "p", "nodeConfig": wrapped})

        assert found(audit(examples.state(row))) == {("spot-pool-taint", "NodePool pool")}

    @pytest.mark.parametrize(
        "secret",
        [
            examples.SECRET,
            {**examples.SECRET, "plaintext": '{"spot":false}'},
            {examples.SIGNATURE: "d0e6a833031e9bbcd3f4e8bde6ca49a4", "secret": True, "value": {}},
            {examples.SIGNATURE: "d0e6a833031e9bbcd3f4e8bde6ca49a4"},
            "[secret]",
        ],
        ids=["ciphertext", "plaintext", "output", "not known", "redacted"],
    )
    def test_secret_is_a_doubt_and_hides_nothing_else(self, secret: Any) -> None:
        row = examples.row(examples.POOL, "hidden", {"name": "h", "nodeConfig": secret})
        report = audit(examples.state(row, self.pool()))

        assert found(report) == {("spot-pool-taint", "NodePool pool")}
        assert ("spot-pool-taint", "NodePool hidden") in doubts(report)

    def test_location_comes_from_the_provider_when_the_cluster_has_none(self) -> None:
        zonal = examples.state(
            examples.row(examples.CLUSTER, "gke", {"name": "prod", "enableAutopilot": True}),
            examples.row(
                examples.BUCKET,
                "data",
                {"name": "d", "location": "EU", "labels": {"spotproof-cluster": "prod"}},
            ),
        )
        zonal["deployment"]["resources"][1]["inputs"]["zone"] = "us-central1-b"
        report = audit(zonal)

        assert "the cluster runs in us-central1" in report.findings[0].finding.value

    def test_workload_in_a_state_is_judged(self) -> None:
        type_ = "kubernetes:apps/v1:Deployment"
        given = {
            "metadata": {"name": "mesh", "namespace": "kube-system"},
            "spec": {"template": {"spec": pod_spec([BLANKET])}},
        }

        assert found(audit(examples.state(examples.row(type_, "mesh", given)))) == {
            ("system-workload-off-spot", "Deployment mesh")
        }

    def test_bucket_beside_its_cluster_in_one_component_is_judged(self) -> None:
        component = {"urn": f"{examples.STACK}acme:index:Env::env", "type": "acme:index:Env"}
        parent = component["urn"]
        report = audit(
            examples.state(
                component,
                examples.row(
                    examples.CLUSTER,
                    "gke",
                    {"name": "prod", "location": "us-east1", "enableAutopilot": True},
                    parent=parent,
                ),
                examples.row(
                    examples.BUCKET, "data", {"name": "d", "location": "EU"}, parent=parent
                ),
            )
        )

        assert found(report) == {("checkpoint-bucket-in-cluster-region", "Bucket data")}


def test_kinds_that_no_rule_asks_for_are_counted() -> None:
    evidence = Evidence()
    content = listed(other("Service", "a", "ns"), other("Service", "b", "ns"), other("Event", "e"))
    add_file(evidence, "dump", [content])

    assert evidence.sources[0].ignored == {"Service": 2, "Event": 1}
    assert not evidence.live


@pytest.mark.parametrize("kind", ["Secret", "ConfigMap"])
def test_secret_or_config_map_is_not_looked_at_whatever_is_in_it(kind: str) -> None:
    evidence = Evidence()
    spec = {"template": {"spec": pod_spec([BLANKET])}}
    add_file(evidence, "dump", [listed(other(kind, "s", "kube-system", spec=spec))])

    assert not evidence.live
    assert evidence.sources[0].ignored == {kind: 1}


def test_object_that_was_read_before_is_counted_as_such() -> None:
    evidence = Evidence()
    for name in ("first", "second"):
        add_file(evidence, name, [listed(node("home", "system"))])

    assert len(evidence.live) == 1
    assert evidence.sources[1].ignored == {"Node (again)": 1}


def test_ten_thousand_pods_are_judged_in_seconds(tmp_path: Path) -> None:
    from time import process_time

    spec = pod_spec([SPOT_TOLERATION], grace_seconds=60)
    nodes = [node(f"n-{n}", f"pool-{n % 9}", SPOT_LABELS, [SPOT]) for n in range(500)]
    pods = [deployment_pod(f"d-{n // 5}", "ml", f"n-{n % 500}", spec) for n in range(10_000)]
    for number, each in enumerate(pods):
        each["metadata"]["name"] += f"-{number}"
    text = json.dumps(listed(node("home", "system"), *nodes, *pods))
    began = process_time()
    report = audit(json.loads(text))

    assert process_time() - began < 20
    assert len(report.findings) == 2000


def test_yaml_is_read_as_json_is(tmp_path: Path) -> None:
    from spotproof_gke.audit.documents import documents

    text = yaml.safe_dump(json.loads(json.dumps(examples.faulty_cluster())))
    evidence = Evidence()
    add_file(evidence, "dump.yaml", documents("dump.yaml", text))

    assert found(judge(evidence)) == examples.CLUSTER_FAULTS


class TestPlacement:
    """What runs on Spot nodes now is judged as work that may be interrupted, and only that."""

    SHELL = ("sh", "-c", "python serve.py")

    def wheres(self, *objects: Any) -> set[str]:
        nodes = [node("home", "system"), node("s", "spot", SPOT_LABELS, [SPOT])]
        return {each.where for each in audit(listed(*nodes, *objects)).findings}

    def test_neighbour_that_runs_at_home_is_left_alone(self) -> None:
        spec = pod_spec(command=self.SHELL)
        objects = [
            workload("Deployment", "at-home", "ml", spec),
            deployment_pod("at-home", "ml", "home", spec),
            workload("Deployment", "on-spot", "ml", spec),
            deployment_pod("on-spot", "ml", "s", spec),
        ]

        assert self.wheres(*objects) == {"Deployment ml/on-spot"}

    def test_namesake_in_another_namespace_is_left_alone(self) -> None:
        spec = pod_spec(command=self.SHELL)
        objects = [
            workload("Deployment", "serve", "ml", spec),
            deployment_pod("serve", "ml", "s", spec),
            workload("Deployment", "serve", "shop", spec),
            deployment_pod("serve", "shop", "home", spec),
        ]

        assert self.wheres(*objects) == {"Deployment ml/serve"}

    def test_pods_of_an_unseen_maker_count(self) -> None:
        spec = pod_spec(command=self.SHELL)
        pods = [
            pod(f"web-{n}", "shop", on, ("StatefulSet", "web"), spec)
            for n, on in enumerate(["home", "s"])
        ]

        assert self.wheres(*pods) == {"StatefulSet shop/web"}

    def test_job_of_a_job_set_counts_as_the_job_set(self) -> None:
        spec = pod_spec(command=self.SHELL, restartPolicy="Never")
        job_set = {
            "apiVersion": "jobset.x-k8s.io/v1alpha2",
            "kind": "JobSet",
            "metadata": {"name": "train", "namespace": "ml"},
            "spec": {
                "replicatedJobs": [
                    {"name": "w", "template": {"spec": {"template": {"spec": spec}}}}
                ]
            },
        }
        run = job("train-w-0", "ml", spec, **READY_JOB)
        run["metadata"]["ownerReferences"] = [
            {"kind": "JobSet", "name": "train", "controller": True}
        ]
        pods = [pod("train-w-0-x", "ml", "s", ("Job", "train-w-0"), spec)]

        assert self.wheres(job_set, run, *pods) == {"JobSet ml/train"}

    def test_what_is_in_a_system_namespace_is_no_work(self) -> None:
        spec = pod_spec(command=self.SHELL)
        objects = [
            workload("Deployment", "dns", "kube-system", spec),
            deployment_pod("dns", "kube-system", "s", spec),
        ]
        nodes = [node("home", "system"), node("s", "spot", SPOT_LABELS, [SPOT])]
        report = audit(listed(*nodes, *objects))

        assert found(report) == {("system-pod-on-spot", "Deployment kube-system/dns")}
