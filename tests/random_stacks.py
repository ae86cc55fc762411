"""Random stack configurations: right ones, and ones with mistakes of the kinds that people make."""

import random
from collections.abc import Callable
from typing import Any

from spotproof_gke.accelerators import ACCELERATORS, MACHINE_TYPES, MachineType
from spotproof_gke.capacity import Capacity
from spotproof_gke.locations import REGIONS
from tests.random_workloads import inside

WORDS = ("", "off", "Train_1", "x" * 41, "us", 7, 1.5, -1, True, None, [], {}, ["a"], {"a": 1})
"""Values that are wrong nearly everywhere."""


def stack(seed: int) -> dict[str, Any]:
    """Configuration of a stack by full key; the same for the same seed."""
    chance = random.Random(seed)
    region = chance.choice(sorted(REGIONS))
    config: dict[str, Any] = {
        "gcp:project": f"random-project-{seed}",
        "spotproof:region": region,
        "spotproof:clusterName": f"random-{seed}",
    }
    if chance.random() < 0.15:
        config["spotproof:mode"] = "autopilot"
    for key, make in _SECTIONS.items():
        if "spotproof:mode" in config and (key.endswith("Pools") or key in _STANDARD_ONLY):
            continue
        if chance.random() < 0.4:
            config[f"spotproof:{key}"] = make(chance, region)
    config |= inside(seed, config)
    if "shutdownGraceSeconds" in str(config):
        # The emulated cloud has it in the rapid channel alone.
        config["spotproof:releaseChannel"] = "RAPID"
    for _ in range(chance.choice((0, 0, 0, 1, 2))):
        _spoil(chance, config)
    return config


def _machine(chance: random.Random, region: str) -> tuple[MachineType, bool]:
    here = [m for m in MACHINE_TYPES.values() if m.zones_in(region)]
    careless = not here or chance.random() < 0.1
    return chance.choice(list(MACHINE_TYPES.values()) if careless else here), careless


def _gpu_pool(chance: random.Random, region: str) -> dict[str, Any]:
    machine, careless = _machine(chance, region)
    pool: dict[str, Any] = {"machineType": machine.name, "maxNodes": chance.randint(1, 4)}
    if chance.random() < 0.4:
        zones = machine.zones if careless else machine.zones_in(region)
        pool["zones"] = chance.sample(zones, chance.randint(1, len(zones)))
    if chance.random() < 0.3:
        pool["gpuDriverVersion"] = chance.choice(("DEFAULT", "LATEST"))
    if chance.random() < 0.3:
        pool["diskSizeGb"] = chance.choice((50, 100, 500))
    if chance.random() < 0.2:
        pool["nodeTaints"] = [{"key": "acme.example.com/team", "value": "vision"}]
    return pool


def _named(make: Callable[..., dict[str, Any]], most: int = 3) -> Callable[..., dict[str, Any]]:
    return lambda chance, region: {
        f"pool-{number}": make(chance, region) for number in range(chance.randint(0, most))
    }


def _spot_pool(chance: random.Random, region: str) -> dict[str, Any]:
    pool = _gpu_pool(chance, region)
    if chance.random() < 0.3:
        pool |= {"shutdownGraceSeconds": 120, "saveEstimateSeconds": chance.choice((60, 120))}
    return pool


def _flex_start_pool(chance: random.Random, region: str) -> dict[str, Any]:
    pool = _gpu_pool(chance, region)
    if chance.random() < 0.4:
        pool["queued"] = True
    elif chance.random() < 0.5:
        pool["maxNodeLifetimeSeconds"] = chance.choice((600, 86_400, 604_801))
    return pool


def _any_gpu_pool(chance: random.Random, region: str) -> dict[str, Any]:
    capacity = chance.choice([kind.value for kind in Capacity])
    pool = {**_gpu_pool(chance, region), "capacity": capacity}
    if capacity == "reservation" or chance.random() < 0.05:
        pool["reservation"] = "mine"
    if chance.random() < 0.2:
        pool["compactPlacement"] = True
    if chance.random() < 0.2:
        pool["nodesPerZone"] = pool.pop("maxNodes")
    if chance.random() < 0.2:
        pool["minNodes"] = 1
    return pool


def _cpu_pool(chance: random.Random, _: str) -> dict[str, Any]:
    return {
        "capacity": chance.choice(("spot", "spot", "flex-start", "on-demand", "reservation")),
        "machineType": chance.choice(("n2-standard-8", "e2-standard-4", "c3-standard-22")),
        "maxNodes": chance.randint(1, 4),
        "minNodes": chance.choice((0, 0, 1)),
    }


def _queues(chance: random.Random, _: str) -> dict[str, Any]:
    return {
        name: {
            "retentionSeconds": chance.choice((604_800, 2_678_400)),
            "workers": chance.sample(("batch/a", "batch/b", "c"), chance.randint(0, 2)),
        }
        for name in ("jobs", "evals")[: chance.randint(0, 2)]
    }


def _identities(chance: random.Random, _: str) -> dict[str, Any]:
    one: dict[str, Any] = {"serviceAccount": "training/trainer", "checkpoints": True}
    if chance.random() < 0.2:
        one["worksOn"] = ["jobs"]
    if chance.random() < 0.2:
        one["googleServiceAccount"] = "random-trainer"
    return {"trainer": one}


def _auto_provisioning(chance: random.Random, region: str) -> dict[str, Any]:
    here = sorted({m.accelerator for m in MACHINE_TYPES.values() if m.zones_in(region)})
    known = here if here and chance.random() < 0.9 else list(ACCELERATORS)
    accelerators = chance.sample(known, min(len(known), chance.randint(1, 2)))
    return {
        "accelerators": {name: chance.choice((16, 32, 64)) for name in accelerators},
        "maxVcpus": chance.choice((64, 4096)),
        "maxMemoryGb": chance.choice((256, 65536)),
    }


_STANDARD_ONLY = ("systemPool", "autoProvisioning")
_SECTIONS: dict[str, Any] = {
    "releaseChannel": lambda chance, _: chance.choice(("RAPID", "REGULAR", "STABLE", "EXTENDED")),
    "deletionProtection": lambda chance, _: chance.random() < 0.5,
    "labels": lambda chance, _: {"team": chance.choice(("research", "vision"))},
    "systemPool": lambda chance, _: {"minNodes": chance.randint(1, 3), "maxNodes": 4},
    "spotPools": _named(_spot_pool),
    "flexStartPools": _named(_flex_start_pool, 1),
    "gpuPools": _named(_any_gpu_pool, 1),
    "cpuPools": _named(_cpu_pool, 1),
    "workQueues": _queues,
    "identities": _identities,
    "autoProvisioning": _auto_provisioning,
    "network": lambda chance, _: {"podsCidr": chance.choice(("10.16.0.0/14", "10.32.0.0/13"))},
    "maintenanceWindow": lambda chance, _: {"days": chance.sample(("MO", "TU", "SA", "SU"), 3)},
    "checkpoints": lambda chance, region: {
        "region": region,
        "softDeleteSeconds": chance.choice((0, 604_800, 7_776_000)),
        "workloads": chance.sample(("a/b", "training/trainer", "a-b/c"), chance.randint(0, 3)),
    },
}


def _spoil(chance: random.Random, config: dict[str, Any]) -> None:
    """Drop, misspell or replace one value at any depth."""
    holder: dict[str, Any] = config
    key = chance.choice(sorted(holder))
    while isinstance(holder[key], dict) and holder[key] and chance.random() < 0.8:
        holder = holder[key]
        key = chance.choice(sorted(holder))
    kind = chance.random()
    if kind < 0.2:
        del holder[key]
    elif kind < 0.4 and not key.startswith("gcp:"):
        holder[f"{key}x"] = holder.pop(key)
    else:
        holder[key] = chance.choice(WORDS)
