"""Random numbers go on after a resume as they would have gone on without an end."""

import json
import random
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from spotproof_gke.problems import ProblemsError
from spotproof_runtime import RandomNumbers


def _stored(numbers: RandomNumbers) -> Any:
    return json.loads(json.dumps(numbers.state_dict()))


def _draws() -> list[float]:
    return [random.random(), random.gauss(0, 1), *np.random.normal(size=3), np.random.random()]


def test_the_generators_of_python_and_numpy_go_on_where_they_stood() -> None:
    random.gauss(0, 1), np.random.normal()  # each keeps a second number for the next call
    numbers = RandomNumbers()
    state = _stored(numbers)
    drawn = _draws()
    random.seed(0)
    np.random.seed(0)
    numbers.load_state_dict(state)
    assert _draws() == drawn


@pytest.mark.parametrize(
    "make",
    [
        random.Random,
        np.random.default_rng,
        np.random.RandomState,
        lambda seed: np.random.Generator(np.random.MT19937(seed)),
        lambda seed: np.random.Generator(np.random.Philox(seed)),
        lambda seed: np.random.Generator(np.random.SFC64(seed)),
    ],
    ids=["python", "default", "legacy", "mt19937", "philox", "sfc64"],
)
def test_a_generator_of_the_programs_own_goes_on_where_it_stood(make: Callable[[int], Any]) -> None:
    one = make(1)
    one.normal() if hasattr(one, "normal") else one.gauss(0, 1)
    state = _stored(RandomNumbers(data=one))
    draw = one.random if isinstance(one, random.Random) else one.normal
    drawn = [draw() for _ in range(5)]
    again = make(2)
    RandomNumbers(data=again).load_state_dict(state)
    draw = again.random if isinstance(again, random.Random) else again.normal
    assert [draw() for _ in range(5)] == drawn


def test_numpy_is_not_imported_for_a_program_that_does_without() -> None:
    asked = (
        "import sys; from spotproof_runtime import RandomNumbers;"
        "RandomNumbers().load_state_dict(RandomNumbers().state_dict());"
        "print('numpy' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True)
    assert found.stdout.strip() == "False", found.stderr


def test_generators_that_the_checkpoint_does_not_hold_are_refused_by_name() -> None:
    state = RandomNumbers(data=random.Random(1)).state_dict()
    with pytest.raises(ProblemsError) as refused:
        RandomNumbers(augment=random.Random(1)).load_state_dict(state)
    assert "data: the checkpoint alone has it" in str(refused.value)
    assert "augment: the checkpoint has it not" in str(refused.value)
    with pytest.raises(ProblemsError, match="python: this is missing"):
        RandomNumbers().load_state_dict({})


def test_what_is_no_generator_is_refused_when_it_is_named() -> None:
    with pytest.raises(TypeError, match="seed: a int is no generator"):
        RandomNumbers(seed=42)
