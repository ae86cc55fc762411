"""Random stack configurations: right ones, and ones with mistakes of the kinds that people make."""

import random
from typing import Any

from spotproof_gke.accelerators import ACCELERATORS, MACHINE_TYPES
from spotproof_gke.locations import REGIONS

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
    for key, make in _SECTIONS.items():
        if chance.random() < 0.6:
            config[f"spotproof:{key}"] = make(chance, region)
    for _ in range(chance.choice((0, 0, 0, 1, 2))):
        _spoil(chance, config)
    return config


def _pools(chance: random.Random, region: str) -> dict[str, Any]:
    here = [m for m in MACHINE_TYPES.values() if m.zones_in(region)]
    pools: dict[str, Any] = {}
    for number in range(chance.randint(0, 3)):
        careless = not here or chance.random() < 0.1
        machine = chance.choice(list(MACHINE_TYPES.values()) if careless else here)
        pool: dict[str, Any] = {"machineType": machine.name, "maxNodes": chance.randint(1, 4)}
        if chance.random() < 0.4:
            zones = machine.zones if careless else machine.zones_in(region)
            pool["zones"] = chance.sample(zones, chance.randint(1, len(zones)))
        if chance.random() < 0.3:
            pool["gpuDriverVersion"] = chance.choice(("DEFAULT", "LATEST"))
        if chance.random() < 0.3:
            pool["diskSizeGb"] = chance.choice((50, 100, 500))
        pools[f"pool-{number}"] = pool
    return pools


def _auto_provisioning(chance: random.Random, region: str) -> dict[str, Any]:
    here = sorted({m.accelerator for m in MACHINE_TYPES.values() if m.zones_in(region)})
    known = here if here and chance.random() < 0.9 else list(ACCELERATORS)
    accelerators = chance.sample(known, min(len(known), chance.randint(1, 2)))
    return {
        "accelerators": {name: chance.choice((16, 32, 64)) for name in accelerators},
        "maxVcpus": chance.choice((64, 4096)),
        "maxMemoryGb": chance.choice((256, 65536)),
    }


_SECTIONS: dict[str, Any] = {
    "releaseChannel": lambda chance, _: chance.choice(("RAPID", "REGULAR", "STABLE", "EXTENDED")),
    "deletionProtection": lambda chance, _: chance.random() < 0.5,
    "labels": lambda chance, _: {"team": chance.choice(("research", "vision"))},
    "systemPool": lambda chance, _: {"minNodes": chance.randint(1, 3), "maxNodes": 4},
    "spotPools": _pools,
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
