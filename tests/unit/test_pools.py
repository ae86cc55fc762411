"""Pools of every capacity: what they declare, what they refuse, and how to land on them."""

from typing import Any, ClassVar

import pytest

import spotproof
from spotproof_gke.accelerators import MACHINE_TYPES
from spotproof_gke.capacity import Capacity
from spotproof_gke.rules.pool_capacity import pool_conflicts
from tests.unit.declared import Declared, declare, only

NODE_POOL = "gcp:container/nodePool:NodePool"
PLACE: dict[str, Any] = {
    "project": "acme-ml",
    "cluster": "shared",
    "cluster_location": "us-central1",
    "node_service_account": "nodes@acme-ml.iam.gserviceaccount.com",
}
L4 = {**PLACE, "machine_type": "g2-standard-8"}
H100 = {**PLACE, "machine_type": "a3-highgpu-8g"}
CPU = {**PLACE, "machine_type": "n2-standard-8", "max_nodes": 4}


def _pool(component: Any, args: dict[str, Any], **more: Any) -> Declared:
    return only(declare(lambda: component("pool", {**args, **more})), NODE_POOL)


def _gpu(capacity: str, **more: Any) -> Declared:
    size = {} if "nodes_per_zone" in more else {"max_nodes": 4}
    reserved = {"reservation": "h100s"} if capacity == "reservation" else {}
    return _pool(spotproof.GpuPool, {**L4, "capacity": capacity, **size, **reserved}, **more)


def _refusal(component: Any, args: dict[str, Any], **more: Any) -> str:
    with pytest.raises(ValueError, match=r"\d problem") as refused:
        declare(lambda: component("pool", {**args, **more}))
    return str(refused.value)


class TestEveryCapacity:
    @pytest.mark.parametrize("capacity", [kind.value for kind in Capacity])
    def test_what_is_declared_meets_every_demand_of_gke(self, capacity: str) -> None:
        assert list(pool_conflicts(_gpu(capacity).props)) == []

    @pytest.mark.parametrize("capacity", [kind.value for kind in Capacity])
    def test_a_pool_starts_empty_so_that_a_stock_out_is_no_failure(self, capacity: str) -> None:
        props = _gpu(capacity).props
        assert props["initialNodeCount"] == 0
        assert props["autoscaling"]["totalMinNodeCount"] == 0
        assert "nodeCount" not in props

    @pytest.mark.parametrize("capacity", [kind.value for kind in Capacity])
    def test_gpu_pools_state_zones_driver_and_metadata(self, capacity: str) -> None:
        props = _gpu(capacity).props
        (gpu,) = props["nodeConfig"]["guestAccelerators"]
        assert props["nodeLocations"]
        assert gpu["gpuDriverInstallationConfig"]["gpuDriverVersion"] == "DEFAULT"
        assert props["nodeConfig"]["metadata"] == {"disable-legacy-endpoints": "true"}

    def test_on_demand_carries_no_taint_but_the_gpus(self) -> None:
        (taint,) = _gpu("on-demand").props["nodeConfig"]["taints"]
        assert taint["key"] == "nvidia.com/gpu"

    def test_spot_is_said_of_spot_alone(self) -> None:
        for kind in Capacity:
            config = _gpu(kind.value).props["nodeConfig"]
            assert config.get("spot", False) is (kind is Capacity.SPOT)
            assert "preemptible" not in config


class TestFlexStart:
    def test_it_declares_what_the_how_to_asks_for(self) -> None:
        props = _pool(spotproof.FlexStartPool, L4, max_nodes=4).props
        assert props["nodeConfig"]["flexStart"] is True
        affinity = props["nodeConfig"]["reservationAffinity"]
        assert affinity == {"consumeReservationType": "NO_RESERVATION"}
        assert props["management"] == {"autoRepair": False, "autoUpgrade": True}
        assert props["autoscaling"]["locationPolicy"] == "ANY"
        assert "upgradeSettings" not in props
        assert "queuedProvisioning" not in props

    def test_the_plain_job_that_google_documents_lands_on_it(self) -> None:
        (taint,) = _pool(spotproof.FlexStartPool, L4, max_nodes=4).props["nodeConfig"]["taints"]
        assert taint["key"] == "nvidia.com/gpu", "tolerated by every pod that asks for a GPU"

    def test_queued_needs_no_further_word(self) -> None:
        props = _pool(spotproof.FlexStartPool, L4, max_nodes=4, queued=True).props
        assert props["queuedProvisioning"] == {"enabled": True}
        assert props["nodeConfig"]["flexStart"] is True
        assert props["nodeConfig"]["labels"] == {"cloud.google.com/gke-queued": "true"}
        affinity = props["nodeConfig"]["reservationAffinity"]
        assert affinity == {"consumeReservationType": "NO_RESERVATION"}

    def test_the_lifetime_is_the_nodes_and_in_seconds(self) -> None:
        more = {"max_nodes": 4, "max_node_lifetime_seconds": 86_400}
        props = _pool(spotproof.FlexStartPool, L4, **more).props
        assert props["nodeConfig"]["maxRunDuration"] == "86400s"

    def test_a_cpu_pool_keeps_ordinary_pods_out_by_a_taint_of_its_own(self) -> None:
        props = _pool(spotproof.CpuPool, CPU, capacity="flex-start").props
        (taint,) = props["nodeConfig"]["taints"]
        assert (taint["key"], taint["effect"]) == ("cloud.google.com/gke-flex-start", "NO_SCHEDULE")
        assert list(pool_conflicts(props)) == []


class TestCpuPool:
    @pytest.mark.parametrize("capacity", ["on-demand", "spot", "flex-start"])
    def test_what_is_declared_meets_every_demand_of_gke(self, capacity: str) -> None:
        props = _pool(spotproof.CpuPool, CPU, capacity=capacity).props
        assert list(pool_conflicts(props)) == []
        assert "guestAccelerators" not in props["nodeConfig"]

    def test_spot_workers_are_tainted(self) -> None:
        (taint,) = _pool(spotproof.CpuPool, CPU, capacity="spot").props["nodeConfig"]["taints"]
        assert taint["key"] == "cloud.google.com/gke-spot"

    @pytest.mark.parametrize(
        ("more", "words"),
        [
            ({"capacity": "reservation"}, "this is for GPU pools"),
            ({"capacity": "flex-start-queued"}, "this is for GPU pools"),
            ({"capacity": "Spot"}, 'did you mean "spot"?'),
            ({"capacity": "spot", "machine_type": "g2-standard-8"}, "have no GPUs or TPUs"),
            ({"capacity": "flex-start", "min_nodes": 1}, "min_nodes = 1: a flex-start pool scales"),
            ({"capacity": "on-demand", "shutdown_grace_seconds": 30}, "only Spot nodes have"),
        ],
    )
    def test_refusals(self, more: dict[str, Any], words: str) -> None:
        assert words in _refusal(spotproof.CpuPool, CPU, **more)


CONFLICTS: list[tuple[str, dict[str, Any], str]] = [
    ("flex-start", {"auto_repair": True}, "auto_repair = True: flex-start nodes are not repaired"),
    ("flex-start", {"nodes_per_zone": 1}, "nodes_per_zone = 1: a flex-start pool has no static"),
    ("flex-start", {"reservation": "r"}, "flex-start nodes never come from a reservation"),
    ("flex-start", {"location_policy": "BALANCED"}, "location_policy = 'BALANCED': a flex-start"),
    ("flex-start", {"min_nodes": 1}, "min_nodes = 1: a flex-start pool scales from zero"),
    ("flex-start", {"initial_nodes_per_zone": 1}, "a flex-start pool starts at zero"),
    ("flex-start", {"max_surge": 1}, "max_surge: GKE upgrades flex-start nodes by letting them"),
    ("flex-start", {"compact_placement": True}, "flex-start places only a3-ultragpu, a4, h4d"),
    ("flex-start", {"max_node_lifetime_seconds": 599}, "this is from 600 to 604800"),
    ("flex-start", {"shutdown_grace_seconds": 120}, "only Spot nodes have an extended shutdown"),
    ("flex-start-queued", {"min_nodes": 1}, "scales from zero"),
    ("flex-start-queued", {"compact_placement": True}, "queued GPU nodes are not placed compactly"),
    ("flex-start-queued", {"max_node_lifetime_seconds": 3600}, "each request states how long"),
    ("flex-start-queued", {"reservation": "r"}, "never come from a reservation"),
    ("spot", {"reservation": "r"}, "Spot nodes never come from a reservation"),
    ("spot", {"compact_placement": True}, "Spot capacity is too scattered"),
    ("spot", {"shutdown_grace_seconds": 60}, "GKE takes 0, 30, 120 seconds"),
    ("spot", {"shutdown_grace_seconds": 30, "critical_shutdown_grace_seconds": 30},
     "critical pods get less than all of the 30 seconds"),
    ("spot", {"critical_shutdown_grace_seconds": 10}, "a share of an extended shutdown alone"),
    ("on-demand", {"compact_placement": True}, "nodes are placed compactly in exactly one zone"),
    ("on-demand", {"nodes_per_zone": 1, "max_nodes": 4}, "a static number of nodes excludes"),
    ("on-demand", {"nodes_per_zone": 1, "min_nodes": 1}, "min_nodes = 1: a fixed number of nodes"),
    ("on-demand", {"nodes_per_zone": 1, "initial_nodes_per_zone": 1}, "is not scaled; remove it"),
    ("spot", {"nodes_per_zone": 1, "location_policy": "BALANCED"}, "(nodes_per_zone) is not"),
    ("on-demand", {"min_nodes": 5}, "min_nodes = 5: the least number of nodes is not above the"),
    ("on-demand", {"initial_nodes_per_zone": 2}, "the pool starts with 6 nodes, above the most"),
    ("on-demand", {"max_surge": 0, "max_unavailable": 0}, "the two together are at least 1"),
    ("on-demand", {"reservation": "r"}, "only the capacity reservation takes nodes from one"),
    ("reservation", {"reservation": None}, "the capacity reservation needs one"),
    ("reservation", {"reservation": "zones/x/y"}, "projects/PROJECT/reservations/NAME"),
]  # fmt: skip


@pytest.mark.parametrize(("capacity", "more", "words"), CONFLICTS)
def test_what_gke_would_refuse_after_twenty_minutes_is_refused_at_once(
    capacity: str, more: dict[str, Any], words: str
) -> None:
    size = {} if "nodes_per_zone" in more else {"max_nodes": 4}
    if capacity == "reservation":
        more = {"reservation": "h100s", **more}
    text = _refusal(spotproof.GpuPool, {**L4, "capacity": capacity, **size}, **more)
    assert words in text
    assert "1 problem" in text.splitlines()[0], text


@pytest.mark.parametrize(
    ("known_from_elsewhere", "words"),
    [
        ({"preemptible": True}, "the capacity spot"),
        ({"spot": True}, "SpotGpuPool"),
        ({"flex_start": True}, "FlexStartPool"),
        ({"max_run_duration": "1d"}, "it is the node's, not the job's"),
        ({"node_count": 3}, "nodes_per_zone"),
    ],
)
def test_an_argument_of_the_provider_leads_to_ours(
    known_from_elsewhere: dict[str, Any], words: str
) -> None:
    for component in (spotproof.GpuPool, spotproof.SpotGpuPool, spotproof.FlexStartPool):
        args = {**L4, "max_nodes": 4}
        if component is spotproof.GpuPool:
            args["capacity"] = "spot"
        assert words in _refusal(component, args, **known_from_elsewhere)


class TestMachines:
    @pytest.mark.parametrize("machine", MACHINE_TYPES.values(), ids=lambda m: m.name)
    def test_every_machine_type_of_the_table_makes_a_pool(self, machine: Any) -> None:
        (capacity, *_) = sorted(machine.obtainable)
        args = {**PLACE, "machine_type": machine.name, "capacity": capacity, "max_nodes": 2}
        args["cluster_location"] = machine.zones[0].rpartition("-")[0]
        if capacity is Capacity.RESERVATION:
            args["reservation"] = "mine"
        (gpu,) = _pool(spotproof.GpuPool, args).props["nodeConfig"]["guestAccelerators"]
        assert (gpu["type"], gpu["count"]) == (machine.accelerator, machine.gpus)

    @pytest.mark.parametrize(
        ("machine", "more", "words"),
        [
            ("g2-standard-8", {"gpus_per_node": 8}, "choose a machine type with 8: g2-standard-96"),
            ("n1-standard-8", {"accelerator": "nvidia-tesla-a100"}, "a2-highgpu-1g"),
            ("n2-standard-8", {"accelerator": "nvidia-tesla-t4"}, "attached to N1 machines alone"),
            ("n1-standard-8", {}, "nvidia-tesla-t4, nvidia-tesla-p4"),
            ("n1-standard-8", {"accelerator": "nvidia-tesla-t4", "gpus_per_node": 3}, "1, 2, 4 of"),
            ("n1-standard-96", {"accelerator": "nvidia-tesla-t4"}, "at most 48 vCPUs"),
            ("g2-standard-8", {"accelerator": "nvidia-tesla-l4"}, 'GKE calls it "nvidia-l4"'),
        ],
    )
    def test_impossible_pairs_are_refused_with_what_is_possible(
        self, machine: str, more: dict[str, Any], words: str
    ) -> None:
        args = {**PLACE, "machine_type": machine, "max_nodes": 2}
        assert words in _refusal(spotproof.SpotGpuPool, args, **more)

    def test_a_gpu_can_be_attached_to_an_n1_machine(self) -> None:
        more = {"machine_type": "n1-standard-8", "accelerator": "nvidia-tesla-t4", "max_nodes": 2}
        props = _pool(spotproof.SpotGpuPool, {**PLACE, **more}).props
        (gpu,) = props["nodeConfig"]["guestAccelerators"]
        assert (gpu["type"], gpu["count"]) == ("nvidia-tesla-t4", 1)
        assert props["nodeLocations"] == ["us-central1-a", "us-central1-c", "us-central1-f"]

    def test_what_is_not_sold_as_the_capacity_names_what_is(self) -> None:
        args = {**PLACE, "machine_type": "a4x-highgpu-4g", "max_nodes": 2}
        text = _refusal(spotproof.SpotGpuPool, args, cluster_location="us-east4")
        assert "only as reservation" in text


class TestTablesOutOfDate:
    """One argument turns what the tables do not list from an error into a warning."""

    NEW: ClassVar[dict[str, Any]] = {
        **PLACE,
        "machine_type": "g9-standard-8",
        "accelerator": "nvidia-l9",
        "gpus_per_node": 2,
        "zones": ["us-central1-q"],
        "max_nodes": 2,
    }

    def test_an_unlisted_machine_type_is_an_error_that_says_how_to_go_on(self) -> None:
        assert "set tables_out_of_date if you know better" in _refusal(
            spotproof.SpotGpuPool, self.NEW
        )

    def test_it_is_taken_on_trust(self) -> None:
        props = _pool(spotproof.SpotGpuPool, self.NEW, tables_out_of_date=True).props
        (gpu,) = props["nodeConfig"]["guestAccelerators"]
        assert (gpu["type"], gpu["count"]) == ("nvidia-l9", 2)
        assert props["nodeLocations"] == ["us-central1-q"]

    @pytest.mark.parametrize("word", ["true", "yes", 1])
    def test_what_is_not_true_or_false_is_refused_not_ignored(self, word: object) -> None:
        new = {**self.NEW, "tables_out_of_date": word}
        text = _refusal(spotproof.SpotGpuPool, new)
        assert f"tables_out_of_date = {word!r}: this is true or false" in text

    def test_trust_does_not_reach_a_zone_of_another_region(self) -> None:
        new = {**self.NEW, "zones": ["us-east1-b"], "tables_out_of_date": True}
        assert "not zones of us-central1" in _refusal(spotproof.SpotGpuPool, new)

    def test_an_unlisted_zone_and_region_are_taken_too(self) -> None:
        args = {**L4, "max_nodes": 2, "tables_out_of_date": True, "zones": ["us-central1-z"]}
        assert _pool(spotproof.SpotGpuPool, args).props["nodeLocations"] == ["us-central1-z"]
        args = {**args, "cluster_location": "us-newest1", "zones": ["us-newest1-a"]}
        assert _pool(spotproof.SpotGpuPool, args).props["nodeLocations"] == ["us-newest1-a"]


class TestTaints:
    TEAM: ClassVar[dict[str, Any]] = {"key": "acme.example.com/team", "value": "vision"}

    def test_a_teams_own_taint_stands_beside_those_of_the_capacity(self) -> None:
        taints = _gpu("spot", node_taints=[self.TEAM]).props["nodeConfig"]["taints"]
        assert [taint["key"] for taint in taints] == [
            "cloud.google.com/gke-spot",
            "nvidia.com/gpu",
            "acme.example.com/team",
        ]

    @pytest.mark.parametrize(
        ("taint", "words"),
        [
            ({"key": "nvidia.com/gpu"}, "set by the component, by GKE or by Kubernetes"),
            ({"key": "cloud.google.com/gke-spot"}, "set by the component"),
            ({"key": "a b"}, "a taint key is"),
            ({"key": "a", "effect": "NO_SCHEDULE"}, "one of NoSchedule, PreferNoSchedule"),
            ({"value": "x"}, "node_taints[0].key: a text is required"),
            ("a=b", "node_taints[0] = 'a=b': this is a mapping"),
        ],
    )
    def test_refusals(self, taint: Any, words: str) -> None:
        args = {**L4, "max_nodes": 2, "node_taints": [taint]}
        assert words in _refusal(spotproof.SpotGpuPool, args)


class TestTermination:
    @pytest.mark.parametrize(
        ("more", "seconds"),
        [
            ({}, 15),
            ({"shutdown_grace_seconds": 120}, 105),
            ({"shutdown_grace_seconds": 120, "critical_shutdown_grace_seconds": 60}, 60),
        ],
    )
    def test_a_save_that_cannot_fit_is_an_error_with_the_numbers(
        self, more: dict[str, Any], seconds: int
    ) -> None:
        args = {**L4, "max_nodes": 2, **more}
        declare(lambda: spotproof.SpotGpuPool("p", {**args, "save_estimate_seconds": seconds}))
        text = _refusal(spotproof.SpotGpuPool, args, save_estimate_seconds=seconds + 1)
        assert f"save_estimate_seconds = {seconds + 1}: a pod has {seconds} s" in text

    def test_extended_shutdown_is_stated(self) -> None:
        kubelet = _gpu("spot", shutdown_grace_seconds=120).props["nodeConfig"]["kubeletConfig"]
        assert kubelet == {
            "shutdownGracePeriodSeconds": 120,
            "shutdownGracePeriodCriticalPodsSeconds": 15,
        }
