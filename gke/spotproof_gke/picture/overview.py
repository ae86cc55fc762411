"""What a picture of a stack shows, before it is drawn."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from typing import Any

from spotproof_gke.plurals import counted

FORMAT_VERSION = 1
"""Version of the JSON form; it changes when a key goes or means something else."""


class Kind(str, Enum):
    """How nodes are obtained, in the order in which pictures show it."""

    ON_DEMAND = "on-demand"
    RESERVATION = "reservation"
    SPOT = "Spot"
    FLEX_START = "flex-start"
    QUEUED = "flex-start, queued"
    AUTO = "auto-provisioning"
    UNKNOWN = "capacity not known"
    NOWHERE = "no pool"


class Tone(str, Enum):
    """What sort of pods an entry is about."""

    SYSTEM = "system"
    ANY = "any"
    ASKING = "asking"
    WORK = "work"
    WARNING = "warning"


@dataclass(frozen=True)
class Pods:
    """Pods that may run somewhere.

    Attributes:
        name: What they are called.
        tone: What sort of pods they are.
        detail: Further words, or "".
        certain: Whether it is known that they may run there.
    """

    name: str
    tone: Tone
    detail: str = ""
    certain: bool = True


@dataclass(frozen=True)
class Card:
    """A node pool, or what stands in the place of one: a name, and lines about it."""

    name: str
    lines: Sequence[str] = ()


@dataclass(frozen=True)
class Lane:
    """Node pools of one capacity that let the same pods in.

    Attributes:
        kind: How the nodes are obtained.
        gate: What keeps pods out, in words; "" when there is nothing to say.
        pods: What may run there.
        pools: The pools.
    """

    kind: Kind
    gate: str
    pods: Sequence[Pods]
    pools: Sequence[Card]


@dataclass(frozen=True)
class Cluster:
    """A cluster: its name, words about it, and its lanes."""

    name: str
    about: str
    lanes: Sequence[Lane] = ()


class Verdict(str, Enum):
    """Whether something lies where it is used."""

    MATCH = "match"
    MISMATCH = "mismatch"
    OPEN = "open"


@dataclass(frozen=True)
class Item:
    """A bucket, a queue or an identity.

    Attributes:
        name: Its name in the cloud, else in the program.
        lines: Words about it.
        verdict: Whether all is well with it; `OPEN` when there is nothing to judge.
    """

    name: str
    lines: Sequence[str] = ()
    verdict: Verdict = Verdict.OPEN


@dataclass(frozen=True)
class Overview:
    """All that a picture shows.

    Attributes:
        title: What the picture is of.
        about: Where it comes from, in words.
        networks: Names of the networks, with their regions.
        clusters: The clusters.
        buckets: The buckets.
        queues: The queues.
        identities: Who may reach what.
        notes: What is not shown, in sentences.
    """

    title: str
    about: str
    networks: Sequence[str] = ()
    clusters: Sequence[Cluster] = ()
    buckets: Sequence[Item] = ()
    queues: Sequence[Item] = ()
    identities: Sequence[Item] = ()
    notes: Sequence[str] = ()

    def summary(self) -> str:
        """One sentence for those who do not see the picture."""
        lanes = [lane for cluster in self.clusters for lane in cluster.lanes]
        counts: dict[str, int] = {}
        for lane in lanes:
            if lane.pools and lane.kind is not Kind.AUTO:
                counts[lane.kind.value] = counts.get(lane.kind.value, 0) + len(lane.pools)
        pools = ", ".join(f"{count} {kind}" for kind, count in counts.items())
        holding = f" with node pools ({pools})" if pools else ""
        words = [counted(len(self.clusters), "cluster") + holding]
        words += [counted(len(self.buckets), "bucket"), counted(len(self.queues), "queue")]
        identities = len(self.identities)
        words.append(f"{identities:,} identit{'y' if identities == 1 else 'ies'}")
        return f"{self.title}: {', '.join(words)}."


def as_json(overview: Overview) -> dict[str, Any]:
    """The overview for a program; keys as the attributes of `Overview` and its parts."""
    return {"version": FORMAT_VERSION, **_plain(overview)}


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return value.value if isinstance(value, Enum) else value
