"""Where an image repository may lie."""

import pytest

from spotproof_gke.rules.finding import Resource, Stack
from spotproof_gke.rules.image_region import image_repositories, repository_elsewhere


@pytest.mark.parametrize(
    ("repository", "cluster"),
    [
        ("us-central1", "us-central1-a"),
        ("US-Central1", "us-central1"),
        ("us", "us-west4"),
        ("europe", "EUROPE-WEST4-b"),
        ("asia", "asia-southeast1"),
    ],
)
def test_repository_in_the_region_or_in_its_multi_region_will_do(repository, cluster) -> None:
    assert repository_elsewhere(repository, cluster) is None


@pytest.mark.parametrize(
    ("repository", "cluster"),
    [
        ("us-central1", "us-central2"),
        ("us-central1-a", "us-central1"),
        ("us", "northamerica-northeast1"),
        ("europe", "us-east1"),
        ("u", "us-east1"),
        ("", "us-east1"),
        (None, "us-east1"),
        ("us-central1", "iowa"),
    ],
)
def test_repository_elsewhere_is_told(repository, cluster) -> None:
    assert repository_elsewhere(repository, cluster)


@pytest.mark.parametrize(
    ("project", "count"),
    [
        ("acme", 1),
        ("cloudrun", 0),
        ("deeplearning-platform-release", 0),
        ("gke-release", 0),
        ("google-samples", 0),
        ("vertex-ai", 0),
    ],
)
def test_images_that_google_publishes_for_everyone_are_not_judged(project, count) -> None:
    location = {"name": "train", "location": "europe-west4"}
    spec = {"containers": [{"image": f"us-docker.pkg.dev/{project}/ml/train:1"}]}
    stack = Stack(
        [
            Resource("gcp:container/cluster:Cluster", "train", "urn:train", location),
            Resource("kubernetes:core/v1:Pod", "pod", "urn:pod", {"spec": spec}),
        ]
    )

    assert len(list(image_repositories(stack))) == count
