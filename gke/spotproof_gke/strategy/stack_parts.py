"""Parts of a stack file: pools, classes, and what runs on them."""

from math import isinf
from typing import Any

from spotproof_gke import locations
from spotproof_gke.accelerators import MachineType
from spotproof_gke.capacity import Capacity, is_flexible
from spotproof_gke.rules.pool_capacity import NODE_LIFETIME_SECONDS
from spotproof_gke.strategy import hardware
from spotproof_gke.strategy.place import Place
from spotproof_gke.strategy.question import Question
from spotproof_gke.strategy.verdict import Verdict
from spotproof_gke.strategy.words import ClusterMode

PROJECT = "my-project"
"""Stands for the reader's project."""

STRETCH_SECONDS = 6 * 86_400
"""How long one stretch of work on a flex-start node is planned, a day below the node's own life."""

_DAY_SECONDS = 86_400
_ENDLESS_SECONDS = 30 * _DAY_SECONDS
_LIFETIME_SECONDS = NODE_LIFETIME_SECONDS[1]
_SEVERAL = 2
Settings = dict[str, Any]


class Parts:
    """One stack file in the making; `settings` grows with each part."""

    def __init__(self, place: Place, verdict: Verdict) -> None:
        self.place: Place = place
        self.verdict: Verdict = verdict
        self.question: Question = place.question
        self.autopilot: bool = self.question.mode is ClusterMode.AUTOPILOT
        self.settings: Settings = {"gcp:project": PROJECT}
        if self.autopilot:
            self.set("mode", "autopilot")
        self.set("region", place.region)
        self.set("clusterName", "work")

    def set(self, key: str, value: Any) -> None:
        """Set one key of the program."""
        self.settings[f"spotproof:{key}"] = value

    def machines(self, capacity: Capacity, most: int = _SEVERAL) -> list[MachineType]:
        """Machines of the accelerator to allow, of one size so that any of them does for a pod."""
        found = self.place.offer(capacity).machines
        return [m for m in found if m.gpus == found[0].gpus][:most]

    def pools(self, capacity: Capacity, most_nodes: int, **more: Any) -> None:
        """Hand-made pools, on Spot one for each of several machine types that do the work."""
        several = _SEVERAL if capacity is Capacity.SPOT else 1
        if self.question.accelerator is None:
            pools = self.settings.setdefault("spotproof:cpuPools", {})
            for name in hardware.CPU_MACHINES[:several]:
                said = {"capacity": capacity.value, "machineType": name, "maxNodes": most_nodes}
                pools[f"{capacity.value}-{name}"] = said
            return
        section, said = "gpuPools", {"capacity": capacity.value}
        if capacity is Capacity.SPOT:
            section, said = "spotPools", {}
        elif is_flexible(capacity):
            section, said = "flexStartPools", {}
        self._trust()
        pools = {
            machine.name: {
                **said, **self._type(machine, capacity), "maxNodes": most_nodes, **more,
            }
            for machine in self.machines(capacity, several)
        }  # fmt: skip
        self.set(section, pools)

    def compute_class(self, name: str) -> None:
        """A compute class of the verdict's chain, or of its reservation alone."""
        priorities: list[Settings] = []
        for capacity in self.verdict.chain or (Capacity.RESERVATION,):
            priorities += self._priorities(capacity)
        self._trust()
        self.set("capacityClasses", {name: {"priorities": priorities}})
        self.set("workloads", "apply")

    def auto_provisioning(self, machine: MachineType) -> None:
        """Limits of auto-provisioning with room for the work and one node more."""
        nodes = self.question.nodes + 1
        limits = {
            "accelerators": {machine.accelerator: machine.gpus * nodes},
            "maxVcpus": machine.vcpus * nodes + 64,
            "maxMemoryGb": machine.memory_gb * nodes + 256,
        }
        self.set("autoProvisioning", limits)

    def training(self, section: str, capacity: Capacity, **more: Any) -> str:
        """A training with its bucket; the path of its settings."""
        self.set("checkpoints", {"workloads": ["training/trainer"]})
        self.set("workloads", "apply")
        job = self._program("training", "trainer", capacity, more)
        self.set(section, {"run-1": {**job, **more}})
        return f"{section}.run-1"

    def workers(self, capacity: Capacity, **more: Any) -> str:
        """Workers with their queue; the path of their settings."""
        self.set("workQueues", {"jobs": {"workers": ["batch/worker"]}})
        self.set("workloads", "apply")
        workers = self._program("batch", "worker", capacity, more)
        most = {"workQueue": "jobs", "maxWorkers": max(self.question.nodes, 4)}
        self.set("queueWorkers", {"workers": {**workers, **most, **more}})
        return "queueWorkers.workers"

    def deadline_seconds(self) -> int:
        """Three times the work and at least a day, for waits and interruptions."""
        hours = self.question.hours
        if hours is None or isinf(hours):
            return _ENDLESS_SECONDS
        return max(int(3 * hours * 3600), _DAY_SECONDS)

    def durations(self) -> Settings:
        """How long work on flex-start nodes takes, and at most with its waits."""
        hours, seconds = self.question.hours, STRETCH_SECONDS
        if not self.verdict.stretches and hours is not None:
            seconds = max(int(hours * 3600), 1)
        deadline = max(self.deadline_seconds(), 2 * _LIFETIME_SECONDS)
        return {"expectedDurationSeconds": seconds, "deadlineSeconds": deadline}

    def _program(self, namespace: str, name: str, capacity: Capacity, more: Settings) -> Settings:
        image = f"{self.place.region}-docker.pkg.dev/{PROJECT}/images/{name}:1"
        found: Settings = {
            "namespace": namespace, "image": image, "command": ["python", "-m", name],
        }  # fmt: skip
        if self.question.accelerator is not None:
            if "computeClass" not in more:
                found["accelerator"] = self.question.accelerator
            found["gpus"] = self.question.gpus or self.machines(capacity)[0].gpus
        return found

    def _priorities(self, capacity: Capacity) -> list[Settings]:
        said: Settings = {"capacity": capacity.value}
        most = _SEVERAL
        if capacity is Capacity.RESERVATION:
            said["reservation"] = self.question.reservation
            most = 1
        if self.question.accelerator is None:
            return [{**said, "machineType": name} for name in hardware.CPU_MACHINES[:most]]
        machines = self.machines(capacity, most)
        return [{**said, **self._type(machine, capacity)} for machine in machines]

    def _type(self, machine: MachineType, capacity: Capacity) -> Settings:
        """A machine type, with one zone where it is for the reader to know which."""
        found: Settings = {"machineType": machine.name}
        if machine.attached_in is not None:
            found |= {"accelerator": machine.accelerator, "gpusPerNode": machine.gpus}
        zones = machine.zones_in(self.place.region)
        if not self.place.zones_known:
            found["zones"] = [locations.zones_of(self.place.region)[0]]
        elif capacity is Capacity.RESERVATION:
            found["zones"] = [zones[0]]
        return found

    def _trust(self) -> None:
        if not self.place.zones_known:
            self.set("tablesOutOfDate", True)
