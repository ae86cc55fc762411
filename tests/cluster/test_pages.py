"""Objects and messages of the how-to pages, on a real control plane."""

import re

import pytest
import yaml
from lightkube.codecs import from_dict
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.batch_v1 import Job
from lightkube.resources.core_v1 import Namespace, ServiceAccount
from lightkube.types import CascadeType

from spotproof_gke.capacity import Capacity
from tests.cluster.conftest import gpu_pool, system_pool, unschedulable
from tests.cluster.manifests import SPOT_SELECTOR, SPOT_TOLERATION, deployment
from tests.docs.pages import ROOT, blocks

SPOT = gpu_pool("l4-spot", Capacity.SPOT, "g2-standard-8", initialNodeCount=1)
FLEX = gpu_pool("a100-flex", Capacity.FLEX_START, "a2-highgpu-1g", initialNodeCount=1)
NAMESPACE = "training"


@pytest.fixture
def training(world):
    """A cluster with a pool of each kind, and the namespace and account that pages speak of."""
    cluster = world(system_pool(), SPOT, FLEX)
    account = ObjectMeta(name="trainer", namespace=NAMESPACE)
    cluster.client.apply(Namespace(metadata=ObjectMeta(name=NAMESPACE)), force=True)
    cluster.client.apply(ServiceAccount(metadata=account), force=True)
    yield cluster
    cluster.client.deletecollection(Job, namespace=NAMESPACE, cascade=CascadeType.BACKGROUND)


@pytest.mark.parametrize(
    ("page", "pool"),
    [("add-a-spot-pool.md", "l4-spot"), ("train-with-flex-start.md", "a100-flex")],
)
def test_the_job_of_a_page_lands_on_the_nodes_that_the_page_speaks_of(training, page, pool):
    (manifest,) = [
        found
        for block in blocks()
        if block.page == f"docs/how-to/{page}" and block.language == "yaml"
        if (found := yaml.safe_load(block.text)).get("kind") == "Job"
    ]
    name = manifest["metadata"]["name"]
    manifest["spec"]["template"]["metadata"] = {"labels": {"app": name}}

    training.apply(from_dict(manifest))
    training.settled(name, 1, NAMESPACE)

    assert training.nodes_of(name, NAMESPACE) == [pool]


def test_stuck_pending_explains_what_the_scheduler_says(training):
    text = (ROOT / "docs" / "how-to" / "stuck-pending.md").read_text(encoding="utf-8")
    explained = re.findall(r"^\| `([^`]+)`", text, flags=re.M)
    on_spot = {"nodeSelector": SPOT_SELECTOR, "tolerations": [SPOT_TOLERATION]}

    training.apply(
        deployment("selects", nodeSelector={"cloud.google.com/gke-accelerator": "nvidia-b200"}),
        deployment("bare", nodeSelector=SPOT_SELECTOR, gpus=1),
        deployment("large", **on_spot, gpus=8),
    )

    for name, message in zip(("selects", "bare", "large"), explained[:3], strict=True):
        (pod,) = training.settled(name, 1)
        assert message in unschedulable(pod), name
