"""The guard in the cluster: the rule about system workloads as admission policies.

    guard = Guard(name="guard", system_namespaces=("platform",))
    for role, manifest in guard_manifests(guard).items():
        ...

Limits, which follow from what an admission policy sees:
- It judges what is written from now on. What was there before stays, may be scaled, restarted and
  changed as long as no change adds a way onto Spot nodes, and may be deleted.
- Pods that Kubernetes' own controllers make are not judged again: their Deployment, Job and so on
  was. So what adds a toleration to such pods alone goes unseen: a webhook, or the `scheduling` of a
  RuntimeClass, which cluster administrators make.
- Custom kinds (JobSet, RayCluster ...) are judged by the Jobs and Pods that their controllers make.
- It sees no nodes. A pod that names its node is denied, and an untainted Spot pool is seen by the
  policy packs alone. Binding a pod to a node past the scheduler is a right of its own
  (`pods/binding`), for RBAC to withhold.
- A toleration of the GPU taint passes, though a flex-start pool with GPUs has no other taint: it is
  as much one of on-demand GPU nodes. A system pod that has it without a GPU of its own keeps off by
  selecting on-demand nodes (`cloud.google.com/gke-provisioning: standard`).
"""

from spotproof_gke.admission.clauses import DOUBT
from spotproof_gke.admission.guard import findings, guard_manifests
from spotproof_gke.admission.namespaces import pattern_problems
from spotproof_gke.admission.scope import Guard, GuardAction, Scope

__all__ = [
    "DOUBT",
    "Guard",
    "GuardAction",
    "Scope",
    "findings",
    "guard_manifests",
    "pattern_problems",
]
