"""Reads `tests/policies/corpus/`: programs like other people's, labelled before the rules ran.

A file is one program: `about`, `resources` in the form of the rules' fixtures, and `expect`, the
policies that must report and on which resource. Every policy of every pack judges every program,
so whatever is not in `expect` is a false alarm. Optional are `modelled_on` (the address of the
public program, with its commit), `config` (by pack) and `undecided` (labels nobody can be sure
of; they count neither way).
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from pulumi_policy import EnforcementLevel

from tests.policies import helpers

FOLDER = Path(__file__).parent / "corpus"
_RESOURCE_KEYS = {"type", "props", "computed", "parent", "provider", "depends"}
_COMMIT = re.compile(r"https://github\.com/[^/]+/[^/]+/blob/[0-9a-f]{40}/.+")
MAX_UNDECIDED = 10


@dataclass(frozen=True, order=True)
class Label:
    """One report of one policy on one resource of a program."""

    program: str
    policy: str
    resource: str

    def __str__(self) -> str:
        return f"{self.program}-{self.policy}-{self.resource}"


@dataclass(frozen=True)
class Program:
    """One file of the corpus.

    Attributes:
        name: The file's name without its ending.
        expect: What must be reported.
        undecided: What may be reported.
        modelled_on: Address of the public program that it follows, if it does.
        config: Configuration of the packs, by name of the pack.
    """

    name: str
    about: str
    resources: Mapping[str, Mapping[str, Any]]
    expect: frozenset[Label]
    undecided: frozenset[Label]
    modelled_on: str = ""
    config: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def innocent(self) -> bool:
        return not self.expect

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Score:
    """How the rules stand against the labels."""

    programs: tuple[Program, ...]
    levels: Mapping[str, str]
    found: frozenset[Label]

    def labels(self, level: str) -> set[Label]:
        """The labels that policies of a level exist for."""
        every = {label for program in self.programs for label in program.expect}
        return {label for label in every if self.levels.get(label.policy) == level}

    def false_alarms(self, level: str) -> set[Label]:
        said = {each for program in self.programs for each in program.expect | program.undecided}
        return {label for label in self.found - said if self.levels[label.policy] == level}

    def lines(self) -> list[str]:
        """Recall and false alarms, for the end of a run."""
        innocent = sum(program.innocent for program in self.programs)
        modelled = sum(bool(program.modelled_on) for program in self.programs)
        lines = [
            f"{len(self.programs)} programs: {innocent} innocent, "
            f"{len(self.programs) - innocent} faulty; {modelled} modelled on public programs"
        ]
        for level in ("mandatory", "advisory"):
            labels = self.labels(level)
            missed = labels - self.found
            alarms = self.false_alarms(level)
            lines.append(
                f"{level}: {len(labels) - len(missed)} of {len(labels)} faults found, "
                f"{len(alarms)} false alarms"
            )
            lines += [f"  missed: {label}" for label in sorted(missed)]
            lines += [f"  false alarm: {label}" for label in sorted(alarms)]
        return lines


@cache
def levels() -> Mapping[str, str]:
    """The level of each policy that the packs have and that is not switched off."""
    return {
        policy.name: policy.enforcement_level.value
        for name in helpers.PACK_NAMES
        for policy in helpers.pack(name).POLICIES
        if policy.enforcement_level is not EnforcementLevel.DISABLED
    }


@cache
def load() -> tuple[Program, ...]:
    """All programs, by name."""
    return tuple(
        parse(path.stem, helpers.load_yaml(path.read_text(encoding="utf-8")))
        for path in sorted(FOLDER.glob("*.yaml"))
    )


def parse(name: str, content: Mapping[str, Any]) -> Program:
    """The program in a file's content.

    Raises:
        ValueError: A key is unknown or missing, or a label names a policy, a pack or a resource
            that there is not; the message names the program and what is wrong.
    """
    _keys(name, content, {"about", "resources", "expect"}, {"modelled_on", "config", "undecided"})
    resources = content["resources"]
    for resource, given in resources.items():
        _keys(f"{name}.{resource}", given, {"type"}, _RESOURCE_KEYS)
        others = [other for named in given.get("depends", {}).values() for other in named]
        others += [given["parent"]] if "parent" in given else []
        _known(f"{name}.{resource}", others, resources, "resource")
    _known(f"{name}.config", content.get("config", {}), helpers.PACK_NAMES, "pack")
    modelled_on = content.get("modelled_on", "")
    if modelled_on and not _COMMIT.fullmatch(modelled_on):
        raise ValueError(f"{name}.modelled_on: {modelled_on!r} is no file at a commit on GitHub")
    expect, undecided = (
        _labels(name, content.get(key, []), resources) for key in ("expect", "undecided")
    )
    return Program(
        name=name,
        about=content["about"],
        resources=resources,
        expect=expect,
        undecided=undecided,
        modelled_on=modelled_on,
        config=content.get("config", {}),
    )


@cache
def reported(name: str) -> frozenset[Label]:
    """What the policies of all packs report on a program."""
    program = next(each for each in load() if each.name == name)
    found = set()
    for pack_name in helpers.PACK_NAMES:
        case = helpers.Case(
            pack=pack_name,
            rule="",
            kind="",
            name=name,
            resources=program.resources,
            expect=[],
            config=program.config.get(pack_name, {}),
        )
        for policy in helpers.pack(pack_name).POLICIES:
            if policy.name in levels():
                found |= {
                    Label(name, policy.name, each.resource) for each in helpers.run(policy, case)
                }
    return frozenset(found)


def score() -> Score:
    """How the rules stand against all labels."""
    programs = load()
    found = frozenset(label for program in programs for label in reported(program.name))
    return Score(programs, levels(), found)


def _labels(
    name: str, entries: Iterable[Mapping[str, str]], resources: Mapping[str, Any]
) -> frozenset[Label]:
    labels = []
    for entry in entries:
        _keys(f"{name}: label", entry, {"policy", "resource"}, {"why"})
        _known(name, [entry["policy"]], levels(), "policy")
        _known(name, [entry["resource"]], resources, "resource")
        labels.append(Label(name, entry["policy"], entry["resource"]))
    twice = [str(label) for label, count in Counter(labels).items() if count > 1]
    if twice:
        raise ValueError(f"{name}: said twice: {', '.join(twice)}")
    return frozenset(labels)


def _known(where: str, names: Iterable[str], known: Collection[str], what: str) -> None:
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(f"{where}: there is no {what} {', '.join(unknown)}")


def _keys(where: str, entry: Mapping[str, Any], needed: set[str], more: set[str]) -> None:
    unknown, missing = set(entry) - needed - more, needed - set(entry)
    if unknown or missing:
        raise ValueError(f"{where}: unknown keys {sorted(unknown)}, missing {sorted(missing)}")
