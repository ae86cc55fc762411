from pulumi_gcp import storage

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
spotproof.SystemNodePool(
    "system",
    {
        "project": "acme-ml",
        "cluster": cluster.cluster_id,
        "cluster_location": "us-central1",
        "node_service_account": cluster.node_service_account,
    },
)
storage.Bucket("ckpt", location="US-CENTRAL1", labels={"spotproof-cluster": cluster.cluster_name})
