"""Where the generators of random numbers stand, as part of what a checkpoint holds."""

import base64
import random
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, cast

from spotproof_gke.problems import Problem, raise_if_any

PYTHON, NUMPY, TORCH, TORCH_CUDA, OWN = "python", "numpy", "torch", "torch_cuda", "own"


class RandomNumbers:
    """The generators of random numbers of a program, for `state_dict` and `load_state_dict`.

    Python's `random` always; the global ones of NumPy and PyTorch, its GPUs included, as soon as
    the program has imported them; and generators of the program's own.

    Args:
        own: the program's own generators by name: `random.Random`, `numpy.random.Generator`,
            `numpy.random.RandomState` or `torch.Generator`.

    Raises:
        TypeError: a generator is none of these.
    """

    def __init__(self, **own: Any) -> None:
        for name, generator in own.items():
            _state_of(name, generator)
        self._own = own

    def state_dict(self) -> dict[str, Any]:
        """Where each generator stands now; can be written as JSON (about 7 kB a generator)."""
        state: dict[str, Any] = {PYTHON: _python_state(random.getstate())}
        if "numpy" in sys.modules:
            state[NUMPY] = _plain(import_module("numpy").random.get_state(legacy=False))
        if "torch" in sys.modules:
            torch = import_module("torch")
            state[TORCH] = _text(torch.get_rng_state())
            if torch.cuda.is_initialized():
                state[TORCH_CUDA] = [_text(one) for one in torch.cuda.get_rng_state_all()]
        state[OWN] = {name: _state_of(name, one) for name, one in self._own.items()}
        return state

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Puts each generator where it stood.

        A machine with other GPUs goes on, with a warning: its numbers will differ.

        Raises:
            ProblemsError: the program's own generators are not those of the checkpoint, or this is
                no state of generators.
        """
        raise_if_any("random numbers", self._problems(state))
        random.setstate(_python_tuple(state[PYTHON]))
        if NUMPY in state:
            import_module("numpy").random.set_state(_rebuilt(state[NUMPY]))
        if TORCH in state:
            torch = import_module("torch")
            torch.set_rng_state(_tensor(state[TORCH]))
            _set_gpus(torch, state.get(TORCH_CUDA, []))
        for name, one in state[OWN].items():
            _set_state_of(self._own[name], one)

    def _problems(self, state: Mapping[str, Any]) -> Iterator[Problem]:
        missing = [key for key in (PYTHON, OWN) if key not in state]
        for key in missing:
            yield Problem(key, None, "this is missing", "give what state_dict() returned")
        if missing:
            return
        known: set[str] = set(state[OWN])
        for name in sorted(known ^ set(self._own)):
            where = "the checkpoint alone has it" if name in known else "the checkpoint has it not"
            yield Problem(name, None, where, "name the same generators in RandomNumbers(…)")


def _state_of(name: str, generator: Any) -> Any:
    if isinstance(generator, random.Random):
        return _python_state(generator.getstate())
    if hasattr(generator, "bit_generator"):
        return _plain(generator.bit_generator.state)
    if _is_random_state(generator):
        return _plain(generator.get_state(legacy=False))
    if hasattr(generator, "get_state") and hasattr(generator, "set_state"):
        return _text(generator.get_state())
    raise TypeError(
        f"{name}: a {type(generator).__name__} is no generator of random numbers: give a "
        "random.Random, a generator of NumPy or a torch.Generator"
    )


def _set_state_of(generator: Any, state: Any) -> None:
    if isinstance(generator, random.Random):
        generator.setstate(_python_tuple(state))
    elif hasattr(generator, "bit_generator"):
        generator.bit_generator.state = _rebuilt(state)
    elif _is_random_state(generator):
        generator.set_state(_rebuilt(state))
    else:
        generator.set_state(_tensor(state))


def _is_random_state(generator: Any) -> bool:
    return "numpy" in sys.modules and isinstance(
        generator, import_module("numpy").random.RandomState
    )


def _python_state(state: tuple[Any, ...]) -> list[Any]:
    version, numbers, gauss = state
    return [version, list(numbers), gauss]


def _python_tuple(state: Sequence[Any]) -> tuple[Any, ...]:
    version, numbers, gauss = state
    return (version, tuple(numbers), gauss)


def _plain(value: Any) -> Any:
    """A state of NumPy without arrays in it."""
    if isinstance(value, Mapping):
        given = cast("Mapping[str, Any]", value)
        return {key: _plain(each) for key, each in given.items()}
    if hasattr(value, "dtype"):
        return {"array": value.tolist(), "dtype": str(value.dtype)} if value.shape else value.item()
    return value


def _rebuilt(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    given = cast("Mapping[str, Any]", value)
    if set(given) == {"array", "dtype"}:
        return import_module("numpy").array(given["array"], dtype=given["dtype"])
    return {key: _rebuilt(each) for key, each in given.items()}


def _text(tensor: Any) -> str:
    return base64.b64encode(bytes(tensor.tolist())).decode()


def _tensor(text: str) -> Any:
    torch = import_module("torch")
    return torch.tensor(list(base64.b64decode(text)), dtype=torch.uint8)


def _set_gpus(torch: Any, states: Sequence[str]) -> None:
    found = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if states and found != len(states):
        warnings.warn(
            f"the checkpoint was written with {len(states)} GPUs and {found} are here: random "
            "numbers on GPUs go on differently than in a run without interruption",
            stacklevel=3,
        )
    for device, state in enumerate(states[:found]):
        torch.cuda.set_rng_state(_tensor(state), device)
