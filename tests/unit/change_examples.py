"""For each component, arguments to begin with, and one right change of each argument."""

from typing import Any

from tests.unit import workload_changes

PROJECT, ELSEWHERE = "acme-ml", "acme-other"
REGION = "us-central1"
ZONE = f"{REGION}-a"
REGIONS = (REGION, "europe-west4")

Args = dict[str, Any]
Change = Args | tuple[Args, Args]


NODES = f"pool-nodes@{PROJECT}.iam.gserviceaccount.com"

_POOL: Args = {
    "project": PROJECT,
    "cluster": "train",
    "cluster_location": REGION,
    "node_service_account": NODES,
}
_GPU = {**_POOL, "machine_type": "g2-standard-8", "max_nodes": 4}
_T4 = {"machine_type": "n1-standard-8", "accelerator": "nvidia-tesla-t4"}
_CPU = {**_POOL, "capacity": "spot", "machine_type": "n2-standard-8", "max_nodes": 4}
_CLUSTER: Args = {
    "project": PROJECT,
    "region": REGION,
    "network_id": "net",
    "subnetwork_id": "sub",
    # What a protected cluster does is said in its row; the others show what follows without.
    "deletion_protection": False,
}
_FLEX: Args = {"accelerators": {"nvidia-l4": 8}, "max_vcpus": 96, "max_memory_gb": 384}
_BUCKET: Args = {
    "project": PROJECT,
    "cluster_name": "train",
    "cluster_location": REGION,
    "workloads": ["training/trainer"],
}
_QUEUE: Args = {
    "project": PROJECT,
    "region": REGION,
    "publishers": ["batch/feeder"],
    "workers": ["batch/worker"],
}
_IDENTITY: Args = {
    "project": PROJECT,
    "service_account": "training/trainer",
    "project_number": "123456789012",
    "buckets": {"data": f"{PROJECT}-data"},
    "publishes_to": {"jobs": f"projects/{PROJECT}/topics/jobs"},
    "works_on": {"jobs": f"projects/{PROJECT}/subscriptions/jobs"},
}

_OF_POOL: dict[str, Change] = {
    "node_pool_name": {"node_pool_name": "workers"},
    "project": {"project": ELSEWHERE},
    "cluster": {"cluster": "other"},
    "cluster_location": {"cluster_location": REGIONS[1]},
    "node_service_account": {"node_service_account": NODES.replace("pool", "fresh")},
    "zones": {"zones": [ZONE]},
    "disk_size_gb": {"disk_size_gb": 300},
    "max_nodes": {"max_nodes": 8},
    "tables_out_of_date": {"tables_out_of_date": True},
}
_OF_WORK_POOL: dict[str, Change] = {
    **_OF_POOL,
    "disk_type": {"disk_type": "pd-ssd"},
    "node_labels": {"node_labels": {"team.example.com/purpose": "training"}},
    "node_taints": {"node_taints": [{"key": "team.example.com/dedicated"}]},
    "save_estimate_seconds": {"save_estimate_seconds": 10},
}
_OF_GPU_POOL: dict[str, Change] = {
    **_OF_WORK_POOL,
    "machine_type": {"machine_type": "g2-standard-12"},
    "accelerator": (
        {**_T4, "zones": [ZONE], "tables_out_of_date": True},
        {"accelerator": "nvidia-tesla-v100"},
    ),
    "gpus_per_node": (_T4, {"gpus_per_node": 2}),
    "gpu_driver_version": {"gpu_driver_version": "LATEST"},
}
_SHUTDOWN: dict[str, Change] = {
    "shutdown_grace_seconds": {"shutdown_grace_seconds": 120},
    "critical_shutdown_grace_seconds": (
        {"shutdown_grace_seconds": 120},
        {"critical_shutdown_grace_seconds": 30},
    ),
}
_OF_CLUSTER: dict[str, Change] = {
    "project": {"project": ELSEWHERE},
    "region": {"region": REGIONS[1]},
    "network_id": {"network_id": "net-2", "subnetwork_id": "sub-2"},
    "subnetwork_id": {"subnetwork_id": "sub-3"},
    "pods_range_name": {"pods_range_name": "pods-2"},
    "services_range_name": {"services_range_name": "services-2"},
    "cluster_name": {"cluster_name": "renamed"},
    "release_channel": {"release_channel": "RAPID"},
    "deletion_protection": {"deletion_protection": True},
    "maintenance_window": {"maintenance_window": {"duration_hours": 8}},
    "labels": {"labels": {"team": "research"}},
    "tables_out_of_date": {"tables_out_of_date": True},
}

EXAMPLES: dict[str, tuple[Args, dict[str, Change]]] = {
    **workload_changes.EXAMPLES,
    "AutopilotCluster": (_CLUSTER, _OF_CLUSTER),
    "CheckpointBucket": (
        _BUCKET,
        {
            "project": {"project": ELSEWHERE, "bucket_name": f"{PROJECT}-train-checkpoints"},
            "cluster_name": {"cluster_name": "other"},
            "cluster_location": {"cluster_location": REGIONS[1]},
            "bucket_name": {"bucket_name": f"{PROJECT}-elsewhere"},
            "region": {"region": REGION},
            "soft_delete_seconds": {"soft_delete_seconds": 604_800},
            "force_destroy": {"force_destroy": True},
            "workloads": {"workloads": ["training/trainer", "training/evaluator"]},
            "cluster_project": {
                "cluster_project": ELSEWHERE,
                "cluster_project_number": "210987654321",
            },
            "cluster_project_number": {"cluster_project_number": "210987654321"},
            "labels": {"labels": {"team": "research"}},
            "tables_out_of_date": {"tables_out_of_date": True},
        },
    ),
    "CpuPool": (
        _CPU,
        {
            **_OF_WORK_POOL,
            **_SHUTDOWN,
            "machine_type": {"machine_type": "n2-standard-16"},
            "capacity": {"capacity": "on-demand"},
            "min_nodes": {"min_nodes": 1},
            "max_node_lifetime_seconds": {"max_node_lifetime_seconds": 86_400},
        },
    ),
    "FlexStartPool": (
        _GPU,
        {
            **_OF_GPU_POOL,
            "max_node_lifetime_seconds": {"max_node_lifetime_seconds": 86_400},
            "compact_placement": (
                {"machine_type": "a3-ultragpu-8g", "zones": [f"{REGION}-b"]},
                {"compact_placement": True},
            ),
            "queued": {"queued": True},
        },
    ),
    "GkeCluster": (
        _CLUSTER,
        {**_OF_CLUSTER, "auto_provisioning": {"auto_provisioning": _FLEX}},
    ),
    "GpuPool": (
        {**_GPU, "capacity": "spot"},
        {
            **_OF_GPU_POOL,
            **_SHUTDOWN,
            "capacity": {"capacity": "on-demand"},
            "max_node_lifetime_seconds": {"max_node_lifetime_seconds": 86_400},
            "compact_placement": (
                {"capacity": "on-demand", "machine_type": "a2-highgpu-1g", "zones": [ZONE]},
                {"compact_placement": True},
            ),
            "min_nodes": {"min_nodes": 1},
            "nodes_per_zone": (
                {"max_nodes": None, "nodes_per_zone": 1},
                {"nodes_per_zone": 2},
            ),
            "initial_nodes_per_zone": {"initial_nodes_per_zone": 1},
            "location_policy": {"location_policy": "BALANCED"},
            "reservation": (
                {"capacity": "reservation", "reservation": "ours"},
                {"reservation": "theirs"},
            ),
            "auto_repair": {"auto_repair": False},
            "max_surge": {"max_surge": 1},
            "max_unavailable": {"max_unavailable": 2},
        },
    ),
    "Network": (
        {"project": PROJECT, "region": REGION},
        {
            "project": {"project": ELSEWHERE},
            "region": {"region": REGIONS[1]},
            "network_name": {"network_name": "renamed"},
            "nodes_cidr": {"nodes_cidr": "10.0.0.0/19"},
            "pods_cidr": {"pods_cidr": "10.16.0.0/14"},
            "services_cidr": {"services_cidr": "10.9.0.0/20"},
            "tables_out_of_date": {"tables_out_of_date": True},
        },
    ),
    "ProjectServices": (
        {"project": PROJECT, "services": ["compute.googleapis.com"]},
        {
            "project": {"project": ELSEWHERE},
            "services": {"services": ["compute.googleapis.com", "container.googleapis.com"]},
        },
    ),
    "SpotGpuPool": (
        _GPU,
        {
            **_OF_GPU_POOL,
            **_SHUTDOWN,
            "max_node_lifetime_seconds": {"max_node_lifetime_seconds": 86_400},
        },
    ),
    "SystemNodePool": (
        _POOL,
        {
            **_OF_POOL,
            "machine_type": {"machine_type": "e2-standard-8"},
            "disk_type": {"disk_type": "pd-ssd"},
            "min_nodes": {"min_nodes": 2},
        },
    ),
    "WorkQueue": (
        _QUEUE,
        {
            "project": {"project": ELSEWHERE},
            "region": {"region": REGIONS[1]},
            "queue_name": {"queue_name": "renamed"},
            "retention_seconds": {"retention_seconds": 604_800},
            "ack_deadline_seconds": {"ack_deadline_seconds": 600},
            "refuse_other_regions": {"refuse_other_regions": True},
            "publishers": {"publishers": ["batch/feeder", "batch/second"]},
            "workers": {"workers": ["batch/worker", "batch/second"]},
            "cluster_project": {"cluster_project": ELSEWHERE},
            "cluster_project_number": {"cluster_project_number": "210987654321"},
            "labels": {"labels": {"team": "research"}},
            "tables_out_of_date": {"tables_out_of_date": True},
        },
    ),
    "WorkloadIdentity": (
        _IDENTITY,
        {
            "project": {"project": ELSEWHERE},
            "service_account": {"service_account": "training/evaluator"},
            "buckets": {
                "buckets": {"data": f"{PROJECT}-data", "more": f"{PROJECT}-more"},
            },
            "publishes_to": {
                "publishes_to": {
                    "jobs": f"projects/{PROJECT}/topics/jobs",
                    "more": f"projects/{PROJECT}/topics/more",
                },
            },
            "works_on": {
                "works_on": {
                    "jobs": f"projects/{PROJECT}/subscriptions/jobs",
                    "more": f"projects/{PROJECT}/subscriptions/more",
                },
            },
            "project_number": {"project_number": "210987654321"},
            "google_service_account": {"google_service_account": "trainer"},
        },
    ),
}
"""By component: the arguments to begin with, and by argument what is changed.

A pair begins with arguments of its own. A change holds more than the argument itself where the
argument can't change alone.
"""
