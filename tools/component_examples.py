"""The least program of each component: its required arguments, each with a value that fits."""

from typing import Any

import spotproof

_VALUES: dict[str, Any] = {
    "capacity": "spot",
    "checkpoint_location": "gs://my-project-checkpoints/run-1",
    "cluster": "train",
    "cluster_location": "us-central1",
    "cluster_name": "train",
    "deadline_seconds": 864_000,
    "expected_duration_seconds": 86_400,
    "flavors": [
        {
            "name": "l4",
            "capacity": "flex-start-queued",
            "accelerator": "nvidia-l4",
            "gpus": 16,
            "cpu": "128",
            "memory": "512Gi",
        }
    ],
    "image": "us-central1-docker.pkg.dev/my-project/images/trainer:1",
    "local_queues": ["training/gpus"],
    "machine_type": "g2-standard-8",
    "max_nodes": 4,
    "max_workers": 50,
    "namespace": "training",
    "network_id": "projects/my-project/global/networks/train",
    "node_service_account": "gke-nodes@my-project.iam.gserviceaccount.com",
    "priorities": [
        {"capacity": "spot", "machine_type": "g2-standard-8"},
        {"capacity": "flex-start", "machine_type": "g2-standard-8"},
    ],
    "project": "my-project",
    "region": "us-central1",
    "service_account": "training/trainer",
    "subnetwork_id": "projects/my-project/regions/us-central1/subnetworks/train",
    "subscription": "projects/my-project/subscriptions/texts",
    "system_namespaces": ["platform"],
}
"""A value for each argument that some component demands."""

_MORE: dict[str, dict[str, Any]] = {
    "CpuPool": {"machine_type": "n2-standard-8"},
    "FlexStartJob": {"accelerator": "nvidia-l4"},
    "GpuPool": {"capacity": "reservation", "reservation": "ours", "max_nodes": 2},
    "QueueWorkers": {"database": {"secret": "results", "key": "url"}},
    "SpotJob": {"accelerator": "nvidia-l4"},
    "WorkloadIdentity": {
        "buckets": {"checkpoints": "my-project-checkpoints"},
        "project_number": "123456789012",
    },
}
"""What a component's example says besides, or another value."""

_LINE = 100
"""How long the formatter lets a line be."""

_IN_CLUSTER = """import pulumi
import pulumi_kubernetes

import spotproof

cluster = pulumi_kubernetes.Provider(
    "cluster", kubeconfig="...", cluster_identifier="my-project/us-central1/train"
)
"""


def component_example(name: str, required: list[str]) -> str:
    """A program in Python that declares one component.

    Args:
        name: The component's class.
        required: The arguments that it demands, in the order of the page.

    Raises:
        KeyError: An argument that it demands has no value here.
    """
    more = _MORE.get(name, {})
    args = {key: _VALUES[key] for key in required} | more
    inside = getattr(spotproof, name).__module__.startswith("spotproof.workloads")
    lines = [_entry(f"{_python(key)}: ", value, 8) for key, value in args.items()]
    options = "\n    pulumi.ResourceOptions(providers=[cluster])," if inside else ""
    body = "\n".join(lines)
    first = _IN_CLUSTER if inside else "import spotproof\n\n"
    return f'{first}spotproof.{name}(\n    "example",\n    {{\n{body}\n    }},{options}\n)\n'


def _entry(before: str, value: Any, indent: int) -> str:
    """One entry of a dictionary or list, over several lines where one is too long."""
    line = f"{' ' * indent}{before}{_python(value)},"
    if len(line) <= _LINE or not isinstance(value, dict | list):
        return line
    pairs = value.items() if isinstance(value, dict) else [("", each) for each in value]
    inner = [_entry(f"{_python(k)}: " if k else "", v, indent + 4) for k, v in pairs]
    opened, closed = "{}" if isinstance(value, dict) else "[]"
    return "\n".join((f"{' ' * indent}{before}{opened}", *inner, f"{' ' * indent}{closed},"))


def _python(value: Any) -> str:
    """A value on one line, as the formatter would write it."""
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, int):
        return f"{value:_}" if value > 9999 else str(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_python(k)}: {_python(v)}" for k, v in value.items()) + "}"
    return "[" + ", ".join(_python(each) for each in value) + "]"
