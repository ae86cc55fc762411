"""How a watch sees that a node has gone, and what it makes of the work, by a cluster in words."""

import io
from collections.abc import Sequence
from typing import Any

import pytest
from lightkube.resources.batch_v1 import Job
from lightkube.resources.core_v1 import Node, Pod

from sandbox.drill.report import Report
from sandbox.drill.terminal import Lines
from sandbox.drill.watch import NothingToWatchError, Watch

NAME = "gke-l4-spot-1"
INFO = (
    "architecture",
    "containerRuntimeVersion",
    "kernelVersion",
    "kubeProxyVersion",
    "kubeletVersion",
    "machineID",
    "operatingSystem",
    "osImage",
    "systemUUID",
)
SPOT = {"cloud.google.com/gke-spot": "true"}


def node(uid: str = "n1", boot: str = "b1", ready: str = "True", labels: Any = SPOT) -> Node:
    info = dict.fromkeys(INFO, "?") | {"bootID": boot}
    condition = {"type": "Ready", "status": ready, "reason": "KubeletNotReady"}
    return Node.from_dict(
        {
            "metadata": {"name": NAME, "uid": uid, "labels": labels},
            "status": {"conditions": [condition], "nodeInfo": info},
        }
    )


def pod(name: str, where: str, phase: str = "Running", owner: str = "Job") -> Pod:
    controller = {
        "apiVersion": "v1",
        "kind": owner,
        "name": "train",
        "uid": "o1",
        "controller": True,
    }
    return Pod.from_dict(
        {
            "metadata": {
                "name": name,
                "namespace": "training",
                "uid": name,
                "ownerReferences": [controller] if owner else [],
            },
            "spec": {"nodeName": where, "containers": []},
            "status": {"phase": phase},
        }
    )


class Words:
    """A cluster that answers by its moment, which each wait moves on by one."""

    def __init__(self, nodes: list[Any], pods: list[list[Pod]], failed: int = 0) -> None:
        self.nodes, self.pods, self.failed, self.moment = nodes, pods, failed, 0

    def get(self, kind: type, name: str, namespace: "str | None" = None) -> Any:
        if kind is Job:
            failed = self.failed if self.moment else 0
            return Job.from_dict({"metadata": {"name": name}, "status": {"failed": failed}})
        return self._now(self.nodes)

    def list(self, kind: type, namespace: str, fields: Any = None) -> list[Pod]:
        found = self._now(self.pods)
        return [each for each in found if not fields or each.spec.nodeName == NAME]

    def _now(self, moments: Sequence[Any]) -> Any:
        return moments[min(self.moment, len(moments) - 1)]

    def sleep(self, seconds: float) -> None:
        self.moment += 1


def watch(cluster: Any, seconds: float = 60.0) -> Report:
    shown = Lines(io.StringIO())
    return Watch(
        cluster, NAME, Report(""), shown, seconds, cluster.sleep, lambda: float(cluster.moment)
    ).run()


@pytest.mark.parametrize(
    ("after", "words"),
    [
        (node(uid="n2"), "another has its name"),
        (node(boot="b2"), "was started anew"),
        (node(ready="Unknown"), "is not ready: KubeletNotReady"),
    ],
    ids=["made anew", "started anew", "silent"],
)
def test_a_node_has_gone_though_its_name_is_there(after, words):
    back = [pod("old", NAME, "Failed"), pod("new", "gke-l4-spot-2")]

    report = watch(Words([node(), after], [[pod("old", NAME)], back]))

    assert report.ok
    assert words in report.outcomes[0].evidence


def test_pods_on_other_nodes_are_not_taken_for_the_one_that_comes_back():
    other = pod("other", "gke-l4-spot-2")

    report = watch(Words([node(), node(uid="n2")], [[pod("old", NAME), other], [other]]), 5)

    assert [each.kept for each in report.outcomes] == [True, False]
    assert "0 of 1 pods came back" in report.outcomes[1].evidence


def test_a_loss_that_counts_as_an_error_breaks_the_promise():
    moments = [[pod("old", NAME)], [pod("new", "gke-l4-spot-2")]]

    report = watch(Words([node(), node(uid="n2")], moments, failed=1))

    assert report.outcomes[1].kept is False
    assert "counts 1 lost pods as failed" in report.outcomes[1].evidence


def test_a_node_that_stays_leaves_all_untried():
    report = watch(Words([node()], [[pod("old", NAME)]]), 5)

    assert [each.kept for each in report.outcomes] == [None, None]
    assert not report.ok


@pytest.mark.parametrize(
    ("cluster", "words"),
    [
        (Words([node(labels={})], [[pod("old", NAME)]]), "is no Spot"),
        (Words([node()], [[]]), "start some work there first"),
        (Words([node()], [[pod("old", NAME, owner="DaemonSet")]]), "start some work there first"),
        (Words([node()], [[pod("old", NAME, owner="")]]), "start some work there first"),
        (Words([node()], [[pod("old", NAME, "Succeeded")]]), "start some work there first"),
    ],
    ids=["on-demand", "empty", "only a daemon", "a pod of nobody", "all done"],
)
def test_a_node_without_anything_to_see_is_refused(cluster, words):
    with pytest.raises(NothingToWatchError, match=words):
        watch(cluster)
