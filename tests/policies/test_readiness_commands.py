"""Which commands of a container leave a shell in front of its program."""

from typing import Any

import pytest

from spotproof_gke.rules.finding import Finding, Resource
from spotproof_gke.rules.reading import UNKNOWN
from spotproof_gke.rules.stop_signal import shell_before_program

POD = Resource("kubernetes:core/v1:Pod", "pod", "urn:pod", {})
SCRIPT = "python x.py"


def _found(spec: Any, certain: bool = True) -> list[Finding]:
    return list(shell_before_program(POD, spec, certain))


def _container(**container: Any) -> list[Finding]:
    return _found({"containers": [container]})


@pytest.mark.parametrize(
    "words",
    [
        ["sh", "-c", SCRIPT],
        ["/bin/sh", "-ec", SCRIPT],
        ["sh", "-e", "-c", SCRIPT],
        ["sh", "-c", "--", SCRIPT],
        ["sh", "-o", "errexit", "-c", SCRIPT],
        ["bash", "--login", "-c", f"{SCRIPT} | tee log"],
        ["bash", "--rcfile", "a", "-c", f"{SCRIPT} > log"],
        ["env", "A=1", "B=2", "sh", "-c", SCRIPT],
        ["env", "-i", "sh", "-c", SCRIPT],
        ["tini", "sh", "-c", SCRIPT],
        ["tini", "-v", "--", "sh", "-c", SCRIPT],
        ["dumb-init", "--single-child", "sh", "-c", SCRIPT],
        ["/sbin/docker-init", "--", "sh", "-c", SCRIPT],
        ["busybox", "sh", "-c", f"{SCRIPT} | cat"],
        ["catatonit", "--", "sh", "-c", SCRIPT],
        ["ksh", "-c", f"{SCRIPT} | cat"],
        ["mksh", "-c", f"{SCRIPT} | cat"],
        ["zsh", "-c", f"{SCRIPT} | cat"],
        ["bash", "--init-file", "a", "-c", f"{SCRIPT} > log | cat"],
        ["bash", "-O", "extglob", "-c", f"{SCRIPT} | cat"],
        ["env", "--", "A=1", "sh", "-c", SCRIPT],
        ["env", "-c", "sh", "-c", SCRIPT],
    ],
    ids=str,
)
def test_shell_that_stays_is_found_behind_options_and_small_programs(words: list[str]) -> None:
    for split in range(len(words) + 1):
        [found] = _container(command=words[:split], args=words[split:])
        assert found.certain
        assert found.value.startswith("containers[0] starts a shell")


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["python", "-c", SCRIPT],
        ["sh"],
        ["sh", "run.sh"],
        ["sh", "-e", "run.sh", "-c", SCRIPT],
        ["sh", "--", "-c", SCRIPT],
        ["sh", "-c"],
        ["sh", "-o", "-c"],
        ["busybox"],
        ["busybox", "httpd", "-c", SCRIPT],
        ["busybox", "sh", "-c", SCRIPT],
        ["busybox", "ash", "-c", SCRIPT],
        ["dumb-init", "sh", "-c", SCRIPT],
        ["dumb-init", "--", "sh", "-c", SCRIPT],
        ["tini", "-g", "--", "sh", "-c", SCRIPT],
        ["tini", "-vg", "sh", "-c", SCRIPT],
        ["tini"],
        ["env"],
        ["env", "A=1"],
        ["sh", "+c", SCRIPT],
        ["tini", "A=1", "sh", "-c", SCRIPT],
        ["tini", "--", "-g", "sh", "-c", SCRIPT],
        ["busybox", "wget", "-c", f"{SCRIPT} | cat"],
    ],
    ids=str,
)
def test_command_without_a_shell_in_front_of_a_program_is_in_order(words: list[str]) -> None:
    assert _container(command=words) == []


@pytest.mark.parametrize(
    "words",
    [
        UNKNOWN,
        [UNKNOWN],
        [UNKNOWN, "-c", SCRIPT],
        ["sh", UNKNOWN],
        ["sh", "-c", UNKNOWN],
        ["sh", UNKNOWN, SCRIPT],
        ["busybox", UNKNOWN],
        ["env", UNKNOWN],
        ["tini", "--", UNKNOWN],
        ["dumb-init", UNKNOWN, "sh", "-c", SCRIPT],
    ],
    ids=str,
)
def test_command_that_is_not_known_is_a_doubt(words: Any) -> None:
    [found] = _container(command=words)

    assert not found.certain


@pytest.mark.parametrize("words", [["python", UNKNOWN], ["sh", "run.sh", UNKNOWN]], ids=str)
def test_unknown_argument_of_a_program_is_no_doubt(words: Any) -> None:
    assert _container(command=words) == []


@pytest.mark.parametrize("program", ["kill", "pkill", "killall"])
def test_hook_that_tells_the_program_is_in_order(program: str) -> None:
    hook = {"preStop": {"exec": {"command": ["sh", "-c", f"{program} 7"]}}}

    assert _container(command=["sh", "-c", SCRIPT], lifecycle=hook) == []


@pytest.mark.parametrize("lifecycle", [None, {"preStop": {"exec": {"command": ["skill"]}}}])
def test_other_hook_does_not_help(lifecycle: Any) -> None:
    [found] = _container(command=["sh", "-c", SCRIPT], lifecycle=lifecycle)

    assert found.certain


@pytest.mark.parametrize("lifecycle", [UNKNOWN, {"preStop": UNKNOWN}])
def test_hook_that_is_not_known_is_a_doubt_where_a_shell_stays(lifecycle: Any) -> None:
    [found] = _container(command=["sh", "-c", SCRIPT], lifecycle=lifecycle)

    assert not found.certain
    assert _container(command=["python", "x.py"], lifecycle=lifecycle) == []


def test_finding_is_certain_only_where_the_pod_certainly_loses_its_node() -> None:
    spec = {"containers": [{"command": ["sh", "-c", SCRIPT]}]}

    assert [each.certain for each in _found(spec, False)] == [False]


@pytest.mark.parametrize(
    ("restarts", "certainties"), [("Always", [True]), (None, []), ("Never", []), (UNKNOWN, [False])]
)
def test_init_container_counts_when_it_is_a_sidecar(restarts, certainties) -> None:
    shell = {"command": ["sh", "-c", SCRIPT], "restartPolicy": restarts}
    found = _found({"containers": [{"command": ["python"]}], "initContainers": [{}, shell]})

    assert [each.certain for each in found] == certainties
    assert all(each.value.startswith("initContainers[1]") for each in found)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (UNKNOWN, "whether a container"),
        ({"containers": UNKNOWN}, "containers starts"),
        ({"containers": [{}, UNKNOWN]}, "containers[1] starts"),
    ],
)
def test_what_is_not_known_of_a_pod_is_one_doubt(spec: Any, words: str) -> None:
    [found] = _found(spec)

    assert not found.certain
    assert words in found.value
