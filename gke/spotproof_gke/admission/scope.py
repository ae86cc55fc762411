"""What the guard watches, and what it does there."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from spotproof_gke.rules.system_pods import CRITICAL_PRIORITY_CLASSES


class GuardAction(str, Enum):
    """What the guard does about a workload that breaks its rule."""

    AUDIT = "audit"
    """Let it pass, with a warning to the client and a note in the audit log."""

    DENY = "deny"
    """Refuse it."""


class Scope(str, Enum):
    """Where the guard looks; each scope is a policy of its own, so that each has its own action."""

    OWN = "own"
    """System namespaces of the user's own."""

    GKE = "gke"
    """GKE's and Kubernetes' own namespaces."""

    CRITICAL = "critical"
    """Pods of critical priority in any other namespace."""


@dataclass(frozen=True)
class Guard:
    """What the guard watches.

    Attributes:
        name: Beginning of the names of its objects.
        system_namespaces: System namespaces of the user's own; `*` matches any ending.
        gke_action: What it does in the namespaces of GKE's own.
        critical_action: What it does about pods of critical priority in other namespaces.
        spot_classes: Compute classes that may take Spot or flex-start nodes.
        spot_taint_keys: Further taint keys that mark Spot pools.
        critical_priority_classes: Priority classes that count as critical.
        exempt_daemon_sets: Whether to pass over DaemonSets.
        exempt_users: Further users whose requests always pass.
    """

    name: str
    system_namespaces: Sequence[str] = ()
    gke_action: GuardAction = GuardAction.AUDIT
    critical_action: GuardAction = GuardAction.AUDIT
    spot_classes: Sequence[str] = ()
    spot_taint_keys: Sequence[str] = ()
    critical_priority_classes: Sequence[str] = CRITICAL_PRIORITY_CLASSES
    exempt_daemon_sets: bool = True
    exempt_users: Sequence[str] = ()

    def actions(self) -> dict[Scope, GuardAction]:
        """The scopes that have something to watch, and what happens there."""
        found = {Scope.OWN: GuardAction.DENY} if self.system_namespaces else {}
        found[Scope.GKE] = self.gke_action
        if self.critical_priority_classes:
            found[Scope.CRITICAL] = self.critical_action
        return found

    def policy_name(self, scope: Scope) -> str:
        """Name of the policy of a scope, and of its binding."""
        return f"{self.name}-{scope.value}"
