"""The package loads fast and pulls in nothing that a program did not ask for."""

import importlib
import pkgutil
import subprocess
import sys

import pytest

HEAVY = ("google", "psycopg", "torch", "numpy", "prometheus_client", "sqlite3", "yaml")


def test_the_core_is_imported_without_any_library() -> None:
    asked = f"import sys, spotproof_runtime; print([m for m in {HEAVY!r} if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True)
    assert found.stdout.strip() == "[]", found.stderr


def test_each_name_of_the_package_can_be_imported() -> None:
    import spotproof_runtime

    for name in spotproof_runtime.__all__:
        assert getattr(spotproof_runtime, name) is not None


@pytest.mark.parametrize("package", ["", ".queue", ".sinks", ".checkpoints"])
def test_no_name_of_a_package_is_hidden_by_a_module_of_the_same_name(package: str) -> None:
    module = importlib.import_module(f"spotproof_runtime{package}")

    modules = {found.name for found in pkgutil.iter_modules(module.__path__)}
    assert not modules & set(getattr(module, "__all__", ()))


def test_a_misspelt_name_is_refused() -> None:
    import spotproof_runtime

    with pytest.raises(AttributeError, match="Interuption"):
        _ = spotproof_runtime.Interuption
