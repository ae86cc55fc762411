import pytest

from spotproof_gke import versions


@pytest.mark.parametrize("feature", versions.FEATURES.values(), ids=lambda f: f.name)
def test_every_feature_has_a_version_and_says_what_it_is(feature: versions.Feature) -> None:
    assert versions.parse(feature.version)
    assert feature.what
    assert versions.version_problems("version", feature.version, feature.name) == []


def test_versions_compare_as_numbers() -> None:
    assert versions.parse("1.33.10-gke.5") > versions.parse("1.33.9-gke.1000000")
    assert versions.parse("1.33") == versions.parse("1.33.0")


@pytest.mark.parametrize(
    ("version", "words"),
    [
        ("1.32.9-gke.1", "flex-start nodes with GPUs"),
        ("1.33", "needs GKE 1.33.0-gke.1712000 or newer"),
        ("latest", "no GKE version"),
        ("1.33.0-gke.x", "no GKE version"),
    ],
)
def test_a_version_that_is_too_old_says_which_is_needed(version: str, words: str) -> None:
    (problem,) = versions.version_problems("version", version, "flex-start")
    assert words in problem.rule


def test_a_feature_that_does_not_exist_is_answered_with_the_nearest() -> None:
    with pytest.raises(KeyError, match='did you mean "flex-start"'):
        versions.version_problems("version", "1.35", "flexstart")
