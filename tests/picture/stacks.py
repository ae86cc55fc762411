"""States and plans to draw, as Pulumi writes them, of programs that are not ours."""

import json
from collections.abc import Mapping
from typing import Any

CLUSTER = "gcp:container/cluster:Cluster"
POOL = "gcp:container/nodePool:NodePool"
BUCKET = "gcp:storage/bucket:Bucket"
SUBSCRIPTION = "gcp:pubsub/subscription:Subscription"
JOB = "kubernetes:batch/v1:Job"
DEPLOYMENT = "kubernetes:apps/v1:Deployment"

SECRET = "correct-horse-battery-staple"
UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
HIDDEN = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270"}
"""What a state holds in the place of a secret."""

SPOT_TAINT = {"key": "cloud.google.com/gke-spot", "value": "true", "effect": "NO_SCHEDULE"}
SPOT_TOLERATION = {"key": "cloud.google.com/gke-spot", "operator": "Equal", "value": "true"}


def resource(type_: str, name: str, inputs: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "urn": f"urn:pulumi:live::shop::{type_}::{name}",
        "custom": True,
        "type": type_,
        "inputs": dict(inputs),
        "outputs": dict(inputs),
        "propertyDependencies": {key: [] for key in inputs},
        **more,
    }


def cluster(called: str = "shop", **inputs: Any) -> dict[str, Any]:
    given = {"name": called, "location": "us-east4", "removeDefaultNodePool": True, **inputs}
    return resource(CLUSTER, called, given)


def pool(name: str, *, taints: Any = (), of: str = "shop", **config: Any) -> dict[str, Any]:
    node_config = {"machineType": "n2-standard-4", "taints": list(taints), **config}
    limits = {"minNodeCount": 1, "maxNodeCount": 3}
    inputs = {"name": name, "cluster": of, "autoscaling": limits, "nodeConfig": node_config}
    return resource(POOL, name, inputs)


def workload(type_: str, name: str, spec: Mapping[str, Any], namespace: str = "work") -> Any:
    container = {
        "name": "main",
        "image": "registry.example/app:1",
        "args": [f"--token={SECRET}"],
        "env": [{"name": "TOKEN", "value": SECRET}],
    }
    template = {"spec": {"containers": [container], **spec}}
    metadata = {"name": name, "namespace": namespace}
    return resource(type_, name, {"metadata": metadata, "spec": {"template": template}})


def state(*resources: Any) -> dict[str, Any]:
    return {"version": 3, "deployment": {"resources": list(resources)}}


def plan(*resources: Any, **more: Any) -> dict[str, Any]:
    """A plan that makes the resources; what is unknown of them comes from another resource."""
    steps = []
    for each in resources:
        made = {key: value for key, value in each.items() if key != "outputs"}
        unknown = {k for k, value in made["inputs"].items() if UNKNOWN in json.dumps(value)}
        stated = {
            key: ["urn:pulumi:live::shop::a:b:C::other"] if key in unknown else []
            for key in made["inputs"]
        }
        made["propertyDependencies"] = stated | made.get("depends", {})
        steps.append({"op": "create", "urn": made["urn"], "newState": made})
    return {"config": {}, "steps": steps, "changeSummary": {"create": len(steps)}, **more}


SAFE = state(
    resource("gcp:compute/network:Network", "net", {"name": "shop-net"}),
    cluster(),
    pool("home"),
    pool("cheap", taints=[SPOT_TAINT], spot=True),
    workload(
        JOB,
        "train",
        {
            "nodeSelector": {"cloud.google.com/gke-spot": "true"},
            "tolerations": [SPOT_TOLERATION],
        },
    ),
    workload(DEPLOYMENT, "web", {}),
    workload(DEPLOYMENT, "dns", {}, namespace="kube-system"),
    resource(
        BUCKET,
        "near",
        {"name": "near", "location": "US-EAST4", "labels": {"spotproof-cluster": "shop"}},
    ),
    resource(
        BUCKET,
        "far",
        {"name": "far", "location": "EUROPE-WEST4", "labels": {"spotproof-cluster": "shop"}},
    ),
    resource(SUBSCRIPTION, "bare", {"name": "bare", "topic": "orders"}),
    resource(
        SUBSCRIPTION,
        "jobs",
        {
            "name": "jobs",
            "topic": "jobs",
            "deadLetterPolicy": {"deadLetterTopic": "projects/p/topics/lost-jobs"},
        },
    ),
    resource(
        "gcp:storage/bucketIAMMember:BucketIAMMember",
        "grant",
        {
            "bucket": "b/near",
            "role": "roles/storage.objectUser",
            "member": "serviceAccount:shop.svc.id.goog[work/train]",
        },
    ),
)
