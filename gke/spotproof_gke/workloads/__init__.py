"""Kubernetes manifests of work that survives the loss of its node, as plain data.

Nothing here needs Pulumi or a cluster: each function takes checked values and returns a manifest,
in which a value that only the engine will know may stand as it is.
"""
