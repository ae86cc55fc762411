"""Limits and forms of names that GKE and Cloud Storage accept.

Sources, read on 2026-11-29: documentation strings of pulumi-gcp 10.2.0 and refusals of the real
provider (docs/provider-surprises.md).
"""

import hashlib
import re

from spotproof_gke.capacity import GPU_KEY, MANAGED_COMPONENTS_KEY
from spotproof_gke.problems import Problem

CLUSTER_NAME_MAX = 40
NODE_POOL_NAME_MAX = 40
NETWORK_NAME_MAX = 54
"""Our limit: 63 less the longest suffix of a part (`-router`, and room for one more digit)."""
ACCOUNT_ID_MAX = 30
QUEUE_NAME_MAX = 200
"""Our limit: Pub/Sub takes 255 characters, and a part of the queue adds `-dead-letters`."""
BUCKET_NAME_MAX = 63
AUTO_NAME_SUFFIX = 8
"""Characters that the engine adds to a logical name that becomes a cloud name."""

_RFC1035 = re.compile(r"^[a-z]([-a-z0-9]*[a-z0-9])?$")
_BUCKET = re.compile(r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")
_PROJECT = re.compile(r"^[a-z][-a-z0-9]{4,28}[a-z0-9]$")
_LABEL_KEY = re.compile(r"^[a-z][-_a-z0-9]{0,62}$")
_NODE_LABEL = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_DOMAIN = re.compile(
    r"(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
)
_RESERVED_DOMAIN = re.compile(r"(^|\.)(kubernetes\.io|k8s\.io|cloud\.google\.com|gke\.io)$")
_OPEN_DOMAINS = ("node.kubernetes.io", "kubelet.kubernetes.io")
_GKES_TAINTS = (GPU_KEY,)
_LABEL_VALUE = re.compile(r"^[-_a-z0-9]{0,63}$")


def _problem(key: str, name: object, form: re.Pattern[str], least: int, most: int, kind: str):
    if isinstance(name, str) and form.fullmatch(name) and least <= len(name) <= most:
        return []
    wrong_length = isinstance(name, str) and not least <= len(name) <= most
    length = f" (it has {len(str(name))})" if wrong_length else ""
    return [
        Problem(
            key,
            name,
            f"a {kind} has {least} to {most} lower-case letters, digits and hyphens,"
            f" starts with a letter and does not end with a hyphen{length}",
            "choose another name",
        )
    ]


def cluster_name_problems(key: str, name: object) -> list[Problem]:
    """What is wrong with a cluster's name (at most 40 characters)."""
    return _problem(key, name, _RFC1035, 1, CLUSTER_NAME_MAX, "cluster name")


def node_pool_prefix_problems(key: str, prefix: object) -> list[Problem]:
    """What is wrong with the fixed part of a pool's name; the engine adds 8 of 40 characters."""
    most = NODE_POOL_NAME_MAX - AUTO_NAME_SUFFIX
    return _problem(key, prefix, _RFC1035, 1, most, "node pool name without its suffix")


def node_pool_name_problems(key: str, name: object) -> list[Problem]:
    """What is wrong with a pool's name (at most 40 characters)."""
    return _problem(key, name, _RFC1035, 1, NODE_POOL_NAME_MAX, "node pool name")


def queue_name_problems(key: str, name: object) -> list[Problem]:
    """What is wrong with a queue's name, which is also the prefix of its topics' names."""
    if isinstance(name, str) and name.startswith("goog"):
        rule = 'a Pub/Sub name does not start with "goog"'
        return [Problem(key, name, rule, "choose another name")]
    return _problem(key, name, _RFC1035, 3, QUEUE_NAME_MAX, "queue name")


def network_name_problems(key: str, name: object) -> list[Problem]:
    """What is wrong with a network's name, which is also the prefix of its parts' names."""
    return _problem(key, name, _RFC1035, 1, NETWORK_NAME_MAX, "network name")


def shortened(name: str, most: int) -> str:
    """`name`, cut to `most` characters with a checksum of the whole when it is longer."""
    if len(name) <= most:
        return name
    checksum = hashlib.sha256(name.encode()).hexdigest()[:6]
    return f"{name[: most - 7].rstrip('-')}-{checksum}"


def project_id_problems(key: str, name: object) -> list[Problem]:
    """What is wrong with a project id (a project number is not one)."""
    return _problem(key, name, _PROJECT, 6, 30, "project id")


def account_id_problems(key: str, name: object) -> list[Problem]:
    """What is wrong with the id of a Google service account."""
    return _problem(key, name, _RFC1035, 6, ACCOUNT_ID_MAX, "service account id")


def bucket_name_problems(key: str, name: object) -> list[Problem]:
    """What is wrong with a bucket's name."""
    if isinstance(name, str) and (name.startswith("goog") or "google" in name):
        rule = 'a bucket name neither starts with "goog" nor contains "google"'
        return [Problem(key, name, rule, "choose another name")]
    return _problem(key, name, _BUCKET, 3, BUCKET_NAME_MAX, "bucket name")


def node_label_problems(key: str, labels: object) -> list[Problem]:
    """What is wrong with a mapping of Kubernetes node labels that a person adds to a pool.

    GKE refuses labels under Kubernetes' own domains, but for two; those under its own it sets
    itself. Source: docs.cloud.google.com/kubernetes-engine/docs/how-to/update-existing-nodepools.
    """
    problems: list[Problem] = []
    for name, value in labels.items() if isinstance(labels, dict) else ():
        at = f"{key}.{name}"
        domain, _, short = name.rpartition("/")
        if not _NODE_LABEL.fullmatch(short) or (domain and not _DOMAIN.fullmatch(domain)):
            rule = "a label key is an optional domain with a slash, then at most 63 characters"
            problems.append(Problem(at, value, rule, "rename it like team.example.com/purpose"))
        elif _RESERVED_DOMAIN.search(domain) and domain not in _OPEN_DOMAINS:
            rule = "GKE and Kubernetes set labels under this domain themselves"
            problems.append(Problem(at, value, rule, "use a domain of your own"))
        if not isinstance(value, str) or (value and not _NODE_LABEL.fullmatch(value)):
            rule = "a label value is a text of at most 63 letters, digits, dots, - and _"
            problems.append(Problem(at, value, rule, "shorten it, or write it in quotes"))
    return problems


def node_taint_problems(key: str, name: str, value: str) -> list[Problem]:
    """What is wrong with a taint that a person adds to a pool."""
    domain, _, short = name.rpartition("/")
    rule = fix = ""
    if not _NODE_LABEL.fullmatch(short) or (domain and not _DOMAIN.fullmatch(domain)):
        rule = "a taint key is an optional domain with a slash, then at most 63 characters"
        fix = "rename it like team.example.com/dedicated"
    elif name in _GKES_TAINTS or (
        _RESERVED_DOMAIN.search(domain) and name != MANAGED_COMPONENTS_KEY
    ):
        rule = "this taint is set by the component, by GKE or by Kubernetes"
        fix = "use a domain of your own"
    elif not _NODE_LABEL.fullmatch(value):
        rule = "a taint value is a text of at most 63 letters, digits, dots, - and _"
        fix = "shorten it, or write it in quotes"
    return [Problem(key, name, rule, fix)] if rule else []


def label_problems(key: str, labels: object) -> list[Problem]:
    """What is wrong with a mapping of Google Cloud labels."""
    if not isinstance(labels, dict):
        return [Problem(key, labels, "labels are a mapping of strings", "write key: value pairs")]
    bad = [
        (name, value)
        for name, value in labels.items()
        if not (isinstance(name, str) and _LABEL_KEY.fullmatch(name))
        or not (isinstance(value, str) and _LABEL_VALUE.fullmatch(value))
    ]
    return [
        Problem(
            f"{key}.{name}",
            value,
            "a label key starts with a lower-case letter; key and value have at most 63 lower-case"
            " letters, digits, hyphens and underscores",
            "rename the label or quote its value",
        )
        for name, value in bad
    ]
