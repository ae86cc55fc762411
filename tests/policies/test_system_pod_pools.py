"""System pods that select a Spot pool, judged without a configuration."""

from spotproof_gke.rules.finding import Resource, Stack
from spotproof_gke.rules.system_pod_pools import system_pods_on_spot_pools

SPOT = Resource(
    "gcp:container/nodePool:NodePool",
    "cheap",
    props={"name": "cheap", "nodeConfig": {"spot": True}},
)


def _found(kind: str) -> list[str]:
    pod = {"nodeSelector": {"cloud.google.com/gke-nodepool": "cheap"}}
    props = {"metadata": {"namespace": "kube-system"}, "spec": {"template": {"spec": pod}}}
    workload = Resource(f"kubernetes:apps/v1:{kind}", "addon", props=props)
    return [each.resource for each in system_pods_on_spot_pools(Stack([SPOT, workload]))]


def test_a_deployment_is_reported_and_a_daemon_set_is_exempt() -> None:
    assert _found("Deployment") == ["addon"]
    assert _found("DaemonSet") == []
