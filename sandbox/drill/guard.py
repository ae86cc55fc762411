"""The guard of a drilled stack: its objects as the stack renders them, and where it has to act."""

import base64
import ssl
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import yaml
from lightkube import Client

from sandbox.drill.pools import UnfitClusterError
from sandbox.emulated import EmulatedError, EmulatedStack
from sandbox.reach.gate import NotReadyError, prerequisites
from spotproof_gke.admission import Guard, GuardAction, Scope
from spotproof_gke.rules.system_pods import CRITICAL_PRIORITY_CLASSES, is_system_namespace

POLICY, BINDING = "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"
GKE_NAMESPACE = "kube-system"
EVERYTHING = {"tolerations": [{"operator": "Exists"}]}
"""What takes a pod past each taint, and so onto Spot and flex-start nodes."""

_TIMEOUT_SECONDS = 30.0
_REFUSED = 400


@dataclass(frozen=True)
class Post:
    """One place where the guard has to act.

    Attributes:
        namespace: The namespace.
        policy: Name of the policy that has to.
        denies: Whether it refuses, rather than warns.
        priority_class: Priority class of the pods that count there; "" for all pods.
    """

    namespace: str
    policy: str
    denies: bool
    priority_class: str = ""

    @property
    def title(self) -> str:
        """The namespace, and which pods count there, for people."""
        return (
            f"{self.namespace} ({self.priority_class})" if self.priority_class else self.namespace
        )

    def pod(self, spec: Mapping[str, Any]) -> dict[str, Any]:
        """A system pod that the guard has to judge."""
        priority = {"priorityClassName": self.priority_class} if self.priority_class else {}
        containers = [{"name": "main", "image": "example.invalid/system"}]
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "guard-probe", "namespace": self.namespace},
            "spec": {"containers": containers, **priority, **spec},
        }


@dataclass(frozen=True)
class StackGuard:
    """The guard of a stack.

    Attributes:
        manifests: Its objects, each policy before its binding.
        posts: Where it has to act.
    """

    manifests: Sequence[Mapping[str, Any]]
    posts: Sequence[Post]


def guard_of(emulated: EmulatedStack, namespaces: Sequence[str]) -> StackGuard | None:
    """The guard that an emulated stack has rendered; None when the stack is to have none.

    Args:
        emulated: A stack that is up.
        namespaces: Where the drill's own work runs.

    Raises:
        EmulatedError: its settings cannot be read.
        UnfitClusterError: it would refuse the drill's own work.
    """
    try:
        said = prerequisites(emulated.root / "stacks" / f"Pulumi.{emulated.stack}.yaml")["guard"]
    except NotReadyError as error:
        raise EmulatedError(f"the guard of stack {emulated.stack} is not known: {error}") from None
    if said is None:
        return None
    actions = {key: GuardAction(said[key]) for key in ("gke_action", "critical_action")}
    guard = Guard(**{**said, **actions})
    for name in namespaces:
        if is_system_namespace(name, guard.system_namespaces):
            raise UnfitClusterError(
                f"a drill runs work on Spot in namespace {name}, which systemPlacementGuard of "
                "this stack names as one of the system: drill another stack, such as STACK=showcase"
            )
    rendered = _rendered(emulated.sandbox.folder / "rendered")
    return StackGuard(rendered, posts(guard, namespaces[-1]))


def posts(guard: Guard, elsewhere: str) -> list[Post]:
    """Where a guard has to act.

    Args:
        guard: The guard; `team-drill` stands for its `team-*`.
        elsewhere: A namespace in which it looks at pods of critical priority alone.
    """
    found: list[Post] = []
    for scope, action in guard.actions().items():
        policy, denies = guard.policy_name(scope), action is GuardAction.DENY
        if scope is Scope.OWN:
            names = [_example(pattern) for pattern in guard.system_namespaces]
            found += [Post(name, policy, denies) for name in dict.fromkeys(names)]
        elif scope is Scope.GKE:
            found.append(Post(GKE_NAMESPACE, policy, denies))
        else:
            # A new cluster has no other classes.
            built_in = [
                c for c in guard.critical_priority_classes if c in CRITICAL_PRIORITY_CLASSES
            ]
            found += [Post(elsewhere, policy, denies, name) for name in built_in[:1]]
    return found


def _example(pattern: str) -> str:
    start = pattern.removesuffix("*")
    return pattern if start == pattern else f"{start.removesuffix('-')}-drill"


def _rendered(folder: Path) -> list[dict[str, Any]]:
    every = [yaml.safe_load(path.read_text()) for path in sorted(folder.rglob("*.yaml"))]
    found = [one for one in every if one["kind"] in (POLICY, BINDING)]
    return sorted(found, key=lambda one: one["kind"] == BINDING)


@dataclass(frozen=True)
class Answer:
    """What an API server said of a pod.

    Attributes:
        refused: Whether it did not make it.
        said: The reason of that, or all warnings.
    """

    refused: bool
    said: str

    def is_as_set(self, post: Post) -> bool:
        """Whether the guard has acted as it has to."""
        return self.refused is post.denies and f"'{post.policy}'" in self.said


@contextmanager
def asking(client: Client) -> Iterator[httpx2.Client]:
    """A client that shows warnings, which the other does not, for the same cluster and user."""
    config = client.config
    authority = base64.b64decode(config.cluster.certificate_auth_data or "").decode()
    with httpx2.Client(
        base_url=config.cluster.server,
        verify=ssl.create_default_context(cadata=authority),
        headers={"Authorization": f"Bearer {config.user.token if config.user else ''}"},
        trust_env=False,
        timeout=_TIMEOUT_SECONDS,
    ) as http:
        yield http


def ask(http: httpx2.Client, pod: Mapping[str, Any], *, dry_run: bool) -> Answer:
    """What comes of a request to make a pod."""
    path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods"
    reply = http.post(path, params={"dryRun": "All"} if dry_run else {}, json=pod)
    if reply.status_code >= _REFUSED:
        return Answer(True, str(reply.json().get("message")))
    return Answer(False, "; ".join(_texts(reply.headers.get_list("warning"))))


def _texts(warnings: Iterable[str]) -> Iterator[str]:
    """The texts of warning headers, each of which is `299 - "TEXT"`."""
    for each in warnings:
        yield each.partition('"')[2].removesuffix('"')
