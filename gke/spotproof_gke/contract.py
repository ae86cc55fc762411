"""Names and numbers that the components, the packs and the runtime share."""

CLUSTER_LABEL = "spotproof-cluster"
"""Bucket label: name of the cluster that the bucket serves."""

CLUSTER_LOCATION_LABEL = "spotproof-cluster-location"
"""Bucket label: region or zone of the cluster that the bucket serves."""

ROLE_LABEL = "spotproof-role"
"""Bucket label: what the bucket is for."""

CHECKPOINTS_ROLE = "checkpoints"
"""Value of `ROLE_LABEL` on a checkpoint bucket."""

EXIT_DONE = 0
"""All the work is done; a Job counts the pod as complete and never starts it again."""

EXIT_ERROR = 1
"""An error that a retry may mend; counts against the Job's retry limit."""

EXIT_HOPELESS = 42
"""No retry can help, for example no newer checkpoint after several interruptions."""

EXIT_INTERRUPTED = 143
"""Stopped by SIGTERM after saving (128 + 15); a Job replaces the pod and does not count it."""

SAVE_ESTIMATE_VARIABLE = "SPOTPROOF_SAVE_ESTIMATE_SECONDS"
"""Environment variable: how long the program's save on SIGTERM takes, in seconds, 0 or more.

Stated by whoever measured it; absent says nothing. It must fit into the termination budget of the
pool, see `spotproof_gke.grace`.
"""

CHECKPOINT_LOCATION_VARIABLE = "SPOTPROOF_CHECKPOINT_LOCATION"
"""Environment variable: where checkpoints go, `gs://BUCKET/PATH` or a path on a mounted volume."""

TERMINATION_BUDGET_VARIABLE = "SPOTPROOF_TERMINATION_BUDGET_SECONDS"
"""Environment variable: what a pod has between SIGTERM and the end of its node, in seconds."""

NODE_LIFETIME_VARIABLE = "SPOTPROOF_NODE_LIFETIME_SECONDS"
"""Environment variable: how long a node lives from its start, in seconds; absent when unknown.

A program reads the start off the clock of the node's kernel, which containers share.
"""

SUBSCRIPTION_VARIABLE = "SPOTPROOF_SUBSCRIPTION"
"""Environment variable: the queue of a worker, `projects/PROJECT/subscriptions/NAME`."""

DATABASE_URL_VARIABLE = "SPOTPROOF_DATABASE_URL"
"""Environment variable: address of the database that takes results; always out of a Secret."""
