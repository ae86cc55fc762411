"""Random settings of what is inside a stack's cluster: mostly right for the stack around it."""

import random
from collections.abc import Callable, Iterator
from typing import Any

from spotproof_gke.accelerators import MACHINE_TYPES, MachineType
from spotproof_gke.capacity import Capacity

NAMESPACES = ("training", "batch", "a", "a-b")
CAPACITY_OF = {"spotPools": "spot", "flexStartPools": "flex-start"}
CAPACITIES = {"spotJobs": "spot", "flexStartJobs": "flex-start", "queueWorkers": "spot"}
Settings = dict[str, Any]


def inside(seed: int, config: Settings) -> Settings:
    """The settings of a stack for its objects in the cluster, by full key."""
    found = _Inside(seed, config).settings()
    return {f"spotproof:{key}": value for key, value in found.items()}


class _Inside:
    """One stack whose objects are made up."""

    def __init__(self, seed: int, config: Settings) -> None:
        # Of its own, so that the rest of a stack stays as it is when more is made up here.
        self.chance = random.Random(f"inside {seed}")
        self.config = {key.partition(":")[2]: value for key, value in config.items()}
        self.region = self.config["region"]
        self.autopilot = self.config.get("mode") == "autopilot"
        self.classes: list[str] = []
        self.queues: list[str] = []

    def settings(self) -> Settings:
        found: Settings = {}
        makers: dict[str, tuple[str, Callable[[], Settings]]] = {
            "capacityClasses": ("class", self._class),
            "kueueQueues": ("queue", self._queue),
            "spotJobs": ("spot", self._spot_job),
            "flexStartJobs": ("flex", self._flex_start_job),
            "queueWorkers": ("workers", self._workers),
        }
        for key, (name, make) in makers.items():
            if self._happens(0.4) and (self._may_have(key) or self._happens(0.02)):
                count = self.chance.choice((1, 1, 2))
                found[key] = {f"{name}-{number}": make() for number in range(count)}
            if key == "capacityClasses":
                self.classes = list(found.get(key) or ())
        if found or self._happens(0.5):
            found["workloads"] = self.chance.choice(("none", "render", "render", "render", "apply"))
        if self._happens(0.2):
            found["createNamespaces"] = self._happens(0.5)
        if self._happens(0.1):
            found["workloadsFolder"] = "rendered/random"
        if found.get("workloads", "none") != "none" and self._happens(0.6):
            found["systemPlacementGuard"] = self._guard()
        return found

    def _may_have(self, section: str) -> bool:
        """Whether the stack has nodes for what is in this section."""
        if section in ("capacityClasses", "kueueQueues"):
            return any(machine.zones_in(self.region) for machine in MACHINE_TYPES.values())
        return bool(list(self._places(CAPACITIES[section], queued=False)))

    def _happens(self, probability: float) -> bool:
        return self.chance.random() < probability

    def _some(self, **maybe: Any) -> Settings:
        """Each of these settings, or not."""
        return {key: value for key, value in maybe.items() if self._happens(0.25)}

    def _guard(self) -> Settings:
        return self._some(
            systemNamespaces=self.chance.sample(("platform", "ingress-*", "a-*"), 2),
            gkeAction=self.chance.choice(("audit", "deny")),
            criticalAction=self.chance.choice(("audit", "deny")),
            spotClasses=["theirs"],
            spotTaintKeys=["acme.example.com/spot"],
            criticalPriorityClasses=self.chance.choice(([], ["theirs"])),
            exemptDaemonSets=False,
            exemptUsers=["ada@example.com"],
            guardName="ours",
            enabled=self._happens(0.7),
        )

    def _machine(self, capacity: str) -> MachineType:
        """One that is sold so in the region; any, where none is."""
        here = [
            machine
            for machine in MACHINE_TYPES.values()
            if machine.zones_in(self.region) and Capacity(capacity) in machine.obtainable
        ]
        return self.chance.choice(here or list(MACHINE_TYPES.values()))

    def _class(self) -> Settings:
        priorities: list[Settings] = []
        for _ in range(self.chance.randint(1, 4)):
            capacity = self.chance.choice(("spot", "flex-start", "on-demand"))
            one: Settings = {"capacity": capacity, "machineType": self._machine(capacity).name}
            if capacity == "flex-start":
                one |= self._some(maxNodeLifetimeSeconds=86_400)
            if one not in priorities:
                priorities.append(one)
        return {"priorities": priorities, **self._some(autoCreatePools=False)}

    def _queue(self) -> Settings:
        capacity = self.chance.choice(("flex-start-queued", "flex-start-queued", "spot"))
        machine = self._machine(capacity)
        flavor = {
            "name": f"flavor-{len(self.queues)}",
            "capacity": capacity,
            "accelerator": machine.accelerator,
            "gpus": self.chance.choice((8, 16, 64)),
            "cpu": "416",
            "memory": "3744Gi",
            **self._some(ephemeralStorage="1000Gi"),
        }
        name = f"door-{len(self.queues)}"
        self.queues.append(name)
        return {"flavors": [flavor], "localQueues": [f"{one}/{name}" for one in NAMESPACES[:3]]}

    def _program(self, reaching: list[str]) -> Settings:
        namespace, _, account = (
            self.chance.choice(reaching).partition("/")
            if reaching
            else (self.chance.choice(NAMESPACES), "", "nobody")
        )
        return {
            "namespace": namespace,
            "image": f"{self.region}-docker.pkg.dev/random-project/images/program:1",
            "command": ["python", "-m", "program"],
            "serviceAccount": account,
            **self._some(
                arguments=["--fast"],
                env={"MODE": "fast"},
                secretEnv={"HF_TOKEN": {"secret": "hub", "key": "token"}},
                cpu=self.chance.choice(("4", "500m")),
                memory=self.chance.choice(("16Gi", "1.5Gi")),
                ephemeralStorage="50Gi",
                sharedMemory="1Gi",
                labels={"team": "vision"},
                annotations={"acme.example.com/owner": "ada"},
            ),
        }

    def _training(self) -> Settings:
        job = {
            **self._program(self._reaching_checkpoints()),
            "deadlineSeconds": self.chance.choice((86_400, 1_209_600)),
            **self._some(
                backoffLimit=self.chance.choice((1, 100)),
                ttlSecondsAfterFinished=3600,
                saveEstimateSeconds=self.chance.choice((5, 14)),
            ),
        }
        place = self.chance.random()
        if place > 0.9 or not (self._reaching_checkpoints() or place < 0.05):
            job["checkpointLocation"] = "gs://theirs/run"
        elif place > 0.8:
            job |= {"checkpointLocation": "/checkpoints", "checkpointClaim": "ours"}
        return job

    def _spot_job(self) -> Settings:
        return {**self._training(), **self._nodes("spot"), **self._some(kind="job")}

    def _flex_start_job(self) -> Settings:
        job = {**self._training(), "expectedDurationSeconds": 3600}
        if self._happens(0.3) and (self.queues or self._has("flexStartPools", queued=True)):
            job |= self._nodes("flex-start", queued=True)
            asked: Settings = {"provisioningRequest": True}
            job |= {"queue": self.chance.choice(self.queues)} if self.queues else asked
        else:
            job |= self._nodes("flex-start")
        return {**job, **self._some(pods=2, nodeLifetimeSeconds=86_400)}

    def _workers(self) -> Settings:
        queues: Settings = self.config.get("workQueues") or {}
        reaching = [one for queue in queues.values() for one in queue["workers"] if "/" in one]
        one = {**self._program(reaching), **self._nodes("spot"), "maxWorkers": 50}
        one["database"] = {"secret": "results", "key": "url"}
        if reaching:
            account = f"{one['namespace']}/{one['serviceAccount']}"
            fitting = [key for key, queue in queues.items() if account in queue["workers"]]
            one["workQueue"] = self.chance.choice(fitting)
        else:
            one["subscription"] = "projects/theirs/subscriptions/jobs"
        return one | self._some(minWorkers=1, messagesPerWorker=3, scaler="hpa")

    def _reaching_checkpoints(self) -> list[str]:
        found: list[str] = list((self.config.get("checkpoints") or {}).get("workloads") or ())
        for one in (self.config.get("identities") or {}).values():
            found.append(one["serviceAccount"])
        return found

    def _has(self, section: str, queued: bool = False) -> bool:
        pools = self.config.get(section) or {}
        return any(bool(pool.get("queued")) is queued for pool in pools.values())

    def _nodes(self, capacity: str, *, queued: bool = False) -> Settings:
        """Where a workload's nodes come from; anywhere when the stack has none of the kind."""
        places = list(self._places(capacity, queued))
        return self.chance.choice(places) if places else {}

    def _places(self, capacity: str, queued: bool) -> Iterator[Settings]:
        if self.autopilot:
            yield _gpus(self._machine(capacity))
            return
        for section in ("spotPools", "flexStartPools", "gpuPools", "cpuPools"):
            for pool in (self.config.get(section) or {}).values():
                of = CAPACITY_OF.get(section) or pool.get("capacity")
                wanted = f"{capacity}-queued" if queued else capacity
                if (f"{of}-queued" if pool.get("queued") else of) == wanted:
                    machine = MACHINE_TYPES.get(pool["machineType"])
                    yield _gpus(machine) if machine else {}
        for name in (self.config.get("autoProvisioning") or {}).get("accelerators") or ():
            if Capacity(capacity) in _sold_as(name):
                yield {"accelerator": name, "nodes": "auto-provisioning"}
        for name in self.classes if not queued else ():
            yield {"computeClass": name, "gpus": 1}


def _sold_as(accelerator: str) -> set[Capacity]:
    sold = [one.obtainable for one in MACHINE_TYPES.values() if one.accelerator == accelerator]
    return {capacity for several in sold for capacity in several}


def _gpus(machine: MachineType) -> Settings:
    return {"accelerator": machine.accelerator, "gpus": machine.gpus}
