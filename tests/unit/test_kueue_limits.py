"""What Kueue's own kinds limit, and what our queues make of it."""

import itertools
from typing import Any

import pytest

from sandbox.cluster.kinds import definitions
from spotproof.reader import ArgumentsError
from spotproof_gke.accelerators import ACCELERATORS
from spotproof_gke.capacity import Capacity
from spotproof_gke.workloads.kueue import Flavor, flavor_manifest, flavor_scheduling
from spotproof_gke.workloads.scheduling import NodesFrom
from tests.unit.workload_examples import KUEUE_QUEUES, manifests

MOST = 63
FORM = "queue_name = '{}': a name has at most 63 lower-case letters, digits and hyphens"


def _spec(kind: str) -> dict[str, Any]:
    """The fields of a kind of Kueue's."""
    (version,) = definitions()[f"{kind}.kueue.x-k8s.io"]["spec"]["versions"]
    return version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]


def test_the_name_of_a_queue_is_as_long_as_its_admission_check_may_name() -> None:
    limit = _spec("admissionchecks")["parameters"]["properties"]["name"]["maxLength"]
    made = manifests("KueueQueues", {**KUEUE_QUEUES, "queue_name": "a" * MOST})
    (named,) = (one["spec"]["parameters"] for one in made if one["kind"] == "AdmissionCheck")
    assert len(named["name"]) == MOST == limit


@pytest.mark.parametrize("name", ["a" * (MOST + 1), "a.b", "Gangs", "-a", "a-", "a_b", "é"])
def test_a_name_that_an_admission_check_cannot_hold_is_refused(name: str) -> None:
    with pytest.raises(ArgumentsError) as given:
        manifests("KueueQueues", {**KUEUE_QUEUES, "queue_name": name})
    assert FORM.format(name) in str(given.value)
    # Without it the component's own name is taken, so that is judged as well.
    with pytest.raises(ArgumentsError) as own:
        manifests("KueueQueues", KUEUE_QUEUES, name)
    assert FORM.format(name) in str(own.value)


def test_no_flavor_has_more_labels_or_tolerations_than_kueue_takes() -> None:
    spec = _spec("resourceflavors")
    for capacity, accelerator, nodes in itertools.product(
        Capacity, (None, *ACCELERATORS), NodesFrom
    ):
        where = flavor_scheduling(capacity, accelerator, nodes)
        made = flavor_manifest(Flavor("a", where, False, 0, "1", "1Gi"))["spec"]
        assert len(made.get("nodeLabels", ())) <= spec["nodeLabels"]["maxProperties"]
        assert len(made.get("tolerations", ())) <= spec["tolerations"]["maxItems"]
