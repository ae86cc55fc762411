"""An old name works on for a minor version, and says what it is called now."""

import json
from typing import TypedDict

import pulumi
import pytest

import spotproof
from spotproof import deprecation
from spotproof.deprecation import Renamed, formerly, with_new_names
from spotproof.package import Components
from tests.unit.declared import declare

SIZE = Renamed("size", "max_nodes", "0.4.0")


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    warnings: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", warnings.append)
    monkeypatch.setattr(deprecation, "_said", set())
    return warnings


def test_an_argument_is_taken_by_its_old_name_with_one_warning(said: list[str]) -> None:
    for name in ("a", "b"):
        args = with_new_names("Pool", name, {"size": 4, "zone": "z"}, [SIZE])
        assert args == {"max_nodes": 4, "zone": "z"}
    assert said == ["Pool: `size` is called `max_nodes` now: rename it, it is gone in 0.4.0"]


def test_an_argument_by_its_new_name_warns_of_nothing(said: list[str]) -> None:
    assert with_new_names("Pool", "a", {"max_nodes": 4}, [SIZE]) == {"max_nodes": 4}
    assert said == []


def test_an_argument_by_both_names_is_refused(said: list[str]) -> None:
    with pytest.raises(pulumi.RunError, match="size: this is the old name of max_nodes"):
        with_new_names("Pool", "a", {"size": 4, "max_nodes": 5}, [SIZE])


def test_a_class_is_found_by_its_old_name_with_one_warning(
    said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(spotproof._RENAMED, "GpuNodes", ("SpotGpuPool", "0.4.0"))
    assert spotproof.GpuNodes is spotproof.SpotGpuPool  # pyright: ignore
    assert spotproof.GpuNodes is spotproof.SpotGpuPool  # pyright: ignore
    assert said == [
        "spotproof: `GpuNodes` is called `SpotGpuPool` now: rename it, it is gone in 0.4.0"
    ]


def test_a_name_that_never_was_is_an_error_as_everywhere() -> None:
    with pytest.raises(AttributeError, match="no attribute 'SpotGpuPol'"):
        _ = spotproof.SpotGpuPol  # pyright: ignore


def test_a_renamed_component_takes_over_what_the_old_one_made() -> None:
    seen: list[pulumi.ResourceOptions] = []

    class New(pulumi.ComponentResource):
        def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
            super().__init__("spotproof:index:New", name, None, formerly(opts, "old:index:Nodes"))

    def record(found: pulumi.ResourceTransformationArgs) -> None:
        seen.append(found.opts)

    theirs = pulumi.Alias(name="before")
    opts = pulumi.ResourceOptions(aliases=[theirs], transformations=[record], protect=True)
    declare(lambda: New("it", opts))

    first, second = seen[0].aliases or ()
    assert first is theirs
    assert isinstance(second, pulumi.Alias)
    assert second.type_ == "old:index:Nodes"
    assert seen[0].protect
    assert opts.aliases == [theirs]


class PoolArgs(TypedDict):
    region: str
    """Region of the nodes."""

    size: int
    """Deprecated: use `maxNodes`."""


class Pool(pulumi.ComponentResource):
    """Deprecated: use `SpotGpuPool`."""

    def __init__(
        self, name: str, args: PoolArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("spotproof:index:Pool", name, None, opts)


def test_what_is_deprecated_says_so_in_the_schema_of_other_languages() -> None:
    schema = json.loads(Components([Pool]).schema or "")
    pool = schema["resources"]["spotproof:index:Pool"]
    assert pool["deprecationMessage"] == "Deprecated: use `SpotGpuPool`."
    assert pool["inputProperties"]["size"]["deprecationMessage"] == "Deprecated: use `maxNodes`."
    assert "deprecationMessage" not in pool["inputProperties"]["region"]
