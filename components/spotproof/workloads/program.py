"""Judges the arguments that the workloads share."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from posixpath import normpath
from typing import Any

import pulumi

from spotproof.reader import Reader
from spotproof.workloads.program_args import SecretKeyArgs
from spotproof_gke import kubernetes_names
from spotproof_gke.problems import Problem
from spotproof_gke.quantities import canonical
from spotproof_gke.rules.reading import UNKNOWN
from spotproof_gke.workloads import judge
from spotproof_gke.workloads.jobs import (
    POD_LABELS,
    QUEUE_LABEL,
    RUN_DURATION_ANNOTATION,
    SKIP_AWAIT,
)
from spotproof_gke.workloads.pod import (
    FUSE_ANNOTATION,
    NAME_LABEL,
    SHARED_MEMORY_PATH,
    Mount,
    Program,
    SecretKey,
    shared_memory_mount,
)

TAKEN_LABELS = (NAME_LABEL, QUEUE_LABEL, *POD_LABELS)
TAKEN_ANNOTATIONS = (*SKIP_AWAIT, RUN_DURATION_ANNOTATION, FUSE_ANNOTATION)

HIDDEN = "…"
"""Stands in messages for what may be or hold a secret."""

Judge = Callable[[str, object], Iterable[Problem]]


def read_program(
    read: Reader,
    name: str,
    name_key: str,
    gpus: int,
    grace_seconds: int,
    mounts: Iterable[Mount] = (),
) -> Program:
    """What runs in each pod; problems are noted on `read`.

    Args:
        read: The reader.
        name: The component's name, which the workload has unless it is given one.
        name_key: The argument for another name.
        gpus: GPUs of each pod.
        grace_seconds: What a pod has after SIGTERM.
        mounts: Volumes that the workload has decided on.
    """
    namespace = read.name("namespace", kubernetes_names.namespace_problems)
    env = _env(read)
    mounts = tuple(mounts)
    shared = read_quantity(read, "shared_memory", kubernetes_names.bytes_problems)
    if shared and any(normpath(mount.path) == SHARED_MEMORY_PATH for mount in mounts):
        rule = f"the volume of the checkpoints is mounted at {SHARED_MEMORY_PATH} already"
        read.problem("shared_memory", shared, rule, "choose another checkpoint_location")
    return Program(
        name=read.name(name_key, kubernetes_names.object_name_problems, default=name),
        namespace=namespace,
        image=_image(read),
        command=_words(read, "command"),
        arguments=_words(read, "arguments"),
        env=env,
        secret_env=_secret_env(read, env),
        service_account=_service_account(read, namespace),
        cpu=read_quantity(read, "cpu", kubernetes_names.cpu_problems),
        memory=read_quantity(read, "memory", kubernetes_names.bytes_problems),
        ephemeral_storage=read_quantity(read, "ephemeral_storage", kubernetes_names.bytes_problems),
        gpus=gpus,
        labels=_labels(read),
        annotations=_annotations(read),
        mounts=(*mounts, *([shared_memory_mount(shared)] if shared else [])),
        grace_seconds=grace_seconds,
    )


def _image(read: Reader) -> Any:
    image = read.given("image")
    if isinstance(image, str) and image:
        read.extend(kubernetes_names.image_problems("image", image))
    return image


def _words(read: Reader, key: str) -> tuple[str, ...]:
    """The words of a command; the same word may stand in it twice, and one may be empty."""
    if not read.has(key):
        return ()
    words: tuple[Any, ...] = read.mappings(key) if read.is_list(key) else (None,)
    if not all(isinstance(word, str) for word in words) or (
        key == "command" and words and not words[0]
    ):
        rule = "a command is a list of texts, one for each word"
        fix = 'write ["python", "-m", "train"], not "python -m train"; numbers in quotes'
        read.problem(key, HIDDEN, rule, fix)
        return ()
    return tuple(words)


def _env(read: Reader) -> dict[str, Any]:
    env = _unshown(read, "env")
    for name, value in env.items():
        at = f"env.{name}"
        wrong = kubernetes_names.env_name_problems(at, name)
        if not wrong and not isinstance(value, (str, pulumi.Output)):
            wrong = [Problem(at, HIDDEN, "the value of a variable is a text", "write it in quotes")]
        read.extend(wrong or kubernetes_names.plain_value_problems(at, name, value))
        if isinstance(value, pulumi.Output):
            env[name] = _plain_output(f"{read.path}{read.spell(at)}", value)
    return env


def _plain_output(at: str, value: pulumi.Output[Any]) -> pulumi.Output[Any]:
    """The same output; one that the engine holds for a secret ends the program instead.

    Rendered, it would stand in a file in clear, and applied in the workload.
    """

    async def judged() -> Any:
        if await value.is_secret():
            said = Problem(at, HIDDEN, *kubernetes_names.NO_SECRET)
            raise pulumi.RunError(str(said))
        return await value.future()

    return pulumi.Output(value.resources(), judged(), value.is_known(), value.is_secret())


def _secret_env(read: Reader, plain: Mapping[str, Any]) -> dict[str, SecretKey]:
    found = {}
    for name, given in _unshown(read, "secret_env").items():
        at = f"secret_env.{name}"
        read.extend(kubernetes_names.env_name_problems(at, name))
        if name in plain:
            read.problem(at, None, "each variable is set once", "take it out of env")
        found[name] = read_secret_key(read, at, given)
    return found


def _unshown(read: Reader, key: str) -> dict[str, Any]:
    """A mapping with texts as keys, whose content is never shown: it may be a secret."""
    given = read.hidden(key)
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(k, str) and k for k in given):
        read.problem(key, HIDDEN, "this is a mapping", "write key: value pairs")
        return {}
    return dict(given)


def read_secret_key(read: Reader, key: str, given: object) -> SecretKey:
    """A key of a Secret by its names. What stands there is never shown: it may be the secret."""
    noted: list[Problem] = []
    inner = Reader(
        given, SecretKeyArgs.__annotations__, f"{read.path}{read.spell(key)}.", read.spell, noted
    )
    found = SecretKey(
        secret=inner.name("secret", kubernetes_names.subdomain_problems),
        key=inner.name("key", kubernetes_names.secret_key_problems),
    )
    for one in noted:
        read.problems.append(replace(one, value=None if one.value is None else HIDDEN))
    return found


def _service_account(read: Reader, namespace: str) -> str | None:
    given = read.text("service_account", default=None)
    if not given:
        return None
    above, _, name = given.rpartition("/")
    if above and namespace and above != namespace:
        rule = f"a pod runs as a service account of its own namespace, {namespace}"
        read.problem("service_account", given, rule, "use one of that namespace")
    else:
        wrong = kubernetes_names.subdomain_problems("service_account", name)
        read.extend(Problem(one.key, given, one.rule, one.fix) for one in wrong)
    return name


def read_quantity(read: Reader, key: str, judged: Judge) -> str | None:
    """A quantity in the form in which the cluster writes it back, None when there is none."""
    return needed_quantity(read, key, judged) if read.has(key) else None


def needed_quantity(read: Reader, key: str, judged: Judge) -> str:
    """A quantity, which is a problem when there is none."""
    given = read.name(key, judged)
    return canonical(given) if read.is_right(key) else given


def _labels(read: Reader) -> dict[str, str]:
    labels = read.items("labels", default={})
    read.extend(kubernetes_names.label_problems("labels", labels, TAKEN_LABELS))
    return labels


def _annotations(read: Reader) -> dict[str, str]:
    found = read.items("annotations", default={})
    read.extend(kubernetes_names.annotation_problems("annotations", found, TAKEN_ANNOTATIONS))
    return found


def judge_by_rules(read: Reader, manifest: dict[str, Any]) -> None:
    """Note what the policy packs would say of the workload."""
    for found in judge.problems(without_outputs(manifest)):
        if not read.knows(found.key):
            continue
        if read.is_right(found.key):
            read.problem(found.key, found.value, found.rule, found.fix)


def without_outputs(value: Any) -> Any:
    """`value`, with what only the engine will know as `UNKNOWN`."""
    if isinstance(value, pulumi.Output):
        return UNKNOWN
    if isinstance(value, dict):
        return {key: without_outputs(each) for key, each in value.items()}
    return [without_outputs(each) for each in value] if isinstance(value, list) else value
