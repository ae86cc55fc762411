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

CHECKPOINT_LOCATION_ENV = "SPOTPROOF_CHECKPOINT_LOCATION"
"""Environment variable: where a run keeps its checkpoints, `gs://BUCKET/PREFIX` or a path."""

SAVE_ESTIMATE_ENV = "SPOTPROOF_SAVE_ESTIMATE_SECONDS"
"""Environment variable: how long the program takes to save itself, in seconds."""

TERMINATION_BUDGET_ENV = "SPOTPROOF_TERMINATION_BUDGET_SECONDS"
"""Environment variable: what a pod has between SIGTERM and the end of its node, in seconds."""

NODE_LIFETIME_ENV = "SPOTPROOF_NODE_LIFETIME_SECONDS"
"""Environment variable: how long a node lives from its start, in seconds; unset when unknown."""

SUBSCRIPTION_ENV = "SPOTPROOF_SUBSCRIPTION"
"""Environment variable: the queue of a worker, `projects/PROJECT/subscriptions/NAME`."""

DATABASE_URL_ENV = "SPOTPROOF_DATABASE_URL"
"""Environment variable: address of the database that takes results; always from a Secret."""
