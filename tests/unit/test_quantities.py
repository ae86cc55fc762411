"""Quantities in the form in which the API server writes them back."""

import pytest

from spotproof_gke.kubernetes_names import bytes_problems, cpu_problems
from spotproof_gke.quantities import canonical
from tests.unit.workload_examples import SIZES, SPOT_JOB, manifests, pod_of

# The answers of an API server of Kubernetes 1.36.
WRITTEN_BACK = {
    "0": "0",
    "0Gi": "0",
    "0.5": "500m",
    "1.10": "1100m",
    "0.001": "1m",
    "1000m": "1",
    "1500m": "1500m",
    "1": "1",
    "1000": "1k",
    "1000k": "1M",
    "1000000M": "1T",
    "999999999999k": "999999999999k",
    "1023": "1023",
    "1024": "1024",
    "0.5Ki": "512",
    "1Ki": "1Ki",
    "1025Ki": "1025Ki",
    "1024Ki": "1Mi",
    "1024Mi": "1Gi",
    "0.5Gi": "512Mi",
    "1.5Gi": "1536Mi",
}


@pytest.mark.parametrize(("given", "form"), WRITTEN_BACK.items())
def test_a_quantity_has_the_form_that_the_server_gives_it(given: str, form: str) -> None:
    assert canonical(given) == form
    assert canonical(form) == form


@pytest.mark.parametrize(("given", "form"), [("0.1Gi", "107374183"), ("1.0001Ki", "1025")])
def test_a_part_of_a_byte_is_a_whole_one(given: str, form: str) -> None:
    assert canonical(given) == form


@pytest.mark.parametrize("text", ["", "1e3", "-1", "1 Gi", "Gi"])
def test_what_is_no_quantity_is_refused(text: str) -> None:
    assert cpu_problems("cpu", text)
    assert bytes_problems("memory", text)
    with pytest.raises(ValueError, match="is no quantity"):
        canonical(text)


def test_a_workload_asks_in_the_form_that_is_written_back() -> None:
    """In another one a JobSet would seem changed, and be made anew, by each update."""
    (job,) = manifests("SpotJob", {**SPOT_JOB, **SIZES})
    pod = pod_of(job)
    held = {"memory": "1Gi", "ephemeral-storage": "1G"}
    resources = pod["containers"][0]["resources"]
    assert resources["requests"] == {"cpu": "500m", **held}
    assert resources["limits"] == {**held, "nvidia.com/gpu": "1"}
    (volume,) = pod["volumes"]
    assert volume["emptyDir"]["sizeLimit"] == "512Mi"
