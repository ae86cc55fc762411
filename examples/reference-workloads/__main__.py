"""The workloads of `runtime/workloads`, on nodes that may go at any time.

Their images are built out of `runtime/workloads/*/Containerfile`; what a pod runs is the entry
point of its image. With `renderTo` the objects are written to a folder instead of a cluster.
"""

import pulumi
import pulumi_kubernetes

import spotproof

config = pulumi.Config()
images = config.require("images")
checkpoints = config.require("checkpoints")

cluster = pulumi_kubernetes.Provider(
    "cluster",
    kubeconfig=config.get_secret("kubeconfig"),
    render_yaml_to_directory=config.get("renderTo"),
)
options = pulumi.ResourceOptions(providers=[cluster])
trainer = {
    "namespace": "training",
    "service_account": "training/trainer",
    "image": f"{images}/trainer:1",
    "accelerator": "nvidia-l4",
}

spotproof.SpotJob(
    "sums",
    {
        **trainer,
        "arguments": ["--steps", "200000"],
        "checkpoint_location": f"{checkpoints}/sums",
        "save_estimate_seconds": 5,
        "deadline_seconds": 14 * 86_400,
    },
    options,
)
spotproof.FlexStartJob(
    "sums-at-once",
    {
        **trainer,
        "arguments": ["--steps", "20000", "--loader-workers", "2"],
        "shared_memory": "1Gi",
        "checkpoint_location": f"{checkpoints}/sums-at-once",
        "node_lifetime_seconds": 86_400,
        "expected_duration_seconds": 43_200,
        "deadline_seconds": 3 * 86_400,
    },
    options,
)
spotproof.QueueWorkers(
    "embedders",
    {
        "namespace": "batch",
        "service_account": "batch/worker",
        "image": f"{images}/batch-inference:1",
        "arguments": ["--messages", "10"],
        "cpu": "1",
        "subscription": config.require("subscription"),
        "database": {"secret": "results", "key": "url"},
        "max_workers": 20,
    },
    options,
)
