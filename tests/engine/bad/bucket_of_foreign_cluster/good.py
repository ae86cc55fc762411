from pulumi_gcp import storage

storage.Bucket(
    "ckpt",
    location="Asia-Northeast1",
    labels={
        "spotproof-cluster": "train",
        "spotproof-cluster-location": "asia-northeast1-c",
    },
)
