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
