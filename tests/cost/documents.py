"""What `pulumi preview` and `pulumi stack export` write, in small, for resources of a test."""

from typing import Any

CLUSTER = "gcp:container/cluster:Cluster"
NODE_POOL = "gcp:container/nodePool:NodePool"
BUCKET = "gcp:storage/bucket:Bucket"
NAT = "gcp:compute/routerNat:RouterNat"
DISK = "gcp:compute/disk:Disk"
TOPIC = "gcp:pubsub/topic:Topic"
SUBSCRIPTION = "gcp:pubsub/subscription:Subscription"

UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""What the engine writes for a value that is not known before the update."""

SECRET = {
    "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
    "ciphertext": "v1:x",
}
"""What the engine writes for a secret."""

Row = dict[str, Any]


def row(type_: str, called: str, **inputs: Any) -> Row:
    """A resource with its inputs, in camelCase."""
    urn = f"urn:pulumi:test::example::{type_}::{called}"
    return {"urn": urn, "type": type_, "custom": True, "inputs": inputs}


def pool(called: str, machine_type: Any, **inputs: Any) -> Row:
    """A node pool in us-central1; keys of its `nodeConfig` are given as `config`."""
    config = {"machineType": machine_type, **inputs.pop("config", {})}
    known = {"cluster": "main", "location": "us-central1"}
    return row(NODE_POOL, called, nodeConfig=config, **{**known, **inputs})


def cluster(**inputs: Any) -> Row:
    """A cluster called `main` in us-central1 without a default pool."""
    known = {"name": "main", "location": "us-central1", "removeDefaultNodePool": True}
    return row(CLUSTER, "main", **{**known, **inputs})


def state(*rows: Row) -> Row:
    """An export of a stack."""
    return {"version": 3, "deployment": {"resources": list(rows)}}


def preview(*rows: Row, op: str = "create", **more: Any) -> Row:
    """What `preview --json` prints."""
    return {"steps": [{"op": op, "urn": each["urn"], "newState": each} for each in rows], **more}


def plan(*rows: Row) -> Row:
    """What `preview --save-plan` writes."""
    return {
        "resourcePlans": {
            each["urn"]: {
                "goal": {
                    "type": each["type"],
                    "custom": True,
                    "inputDiff": {"adds": each["inputs"]},
                },
                "steps": ["create"],
                "state": {**each["inputs"], "selfLink": UNKNOWN},
            }
            for each in rows
        }
    }
