"""Declares manifests as resources of the Kubernetes provider."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pulumi
from pulumi_kubernetes import (
    admissionregistration,
    apiextensions,
    apps,
    autoscaling,
    batch,
    core,
    policy,
)

from spotproof.options import child_of

_ADMISSION = "admissionregistration.k8s.io/v1"
_TYPED: dict[tuple[str, str], Callable[[], Callable[..., pulumi.CustomResource]]] = {
    ("batch/v1", "Job"): lambda: batch.v1.Job,
    ("apps/v1", "Deployment"): lambda: apps.v1.Deployment,
    ("autoscaling/v2", "HorizontalPodAutoscaler"): lambda: autoscaling.v2.HorizontalPodAutoscaler,
    ("policy/v1", "PodDisruptionBudget"): lambda: policy.v1.PodDisruptionBudget,
    ("v1", "PodTemplate"): lambda: core.v1.PodTemplate,
    (_ADMISSION, "ValidatingAdmissionPolicy"): (
        lambda: admissionregistration.v1.ValidatingAdmissionPolicy
    ),
    (_ADMISSION, "ValidatingAdmissionPolicyBinding"): (
        lambda: admissionregistration.v1.ValidatingAdmissionPolicyBinding
    ),
}
"""The kinds that the SDK has classes of. Each is looked up when one is made: naming it here would
load its module, and programs without such objects would wait for it."""


def declare(
    parent: pulumi.Resource,
    logical_name: str,
    manifest: Mapping[str, Any],
    *,
    depends_on: Sequence[pulumi.Resource] = (),
    ignore_changes: Sequence[str] = (),
    remade_on: Sequence[str] = (),
) -> pulumi.CustomResource:
    """The resource of a manifest; kinds of others are custom resources.

    Args:
        parent: The component, which hands its provider on.
        logical_name: Name in the program.
        manifest: The object, its name and namespace fixed.
        depends_on: Resources that must exist before it.
        ignore_changes: Properties that something in the cluster changes on purpose.
        remade_on: Properties whose change makes the object anew, though its kind is a custom one.
    """
    opts = child_of(parent, depends_on=depends_on, ignore_changes=ignore_changes)
    if remade_on:
        opts.replace_on_changes = list(remade_on)
        opts.delete_before_replace = True
    version, kind = manifest["apiVersion"], manifest["kind"]
    if kind == "Job":
        # Not beside its successor, which may have another name: both would write one checkpoint.
        opts.delete_before_replace = True
    parts = {key: value for key, value in manifest.items() if key not in ("apiVersion", "kind")}
    typed = _TYPED.get((version, kind))
    if typed is not None:
        return typed()(logical_name, **parts, opts=opts)
    return apiextensions.CustomResource(
        logical_name, api_version=version, kind=kind, **parts, opts=opts
    )
