"""The container files: what SIGTERM, a restricted namespace and a rebuild need."""

import re

import pytest

from tests.runtime.containers import ROOT, WORKLOADS, Image, read_image

SHELLS = {"sh", "bash", "dash", "ash", "/bin/sh", "/bin/bash", "/usr/bin/env"}


@pytest.fixture(params=["trainer", "batch_inference"])
def image(request: pytest.FixtureRequest) -> Image:
    return read_image(request.param)


def test_each_workload_has_a_container_file() -> None:
    folders = {path.parent.name for path in WORKLOADS.glob("*/__main__.py")}
    assert folders == {path.parent.name for path in WORKLOADS.glob("*/Containerfile")}


def test_python_is_the_first_process_and_no_shell_keeps_the_signal(image: Image) -> None:
    assert image.entry_point[:2] == ["python", "-m"]
    assert not SHELLS & set(image.entry_point)
    assert len(image.all("ENTRYPOINT")) == 1
    assert not image.all("CMD")
    assert image.all("STOPSIGNAL") in ([], ["SIGTERM"])


def test_it_runs_as_a_user_by_number_that_is_not_root(image: Image) -> None:
    user = re.fullmatch(r"(\d+):(\d+)", image.last("USER"))
    assert user is not None, "Kubernetes' runAsNonRoot can judge a number only"
    assert int(user[1]) > 0 < int(user[2])
    after = [found for found, _ in image.lines[image.lines.index(("USER", user[0])) :]]
    assert after == ["USER", "ENTRYPOINT"]


def test_the_base_is_pinned_and_can_be_another(image: Image) -> None:
    (base,) = image.all("ARG")
    name, _, default = base.partition("=")
    assert image.all("FROM") == [f"${{{name}}}"]
    assert re.search(r":[\w.-]*\d+\.\d+\.\d+[\w.-]*$", default)


def test_our_packages_come_from_this_checkout_and_nothing_else_is_copied(image: Image) -> None:
    copied = dict(words.split() for words in image.all("COPY"))
    assert all((ROOT / source).exists() for source in copied)
    (install,) = image.all("RUN")
    for package in ("gke", "runtime"):
        assert copied[f"{package}/pyproject.toml"] == f"/src/{package}/pyproject.toml"
        assert f'"/src/{package}' in install
    assert "gke" not in copied, "a whole folder would take virtualenvs and caches along"
    assert "runtime" not in copied
