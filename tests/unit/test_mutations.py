"""The check of the tests themselves changes rules where a test ought to notice, in memory only."""

import ast
import importlib.util

import pytest

from tools import mutate
from tools.mutations import mutations_of

SOURCE = '''"""A docstring."""
import os
__all__ = ["f"]
def f(a: int, b="x") -> bool:
    """Says it."""
    for each in [one for one in a if one > 0]:
        if each == 1 and not b:
            continue
        yield f"fixed {each}", "prose of a message", any(b)
    return each.lower() in ("y",)
'''


def _changes(source: str) -> list[tuple[int, str, str]]:
    return [(each.line, each.before, each.after) for each in mutations_of(ast.parse(source))]


@pytest.mark.parametrize(
    "change",
    [
        (4, "'x'", "'x~'"),
        (6, "one > 0", "one >= 0"),
        (6, "for one in a if one > 0", "for one in a"),
        (7, "each == 1", "each != 1"),
        (7, "each == 1 and (not b)", "each == 1 or not b"),
        (7, "each == 1 and (not b)", "each == 1"),
        (7, "not b", "b"),
        (8, "continue", "pass"),
        (9, "any(b)", "all(b)"),
        (10, "each.lower()", "each"),
        (10, "each.lower() in ('y',)", "each.lower() not in ('y',)"),
        (10, "return each.lower() in ('y',)", "return None"),
    ],
    ids=lambda change: change[2],
)
def test_a_rule_is_changed_where_it_decides(change: tuple[int, str, str]) -> None:
    assert change in _changes(SOURCE)


def test_a_change_says_which_function_it_is_in() -> None:
    source = """
TABLE = ("a",)
class C:
    FIELD = 1
    def method(self, x=2):
        def inner():
            return 3
        return inner
def plain():
    return 4
"""
    found = {each.before: each.function for each in mutations_of(ast.parse(source))}

    assert found["'a'"] == found["1"] == found["2"] == ()
    assert found["3"] == ("C", "method")
    assert found["4"] == ("plain",)


def test_what_only_people_read_is_left_alone() -> None:
    texts = " ".join(before for _, before, _ in _changes(SOURCE) if before.startswith(("'", '"')))

    assert "A docstring" not in texts
    assert "Says it" not in texts
    assert "prose" not in texts
    assert "fixed" not in texts
    assert "'f'" not in texts


def test_each_change_is_one_that_python_compiles() -> None:
    for number in range(len(mutations_of(ast.parse(SOURCE)))):
        tree = ast.parse(SOURCE)
        mutations_of(tree)[number].apply()
        assert ast.dump(tree) != ast.dump(ast.parse(SOURCE))
        compile(tree, "source", "exec")


def test_a_changed_module_is_loaded_and_its_file_stays_as_it_is() -> None:
    path = mutate.RULES / "reading.py"
    before = path.read_bytes()
    module = mutate.read_module("reading")
    next(each for each in module.mutations if each.before == "value.strip()").apply()

    spec = mutate.Finder(module).find_spec("spotproof_gke.rules.reading")
    assert spec
    assert spec.loader
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)

    assert loaded.text(" x ") == " x "
    assert path.read_bytes() == before


def test_a_module_that_is_none_is_refused_with_the_place_of_those_that_are() -> None:
    with pytest.raises(SystemExit, match=r"no rule module poools; .*spotproof_gke/rules"):
        mutate.read_module("poools:3")
