import pytest

from spotproof_gke import accelerators
from spotproof_gke.accelerators import MACHINE_TYPES, MachineType
from spotproof_gke.capacity import Capacity
from spotproof_gke.locations import REGIONS, region_of


@pytest.mark.parametrize("machine", MACHINE_TYPES.values(), ids=lambda m: m.name)
def test_every_machine_type_of_the_table_is_usable(machine: MachineType) -> None:
    assert machine.gpus in (1, 2, 4, 8, 16)
    assert machine.boot_disks
    assert machine.obtainable
    assert machine.zones
    assert len(set(machine.zones)) == len(machine.zones)
    for zone in machine.zones:
        assert zone in REGIONS[region_of(zone)]
        assert zone in machine.zones_in(region_of(zone))


def test_toronto_has_l4_in_two_zones_only() -> None:
    l4 = accelerators.machine_type("g2-standard-8")
    assert l4.zones_in("northamerica-northeast2") == (
        "northamerica-northeast2-a",
        "northamerica-northeast2-b",
    )


@pytest.mark.parametrize(
    ("name", "accelerator", "gpus"),
    [
        ("g2-standard-24", "nvidia-l4", 2),
        ("g2-standard-32", "nvidia-l4", 1),
        ("a2-highgpu-1g", "nvidia-tesla-a100", 1),
        ("a2-ultragpu-1g", "nvidia-a100-80gb", 1),
        ("a3-highgpu-8g", "nvidia-h100-80gb", 8),
    ],
)
def test_machine_types_that_are_often_taken_for_others(
    name: str, accelerator: str, gpus: int
) -> None:
    machine = accelerators.machine_type(name)
    assert (machine.accelerator, machine.gpus) == (accelerator, gpus)


def test_a_misspelt_machine_type_is_answered_with_the_nearest() -> None:
    with pytest.raises(KeyError, match='did you mean "g2-standard-8"'):
        accelerators.machine_type("g2-standrd-8")


def test_flex_start_is_sold_queued_too() -> None:
    for machine in MACHINE_TYPES.values():
        flexible = Capacity.FLEX_START in machine.obtainable
        assert flexible == (Capacity.FLEX_START_QUEUED in machine.obtainable)


def test_a_name_from_other_documentation_leads_to_gkes_name() -> None:
    clause = accelerators.right_accelerator_name("nvidia-a100-40gb", accelerators.ACCELERATORS)
    assert clause == 'GKE calls it "nvidia-tesla-a100"'
