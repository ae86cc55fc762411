"""Forms of names, labels and quantities that Kubernetes accepts.

Source: kubernetes.io/docs/concepts/overview/working-with-objects (names, labels, annotations),
kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity, KEP 4369 (names of
environment variables before Kubernetes 1.32), read on 2026-11-30.
"""

import re
from collections.abc import Iterable
from fractions import Fraction

from spotproof_gke.problems import Problem
from spotproof_gke.quantities import amount, suffix_of

_LABEL = r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"
_NAME = re.compile(_LABEL)
_PART = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = re.compile(rf"(?=.{{1,253}}$){_PART}(\.{_PART})*")
_IN_LABEL = re.compile(rf"(?=.{{1,63}}$){_PART}(\.{_PART})*")
_ENV = re.compile(r"(?!\.\.|\.$)[-._A-Za-z][-._A-Za-z0-9]*")
_KEY = re.compile(
    rf"((?P<domain>{_LABEL}(\.{_LABEL})*)/)?[A-Za-z0-9]([-\w.]{{0,61}}[A-Za-z0-9])?", re.A
)
_VALUE = re.compile(r"([A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?)?", re.A)
_JOB_SET = 48
_JOB_SET_NAME = re.compile(rf"[a-z][-a-z0-9]{{0,{_JOB_SET - 1}}}")
_SECRET_KEY = re.compile(r"(?!\.\.|\.$)[-._A-Za-z0-9]{1,253}")
_SMALL_UNITS = ("n", "u", "m")
_LARGEST = 2**63 - 1
"""The largest quantity that Kubernetes counts with."""

_IMAGE = re.compile(r"[^\s\x00-\x1f]{1,1024}")
_ANNOTATIONS_BYTES = 256 * 1024
_OUR_ANNOTATIONS_BYTES = 1024
_OURS = "SPOTPROOF_"
_SECRET_NAMES = re.compile(
    r"(PASSWORD|PASSWD|PASSPHRASE|_PWD)$|^TOKEN$"
    r"|(^|_)(SECRET|SECRET_KEY|API_KEY|ACCESS_KEY|PRIVATE_KEY|CREDENTIALS"
    r"|(HF|HUB|GH|GITHUB|GITLAB|API|AUTH|ACCESS|BEARER|REFRESH|SESSION|TRACKING|WANDB|SLACK)_TOKEN)$"
)
NO_SECRET = (
    "a secret stands in a Secret of the cluster, not in a manifest and its state",
    "name the Secret and its key in secret_env",
)
"""The rule about plain variables that hold a secret, and what to do."""

_LOGIN = re.compile(r"[a-z0-9]://[^/\s:@]*:[^/\s@]+@", re.I)


def _one(key: str, value: object, form: re.Pattern[str], rule: str, fix: str) -> list[Problem]:
    if isinstance(value, str) and form.fullmatch(value):
        return []
    return [Problem(key, value, rule, fix)]


def object_name_problems(key: str, name: object) -> list[Problem]:
    """What is wrong with the name of a workload: its pods carry it in a label."""
    rule = "a name has at most 63 lower-case letters, digits and hyphens, none at its ends"
    return _one(key, name, _NAME, rule, "choose another name")


def job_set_name_problems(key: str, name: object) -> list[Problem]:
    """What is wrong with the name of a JobSet besides: its pods' host names begin with it."""
    rule = (
        f"a JobSet's name begins with a letter and has at most {_JOB_SET} characters, because its "
        "pods are called NAME-main-0-0-abcde"
    )
    return _one(key, name, _JOB_SET_NAME, rule, "choose another job_name, or kind job")


def namespace_problems(key: str, name: object) -> list[Problem]:
    """What is wrong with the name of a namespace."""
    rule = "a namespace has at most 63 lower-case letters, digits and hyphens, none at its ends"
    return _one(key, name, _NAME, rule, "write the name of a namespace")


def subdomain_problems(key: str, name: object) -> list[Problem]:
    """What is wrong with the name of an object that may have dots: Secret, claim, account."""
    rule = "a name has at most 253 lower-case letters, digits, hyphens and dots"
    return _one(key, name, _SUBDOMAIN, rule, "write the name of an object of that kind")


def label_name_problems(key: str, name: object) -> list[Problem]:
    """What is wrong with the name of an object that a label names: compute class, queue."""
    rule = (
        "a label carries this name, so it has at most 63 lower-case letters, digits, hyphens and "
        "dots"
    )
    return _one(key, name, _IN_LABEL, rule, "write the name of an object of that kind")


def indexed_name_problems(key: str, name: str, pods: int) -> list[Problem]:
    """What is wrong with the name of a Job of several pods besides: each adds its index."""
    most = 63 - len(f"-{pods - 1}")
    if pods == 1 or len(name) <= most:
        return []
    rule = f"the {pods} pods add their index to the name, so it has at most {most} characters"
    return [Problem(key, name, rule, "choose a shorter name")]


def secret_key_problems(key: str, name: object) -> list[Problem]:
    """What is wrong with a key of a Secret."""
    rule = (
        "a key of a Secret has letters, digits, hyphens, underscores and dots, and does not begin "
        "with two dots"
    )
    return _one(key, name, _SECRET_KEY, rule, "write the key, not the value that it holds")


def cpu_problems(key: str, quantity: object) -> list[Problem]:
    """What is wrong with a quantity of CPU."""
    if _is_cpu(quantity):
        return []
    rule = "this is a number of CPUs, down to a thousandth of one"
    return [Problem(key, quantity, rule, 'write it like "4" or "500m", in quotes')]


def bytes_problems(key: str, quantity: object) -> list[Problem]:
    """What is wrong with a quantity of memory or disk."""
    if _is_bytes(quantity):
        return []
    rule = "this is a size in bytes as Kubernetes writes it"
    return [Problem(key, quantity, rule, 'write it like "16Gi"')]


def _is_cpu(quantity: object) -> bool:
    """Larger units, such as Gi, are of something else."""
    read = _read(quantity)
    if read is None:
        return False
    value, unit = read
    return unit in ("", *_SMALL_UNITS) and (value * 1000).denominator == 1


def _is_bytes(quantity: object) -> bool:
    """Thousandths of bytes, such as 400m, are a slip for millions."""
    read = _read(quantity)
    if read is None:
        return False
    value, unit = read
    return value.denominator == 1 or (unit not in _SMALL_UNITS and value > 1)


def _read(quantity: object) -> tuple[Fraction, str] | None:
    """The number and the unit of a quantity; None for what is none, or is too large."""
    try:
        value, unit = amount(str(quantity)), suffix_of(str(quantity))
    except ValueError:
        return None
    return (value, unit) if isinstance(quantity, str) and value <= _LARGEST else None


def image_problems(key: str, image: object) -> list[Problem]:
    """What is wrong with the reference of an image."""
    rule = "an image is REGISTRY/PATH:TAG, or with @DIGEST for a tag"
    return _one(key, image, _IMAGE, rule, "write it without spaces")


def label_problems(key: str, labels: object, taken: Iterable[str] = ()) -> list[Problem]:
    """What is wrong with labels that a person adds to a workload.

    Args:
        key: Where they stand.
        labels: The labels.
        taken: Keys that the workload sets itself.
    """
    problems: list[Problem] = []
    for name, value in labels.items() if isinstance(labels, dict) else ():
        problems += _key(f"{key}.{name}", name, value, taken)
        if not isinstance(value, str) or not _VALUE.fullmatch(value):
            rule = "a label value is a text of at most 63 letters, digits, dots, - and _"
            fix = "shorten it, or write it in quotes"
            problems.append(Problem(f"{key}.{name}", value, rule, fix))
    return _first_of_each(problems)


def annotation_problems(key: str, annotations: object, taken: Iterable[str] = ()) -> list[Problem]:
    """What is wrong with annotations that a person adds to a workload."""
    problems: list[Problem] = []
    for name, value in annotations.items() if isinstance(annotations, dict) else ():
        problems += _key(f"{key}.{name}", name, value, taken)
        if not isinstance(value, str):
            rule = "the value of an annotation is a text"
            problems.append(Problem(f"{key}.{name}", value, rule, "write it in quotes"))
    return _first_of_each(problems) or _too_large(key, annotations)


def _too_large(key: str, annotations: object) -> list[Problem]:
    pairs = annotations.items() if isinstance(annotations, dict) else ()
    size = sum(len((name + value).encode("utf-8", "replace")) for name, value in pairs)
    most = _ANNOTATIONS_BYTES - _OUR_ANNOTATIONS_BYTES
    if size <= most:
        return []
    rule = f"all annotations of an object together have at most {most} bytes"
    return [Problem(key, f"{size} bytes", rule, "put it into a ConfigMap or a file")]


def _key(at: str, name: str, value: object, taken: Iterable[str]) -> list[Problem]:
    form = _KEY.fullmatch(name)
    if not form or len(form["domain"] or "") > 253:
        rule = "a key is an optional domain with a slash, then at most 63 characters"
        return [Problem(at, value, rule, "rename it like team.example.com/purpose")]
    if name in taken:
        return [Problem(at, value, "this key is set by the component", "leave it out")]
    return []


def _first_of_each(problems: list[Problem]) -> list[Problem]:
    return list({problem.key: problem for problem in reversed(problems)}.values())[::-1]


def env_name_problems(key: str, name: str) -> list[Problem]:
    """What is wrong with the name of an environment variable that a person sets."""
    if not _ENV.fullmatch(name):
        rule = (
            "an environment variable has letters, digits, underscores, hyphens and dots, no digit "
            "and no two dots first"
        )
        return [Problem(key, None, rule, "rename it")]
    if name.startswith(_OURS):
        rule = "variables of this prefix are set by the component"
        return [Problem(key, None, rule, "use the argument for it, or another name")]
    return []


def plain_value_problems(key: str, name: str, value: object) -> list[Problem]:
    """What is wrong with the plain value of an environment variable; the value is never shown.

    A value that is a path is no secret, whatever the variable's name.
    """
    if not isinstance(value, str) or value.startswith("/"):
        return []
    words = re.sub(r"[-.]", "_", name.upper())
    if _SECRET_NAMES.search(words) or _LOGIN.search(value):
        return [Problem(key, "…", *NO_SECRET)]
    return []
