"""The words in which questions are asked and answered."""

from enum import Enum


class Kind(str, Enum):
    """What sort of work it is."""

    TRAINING = "training"
    BATCH = "batch"
    STATELESS = "stateless"
    CI = "ci"
    NOTEBOOK = "notebook"
    STATEFUL = "stateful"
    SYSTEM = "system"


class ClusterMode(str, Enum):
    """What cluster there is to run it on."""

    STANDARD = "standard"
    AUTOPILOT = "autopilot"
    NONE = "none"


class Strategy(str, Enum):
    """What to take."""

    SPOT = "spot"
    FLEX_START = "flex-start"
    FLEX_START_QUEUED = "flex-start-queued"
    CHAIN = "fallback-chain"
    SPLIT = "spot-and-on-demand"
    ON_DEMAND = "on-demand"
    RESERVATION = "reservation"
    NEITHER = "neither"


class Instead(str, Enum):
    """What to do where neither Spot nor flex-start is right."""

    ON_DEMAND = "on-demand"
    RESERVATION = "reservation"
    SYSTEM_POOL = "system-pool"
    OTHER_PLACE = "other-place"
    NEWER_VERSION = "newer-version"
    FIND_OUT = "find-out"
    NOT_YET = "not-yet"
