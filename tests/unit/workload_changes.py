"""For each component inside the cluster, one right change of each argument."""

from typing import Any

from tests.unit.workload_examples import (
    CAPACITY_CLASS,
    FLEX_START_JOB,
    KUEUE_QUEUES,
    L4,
    QUEUE_WORKERS,
    SPOT_JOB,
)

Args = dict[str, Any]
Change = Args | tuple[Args, Args]

_BY_CLASS: Args = {"accelerator": None, "gpus": 1, "compute_class": "gpus"}
_OF_PROGRAM: dict[str, Change] = {
    "namespace": {"namespace": "research"},
    "image": {"image": "europe-docker.pkg.dev/acme-ml/images/trainer:2"},
    "command": {"command": ["python", "-m", "other"]},
    "arguments": {"arguments": ["--epochs", "3"]},
    "env": {"env": {"EPOCHS": "3"}},
    "secret_env": {"secret_env": {"HF_TOKEN": {"secret": "hub", "key": "token"}}},
    "service_account": {"service_account": "training/trainer"},
    "cpu": {"cpu": "4"},
    "memory": {"memory": "16Gi"},
    "ephemeral_storage": {"ephemeral_storage": "50Gi"},
    "shared_memory": {"shared_memory": "8Gi"},
    "accelerator": {"accelerator": "nvidia-tesla-t4"},
    "gpus": {"gpus": 2},
    "nodes": {"nodes": "auto-provisioning"},
    "compute_class": (_BY_CLASS, {"compute_class": "other"}),
    "labels": {"labels": {"team": "research"}},
    "annotations": {"annotations": {"team.example.com/owner": "research"}},
    "tables_out_of_date": {"tables_out_of_date": True},
}
_OF_JOB: dict[str, Change] = {
    **_OF_PROGRAM,
    "checkpoint_location": {"checkpoint_location": "gs://acme-ml-checkpoints/run-2"},
    "checkpoint_claim": (
        {"checkpoint_location": "/runs", "checkpoint_claim": "runs"},
        {"checkpoint_claim": "other-runs"},
    ),
    "checkpoint_bucket": (
        {"checkpoint_location": "/runs", "checkpoint_bucket": "acme-runs"},
        {"checkpoint_bucket": "acme-other-runs"},
    ),
    "save_estimate_seconds": {"save_estimate_seconds": 10},
    "job_name": {"job_name": "renamed"},
    "deadline_seconds": {"deadline_seconds": 1_000_000},
    "backoff_limit": {"backoff_limit": 5},
    "ttl_seconds_after_finished": {"ttl_seconds_after_finished": 3600},
}
_GRACE: dict[str, Change] = {
    "shutdown_grace_seconds": {"shutdown_grace_seconds": 120},
    "critical_shutdown_grace_seconds": (
        {"shutdown_grace_seconds": 120},
        {"critical_shutdown_grace_seconds": 30},
    ),
}
_SPOT_FIRST = [{"capacity": "spot", **L4}, {"capacity": "on-demand", **L4}]
(_QUEUED,) = KUEUE_QUEUES["flavors"]

EXAMPLES: dict[str, tuple[Args, dict[str, Change]]] = {
    "CapacityClass": (
        CAPACITY_CLASS,
        {
            "cluster_location": {"cluster_location": "europe-west4"},
            "priorities": {"priorities": _SPOT_FIRST},
            "class_name": {"class_name": "renamed"},
            "when_unsatisfiable": {"when_unsatisfiable": "ScaleUpAnyway"},
            "auto_create_pools": {"auto_create_pools": False},
            "consolidation_delay_minutes": {"consolidation_delay_minutes": 10},
            "node_service_account": {
                "node_service_account": "pool-nodes@acme-ml.iam.gserviceaccount.com"
            },
            "gpu_driver_version": {"gpu_driver_version": "LATEST"},
            "cluster_version": {"cluster_version": "1.34.1-gke.1829001"},
            "tables_out_of_date": {"tables_out_of_date": True},
        },
    ),
    "FlexStartJob": (
        FLEX_START_JOB,
        {
            **_OF_JOB,
            "expected_duration_seconds": {"expected_duration_seconds": 90_000},
            "node_lifetime_seconds": {"node_lifetime_seconds": 172_800},
            "pods": {"pods": 2},
            "queue": ({"queue": "gpus"}, {"queue": "other"}),
            "provisioning_request": {"provisioning_request": True},
        },
    ),
    "KueueQueues": (
        KUEUE_QUEUES,
        {
            "flavors": {"flavors": [{**_QUEUED, "gpus": 32}]},
            "local_queues": {"local_queues": ["training/gpus", "training/second"]},
            "queue_name": {"queue_name": "renamed"},
            "tables_out_of_date": {"tables_out_of_date": True},
        },
    ),
    "QueueWorkers": (
        QUEUE_WORKERS,
        {
            **_OF_PROGRAM,
            **_GRACE,
            "workers_name": {"workers_name": "renamed"},
            "subscription": {"subscription": "projects/acme-ml/subscriptions/more"},
            "max_workers": {"max_workers": 60},
            "min_workers": {"min_workers": 1},
            "messages_per_worker": {"messages_per_worker": 4},
            "cooldown_seconds": {"cooldown_seconds": 600},
            "scaler": {"scaler": "hpa"},
            "database": {"database": {"secret": "results", "key": "address"}},
        },
    ),
    "SpotJob": (SPOT_JOB, {**_OF_JOB, **_GRACE, "kind": {"kind": "job"}}),
    "SystemPlacementGuard": (
        {"system_namespaces": ["platform"]},
        {
            "system_namespaces": {"system_namespaces": ["platform", "edge-*"]},
            "gke_action": {"gke_action": "deny"},
            "critical_action": {"critical_action": "deny"},
            "spot_classes": {"spot_classes": ["cheap"]},
            "spot_taint_keys": {"spot_taint_keys": ["acme.example/evictable"]},
            "critical_priority_classes": {"critical_priority_classes": ["vital"]},
            "exempt_daemon_sets": {"exempt_daemon_sets": False},
            "exempt_users": {"exempt_users": ["deployer@acme.example"]},
            "guard_name": {"guard_name": "renamed"},
        },
    ),
}
"""As in `change_examples`."""
