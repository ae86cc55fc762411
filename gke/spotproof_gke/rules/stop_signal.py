"""Whether SIGTERM reaches the program of a container that may lose its node.

A shell that is process 1 does not pass signals on; `exec` puts the program in its place. Init
containers that end before the program starts have nothing to save; sidecars among them have.
Without `command` and `args` the image's own entry point runs, which is not seen and not judged.
Sources, read on 2026-11-30: kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle (termination
of pods) and .../sidecar-containers; `shell_script` says what was measured.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from spotproof_gke.rules.finding import Finding, Resource, Stack
from spotproof_gke.rules.interruptible_pods import interruptible_pods
from spotproof_gke.rules.reading import UNKNOWN, dig, items, mapping, text
from spotproof_gke.rules.shell_script import shell_stays

SIGNAL_RULE = "no shell stands between SIGTERM and a program that may lose its node"
_FIX = "start the program itself, or put exec before it in the script"

_SHELLS = ("sh", "bash", "dash", "ash", "zsh", "ksh", "mksh")
_BUSYBOX = "busybox"
_TELLS_GROUP = {"dumb-init": True, "tini": False, "docker-init": False, "catatonit": False}
"""Small init programs, and whether they pass signals to all processes unless told otherwise."""
_ASSIGNMENT = re.compile(r"^[A-Za-z_]\w*=")
_KILLS = re.compile(r"\b(?:kill|pkill|killall)\b")


def shell_before_program(resource: Resource, spec: object, certain: bool) -> Iterator[Finding]:
    """Findings for containers whose command is a shell that stays in front of the program.

    Args:
        resource: The workload.
        spec: Its pod specification.
        certain: Whether the pod certainly may run where it can lose its node.
    """
    if spec is UNKNOWN:
        found = "whether a container starts a shell"
        yield resource.finding(found, SIGNAL_RULE, _FIX, False)
        return
    for where, container, runs_on in _programs(spec):
        kept = None if container is UNKNOWN else _keeps_shell(container)
        if kept is not False:
            found = f"{where} starts a shell that stays in front of the program"
            sure = certain and kept is True and runs_on
            yield resource.finding(found, SIGNAL_RULE, _FIX, sure)


def shells_before_programs(stack: Stack) -> Iterator[Finding]:
    """Findings for all workloads of a stack that may lose their node."""
    for resource, pod, landing in interruptible_pods(stack):
        yield from shell_before_program(resource, pod.spec, landing.may_end is True)


def _programs(spec: object) -> Iterator[tuple[str, Any, bool]]:
    """The containers that run until the pod ends: where it stands, it, and if it surely does."""
    for key in ("containers", "initContainers"):
        listed = mapping(spec).get(key)
        for index, each in enumerate([UNKNOWN] if listed is UNKNOWN else items(listed)):
            restarts = dig(each, "restartPolicy")
            runs_on = key == "containers" or text(restarts) == "Always"
            if runs_on or restarts is UNKNOWN:
                yield (key if listed is UNKNOWN else f"{key}[{index}]"), each, runs_on


def _keeps_shell(container: object) -> bool | None:
    """None when it cannot be known."""
    hook = dig(container, "lifecycle", "preStop", "exec", "command")
    if any(_KILLS.search(text(word)) for word in items(hook)):
        return False
    command, args = dig(container, "command"), dig(container, "args")
    if command is UNKNOWN:
        return None
    words = [*items(command), *([UNKNOWN] if args is UNKNOWN else items(args))]
    kept = _shell_stays(words)
    return None if kept and UNKNOWN in (hook, dig(container, "lifecycle")) else kept


def _shell_stays(words: Sequence[Any]) -> bool | None:
    words = _without_wrappers(words)
    if not words:
        return False
    if words[0] is UNKNOWN:
        return None
    shell = _name(words[0])
    if shell == _BUSYBOX and len(words) > 1:
        words = words[1:]
        if words[0] is UNKNOWN:
            return None
        shell = "ash" if _name(words[0]) in ("sh", "ash") else ""
    if shell not in _SHELLS:
        return False
    script = _script(words[1:])
    if script is UNKNOWN:
        return None
    return script is not None and shell_stays(shell, text(script))


def _without_wrappers(words: Sequence[Any]) -> Sequence[Any]:
    """A command without `env` and small init programs; nothing when these tell every process."""
    while words:
        name = _name(words[0])
        if name not in (*_TELLS_GROUP, "env"):
            return words
        options, rest = [], list(words[1:])
        while rest and text(rest[0]).startswith("-"):
            options.append(text(rest.pop(0)))
            if options[-1] == "--":
                break
        if rest[:1] == [UNKNOWN]:
            return rest
        if name == "env":
            while rest and _ASSIGNMENT.match(text(rest[0])):
                rest.pop(0)
        tells = _TELLS_GROUP.get(name, False)
        if name == "dumb-init" and {"-c", "--single-child"} & set(options):
            tells = False
        if tells or (name == "tini" and any(re.match(r"^-\w*g", each) for each in options)):
            return []
        words = rest
    return words


def _script(words: Sequence[Any]) -> Any:
    """What a shell takes as its script from its arguments; UNKNOWN, or None when it is no text.

    `-c` is a flag like the others: the script is the first word that is no option.
    """
    wanted, at = False, 0
    while at < len(words):
        word = words[at]
        if word is UNKNOWN:
            return UNKNOWN
        option = text(word)
        at += 1
        if option == "--" or not re.match(r"^[-+]\w|^--\w", option):
            at -= option != "--"
            break
        if not option.startswith("--"):
            wanted = wanted or (option.startswith("-") and "c" in option)
            at += option.endswith(("o", "O"))
        else:
            at += option in ("--rcfile", "--init-file")
    if not wanted:
        return None
    return words[at] if at < len(words) else ""


def _name(word: object) -> str:
    return text(word).rsplit("/", 1)[-1]
