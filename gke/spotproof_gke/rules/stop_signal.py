"""Whether SIGTERM reaches the program of a container that may run on Spot nodes.

A shell that is process 1 does not pass signals on; `exec` puts the program in its place.
"""

import re
from collections.abc import Iterator

from spotproof_gke.rules.finding import Finding, Resource
from spotproof_gke.rules.reading import UNKNOWN, items, mapping, text
from spotproof_gke.rules.spot_scheduling import spot_scheduling
from spotproof_gke.rules.workloads import pod_specs

_SHELLS = ("sh", "bash", "dash", "ash", "zsh", "ksh")
_SCRIPT_FOLLOWS = re.compile(r"^-[a-z]*c$")
_EXEC = re.compile(r"(^|[;&|\n])\s*exec\s+\S")


def shell_before_program(resource: Resource) -> Iterator[Finding]:
    """Containers whose command is a shell with a script that does not `exec` the program."""
    for pod in pod_specs(resource):
        on_spot = [certain for _, certain in spot_scheduling(pod.spec)]
        if not on_spot or pod.spec is UNKNOWN:
            continue
        for index, each in enumerate(items(mapping(pod.spec).get("containers"))):
            kept = _keeps_shell(mapping(each))
            if kept is not False:
                yield resource.finding(
                    f"containers[{index}] starts a shell that does not exec the program",
                    "no shell stands between SIGTERM and a program on Spot nodes",
                    "start the program itself, or put exec before it in the script",
                    any(on_spot) and kept is True,
                )


def _keeps_shell(container: object) -> bool | None:
    """None when it cannot be known. Without `command` the image's own entry point is not seen."""
    command, args = mapping(container).get("command"), mapping(container).get("args")
    if command is UNKNOWN:
        return None
    words = [*items(command), *(items(args) if args is not UNKNOWN else [UNKNOWN])]
    if words and words[0] is UNKNOWN:
        return None
    if not words:
        return False
    if text(words[0]).rsplit("/", 1)[-1] not in _SHELLS:
        return False
    for at, word in enumerate(words[1:], start=1):
        if word is UNKNOWN:
            return None
        if _SCRIPT_FOLLOWS.match(text(word)):
            script = words[at + 1] if at + 1 < len(words) else ""
            return None if script is UNKNOWN else not _EXEC.search(text(script))
    return False
