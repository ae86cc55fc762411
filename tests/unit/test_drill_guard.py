"""Which guard a drill expects of a stack, and where it has to act."""

from pathlib import Path

import pytest
import yaml

from sandbox.drill.guard import Answer, Post, guard_of, posts
from sandbox.drill.pools import UnfitClusterError
from sandbox.emulated import EmulatedStack
from sandbox.engine import Engine
from sandbox.environment import Sandbox
from spotproof_gke.admission import Guard, GuardAction, guard_manifests

STACK = yaml.safe_load(Path("stacks/Pulumi.showcase.yaml").read_text())
GUARD = "spotproof:systemPlacementGuard"


def emulated(folder: Path, **config: object) -> EmulatedStack:
    """A stack that was brought up with the guard of the showcase."""
    (folder / "stacks").mkdir()
    changed = {**STACK["config"], **{f"spotproof:{key}": value for key, value in config.items()}}
    changed = {key: value for key, value in changed.items() if value is not None}
    (folder / "stacks" / "Pulumi.mine.yaml").write_text(yaml.safe_dump({"config": changed}))
    rendered = folder / "sandbox" / "rendered" / "1-manifest"
    rendered.mkdir(parents=True)
    for role, manifest in guard_manifests(Guard("g", system_namespaces=["platform"])).items():
        (rendered / f"{role}.yaml").write_text(yaml.safe_dump(manifest))
    (rendered / "a-job.yaml").write_text(yaml.safe_dump({"kind": "Job"}))
    engine = Engine(Path("pulumi"), "v0", "path", "none is run")
    return EmulatedStack(Sandbox(folder / "sandbox"), "mine", engine, folder)


def test_a_drill_takes_the_guard_that_the_stack_has_rendered(tmp_path):
    found = guard_of(emulated(tmp_path), ("training", "batch"))

    assert found is not None
    kinds = [one["kind"] for one in found.manifests]
    assert kinds == ["ValidatingAdmissionPolicy"] * 3 + ["ValidatingAdmissionPolicyBinding"] * 3
    where = {(post.namespace, post.denies) for post in found.posts}
    assert where == {
        *(("platform", True), ("ingress-drill", True)),
        *(("kube-system", False), ("batch", True)),
    }


@pytest.mark.parametrize(
    "config",
    [
        {"systemPlacementGuard": {"enabled": False}},
        {"systemPlacementGuard": None, "workloads": "none"},
    ],
)
def test_a_stack_may_have_no_guard(tmp_path, config):
    assert guard_of(emulated(tmp_path, **config), ("training", "batch")) is None


def test_a_guard_that_would_refuse_the_work_of_the_drill_is_an_error(tmp_path):
    stack = emulated(tmp_path)

    with pytest.raises(UnfitClusterError, match="in namespace platform, which systemPlacement"):
        guard_of(stack, ("training", "platform"))


def test_a_guard_has_one_post_for_each_place_that_it_knows():
    guard = Guard("g", ("a", "a-*"), GuardAction.DENY, critical_priority_classes=("theirs",))

    assert posts(guard, "batch") == [
        Post("a", "g-own", True),
        Post("a-drill", "g-own", True),
        Post("kube-system", "g-gke", True),
    ]


@pytest.mark.parametrize(
    ("answer", "denies", "right"),
    [
        (Answer(True, "ValidatingAdmissionPolicy 'g-own' denied request: x"), True, True),
        (Answer(True, "ValidatingAdmissionPolicy 'another' denied request: x"), True, False),
        (Answer(True, "no service account"), True, False),
        (Answer(False, ""), True, False),
        (Answer(False, "Validation failed for ValidatingAdmissionPolicy 'g-own'"), True, False),
        (Answer(False, "Validation failed for ValidatingAdmissionPolicy 'g-own'"), False, True),
        (Answer(False, ""), False, False),
        (Answer(True, "ValidatingAdmissionPolicy 'g-own' denied request: x"), False, False),
    ],
)
def test_only_the_own_policy_of_a_place_counts(answer, denies, right):
    assert answer.is_as_set(Post("a", "g-own", denies)) is right
