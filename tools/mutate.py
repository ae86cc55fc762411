"""Shows which parts of the rules no test would miss: `python -m tools.mutate [MODULE[:LINE] ...]`.

One small change at a time is made to a rule module, in memory, and the tests of the rules run on
it: a change that they do not notice survives. Of the libraries for this, mutmut leaves out
decorated functions and tables of a module and finds no source under `gke/`, and cosmic-ray rewrites
the files in place and starts Python anew for each of about two thousand changes.
"""

import argparse
import ast
import contextlib
import gc
import importlib
import importlib.machinery
import importlib.util
import inspect
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

from tools.mutations import Mutation, mutations_of

ROOT = Path(__file__).resolve().parents[1]
RULES = ROOT / "gke/spotproof_gke/rules"
PACKAGE = "spotproof_gke.rules"
TESTS = ("tests/policies", "tests/unit/test_pool_rules.py", "tests/audit/test_audit_live_rules.py")
# Random inputs make a different run each time, and what runs in another process sees no change.
LEFT_OUT = ("tests/policies/test_fuzz.py", "tests/policies/test_packs.py")
# Loaded once for all runs; nothing of the rules may be among them.
WARM = ("hypothesis", "pulumi_policy", "tests.policies.helpers", "tests.refusals")
_MOST_MEMORY_BYTES = 4 * 2**30
PYTEST = (
    *("-x", "-q", "--tb=no", "--assert=plain", "-m", "not engine", "-p", "no:cacheprovider"),
    *(f"--ignore={path}" for path in LEFT_OUT),
    *TESTS,
)
_PASSED, _FAILED, _BROKEN = 0, 1, 70


@dataclass
class Module:
    """A rule module, its mutations, and which of them survived."""

    name: str
    tree: ast.Module
    mutations: list[Mutation]
    survived: list[Mutation] = field(default_factory=list)

    @property
    def killed_percent(self) -> float:
        count = len(self.mutations)
        return 100 * (count - len(self.survived)) / count if count else 100.0


class _Loader(importlib.machinery.SourceFileLoader):
    """Loads a tree in the place of the file's source; writes no bytecode."""

    def __init__(self, name: str, path: str, tree: ast.Module) -> None:
        super().__init__(name, path)
        self._tree = tree

    def get_code(self, fullname: str) -> CodeType:
        return compile(self._tree, self.path, "exec")


class Finder:
    """Finds one module's tree before its file is found."""

    def __init__(self, module: Module) -> None:
        self._name = f"{PACKAGE}.{module.name}"
        self._loader = _Loader(self._name, str(RULES / f"{module.name}.py"), module.tree)

    def find_spec(
        self, name: str, path: object = None, target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != self._name:
            return None
        return importlib.util.spec_from_loader(name, self._loader)


def read_module(named: str) -> Module:
    """The module `named`, with all its mutations, or with those of one line of it."""
    name, _, line = named.partition(":")
    path = RULES / f"{Path(name).stem}.py"
    if not path.is_file() or (line and not line.isdigit()):
        raise SystemExit(f"error: no rule module {name}; give the name of a file in {RULES}")
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = mutations_of(tree)
    return Module(path.stem, tree, [m for m in found if not line or m.line == int(line)])


def start(work: Callable[[], int], timeout_s: int) -> int:
    """Start `work` in a process of its own, silent and limited; the process's id."""
    child = os.fork()
    if child:
        return child
    code = _BROKEN
    try:
        silent = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(silent, stream)
        signal.alarm(timeout_s)
        resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY_BYTES, _MOST_MEMORY_BYTES))
        code = work()
    finally:
        os._exit(code)


def survivors(
    mutations: Sequence[Mutation], run: Callable[[Mutation], int], jobs: int, timeout_s: int
) -> list[Mutation]:
    """The mutations with which `run` passes. A run without end does not."""
    waiting = list(reversed(mutations))
    running: dict[int, Mutation] = {}
    found = []
    while waiting or running:
        while waiting and len(running) < jobs:
            mutation = waiting.pop()
            running[start(partial(run, mutation), timeout_s)] = mutation
        child, status = os.wait()
        mutation = running.pop(child)
        code = os.waitstatus_to_exitcode(status)
        if code == _PASSED:
            found.append(mutation)
        elif code >= _BROKEN:
            raise SystemExit(f"error: a run broke off at line {mutation.line}: {mutation.after}")
    return found


def run_anew(module: Module, mutation: Mutation) -> int:
    """Load a changed module, and all that uses it, and run the tests."""
    mutation.apply()
    sys.meta_path.insert(0, Finder(module))
    code = int(pytest.main([*PYTEST]))
    # What does not even load is noticed.
    return {2: _FAILED}.get(code, code if code in (_PASSED, _FAILED) else _BROKEN)


def run_changed(module: Module, session: pytest.Session, mutation: Mutation) -> int:
    """Change a function that is loaded, and run the tests that are collected."""
    mutation.apply()
    code = compile(module.tree, str(RULES / f"{module.name}.py"), "exec")
    found: Any = sys.modules[f"{PACKAGE}.{module.name}"]
    for name in mutation.function:
        code = next(
            each for each in code.co_consts if isinstance(each, CodeType) and each.co_name == name
        )
        found = vars(found)[name]
    inspect.unwrap(getattr(found, "fget", found)).__code__ = code
    return run_collected(session)


def run_collected(session: pytest.Session) -> int:
    """Run collected tests up to the first that fails."""
    for item, following in zip(session.items, [*session.items[1:], None], strict=True):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.testsfailed:
            return _FAILED
    return _PASSED


class Check:
    """As a plugin of pytest: runs the collected tests once for each mutation in a function."""

    def __init__(self, modules: Sequence[Module], args: argparse.Namespace) -> None:
        self.modules, self.args, self.out, self.failed = modules, args, sys.stdout, False
        self.error: str | None = "error: the tests cannot be collected: " + " ".join(TESTS)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        try:
            self.judge(session)
            self.error = None
        except SystemExit as error:  # which pytest would swallow
            self.error = str(error)
        return True

    def judge(self, session: pytest.Session) -> None:
        jobs, timeout_s = self.args.jobs, self.args.timeout
        if os.waitpid(start(partial(run_collected, session), timeout_s), 0)[1]:
            raise SystemExit("error: the tests fail without any mutation: " + " ".join(TESTS))
        for module in self.modules:
            inside = [each for each in module.mutations if each.function]
            run = partial(run_changed, module, session)
            self.report(module, survivors(inside, run, jobs, timeout_s))

    def report(self, module: Module, found: Sequence[Mutation]) -> None:
        module.survived += found
        few = module.killed_percent < self.args.least
        self.failed = self.failed or few
        short = f", less than {self.args.least:g} %" if few else ""
        count, left = len(module.mutations), len(module.survived)
        share = f"{module.killed_percent:.1f} %{short}"
        print(f"{module.name}: {count - left} of {count} killed, {share}", file=self.out)
        for each in sorted(module.survived, key=lambda each: (each.line, each.before, each.after)):
            where = f"rules/{module.name}.py:{each.line}"
            print(f"  {where}: {each.before}  ->  {each.after}", file=self.out)
        self.out.flush()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.mutate", description=__doc__)
    parser.add_argument("modules", nargs="*", metavar="MODULE[:LINE]", help="default: all rules")
    parser.add_argument("--least", type=float, default=90, help="least share killed, in percent")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time")
    parser.add_argument("--timeout", type=int, default=60, help="seconds for each mutation")
    args = parser.parse_args()
    os.chdir(ROOT)
    sys.path[:0] = [str(ROOT)]
    for name in WARM:
        importlib.import_module(name)
    sys.modules["tests.refusals"].load()
    # A process that is over in a second needs no collection of garbage, and no further plugins.
    gc.disable()
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    loaded = sorted(name for name in sys.modules if name.startswith(PACKAGE))
    if loaded:
        raise SystemExit(f"error: loaded before a mutation could be made: {', '.join(loaded)}")
    named = args.modules or sorted(path.stem for path in RULES.glob("[!_]*.py"))
    modules = [read_module(each) for each in named]

    began = time.monotonic()
    for module in modules:
        outside = [each for each in module.mutations if not each.function]
        run = partial(run_anew, module)
        module.survived += survivors(outside, run, args.jobs, args.timeout)
    check = Check(modules, args)
    with open(os.devnull, "w") as silent, contextlib.redirect_stdout(silent):
        pytest.main([*PYTEST, "-s"], plugins=[check])
    if check.error:
        raise SystemExit(check.error)
    print(f"{time.monotonic() - began:.0f} s", file=sys.stderr)
    return check.failed


if __name__ == "__main__":
    sys.exit(main())
