"""Manifests as people write them, and small variations."""

from typing import Any

from lightkube.codecs import load_all_yaml

SPOT_SELECTOR = {"cloud.google.com/gke-spot": "true"}
SPOT_TOLERATION = {
    "key": "cloud.google.com/gke-spot",
    "operator": "Equal",
    "value": "true",
    "effect": "NoSchedule",
}
BLANKET = {"operator": "Exists"}


def of_yaml(text: str) -> list[Any]:
    return list(load_all_yaml(text))


def deployment(
    name: str, *, namespace: str = "default", replicas: int = 1, cpu: str = "100m", **spec: Any
) -> Any:
    """A Deployment of pods that only wait."""
    return _from(
        "apps/v1",
        "Deployment",
        name,
        namespace,
        {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": _template(name, cpu, spec),
        },
    )


def job(
    name: str,
    *,
    annotations: dict[str, str] | None = None,
    cpu: str = "100m",
    job_spec: dict[str, Any] | None = None,
    **spec: Any,
) -> Any:
    """A Job whose pod runs until its annotations or an eviction end it."""
    template = _template(name, cpu, {"restartPolicy": "Never", **spec})
    template["metadata"]["annotations"] = annotations or {}
    return _from("batch/v1", "Job", name, "default", {**(job_spec or {}), "template": template})


def _template(name: str, cpu: str, spec: dict[str, Any]) -> dict[str, Any]:
    gpus = spec.pop("gpus", 0)
    limits = {"nvidia.com/gpu": str(gpus)} if gpus else {}
    container = {
        "name": "main",
        "image": "example.invalid/work",
        "resources": {"requests": {"cpu": cpu}, "limits": limits},
    }
    return {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container], **spec}}


def _from(version: str, kind: str, name: str, namespace: str, spec: dict[str, Any]) -> Any:
    from lightkube.codecs import from_dict

    return from_dict(
        {
            "apiVersion": version,
            "kind": kind,
            "metadata": {"name": name, "namespace": namespace},
            "spec": spec,
        }
    )
