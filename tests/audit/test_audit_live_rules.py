"""The rules over nodes and pods as they are, one by one."""

import copy
from typing import Any

import pytest

from spotproof_gke.rules.finding import Finding, Resource, Stack
from spotproof_gke.rules.live_grace import live_pod_grace
from spotproof_gke.rules.live_nodes import live_nodes, live_system_pod_homes
from spotproof_gke.rules.live_placement import (
    live_flex_start_taints,
    live_spot_taints,
    system_pods_on_spot,
)
from spotproof_gke.rules.live_pods import controller_of, is_finished, is_static, live_pods
from tests.audit import examples
from tests.audit.objects import SPOT, SPOT_LABELS, SPOT_TOLERATION, job, node, pod, pod_spec

QUEUED = {"key": "cloud.google.com/gke-queued", "value": "true", "effect": "NoSchedule"}
PASSING = [
    "node.kubernetes.io/not-ready",
    "node.cloudprovider.kubernetes.io/uninitialized",
    "ToBeDeletedByClusterAutoscaler",
    "DeletionCandidateOfClusterAutoscaler",
    "cloud.google.com/impending-node-termination",
]


def resource(item: Any) -> Resource:
    type_ = f"kubernetes:{item['apiVersion']}:{item['kind']}"
    return Resource(type_, item["metadata"]["name"], props=item)


def stack(*objects: Any) -> Stack:
    return Stack([each if isinstance(each, Resource) else resource(each) for each in objects])


def said(findings: Any) -> list[tuple[str, str]]:
    return [(each.resource, each.value) for each in findings]


class TestNodes:
    @pytest.mark.parametrize(
        ("labels", "sort"),
        [
            ({"cloud.google.com/gke-spot": "true"}, "Spot"),
            ({"cloud.google.com/gke-provisioning": "spot"}, "Spot"),
            ({"cloud.google.com/gke-preemptible": "true"}, "preemptible"),
            ({"cloud.google.com/gke-provisioning": "preemptible"}, "preemptible"),
            ({"cloud.google.com/gke-flex-start": "true"}, "flex-start"),
            ({"cloud.google.com/gke-provisioning": "flex-start"}, "flex-start"),
            ({"cloud.google.com/gke-provisioning": "standard"}, ""),
            ({"cloud.google.com/gke-spot": "false"}, ""),
        ],
    )
    def test_sort_is_told_by_either_label(self, labels: Any, sort: str) -> None:
        assert [each.sort for each in live_nodes(stack(node("n", "p", labels)))] == [sort]

    def test_node_without_a_pool_is_its_own_place(self) -> None:
        assert live_nodes(stack(node("n", "")))[0].place == "node n"
        assert live_nodes(stack(node("n", "p")))[0].place == "node pool p"

    @pytest.mark.parametrize("by", ["label", "capacity", "machine"])
    def test_gpu_is_told_by_label_capacity_or_machine(self, by: str) -> None:
        flex = {"cloud.google.com/gke-flex-start": "true"}
        made = node("n", "p", flex, machine="n1-standard-8")
        assert said(live_flex_start_taints(stack(made)))

        if by == "label":
            made["metadata"]["labels"]["cloud.google.com/gke-accelerator"] = "nvidia-tesla-t4"
        elif by == "capacity":
            made["status"]["capacity"]["nvidia.com/gpu"] = "1"
        else:
            made["metadata"]["labels"]["node.kubernetes.io/instance-type"] = "g2-standard-8"
        assert not said(live_flex_start_taints(stack(made)))

    def test_region_is_told_by_the_label(self) -> None:
        assert live_nodes(stack(node("n", "p", region="us-east1")))[0].region == "us-east1"

    def test_nothing_seen_is_nothing_said(self) -> None:
        assert not said(live_system_pod_homes(stack()))

    def test_no_gpu_left_counts_as_none(self) -> None:
        made = node("n", "p", {"cloud.google.com/gke-flex-start": "true"})
        made["status"]["capacity"]["nvidia.com/gpu"] = "0"

        assert said(live_flex_start_taints(stack(made)))

    @pytest.mark.parametrize("by", ["label", "taint"])
    def test_queued_is_told_by_label_or_taint(self, by: str) -> None:
        labels = {"cloud.google.com/gke-flex-start": "true"}
        if by == "label":
            labels["cloud.google.com/gke-queued"] = "true"
        made = node("n", "p", labels, [QUEUED] if by == "taint" else [])

        assert not said(live_flex_start_taints(stack(made)))

    @pytest.mark.parametrize("key", PASSING)
    def test_taint_of_the_moment_says_nothing_about_a_node(self, key: str) -> None:
        made = node("n", "p", None, [{"key": key, "effect": "NoSchedule"}])

        assert not said(live_system_pod_homes(stack(made)))

    def test_cluster_with_an_autopilot_node_is_not_judged(self) -> None:
        mixed = stack(node("gk3-a-nap-1", "p", SPOT_LABELS), node("other", "q", SPOT_LABELS))

        assert not said(live_system_pod_homes(mixed))

    def test_home_that_is_missing_is_explained_by_pool(self) -> None:
        nodes = [node(f"s-{n}", "spot", SPOT_LABELS) for n in range(2)]
        gpu = node("g", "l4", gpu="nvidia-l4")

        assert said(live_system_pod_homes(stack(*nodes, gpu))) == [
            (
                "the cluster",
                "no on-demand home for system pods: its nodes are node pool spot Spot (2 nodes), "
                "node pool l4 with GPUs (1 node)",
            )
        ]

    @pytest.mark.parametrize(("pools", "end"), [(6, "p5 Spot (1 node)"), (8, "and 2 other pools")])
    def test_many_pools_are_counted(self, pools: int, end: str) -> None:
        nodes = [node(f"n-{n}", f"p{n}", SPOT_LABELS) for n in range(pools)]

        assert said(live_system_pod_homes(stack(*nodes)))[0][1].endswith(end)

    def test_tolerated_taint_can_be_named(self) -> None:
        own = stack(node("n", "p", None, [{"key": "own", "value": "x", "effect": "NoSchedule"}]))

        assert said(live_system_pod_homes(own))
        assert not said(live_system_pod_homes(own, ["own"]))


class TestPods:
    def test_pod_without_a_namespace_is_in_default(self) -> None:
        made = pod("p", "", "n")

        assert [each.namespace for each in live_pods(stack(made))] == ["default"]

    def test_pod_without_a_node_is_left_out(self) -> None:
        assert not live_pods(stack(pod("p", "a", "")))

    def test_finished_pod_is_left_out(self) -> None:
        assert not live_pods(stack(pod("p", "a", "n", phase="Succeeded")))

    def test_pod_of_the_node_itself_is_left_out(self) -> None:
        assert not live_pods(stack(pod("p", "a", "n", ("Node", "n"))))

    def test_static_pod_is_told_by_its_annotation(self) -> None:
        made = pod("p", "a", "n", annotations={"kubernetes.io/config.mirror": "1"})

        assert is_static(resource(made))
        assert not live_pods(stack(made))
        assert not is_static(resource(pod("p", "a", "n")))

    def test_controller_comes_before_other_owners(self) -> None:
        made = pod("p", "a", "n", ("StatefulSet", "db"))
        owners = made["metadata"]["ownerReferences"]
        owners.insert(0, {"kind": "Config", "name": "c"})

        assert controller_of(resource(made)) == ("StatefulSet", "db")
        owners.reverse()
        assert controller_of(resource(made)) == ("StatefulSet", "db")

    @pytest.mark.parametrize(
        ("kind", "name", "hash_", "owner"),
        [
            ("ReplicaSet", "web-5c9", "5c9", ("Deployment", "web")),
            ("ReplicaSet", "web-5c9", "", ("ReplicaSet", "web-5c9")),
            ("ReplicaSet", "web-", "", ("ReplicaSet", "web-")),
            ("ReplicaSet", "web-7d2", "5c9", ("ReplicaSet", "web-7d2")),
            ("ReplicaSet", "-5c9", "5c9", ("ReplicaSet", "-5c9")),
            ("Rollout", "web-5c9", "5c9", ("Rollout", "web-5c9")),
        ],
    )
    def test_deployment_is_told_by_the_hash(
        self, kind: str, name: str, hash_: str, owner: Any
    ) -> None:
        made = pod("p", "a", "n", (kind, name), labels={"pod-template-hash": hash_})

        assert controller_of(resource(made)) == owner

    @pytest.mark.parametrize(
        ("status", "finished"),
        [
            ({"phase": "Succeeded"}, True),
            ({"phase": "Failed"}, True),
            ({"phase": "Running"}, False),
            ({"completionTime": "2026-11-29T10:00:00Z"}, True),
            ({"conditions": [{"type": "Complete", "status": "True"}]}, True),
            ({"conditions": [{"type": "Failed", "status": "True"}]}, True),
            ({"conditions": [{"type": "Failed", "status": "False"}]}, False),
            ({"conditions": [{"type": "Suspended", "status": "True"}]}, False),
            ({}, False),
        ],
    )
    def test_end_is_told_by_phase_time_or_condition(self, status: Any, finished: bool) -> None:
        made = job("j", "a", pod_spec())
        made["status"] = status

        assert is_finished(resource(made)) is finished


class TestTaints:
    @pytest.mark.parametrize(("count", "words"), [(1, "1 pod that did"), (2, "2 pods that did")])
    def test_pods_that_did_not_ask_for_it_are_counted(self, count: int, words: str) -> None:
        asks = pod("asks", "a", "n", spec=pod_spec([SPOT_TOLERATION]))
        agent = pod("agent", "a", "n", ("DaemonSet", "agent"))
        strays = [pod(f"s-{n}", "a", "n") for n in range(count)]
        verb = "runs" if count == 1 else "run"

        assert said(live_spot_taints(stack(node("n", "p", SPOT_LABELS), asks, agent, *strays))) == [
            (
                "node pool p",
                "Spot nodes without the taint cloud.google.com/gke-spot=true "
                f"(1 node; {words} not ask for it {verb} there)",
            )
        ]

    @pytest.mark.parametrize(
        ("tainted", "bare", "words"),
        [
            (0, 1, "(1 node)"),
            (0, 2, "(2 nodes)"),
            (1, 1, "(1 of 2 nodes)"),
            (1, 2, "(2 of 3 nodes)"),
        ],
    )
    def test_nodes_are_counted(self, tainted: int, bare: int, words: str) -> None:
        nodes = [node(f"t-{n}", "p", SPOT_LABELS, [SPOT]) for n in range(tainted)]
        nodes += [node(f"b-{n}", "p", SPOT_LABELS) for n in range(bare)]

        assert said(live_spot_taints(stack(*nodes)))[0][1].endswith(words)

    def test_pods_on_tainted_nodes_of_the_pool_do_not_count(self) -> None:
        nodes = [node("t", "p", SPOT_LABELS, [SPOT]), node("b", "p", SPOT_LABELS)]

        assert said(live_spot_taints(stack(*nodes, pod("s", "a", "t"))))[0][1].endswith(
            "(1 of 2 nodes)"
        )

    def test_autopilot_node_is_left_alone(self) -> None:
        assert not said(live_spot_taints(stack(node("gk3-n", "p", SPOT_LABELS))))

    def test_each_fix_names_its_taint(self) -> None:
        flex = stack(node("n", "p", {"cloud.google.com/gke-flex-start": "true"}))
        spot = stack(node("n", "p", SPOT_LABELS))

        assert not said(live_spot_taints(flex))
        assert not said(live_flex_start_taints(spot))
        for findings, key in [
            (live_flex_start_taints(flex), "cloud.google.com/gke-flex-start"),
            (live_spot_taints(spot), "cloud.google.com/gke-spot"),
        ]:
            assert [each.fix for each in findings] == [
                f"add the taint {key}=true:NO_SCHEDULE to the pool (nodeConfig.taints), with a "
                "toleration in what belongs there"
            ]

    def test_key_of_ones_own_is_accepted(self) -> None:
        own = {"key": "own", "value": "x", "effect": "NoSchedule"}
        flex = stack(node("n", "p", {"cloud.google.com/gke-flex-start": "true"}, [own]))

        assert said(live_flex_start_taints(flex))
        assert not said(live_flex_start_taints(flex, ["own"]))


class TestSystemPods:
    def findings(self, *objects: Any, **options: Any) -> list[Finding]:
        nodes = [
            node("home", "system"),
            node("a", "batch", SPOT_LABELS),
            node("b", "gpu", {"cloud.google.com/gke-flex-start": "true"}),
            node("gk3-c", "auto", SPOT_LABELS),
        ]
        return list(system_pods_on_spot(stack(*nodes, *objects), **options))

    def test_pool_with_most_of_the_pods_is_named(self) -> None:
        owner = ("StatefulSet", "db")
        pods = [
            pod("db-0", "kube-system", "b", owner),
            pod("db-1", "kube-system", "a", owner),
            pod("db-2", "kube-system", "a", owner),
            pod("db-3", "kube-system", "home", owner),
        ]

        assert said(self.findings(*pods)) == [
            (
                "StatefulSet kube-system/db",
                "3 pods run on Spot nodes of node pool batch and 1 more (db-0 on b)",
            )
        ]

    def test_flex_start_node_counts(self) -> None:
        assert said(self.findings(pod("p", "kube-system", "b"))) == [
            ("Pod kube-system/p", "1 pod runs on flex-start nodes of node pool gpu (p on b)")
        ]

    def test_so_does_one_that_a_toleration_of_the_gpu_taint_let_it_on(self) -> None:
        """Nothing in the manifest says it: such nodes have the GPU taint alone."""
        spec = pod_spec([{"key": "nvidia.com/gpu", "operator": "Exists"}])

        assert said(self.findings(pod("p", "kube-system", "b", spec=spec))) == [
            ("Pod kube-system/p", "1 pod runs on flex-start nodes of node pool gpu (p on b)")
        ]

    def test_autopilot_node_does_not_count(self) -> None:
        assert not self.findings(pod("p", "kube-system", "gk3-c"))

    @pytest.mark.parametrize("kind", ["Job", "CronJob"])
    def test_work_that_ends_does_not_count(self, kind: str) -> None:
        assert not self.findings(pod("p", "kube-system", "a", (kind, "j")))

    def test_ordinary_pod_does_not_count(self) -> None:
        assert not self.findings(pod("p", "shop", "a"))

    def test_priority_class_can_be_configured(self) -> None:
        important = pod("p", "shop", "a", spec=pod_spec(priorityClassName="important"))

        assert not self.findings(important)
        assert self.findings(important, critical_priority_classes=["important"])

    def test_unseen_node_is_a_doubt_unless_another_pod_is_certain(self) -> None:
        owner = ("StatefulSet", "db")
        unseen = [pod(f"u-{n}", "kube-system", "gone", owner) for n in range(2)]
        doubt = self.findings(*unseen)

        assert [(each.value, each.certain) for each in doubt] == [
            ("whether the nodes of 2 pods are Spot, which were not seen", False)
        ]
        both = self.findings(*unseen, pod("c", "kube-system", "a", owner))
        assert [each.certain for each in both] == [True]
        at_home = self.findings(unseen[0], pod("h", "kube-system", "home", owner))
        assert [each.certain for each in at_home] == [False]


class TestGrace:
    def findings(self, seconds: Any, *pools: Resource, on: str = "s") -> list[Finding]:
        nodes = [
            node("s", "spot", SPOT_LABELS),
            node("p", "old", {"cloud.google.com/gke-preemptible": "true"}),
            node("f", "flex", {"cloud.google.com/gke-flex-start": "true"}),
            node("h", "system"),
        ]
        made = pod("x", "ml", on, spec=pod_spec(grace_seconds=seconds))
        return list(live_pod_grace(stack(*nodes, *pools, made)))

    def pool(self, kubelet: Any, name: str = "spot") -> Resource:
        config = {"spot": True, "kubeletConfig": kubelet}
        return Resource(examples.POOL, "p", props={"name": name, "nodeConfig": config})

    def test_says_what_a_pod_gets(self) -> None:
        found = self.findings(90)

        assert said(found) == [
            (
                "Pod ml/x",
                "terminationGracePeriodSeconds is 90, and when its Spot node is taken away a pod "
                "has 15 s (30 s of notice less 15 s for critical pods)",
            )
        ]
        assert found[0].fix == (
            "save within 15 s, or extend the shutdown of the pool (shutdownGracePeriodSeconds 120)"
        )

    @pytest.mark.parametrize(("on", "faults"), [("s", 1), ("p", 1), ("f", 0), ("h", 0)])
    def test_only_nodes_that_can_be_taken_away_count(self, on: str, faults: int) -> None:
        assert len(self.findings(90, on=on)) == faults

    @pytest.mark.parametrize("odd", [None, "x", [], 1e12, float("nan")], ids=repr)
    def test_odd_value_is_nobodys_wish(self, odd: Any) -> None:
        assert not self.findings(odd)

    @pytest.mark.parametrize(
        ("kubelet", "seconds"),
        [
            ({"shutdownGracePeriodSeconds": 120}, 105),
            ({"shutdownGracePeriodSeconds": "120"}, 105),
            (
                {
                    "shutdownGracePeriodSeconds": 120,
                    "shutdownGracePeriodCriticalPodsSeconds": 60,
                },
                60,
            ),
            (
                {"shutdownGracePeriodSeconds": 120, "shutdownGracePeriodCriticalPodsSeconds": 0},
                120,
            ),
            (
                {"shutdownGracePeriodSeconds": 120, "shutdownGracePeriodCriticalPodsSeconds": 900},
                105,
            ),
            (
                {"shutdownGracePeriodSeconds": 120, "shutdownGracePeriodCriticalPodsSeconds": -1},
                105,
            ),
            (
                {"shutdownGracePeriodSeconds": 120, "shutdownGracePeriodCriticalPodsSeconds": 120},
                105,
            ),
            ({"shutdownGracePeriodSeconds": 0}, 30),
            ({"shutdownGracePeriodSeconds": 77}, 30),
            ({}, 30),
        ],
        ids=str,
    )
    def test_shutdown_that_a_state_declares_counts(self, kubelet: Any, seconds: int) -> None:
        assert not self.findings(seconds, self.pool(kubelet))
        assert self.findings(seconds + 1, self.pool(kubelet))

    def test_pod_on_an_unseen_node_is_left_alone(self) -> None:
        assert not self.findings(90, on="gone")

    def test_pool_without_a_name_is_no_nodes_pool(self) -> None:
        made = node("s", "", SPOT_LABELS)
        nameless = self.pool({"shutdownGracePeriodSeconds": 120}, name="")
        asks = pod("x", "ml", "s", spec=pod_spec(grace_seconds=90))

        assert list(live_pod_grace(stack(made, nameless, asks)))

    def test_other_pool_does_not_count(self) -> None:
        other = self.pool({"shutdownGracePeriodSeconds": 120}, name="other")

        assert self.findings(90, other)

    def test_pool_that_a_cluster_lists_counts(self) -> None:
        pool = dict(self.pool({"shutdownGracePeriodSeconds": 120}).props)
        cluster = Resource(examples.CLUSTER, "c", props={"nodePools": [copy.deepcopy(pool)]})

        assert not self.findings(90, cluster)

    def test_longest_of_a_workload_is_named(self) -> None:
        owner = ("StatefulSet", "db")
        pods = [
            pod(f"db-{n}", "ml", "s", owner, pod_spec(grace_seconds=seconds))
            for n, seconds in enumerate([60, 600, 90])
        ]
        found = list(live_pod_grace(stack(node("s", "spot", SPOT_LABELS), *pods)))

        assert len(found) == 1
        assert "terminationGracePeriodSeconds is 600" in found[0].value
