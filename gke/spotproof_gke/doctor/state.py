"""The state of a stack: locks, what an interrupted update left, what is protected, APIs."""

import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from spotproof_gke.audit import documents
from spotproof_gke.audit.evidence import InputError, printable
from spotproof_gke.doctor.place import Place, shell_word
from spotproof_gke.doctor.row import Area, Row, missing, ok, unknown
from spotproof_gke.plurals import counted
from spotproof_gke.rules.reading import items, mapping, text
from spotproof_gke.stack_state.locks import GONE, RUNNING, Lock, locks_in_files
from spotproof_gke.stack_state.operations import (
    Resource,
    left_over,
    pending_operations,
    protected,
    unreached,
)

LIST_SECONDS = 60
"""How long gcloud may take to list the enabled APIs."""

SERVICE = "gcp:projects/service:Service"
_S = Area.STACK
_WRITER = "`pulumi stack export`"
_WHY_APIS = "Google Cloud refuses what belongs to an API that is off"
_APIS = {
    "artifactregistry": "artifactregistry.googleapis.com",
    "compute": "compute.googleapis.com",
    "container": "container.googleapis.com",
    "gkehub": "gkehub.googleapis.com",
    "pubsub": "pubsub.googleapis.com",
    "secretmanager": "secretmanager.googleapis.com",
    "serviceaccount": "iam.googleapis.com",
    "sql": "sqladmin.googleapis.com",
    "storage": "storage.googleapis.com",
}
"""The API of each module of the Google Cloud provider that stacks with clusters use."""


def read_deployment(file: str) -> Mapping[str, Any]:
    """The deployment in an exported state, its resources and operations well formed.

    Raises:
        InputError: The file is no state.
    """
    name = documents.label(file)
    found = documents.documents(name, documents.read(file, _WRITER), _WRITER)
    if len(found) != 1 or not documents.is_state(found[0]):
        raise InputError(f"{name}: no state of a Pulumi stack; expected what {_WRITER} prints")
    parts = mapping(found[0])
    latest = mapping(mapping(parts.get("checkpoint")).get("latest"))
    deployment = mapping(parts.get("deployment")) or latest
    resources = [each for each in items(deployment.get("resources")) if _is_resource(each)]
    pending = [
        each
        for each in items(deployment.get("pending_operations"))
        if text(mapping(each).get("type")) and _is_resource(mapping(each).get("resource"))
    ]
    return {"resources": resources, "pending_operations": pending}


def _is_resource(value: object) -> bool:
    return bool(text(mapping(value).get("urn")) and text(mapping(value).get("type")))


def found_state(place: Place) -> str:
    """The file in which a backend of files keeps the stack's state; "" when there is none."""
    folder, name = place.backend_folder, place.stack.rpartition("/")[2]
    if folder is None or not name:
        return ""
    stacks = folder / ".pulumi" / "stacks"
    files = (stacks / place.project_name / f"{name}.json", stacks / f"{name}.json")
    return next((str(each) for each in files if each.is_file()), "")


def state_rows(place: Place, state: str, *, online: bool) -> Iterator[Row]:
    """What the state and its backend say.

    Args:
        place: What is looked at.
        state: A file with an exported state; "" for the one that the backend keeps.
        online: Whether gcloud may be asked which APIs are enabled.

    Raises:
        InputError: The state that was given is none.
    """
    yield from _locks(place)
    file = state or found_state(place)
    if not file:
        words = "not read: the backend keeps no file for the stack here"
        yield unknown(_S, "state", words, "it says what an update left", _export(place))
        return
    deployment = read_deployment(file)
    resources = deployment["resources"]
    what = f"{counted(len(resources), 'resource')} ({documents.label(file)})"
    yield ok(_S, "state", what, "it says what is there")
    yield from _interrupted(place, deployment)
    held = protected(deployment)
    if held:
        words = f"{counted(len(held), 'resource')} that `pulumi destroy` refuses"
        yield ok(_S, "protection", words, "nobody deletes them by mistake")
    yield from _apis(resources, place, online)


def _export(place: Place) -> str:
    stack = f" --stack {place.stack_word}" if place.stack else ""
    return f"pulumi stack export{stack} | spotproof doctor --state -"


def _mend(place: Place, otherwise: str) -> str:
    stack = place.stack_word
    return f"make recover STACK={stack}" if place.has_make else f"{otherwise} --stack {stack}"


def _locks(place: Place) -> Iterator[Row]:
    name, why = "lock", "as long as a stack is locked nobody else can change it"
    if not place.stack:
        return
    folder = place.backend_folder
    if folder is None:
        words = "not looked for: the backend is no folder"
        yield unknown(_S, name, words, why, f"pulumi stack --stack {place.stack_word}")
        return
    found = locks_in_files(folder, place.project_name, place.stack)
    if not found:
        yield ok(_S, name, "none", why)
    for lock in found:
        yield missing(_S, name, printable(lock.describe()), why, _of_lock(place, lock))


def _of_lock(place: Place, lock: Lock) -> str:
    if lock.holder == RUNNING:
        return "wait for the end of that update"
    if lock.holder == GONE:
        return _mend(place, "pulumi cancel")
    return f"wait for the end of that update; if it is dead, {_mend(place, 'pulumi cancel')}"


def _interrupted(place: Place, deployment: Mapping[str, Any]) -> Iterator[Row]:
    why = "an update was killed, and what it left has to be put in order"
    pending = pending_operations(deployment)
    for one in pending[:20]:
        words = printable(one.describe().partition("\n")[0])
        fix = _mend(place, "pulumi refresh")
        yield missing(_S, "pending operation", words, why, fix)
    if len(pending) > 20:
        words = f"{len(pending) - 20} more"
        yield missing(_S, "pending operation", words, why, _mend(place, "pulumi refresh"))
    for name, found, otherwise in (
        ("unfinished start", unreached(deployment), "pulumi up"),
        ("unfinished replacement", left_over(deployment), "pulumi up"),
    ):
        if found:
            yield missing(_S, name, _named(found), why, _mend(place, otherwise))
    if not pending and not unreached(deployment) and not left_over(deployment):
        yield ok(_S, "last update", "came to its end", why)


def _named(found: Sequence[Resource]) -> str:
    names = [each["urn"].split("::", 3)[-1] for each in found]
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return printable(", ".join(names[:5])) + more


def _apis(resources: Sequence[Resource], place: Place, online: bool) -> Iterator[Row]:
    used: dict[str, set[str]] = {}
    enabled: dict[str, set[str]] = {}
    for each in resources:
        props = {**mapping(each.get("inputs")), **mapping(each.get("outputs"))}
        project = text(props.get("project"))
        module = each["type"].partition(":")[2].partition("/")[0]
        if each["type"] == SERVICE:
            enabled.setdefault(project, set()).add(text(props.get("service")))
        elif each["type"].startswith("gcp:") and module in _APIS and project:
            used.setdefault(project, set()).add(_APIS[module])
    for project, apis in sorted(used.items()):
        yield _project_apis(project, apis, enabled.get(project, set()), place, online)


def _project_apis(
    project: str, used: set[str], by_stack: set[str], place: Place, online: bool
) -> Row:
    name, why = printable(f"APIs of {project}"), _WHY_APIS
    left = sorted(used - by_stack)
    listing = f"gcloud services list --enabled --project {shell_word(project)}"
    if not left:
        return ok(_S, name, "enabled by the stack itself", why)
    words = f"not enabled by the stack: {', '.join(left)}"
    if not online:
        return unknown(_S, name, words, why, listing)
    answer = _listed(project, place)
    if answer is None:
        return unknown(_S, name, f"{words}, and gcloud could not list them", why, listing)
    off = sorted(set(left) - answer)
    if not off:
        return ok(_S, name, "enabled", why)
    fix = f"gcloud services enable {' '.join(off)} --project {shell_word(project)}"
    return missing(_S, name, f"off: {', '.join(off)}", why, fix)


def _listed(project: str, place: Place) -> set[str] | None:
    """The APIs that gcloud says are enabled; None when it does not answer."""
    program = shutil.which("gcloud", path=place.environment.get("PATH"))
    if program is None or project.startswith("-"):
        return None
    command = [program, "services", "list", "--enabled", f"--project={project}", "--format=json"]
    try:
        ended = subprocess.run(
            command,
            env=dict(place.environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=LIST_SECONDS,
        )
        found = json.loads(ended.stdout) if ended.returncode == 0 else None
    except (OSError, ValueError, RecursionError, subprocess.TimeoutExpired):
        return None
    if not isinstance(found, list):
        return None
    return {text(mapping(mapping(each).get("config")).get("name")) for each in found}
