"""Shows which parts of the rules no test would miss: `python -m tools.mutate [MODULE[:LINE] ...]`.

One small change at a time is made to a rule module, in memory, and the tests of the rules run on
it: a change that they do not notice survives. Of the libraries for this, mutmut leaves out
decorated functions and tables of a module and finds no source under `gke/`, and cosmic-ray rewrites
the files in place and starts Python anew for each of about two thousand changes.
"""

import argparse
import ast
import gc
import importlib
import importlib.machinery
import importlib.util
import os
import resource
import signal
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType

from tools.mutations import Mutation, mutations_of

ROOT = Path(__file__).resolve().parents[1]
RULES = ROOT / "gke/spotproof_gke/rules"
PACKAGE = "spotproof_gke.rules"
TESTS = ("tests/policies", "tests/unit/test_pool_rules.py")
# Random inputs make a different run each time, and what runs in another process sees no change.
LEFT_OUT = ("tests/policies/test_fuzz.py", "tests/policies/test_packs.py")
# Loaded once for all runs; nothing of the rules may be among them.
WARM = ("pytest", "hypothesis", "pulumi_policy", "tests.policies.helpers", "tests.refusals")
_MOST_MEMORY_BYTES = 4 * 2**30
_PASSED, _STOPPED = 0, 2


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


def start(module: Module, mutation: Mutation | None, timeout_s: int) -> int:
    """Start the tests on a module with one mutation in a process of its own; its id."""
    sys.stdout.flush()
    child = os.fork()
    if child:
        return child
    code = _STOPPED
    try:
        silent = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(silent, stream)
        signal.alarm(timeout_s)
        resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY_BYTES, _MOST_MEMORY_BYTES))
        if mutation:
            mutation.apply()
        sys.meta_path.insert(0, Finder(module))
        code = _run_tests()
    finally:
        os._exit(code)


def _run_tests() -> int:
    import pytest

    options = ["-x", "-q", "--tb=no", "--assert=plain", "-m", "not engine"]
    ignored = [f"--ignore={path}" for path in LEFT_OUT]
    return int(pytest.main([*options, "-p", "no:cacheprovider", *ignored, *TESTS]))


def survivors(module: Module, jobs: int, timeout_s: int) -> list[Mutation]:
    """The mutations of a module that the tests do not notice. A run without end is noticed."""
    waiting = list(reversed(module.mutations))
    running: dict[int, Mutation] = {}
    found = []
    while waiting or running:
        while waiting and len(running) < jobs:
            mutation = waiting.pop()
            running[start(module, mutation, timeout_s)] = mutation
        child, status = os.wait()
        mutation = running.pop(child)
        code = os.waitstatus_to_exitcode(status)
        if code == _PASSED:
            found.append(mutation)
        elif code > _STOPPED:
            raise SystemExit(f"error: pytest could not run ({code}) on {module.name}: {mutation}")
    return sorted(found, key=lambda each: (each.line, each.before, each.after))


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
    _, status = os.waitpid(start(modules[0], None, args.timeout), 0)
    if status:
        raise SystemExit("error: the tests fail without any mutation: " + " ".join(TESTS))
    for module in modules:
        module.survived = survivors(module, args.jobs, args.timeout)
        short = "" if module.killed_percent >= args.least else f", less than {args.least:g} %"
        count, left = len(module.mutations), len(module.survived)
        share = f"{module.killed_percent:.1f} %{short}"
        print(f"{module.name}: {count - left} of {count} killed, {share}", flush=True)
        for each in module.survived:
            print(f"  rules/{module.name}.py:{each.line}: {each.before}  ->  {each.after}")
    print(f"{time.monotonic() - began:.0f} s", file=sys.stderr)
    return any(module.killed_percent < args.least for module in modules)


if __name__ == "__main__":
    sys.exit(main())
