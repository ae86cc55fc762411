"""Four failures x create, update, delete x cluster, pool, bucket, subscription, by the real engine.

In each cell the user reads which resource failed, why, and what to do, the run fails, and the next
one finishes and leaves nothing to change.

A zone runs out of machines for what asks for machines alone: a cluster or pool that is created or
changed. In the other cells a server that stays away takes its place, as the failure that nobody's
request is the cause of.
"""

import re
from pathlib import Path

import pytest
import yaml

from tests.engine.support import EmulatedProject, Run, emulated_project

CONFIG = {"gcp:project": "acme", "gcp:region": "europe-west4"}
FAILURES = ("quota-exceeded", "stock-out", "permission-denied", "service-disabled")
TYPES = {
    "cluster": "gcp:container:Cluster",
    "pool": "gcp:container:NodePool",
    "bucket": "gcp:storage:Bucket",
    "subscription": "gcp:pubsub:Subscription",
}
BASE = """
import pulumi
import pulumi_gcp as gcp

base = gcp.container.Cluster(
    "base", name="base", location="europe-west4", initial_node_count=1,
    remove_default_node_pool=True, deletion_protection=False,
)
topic = gcp.pubsub.Topic("topic", name="jobs")
"""
ONE_OF_EACH_TYPE_FOR_EACH_FAILURE = """
for failure in %r:
    labels = {"step": "%s"}
    gcp.container.Cluster(
        f"cluster-{failure}", name=f"c-{failure}", location="europe-west4", initial_node_count=1,
        remove_default_node_pool=True, deletion_protection=False, resource_labels=labels,
    )
    gcp.container.NodePool(
        f"pool-{failure}", name=f"p-{failure}", cluster=base.id, initial_node_count=1,
        node_config={"machine_type": "e2-standard-4", "labels": labels},
    )
    gcp.storage.Bucket(
        f"bucket-{failure}", name=f"acme-{failure}", location="europe-west4", labels=labels
    )
    gcp.pubsub.Subscription(
        f"subscription-{failure}", name=f"s-{failure}", topic=topic.id, labels=labels
    )
"""
BEYOND_ALL_RETRIES = 21
"""The provider asks 20 times; the last time is left for the next run, which gets through."""

FORBIDDEN = {
    "cluster": 'Required "container.clusters.{operation}" permission',
    "pool": 'Required "container.clusters.update" permission',
    "bucket": "does not have storage.buckets.{operation} access",
    "subscription": "User not authorized to perform this action",
}
LIMITED = {
    "cluster": "Insufficient regional quota to satisfy request: resource",
    "pool": "Insufficient regional quota to satisfy request: resource",
    "bucket": "exceeded the rate limit for creating and deleting buckets",
    "subscription": "Quota exceeded for quota metric 'Administrator operations'",
}
APIS = {"cluster": "container", "pool": "container", "bucket": "storage", "subscription": "pubsub"}


def program(step: str) -> str:
    return BASE + ONE_OF_EACH_TYPE_FOR_EACH_FAILURE % (FAILURES, step)


def kind_in(failure: str, type_: str, operation: str) -> str:
    """The fault of a cell: the failure, or what stands for it where it cannot be."""
    with_machines = type_ in ("cluster", "pool") and operation != "delete"
    return "unavailable" if failure == "stock-out" and not with_machines else failure


def expected(kind: str, type_: str, operation: str) -> list[str]:
    """Why it failed, and what to do: words that the user reads."""
    if kind == "stock-out":
        return [
            "ZONE_RESOURCE_POOL_EXHAUSTED",
            "zones/europe-west4-a' does not have enough resources available",
            "Try a different zone, or try again later",
        ]
    if kind == "unavailable":
        return [
            "googleapi: Error 503: The service is currently unavailable",
            "To mend",
            "wait a few minutes and run again",
        ]
    if kind == "permission-denied":
        role = f"roles/{APIS[type_]}.admin"
        why = FORBIDDEN[type_].format(operation=operation)
        return ["googleapi: Error 403", why, "To mend", f"ask an administrator.*{role}"]
    if kind == "service-disabled":
        api = f"{APIS[type_]}.googleapis.com"
        return [
            "googleapi: Error 403",
            "has not been used in project [0-9]+ before or it is disabled",
            f"Enable it by visiting https://[^ ]*{api}",
            "SERVICE_DISABLED",
            f"gcloud services enable {api} --project=acme",
        ]
    if operation == "delete" and APIS[type_] == "container":
        why = "hits the concurrent operations quota 5, please try again later"
        return ["googleapi: Error 429", why, "To mend", "wait a minute and run again"]
    todo = "ask for more at https://" if APIS[type_] == "container" else "wait a minute and run"
    return ["googleapi: Error 4[0-9]+", LIMITED[type_], "To mend", todo]


def order(project: EmulatedProject, operation: str) -> None:
    rules = [
        {
            "kind": kind_in(failure, type_, operation),
            "type": TYPES[type_].rpartition(":")[2],
            "name": f"{type_}-{failure}",
            "operation": operation,
        }
        for failure in FAILURES
        for type_ in TYPES
    ]
    for rule in rules:
        if rule["kind"] == "unavailable":
            rule["times"] = BEYOND_ALL_RETRIES  # type: ignore[assignment]
    (project.sandbox.folder / "faults.yaml").write_text(yaml.safe_dump({"faults": rules}))


def diagnostics(run: Run) -> dict[tuple[str, str], str]:
    """What the run says at its end of each resource, by type and name."""
    said = run.text.partition("\nDiagnostics:\n")[2]
    parts = re.split(r"^  ([a-z][\w:]+) \(([\w-]+)\):\n", said, flags=re.MULTILINE)
    return {(parts[at], parts[at + 1]): parts[at + 2] for at in range(1, len(parts) - 2, 3)}


def assert_every_cell_is_told(run: Run, operation: str) -> None:
    said = diagnostics(run)
    doing = {"create": "creating", "update": "updating", "delete": "deleting"}[operation]
    cells = [(failure, type_) for failure in FAILURES for type_ in TYPES]
    named = {(TYPES[type_], f"{type_}-{failure}") for failure, type_ in cells}
    assert named == {key for key in said if key[0].startswith("gcp:")}, run.text
    for failure, type_ in cells:
        kind = kind_in(failure, type_, operation)
        text = said[TYPES[type_], f"{type_}-{failure}"]
        words = [f"rror.*{doing}", *expected(kind, type_, operation)]
        missing = [each for each in words if not re.search(each, text)]
        assert not missing, f"{operation} of {type_} with {kind} does not tell {missing}:\n{text}"


def assert_next_run_finishes(project: EmulatedProject) -> None:
    project.up().check()
    project.up("--expect-no-changes").check()
    project.refresh("--expect-no-changes").check()
    assert not any(resource.get("initErrors") for resource in project.resources())


@pytest.mark.parametrize("operation", ["create", "update", "delete"])
def test_each_failure_names_resource_reason_and_remedy_and_the_next_run_finishes(
    tmp_path: Path, operation: str
) -> None:
    before = BASE if operation == "create" else program("before")
    after = BASE if operation == "delete" else program("after")
    project = emulated_project(tmp_path, before, CONFIG)
    project.up().check()
    project.write(after)
    order(project, operation)

    failed = project.up("--continue-on-error")
    assert not failed.ok
    assert_every_cell_is_told(failed, operation)

    assert_next_run_finishes(project)
    left = [thing for thing in project.resources() if thing["type"].startswith("gcp:")]
    assert len(left) == (2 if operation == "delete" else 2 + len(FAILURES) * len(TYPES))
