"""A program of as many resources as its configuration says: clusters, pools, and others in turn.

The configuration `bench:resources` counts all, `bench:clusters` and `bench:pools` those two kinds.
Nothing here breaks a policy: the first pool of each cluster is on-demand, the others are tainted.
"""

import pulumi
from pulumi_gcp import compute, container, pubsub, serviceaccount, storage

PROJECT = "acme-ml"
REGION = "us-central1"
SPOT = "cloud.google.com/gke-spot"

config = pulumi.Config("bench")
clusters_wanted, pools_wanted = config.require_int("clusters"), config.require_int("pools")
others_wanted = config.require_int("resources") - clusters_wanted - pools_wanted


def others():
    """Endless groups of resources that need each other, one resource at a time."""
    number = 0
    while True:
        name = f"g{number:04}"
        network = compute.Network(f"{name}-net", name=f"{name}-net", auto_create_subnetworks=False)
        yield network
        yield compute.Subnetwork(
            f"{name}-nodes",
            name=f"{name}-nodes",
            network=network.id,
            region=REGION,
            ip_cidr_range="10.0.0.0/20",
            secondary_ip_ranges=[
                {"range_name": "pods", "ip_cidr_range": "10.4.0.0/14"},
                {"range_name": "services", "ip_cidr_range": "10.8.0.0/20"},
            ],
        )
        account = serviceaccount.Account(f"{name}-sa", account_id=f"{name}-trainer")
        yield account
        labels = {"spotproof-cluster": "c0000", "spotproof-cluster-location": REGION}
        bucket = storage.Bucket(
            f"{name}-bucket",
            name=f"acme-{name}-checkpoints",
            location="US-CENTRAL1",
            uniform_bucket_level_access=True,
            labels={**labels, "spotproof-role": "checkpoints"},
            lifecycle_rules=[{"action": {"type": "Delete"}, "condition": {"age": 30}}],
        )
        yield bucket
        yield storage.BucketIAMMember(
            f"{name}-writer",
            bucket=bucket.name,
            role="roles/storage.objectUser",
            # Of the account's inputs: a provider that does nothing knows no email.
            member=pulumi.Output.format(
                "serviceAccount:{0}@{1}.iam.gserviceaccount.com", account.account_id, PROJECT
            ),
        )
        topic = pubsub.Topic(f"{name}-topic", name=f"{name}-topic", labels={"team": "research"})
        yield topic
        yield pubsub.Subscription(
            f"{name}-sub", name=f"{name}-sub", topic=topic.id, ack_deadline_seconds=60
        )
        number += 1


def cluster(number: int) -> container.Cluster:
    """A private Standard cluster."""
    name = f"c{number:04}"
    return container.Cluster(
        name,
        name=name,
        location=REGION,
        remove_default_node_pool=True,
        initial_node_count=1,
        deletion_protection=False,
        networking_mode="VPC_NATIVE",
        datapath_provider="ADVANCED_DATAPATH",
        ip_allocation_policy={
            "cluster_secondary_range_name": "pods",
            "services_secondary_range_name": "services",
        },
        private_cluster_config={"enable_private_nodes": True},
        release_channel={"channel": "REGULAR"},
        workload_identity_config={"workload_pool": f"{PROJECT}.svc.id.goog"},
        resource_labels={"team": "research"},
    )


def pool(number: int, owner: container.Cluster) -> container.NodePool:
    """The first pools are the clusters' on-demand ones, the others Spot with GPUs."""
    name = f"p{number:04}"
    if number < clusters_wanted:
        return container.NodePool(
            name,
            name=name,
            cluster=owner.id,
            location=REGION,
            node_count=1,
            node_config={"machine_type": "e2-standard-4", "disk_size_gb": 100},
        )
    return container.NodePool(
        name,
        name=name,
        cluster=owner.id,
        location=REGION,
        node_locations=[f"{REGION}-a", f"{REGION}-b"],
        initial_node_count=0,
        autoscaling={
            "total_min_node_count": 0,
            "total_max_node_count": 8,
            "location_policy": "ANY",
        },
        management={"auto_repair": True, "auto_upgrade": True},
        node_config={
            "machine_type": "g2-standard-8",
            "spot": True,
            "disk_size_gb": 200,
            "oauth_scopes": ["https://www.googleapis.com/auth/cloud-platform"],
            "guest_accelerators": [{"type": "nvidia-l4", "count": 1}],
            "labels": {"team": "research"},
            "taints": [{"key": SPOT, "value": "true", "effect": "NO_SCHEDULE"}],
        },
    )


made = others()
for _ in range(others_wanted):
    next(made)
clusters = [cluster(number) for number in range(clusters_wanted)]
for number in range(pools_wanted):
    pool(number, clusters[number % clusters_wanted])
