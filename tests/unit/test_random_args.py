"""Whatever a component is given: one clear error, or a plan that the emulated cloud accepts."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pulumi
import pytest
from hypothesis import HealthCheck, given, settings

import spotproof
from spotproof.package import COMPONENTS
from spotproof.reader import ArgumentsError
from tests.unit.change_examples import EXAMPLES, PROJECT
from tests.unit.declared import declare
from tests.unit.emulated_program import CREATE, SAME, EmulatedProgram
from tests.unit.random_args import arguments, real

TRIES = 60
LEAST_TAKEN = 8
"""Of each component, to be sure that more is tried than refusals."""


@pytest.fixture
def folders(furnished: Path, tmp_path: Path) -> Iterator[Path]:
    """Folders with a furnished cloud, as many as are asked for."""

    def fresh() -> Iterator[Path]:
        number = 0
        while True:
            number += 1
            yield Path(shutil.copytree(furnished, tmp_path / str(number)))

    return fresh()


def _is_clear(error: ArgumentsError, subject: str) -> None:
    first, *lines = str(error).splitlines()
    assert re.fullmatch(rf"{subject}: {len(error.problems)} problems?", first)
    assert len(lines) == len(error.problems), "a problem is one line"
    assert max(map(len, lines)) < 3000
    for problem in error.problems:
        assert problem.key
        assert problem.rule
        assert problem.fix
    assert len(error.errors or ()) == len(error.problems)


@pytest.mark.parametrize("component", COMPONENTS, ids=lambda one: one.__name__)
def test_arguments_are_refused_in_words_or_accepted_by_the_cloud(
    component: type[pulumi.ComponentResource], folders: Iterator[Path]
) -> None:
    taken = refused = 0

    @settings(
        max_examples=TRIES,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(args=arguments(component))
    def run(args: Any) -> None:
        nonlocal taken, refused
        program = EmulatedProgram(
            next(folders), lambda name, args, opts: component(name, real(args), opts), PROJECT
        )
        try:
            made = program.up(args)
        except ArgumentsError as error:
            refused += 1
            _is_clear(error, f"{component.__name__} sample")
            assert not program.state, "nothing is declared before all is judged"
            return
        taken += 1
        assert set(made.values()) <= {CREATE}
        assert set(program.up(args).values()) <= {SAME}, "a second run changes something"

    run()
    assert taken >= LEAST_TAKEN
    assert refused >= LEAST_TAKEN


@pytest.mark.parametrize("component", COMPONENTS, ids=lambda one: one.__name__)
@pytest.mark.parametrize("args", [None, "project", 7, ["project"]], ids=repr)
def test_what_is_no_mapping_is_refused_too(
    component: Any, args: Any, folders: Iterator[Path]
) -> None:
    with pytest.raises(ArgumentsError) as caught:
        EmulatedProgram(next(folders), component, PROJECT).up(args)
    _is_clear(caught.value, f"{component.__name__} sample")


@pytest.mark.parametrize(
    ("component", "args"),
    [
        ("GkeCluster", {"labels": {"a\nb": "c"}}),
        ("SpotGpuPool", {"node_labels": {"a\nb": "c"}}),
        ("SpotGpuPool", {"a\nb": 1}),
        ("GpuPool", {"capacity": 10**5000}),
        ("GpuPool", {"capacity": []}),
    ],
)
def test_what_can_hardly_be_shown_is_still_one_line(component: str, args: dict[str, Any]) -> None:
    with pytest.raises(ArgumentsError) as caught:
        declare(lambda: getattr(spotproof, component)("sample", {**EXAMPLES[component][0], **args}))
    _is_clear(caught.value, f"{component} sample")
