"""Controllers that others own and workloads need. Table and source: `data/controllers.yaml`.

served = {"batch/v1": {"Job"}, "keda.sh/v1alpha1": {"ScaledObject", "TriggerAuthentication"}}
missing(needed(manifests), served)
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from spotproof_gke.tables import table
from spotproof_gke.workloads.jobs import QUEUE_LABEL


@dataclass(frozen=True)
class Controller:
    """A controller of somebody else.

    Attributes:
        name: Name in the table.
        what: What it is, for a message.
        serves: Kinds that workloads use, by group and version of the API.
        version: The least version that serves them.
        install: One line that installs it.
        off_spot: Why it does not run on nodes that can be taken away.
        alone: What else may not be in the cluster; "" when it does not matter.
    """

    name: str
    what: str
    serves: Mapping[str, tuple[str, ...]]
    version: str
    install: str
    off_spot: str
    alone: str = ""


CONTROLLERS: dict[str, Controller] = {
    name: Controller(
        name,
        row["what"],
        {version: tuple(kinds) for version, kinds in row["serves"].items()},
        row["version"],
        row["install"],
        row["off_spot"],
        row.get("alone", ""),
    )
    for name, row in table("controllers")["controllers"].items()
}
"""All controllers of the table, by name."""

EXTERNAL_METRICS = "external.metrics.k8s.io"


@dataclass(frozen=True)
class Missing:
    """A controller that a cluster lacks, or has in a version that is too old or too new.

    Attributes:
        controller: What is needed.
        lacking: What of it the cluster does not serve, for example
            `keda.sh/v1alpha1 ScaledObject`.
        other_versions: Versions of the same groups that the cluster serves.
    """

    controller: Controller
    lacking: tuple[str, ...]
    other_versions: tuple[str, ...] = ()

    def __str__(self) -> str:
        needed = self.controller
        text = f"{needed.what} is missing: the cluster does not serve {', '.join(self.lacking)}"
        if self.other_versions:
            text += f" (but {', '.join(self.other_versions)}: another version of it is there)"
        text += f". Install {needed.version} or a newer one that serves it: {needed.install}"
        if not needed.version.startswith("GKE"):
            text += f". Keep it on on-demand nodes: {needed.off_spot}"
        return text + (f". Note: {needed.alone}." if needed.alone else ".")


def needed(manifests: Iterable[Mapping[str, Any]]) -> list[Controller]:
    """The controllers that manifests rely on, in the order of the table."""
    found: set[str] = set()
    for manifest in manifests:
        version, kind = str(manifest.get("apiVersion")), str(manifest.get("kind"))
        labels = (manifest.get("metadata") or {}).get("labels") or {}
        for controller in CONTROLLERS.values():
            if kind in controller.serves.get(version, ()):
                found.add(controller.name)
        if kind == "HorizontalPodAutoscaler" and _external(manifest):
            found.add("metrics-adapter")
        if kind in ("Job", "JobSet") and QUEUE_LABEL in labels:
            found.add("kueue")
    return [controller for name, controller in CONTROLLERS.items() if name in found]


def _external(manifest: Mapping[str, Any]) -> bool:
    metrics = (manifest.get("spec") or {}).get("metrics") or ()
    return any(metric.get("type") == "External" for metric in metrics)


def missing(wanted: Iterable[Controller], served: Mapping[str, Collection[str]]) -> list[Missing]:
    """The controllers of `wanted` that a cluster lacks.

    Args:
        wanted: Controllers that something needs.
        served: What the API server says that it serves: kinds by group and version, as
            `kubectl api-resources` and discovery list them. A group and version without kinds
            counts as served for controllers of which no kind is used.
    """
    found = []
    for controller in wanted:
        lacking, others = [], []
        for version, kinds in controller.serves.items():
            group = version.partition("/")[0]
            absent = [kind for kind in kinds if kind not in served.get(version, ())]
            if version not in served:
                lacking.append(version)
                others += [o for o in served if o.partition("/")[0] == group]
            elif absent:
                lacking += [f"{version} {kind}" for kind in absent]
        if lacking:
            found.append(Missing(controller, tuple(lacking), tuple(sorted(others))))
    return found


def in_the_way(wanted: Iterable[Controller], served: Mapping[str, Collection[str]]) -> str | None:
    """Why what is wanted cannot work beside what a cluster has, or None.

    A cluster has one provider of external metrics, and KEDA is one: a HorizontalPodAutoscaler
    would find its metrics served, but ask the wrong one.
    """
    names = {controller.name for controller in wanted}
    beside = any(version.startswith("keda.sh/") for version in served)
    if "metrics-adapter" in names and (beside or "keda" in names):
        return (
            f"a cluster has one provider of {EXTERNAL_METRICS}, and KEDA is one: use the scaler "
            "keda for all workers, or remove KEDA"
        )
    return None
