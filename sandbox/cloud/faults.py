"""Faults to order: which requests of the emulated cloud fail, and how; `faults.yaml`.

    apisStartDisabled: false       # true: an API refuses until a projects.Service has enabled it
    faults:
      - kind: stock-out            # what happens; see KINDS
        type: NodePool             # the type's name or token, * and ? allowed; default: *
        name: gpu-*                # the name in the program or in the cloud; default: *
        operation: create          # create, update, delete or read; default: all that fit the kind
        times: 1                   # requests that it meets, or `always`; default: 1
        seconds: 5                 # slow only: how long each request waits

The file is read anew when it changes. How often a rule has been used is kept beside it
(`faults.used.json`), so that it outlives a crash; a rule that is edited counts from zero.
"""

import json
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import yaml

from sandbox.cloud.problems import did_you_mean
from sandbox.cloud.types import kinds

FILE, USED = "faults.yaml", "faults.used.json"
CHANGES = ("create", "update", "delete")
OPERATIONS = (*CHANGES, "read")
KINDS: dict[str, tuple[str, ...]] = {
    "quota-exceeded": CHANGES,
    "stock-out": ("create", "update"),
    "permission-denied": OPERATIONS,
    "service-disabled": OPERATIONS,
    "unavailable": OPERATIONS,
    "slow": OPERATIONS,
    "crash-before": CHANGES,
    "crash-after": CHANGES,
    "kill-engine": CHANGES,
}
"""Each kind of fault, and the operations that can meet with it.

A provider that crashes leaves an engine that writes its state and forgets the operation; an engine
that is killed leaves a lock and a pending operation, and its provider finishes what it has begun.
"""

WITH_MACHINES = ("gcp:container/cluster:Cluster", "gcp:container/nodePool:NodePool")
"""The types that a zone can run out of machines for."""

WITH_A_LIMIT_OF_REQUESTS = ("gcp:container/", "gcp:storage/bucket:", "gcp:pubsub/")
"""The types for which a quota stands in the way of a delete too."""

ALWAYS = "always"
LONGEST_SECONDS = 3600
_KEYS = ("kind", "type", "name", "operation", "times", "seconds")


@dataclass(frozen=True)
class Rule:
    """One fault. `operation` empty: all that fit the kind. `times` None: always."""

    kind: str
    type: str = "*"
    name: str = "*"
    operation: str = ""
    times: int | None = 1
    seconds: float = 0

    def meets(self, operation: str, token: str, names: set[str]) -> bool:
        """Whether a request is one of those that fail."""
        operations = (self.operation,) if self.operation else KINDS[self.kind]
        fits = operation in operations and _is_type(self.type, token)
        if self.kind == "stock-out" and token not in WITH_MACHINES:
            return False
        deletes = self.kind == "quota-exceeded" and operation == "delete"
        if deletes and not token.startswith(WITH_A_LIMIT_OF_REQUESTS):
            return False
        return fits and any(fnmatchcase(name, self.name) for name in names)

    def to_file(self) -> dict[str, Any]:
        """The rule as the file has it, without what is the default."""
        values = {**asdict(self), "times": ALWAYS if self.times is None else self.times}
        defaults = {**asdict(Rule(self.kind)), "kind": None}
        return {name: value for name, value in values.items() if value != defaults[name]}


@dataclass(frozen=True)
class Faults:
    """What the file says."""

    rules: tuple[Rule, ...] = ()
    apis_start_disabled: bool = False


class FaultsError(Exception):
    """The file, or a rule, is wrong; the message lists all problems."""


def read_faults(path: Path) -> Faults:
    """The faults of a file; none where there is no file.

    Raises:
        FaultsError: The file has problems: all of them.
    """
    if not path.is_file():
        return Faults()
    try:
        content = yaml.safe_load(path.read_text()) or {}
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise FaultsError(f"{path} is no YAML: {' '.join(str(error).split())}") from None
    return parse(content, str(path))


def parse(content: object, where: str) -> Faults:
    """The faults that the content of a file asks for; raises FaultsError with all problems."""
    if not isinstance(content, dict):
        raise FaultsError(f"{where} holds no mapping; it needs the key `faults` with a list")
    allowed = ("apisStartDisabled", "faults")
    problems = [f"{key}: is no key; {did_you_mean(str(key), allowed)}" for key in content
                if key not in allowed]  # fmt: skip
    disabled = content.get("apisStartDisabled", False)
    if not isinstance(disabled, bool):
        problems.append(f"apisStartDisabled: {disabled!r} is neither true nor false")
    entries = content.get("faults") or []
    if not isinstance(entries, list):
        problems.append(f"faults: {entries!r} is no list of rules")
        entries = []
    for index, entry in enumerate(entries):
        problems += [f"faults[{index}]{problem}" for problem in problems_of(entry)]
    if problems:
        count = "a problem" if len(problems) == 1 else f"{len(problems)} problems"
        raise FaultsError("\n  ".join([f"{where} has {count}:", *problems]))
    return Faults(tuple(_rule(entry) for entry in entries), bool(disabled))


def problems_of(entry: object) -> list[str]:
    """All that is wrong with one rule, each beginning with where in the rule."""
    if not isinstance(entry, dict):
        return [f": {entry!r} is no rule; a rule is a mapping with at least `kind`"]
    problems = [f".{key}: is no key; {did_you_mean(str(key), _KEYS)}" for key in entry
                if key not in _KEYS]  # fmt: skip
    kind = entry.get("kind")
    if kind not in KINDS:
        said = "is missing" if kind is None else f"{kind!r} is no kind of fault"
        problems.append(f".kind: {said}; kinds are {', '.join(KINDS)}")
    problems += _type_problems(entry.get("type", "*"), kind)
    if not isinstance(entry.get("name", "*"), str) or not entry.get("name", "*"):
        problems.append(f".name: {entry['name']!r} is no name or pattern")
    operation = entry.get("operation", "")
    fitting = KINDS.get(str(kind), OPERATIONS)
    if operation and operation not in fitting:
        whose = f"{kind} meets" if kind in KINDS else "operations are"
        problems.append(f".operation: {operation!r} cannot be; {whose} {', '.join(fitting)}")
    return problems + _number_problems(entry, kind)


def _type_problems(pattern: object, kind: object) -> list[str]:
    if not isinstance(pattern, str):
        return [f".type: {pattern!r} is no type or pattern"]
    matched = [token for token in kinds() if _is_type(pattern, token)]
    if not matched:
        short = {token.rpartition(":")[2] for token in kinds()}
        near = did_you_mean(pattern.rpartition(":")[2], short)
        return [f".type: {pattern!r} is no type of the emulated cloud; {near}"]
    if kind == "stock-out" and not set(matched) & set(WITH_MACHINES):
        return [f".type: {pattern!r} needs no machines; stock-out meets Cluster and NodePool"]
    return []


def _number_problems(entry: dict[str, Any], kind: object) -> list[str]:
    problems = []
    times = entry.get("times", 1)
    if times != ALWAYS and (isinstance(times, bool) or not isinstance(times, int) or times < 1):
        problems.append(f".times: {times!r} is neither a whole number from 1 nor `always`")
    seconds = entry.get("seconds")
    if kind != "slow":
        return problems + ([".seconds: only slow waits"] if seconds is not None else [])
    right = isinstance(seconds, (int, float)) and not isinstance(seconds, bool)
    if not right or not 0 < seconds <= LONGEST_SECONDS:  # type: ignore[operator]
        said = "is missing" if seconds is None else f"{seconds!r} does not fit"
        problems.append(f".seconds: {said}; slow waits more than 0 and up to {LONGEST_SECONDS}")
    return problems


def _rule(entry: dict[str, Any]) -> Rule:
    times = entry.get("times", 1)
    return Rule(**{**entry, "times": None if times == ALWAYS else times})


def _is_type(pattern: str, token: str) -> bool:
    return fnmatchcase(token, pattern) or fnmatchcase(token.rpartition(":")[2], pattern)


def write_faults(path: Path, faults: Faults) -> None:
    """Write the file anew."""
    content: dict[str, Any] = {}
    if faults.apis_start_disabled:
        content["apisStartDisabled"] = True
    content["faults"] = [rule.to_file() for rule in faults.rules]
    fresh = path.with_suffix(".new")
    fresh.write_text(yaml.safe_dump(content, sort_keys=False))
    fresh.replace(path)


def numbered(rules: tuple[Rule, ...]) -> list[tuple[str, Rule]]:
    """The rules, each with a key of its own: the same again is another one."""
    keyed: list[tuple[str, Rule]] = []
    for rule in rules:
        text = json.dumps(rule.to_file(), sort_keys=True)
        again = sum(1 for _, other in keyed if other == rule)
        keyed.append((f"{text} #{again}", rule))
    return keyed


def read_used(directory: Path) -> dict[str, int]:
    """How often each rule has been used, by its key."""
    path = directory / USED
    try:
        return json.loads(path.read_text()) if path.is_file() else {}
    except ValueError as error:
        raise FaultsError(f"{path} is no JSON: {error}. Delete it: the counts begin anew") from None


def write_used(directory: Path, used: dict[str, int]) -> None:
    """Write down how often each rule has been used; a crash leaves the old file or the new."""
    fresh = directory / f"{USED}.new"
    fresh.write_text(json.dumps(used, indent=1) + "\n")
    fresh.replace(directory / USED)
