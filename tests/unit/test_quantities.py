"""Quantities in the form in which the API server writes them back."""

import pytest

from spotproof_gke.kubernetes_names import bytes_problems, cpu_problems
from spotproof_gke.quantities import amount, canonical
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


@pytest.mark.parametrize(
    ("given", "form"),
    [
        ("1e9", "1G"),
        ("1E9", "1G"),
        ("1.5e10", "15G"),
        ("12e+2", "1200"),
        ("5e-1", "500m"),
        ("1.001e3", "1001"),
        ("5E", "5E"),
        ("2000000n", "2m"),
        ("128974848000m", "128974848"),
        ("+1", "1"),
        ("1.", "1"),
        (".5Gi", "512Mi"),
    ],
)
def test_other_forms_that_the_server_reads_are_the_same_number(given: str, form: str) -> None:
    assert canonical(given) == form
    assert canonical(form) == form
    assert amount(given) == amount(form)


@pytest.mark.parametrize("text", ["4", "0.5", "500m", "1e1", "15e-1", "2000000n", ".5", "+1", "0"])
def test_cpus_are_right_in_every_form_of_kubernetes(text: str) -> None:
    assert not cpu_problems("cpu", text)


@pytest.mark.parametrize(
    "text", ["1e9", "1E9", "1.5e10", "16Gi", "0.1Gi", "2G", "1E", "1Ei", "128974848000m", "0"]
)
def test_sizes_are_right_in_every_form_of_kubernetes(text: str) -> None:
    assert not bytes_problems("memory", text)


@pytest.mark.parametrize("text", ["4Gi", "1k", "0.0001", "100u", "1e-4", "1e99"])
def test_what_is_no_number_of_cpus_is_refused(text: str) -> None:
    (problem,) = cpu_problems("cpu", text)
    assert (problem.key, problem.value) == ("cpu", text)


@pytest.mark.parametrize("text", ["400m", "1500m", "1n", "0.5", "1e-1", "10E", "1e19", "1e99"])
def test_what_is_no_size_is_refused(text: str) -> None:
    (problem,) = bytes_problems("memory", text)
    assert (problem.key, problem.value) == ("memory", text)


@pytest.mark.parametrize(
    "text", ["", "e3", ".", "-1", "1 Gi", "Gi", "1e3Gi", "1e", "1e1000", "1g", "16GB", "1\n"]
)
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
