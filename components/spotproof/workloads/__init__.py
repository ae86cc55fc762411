"""Components inside the cluster: work that survives the loss of its nodes, and what it runs on.

They need a Kubernetes provider, which they take from their parent or from the option `providers`.
"""
