"""Named scenarios of how often a node is taken away (`data/interruption_scenarios.yaml`)."""

from dataclasses import dataclass

from spotproof_gke.tables import table

_TABLE = "interruption_scenarios"


@dataclass(frozen=True)
class Scenario:
    """How often and how unevenly nodes are taken away.

    Attributes:
        name: Its name, `own` for a rate that its user has counted.
        per_node_hour: Interruptions of one node in an hour.
        sigma: Standard deviation of the logarithm of a node's time up.
        burst_share: Of all losses, the share in bursts that take several nodes at once.
        burst_nodes: How many nodes a burst takes.
        burst_window_seconds: The time in which a burst takes them.
    """

    name: str
    per_node_hour: float
    sigma: float
    burst_share: float
    burst_nodes: int
    burst_window_seconds: float

    def between_seconds(self, nodes: int = 1) -> float:
        """Mean seconds between interruptions of a program that needs all of `nodes`.

        A burst counts once for as many of the nodes as it takes.
        """
        together = min(nodes, self.burst_nodes)
        events = self.per_node_hour * nodes * (1 - self.burst_share + self.burst_share / together)
        return 3600.0 / events

    def lifetime_sigma(self, nodes: int = 1) -> float | None:
        """`sigma` for one node; None, memoryless, where losses of several nodes overlap."""
        return self.sigma if nodes == 1 else None


def names() -> list[str]:
    """The names of all scenarios, the calmest first."""
    return list(table(_TABLE)["interruptions_per_node_hour"])


def scenario(name: str) -> Scenario:
    """The scenario called `name`, one of `names()`."""
    return _with_rate(name, table(_TABLE)["interruptions_per_node_hour"][name])


def own(per_node_hour: float) -> Scenario:
    """A scenario with a rate of one's own, in interruptions per node and hour."""
    return _with_rate("own", per_node_hour)


def _with_rate(name: str, per_node_hour: float) -> Scenario:
    facts = table(_TABLE)
    return Scenario(
        name=name,
        per_node_hour=per_node_hour,
        sigma=facts["lognormal_sigma"],
        burst_share=facts["burst_share"],
        burst_nodes=facts["burst_nodes"],
        burst_window_seconds=facts["burst_window_seconds"],
    )
