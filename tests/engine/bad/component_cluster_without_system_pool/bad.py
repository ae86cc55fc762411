import spotproof

network = spotproof.Network("net", {"project": "acme-ml", "region": "us-central1"})
cluster = spotproof.GkeCluster(
    "train",
    {
        "project": "acme-ml",
        "region": "us-central1",
        "network_id": network.network_id,
        "subnetwork_id": network.subnetwork_id,
    },
)
nodes = {
    "project": "acme-ml",
    "cluster": cluster.cluster_id,
    "cluster_location": "us-central1",
    "node_service_account": cluster.node_service_account,
}
spotproof.SpotGpuPool("l4", {**nodes, "machine_type": "g2-standard-8", "max_nodes": 4})
spotproof.CheckpointBucket(
    "ckpt",
    {"project": "acme-ml", "cluster_name": "train", "cluster_location": "us-central1"},
)
