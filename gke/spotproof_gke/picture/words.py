"""What pictures say of each kind of capacity."""

from collections.abc import Mapping

from spotproof_gke.grace import NOTICE_SECONDS
from spotproof_gke.picture.overview import Kind
from spotproof_gke.rules.pool_capacity import NODE_LIFETIME_SECONDS

_DAYS = NODE_LIFETIME_SECONDS[1] // 86_400

MEANING: Mapping[Kind, str] = {
    Kind.ON_DEMAND: "stays until you remove it",
    Kind.RESERVATION: "stays, out of what you reserved",
    Kind.SPOT: f"can be taken away, with {NOTICE_SECONDS} s of notice",
    Kind.FLEX_START: f"comes when there is room, ends after {_DAYS} days at most",
    Kind.QUEUED: f"all nodes of a request at once, for {_DAYS} days at most",
    Kind.AUTO: "GKE makes pools as pods ask for them",
    Kind.UNKNOWN: "known once the update has run",
    Kind.NOWHERE: "no pool of the cluster fits these workloads",
}
"""What a kind means for what runs there."""
