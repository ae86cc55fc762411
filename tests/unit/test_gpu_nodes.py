import pytest

from spotproof_gke.accelerators import MACHINE_TYPES, MachineType
from spotproof_gke.capacity import Capacity
from spotproof_gke.gpu_nodes import ATTACHABLE, gpu_node, replacements


@pytest.mark.parametrize("machine", MACHINE_TYPES.values(), ids=lambda m: m.name)
def test_a_machine_type_may_be_named_with_its_own_gpu_or_without(machine: MachineType) -> None:
    assert gpu_node(machine.name) == machine
    assert gpu_node(machine.name, machine.accelerator, machine.gpus) == machine
    for wrong in ATTACHABLE:
        assert isinstance(gpu_node(machine.name, wrong), list)
    assert isinstance(gpu_node(machine.name, machine.accelerator, machine.gpus + 1), list)


@pytest.mark.parametrize("accelerator", ATTACHABLE)
def test_an_attachable_gpu_fits_machines_up_to_its_most_vcpus(accelerator: str) -> None:
    sizes = (1, 2, 4, 8, 16, 32, 64, 96)
    for count in (1, 2, 4, 8):
        fits = [
            isinstance(gpu_node(f"n1-standard-{size}", accelerator, count), MachineType)
            for size in sizes
        ]
        assert fits == sorted(fits, reverse=True), "what fits a machine fits every smaller one"


@pytest.mark.parametrize("machine", MACHINE_TYPES.values(), ids=lambda m: m.name)
@pytest.mark.parametrize("capacity", Capacity)
def test_a_replacement_has_the_memory_the_capacity_and_a_zone(
    machine: MachineType, capacity: Capacity
) -> None:
    for other in replacements(machine, machine.zones, capacity):
        assert other.name != machine.name
        assert other.gpu_memory_gb >= machine.gpu_memory_gb
        assert capacity in other.obtainable
        assert set(other.zones) & set(machine.zones)


def test_the_same_gpu_is_the_nearest_replacement() -> None:
    first, *_ = replacements(MACHINE_TYPES["g2-standard-8"], ["us-central1-a"], Capacity.SPOT)
    assert first.accelerator == "nvidia-l4"
