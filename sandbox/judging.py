"""The policy packs on a stack or a state file: `make policy` and `make policy-state`."""

import json
import shlex
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from sandbox.engine import ensure
from sandbox.environment import Sandbox
from sandbox.paths import ALL_POLICY_PACKS, GENERATED, POLICY_PACKS, ROOT, policy_pack
from sandbox.progress import say

LEVELS = ROOT / "policies" / "levels"
_HOW = "`pulumi stack export --file state.json` writes one"
_PACKS = {"up": POLICY_PACKS, "preview": POLICY_PACKS, "policy": ALL_POLICY_PACKS}


class JudgingError(Exception):
    """The packs cannot be run on that; the text says why and what to do."""


def packs_of(action: str) -> Sequence[str]:
    """The packs that run with an action."""
    return _PACKS.get(action, ())


def pack_flags(packs: Sequence[str], levels: str = "") -> list[str]:
    """The engine's flags for folders of packs, each with the file of levels if there is one."""
    config = ["--policy-pack-config", levels] if levels else []
    return [part for pack in packs for part in ("--policy-pack", pack, *config)]


def levels_file(named: str) -> str:
    """The file for `LEVELS=…`: a name in `policies/levels`, or any path; "" for "".

    The engine passes over a policy that no pack has, so a slip in a name is looked for here.

    Raises:
        JudgingError: there is no such file, or it names a policy that no pack has.
    """
    if not named:
        return ""
    found = (one for one in (LEVELS / f"{named}.json", Path(named)) if one.is_file())
    file = next(found, None)
    if file is None:
        there = ", ".join(sorted(file.stem for file in LEVELS.glob("*.json")))
        raise JudgingError(f"LEVELS={named}: this is none of {there}, and no file")
    if unknown := sorted(_named_policies(named, file) - {"all", *_policies()}):
        likely = get_close_matches(unknown[0], _policies(), 1)
        hint = f"; did you mean {likely[0]!r}?" if likely else ""
        raise JudgingError(f"LEVELS={named}: no policy is named {unknown[0]!r}{hint}")
    return str(file.resolve())


def _named_policies(named: str, file: Path) -> set[str]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise JudgingError(f"LEVELS={named}: {_reason(error)}") from None
    except (ValueError, RecursionError):
        raise JudgingError(f"LEVELS={named}: this is no JSON") from None
    excepted: set[str] = set()
    if isinstance(content, Mapping) and isinstance(content.get("version"), (int, float)):
        excepted = set(_excepted_policies(content.get("exceptions")))
        content = content.get("policies", {})
    if not isinstance(content, Mapping):
        raise JudgingError(f"LEVELS={named}: this is no mapping of policies to levels")
    return excepted | set(content) - {"environments"}


def _excepted_policies(exceptions: Any) -> Iterator[str]:
    """The policies that exceptions name; whether these have the right form the engine says."""
    for exception in exceptions.values() if isinstance(exceptions, Mapping) else ():
        matches = exception.get("match") if isinstance(exception, Mapping) else None
        for match in matches if isinstance(matches, list) else ():
            names = match.get("policies") if isinstance(match, Mapping) else None
            if isinstance(names, list):
                yield from (name for name in names if isinstance(name, str))


def _policies() -> list[str]:
    """The names of all policies of all packs."""
    names = []
    for pack in ALL_POLICY_PACKS:
        spec = spec_from_file_location(f"{pack}_policy", policy_pack(pack) / "policy.py")
        assert spec
        assert spec.loader
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        names += [one.name for one in module.POLICIES]
    return names


def judge_state(named: str, levels: str, extra: Sequence[str] = ()) -> int:
    """Runs every pack on a state file, without a stack, a login or the user's backend.

    Returns:
        The engine's exit code: not 0 when a mandatory policy is violated.

    Raises:
        JudgingError: that is no file of a stack's state.
        EngineError: there is no engine.
    """
    file = state_file(named)
    config = levels_file(levels)
    packs = [str(policy_pack(one)) for one in ALL_POLICY_PACKS]
    command = ["pulumi", "policy", "analyze", "--file", str(file), *pack_flags(packs, config)]
    engine = ensure()
    place = Sandbox(GENERATED / "judging")
    place.prepare(engine)
    command += extra
    say(f"+ {shlex.join(command)}")
    return subprocess.call(command, executable=engine.pulumi, env=place.environment(engine))


def state_file(named: str) -> Path:
    """The path of a state file, looked at: the engine would judge many another as empty.

    Raises:
        JudgingError: that is no file of a stack's state.
    """
    if not named:
        raise JudgingError(f"no state file is given: make policy-state FILE=state.json ({_HOW})")
    try:
        content = json.loads(Path(named).read_text(encoding="utf-8"))
    except OSError as error:
        raise JudgingError(f"FILE={named}: {_reason(error)} ({_HOW})") from None
    except (ValueError, RecursionError):
        raise JudgingError(f"FILE={named}: this is no JSON ({_HOW})") from None
    if problem := _problem(content):
        raise JudgingError(f"FILE={named}: {problem} ({_HOW})")
    return Path(named).resolve()


def _reason(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "there is no such file"
    return f"it cannot be read: {error.strerror}"


def _problem(content: Any) -> str:
    if not isinstance(content, Mapping):
        return "this is no state of a stack"
    if "checkpoint" in content:
        return "this is a backend's own file, not an exported state"
    deployment = content.get("deployment")
    if not isinstance(deployment, Mapping):
        return "this is no state of a stack: it has no deployment"
    resources = deployment.get("resources")
    if resources is None:
        return ""
    if not isinstance(resources, list):
        return "its deployment.resources is no list"
    for number, one in enumerate(resources):
        if not isinstance(one, Mapping) or not all(
            isinstance(one.get(key), str) for key in ("urn", "type")
        ):
            return f"its deployment.resources[{number}] has no urn and type"
    return ""
