"""What belongs to an answer: what else to allow, what to watch, versions, assumptions."""

from typing import Any

import pytest

from spotproof_gke import checkpoint_plan
from spotproof_gke.accelerators import MachineType
from spotproof_gke.capacity import Capacity
from spotproof_gke.gpu_names import KNOWN, SHORT, accelerator_named
from spotproof_gke.gpu_offers import offers
from spotproof_gke.problems import ProblemsError
from spotproof_gke.strategy import Answer, Strategy, advise, hardware, read_question
from spotproof_gke.strategy.sentences import duration, seconds

SPOT: dict[str, Any] = {
    "kind": "training", "interruptible": True, "checkpoints": True, "accelerator": "l4",
    "region": "europe-west4",
}  # fmt: skip
FLEX: dict[str, Any] = {
    "kind": "training", "interruptible": False, "start_flexible": True, "hours": 60,
    "accelerator": "l4", "region": "us-central1",
}  # fmt: skip


def answer(base: dict[str, Any], **changes: Any) -> Answer:
    return advise(read_question({**base, **changes}))


@pytest.mark.parametrize("accelerator", ["l4", "t4", "a100", "a100-80gb", "h100", "b200"])
def test_what_else_to_allow_can_be_had_here_and_does_the_work(accelerator: str) -> None:
    found = answer(SPOT, accelerator=accelerator, region="us-central1").also

    assert found is not None
    assert found.machine is not None
    assert all(zone.startswith("us-central1-") for zone in found.zones)
    for machine in found.machine_types:
        assert isinstance(machine, MachineType)
        assert Capacity.SPOT in machine.obtainable
        assert machine.zones_in("us-central1")
    assert all(region.startswith(("us-", "northamerica-")) for region in found.regions)
    assert "us-central1" not in found.regions


def test_another_gpu_says_that_it_takes_a_compute_class() -> None:
    found = answer(SPOT, accelerator="a100", region="us-central1").also

    assert found is not None
    assert {each.accelerator for each in found.machine_types if isinstance(each, MachineType)} > {
        "nvidia-tesla-a100"
    }
    assert "capacityClasses" in (found.how or "")


def test_zones_that_no_table_knows_are_said_to_be_unknown() -> None:
    found = answer(SPOT, accelerator="v100")

    assert found.strategy is Strategy.SPOT
    assert found.also is not None
    assert found.also.zones == ()
    assert "Which zones have nvidia-tesla-v100 is not in our tables." in found.also.unknown
    assert found.snippet is not None
    assert found.snippet.settings["spotproof:tablesOutOfDate"] is True


def test_eight_gpus_are_no_answer_where_one_is_needed() -> None:
    now = {"start_flexible": False, "hours": 3, "accelerator": "h100"}
    one, eight = answer(FLEX, **now, gpus=1), answer(FLEX, **now, gpus=8)

    assert one.strategy is Strategy.NEITHER
    assert "not sold on-demand" in one.reasons[-1].text
    assert eight.strategy is Strategy.ON_DEMAND


def test_the_interval_is_that_of_the_planner() -> None:
    found = answer(SPOT, save_seconds=10, nodes=2)
    planned = checkpoint_plan.plan(save_seconds=10, nodes=2)

    texts = [each.text for each in found.conditions]
    assert any(f"Save every {seconds(planned.interval.seconds)}:" in each for each in texts)
    assert not any("does not fit" in each for each in texts)
    assert any("does not fit" in each.text for each in answer(SPOT, save_seconds=60).conditions)


@pytest.mark.parametrize(
    ("version", "met"), [(None, [None, None]), ("1.33.5-gke.2000000", [True, True])]
)
def test_versions_are_judged_where_the_clusters_is_known(
    version: str | None, met: list[bool | None]
) -> None:
    found = answer(FLEX, accelerator="a100", version=version)

    assert [each.met for each in found.needs] == met
    assert any("version was not named" in each for each in found.assumptions) is (version is None)


def test_a_gpu_that_auto_provisioning_of_this_version_does_not_know_gets_a_pool() -> None:
    older = answer(FLEX, accelerator="rtx-pro-6000", version="1.34.0-gke.1000000")
    newer = answer(FLEX, accelerator="rtx-pro-6000", version="1.34.2-gke.1000000")

    assert older.snippet is not None
    assert newer.snippet is not None
    assert "spotproof:flexStartPools" in older.snippet.settings
    assert "spotproof:autoProvisioning" in newer.snippet.settings


def test_a_reservation_that_can_not_be_used_is_left_out_and_said() -> None:
    found = answer(SPOT, accelerator="h100", gpus=1, region="us-central1", reservation="ours")

    assert found.strategy is Strategy.SPOT
    assert any("reservation ours was left out" in each for each in found.assumptions)


def test_at_most_half_of_the_replicas_are_on_spot() -> None:
    found = answer({"kind": "stateless", "accelerator": "l4", "replicas": 7})

    assert any("At most 3 replicas on Spot" in each.text for each in found.conditions)
    assert found.snippet is not None
    assert "4 replicas that stay, and 3" in found.snippet.form


@pytest.mark.parametrize(
    ("given", "key"),
    [
        ({"kind": "batch", "replicas": 3}, "replicas"),
        ({"kind": "training", "latency_critical": True}, "latency_critical"),
        ({"kind": "stateless", "checkpoints": True}, "checkpoints"),
        ({"kind": "batch", "gpus": 2}, "gpus"),
        ({"kind": "batch", "accelerator": "l4", "gpus": 9}, "gpus"),
        ({"kind": "batch", "interruptible": "yes"}, "interruptible"),
        ({"kind": "batch", "hours": float("nan")}, "hours"),
        ({"kind": "batch", "accelerators": "l4"}, "accelerators"),
        ({}, "kind"),
    ],
)
def test_what_makes_no_sense_is_refused_by_its_key(given: dict[str, Any], key: str) -> None:
    with pytest.raises(ProblemsError) as caught:
        read_question(given)

    assert [each.key for each in caught.value.problems] == [key]


def test_a_gpu_is_known_by_short_and_by_wrong_names() -> None:
    assert [accelerator_named(name) for name in SHORT] == list(KNOWN)
    assert accelerator_named("H100") == accelerator_named("nvidia-h100-80gb-hbm3")
    assert accelerator_named("h100_mega") == "nvidia-h100-mega-80gb"
    assert accelerator_named("rtx") == "nvidia-rtx-pro-6000"
    assert accelerator_named("h1") is None


@pytest.mark.parametrize(
    ("hours", "words"),
    [(0.5, "30 minutes"), (2, "2 hours"), (47, "47 hours"), (60, "2.5 days"), (240, "10 days")],
)
def test_durations_read_as_one_says_them(hours: float, words: str) -> None:
    assert duration(hours) == words


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({}, "save-fits-extended"),
        ({"version": "1.35.1-gke.1"}, "save-fits-extended"),
        ({"version": "1.34.1-gke.1"}, "save-too-slow"),
        ({"mode": "autopilot"}, "save-too-slow"),
        ({"start_flexible": False, "version": "1.35.1-gke.1"}, "save-too-slow"),
        ({"save_seconds": 106}, "save-too-slow"),
        ({"save_seconds": 15}, None),
    ],
)
def test_shutdown_is_to_be_extended_where_that_can_be_done_and_helps(
    changes: dict[str, Any], name: str | None
) -> None:
    found = answer(SPOT, **{"save_seconds": 60, **changes})

    names = [each.name for each in found.conditions if each.name.startswith("save-")]
    assert names == ([name] if name else [])
    extends = any("shutdownGraceSeconds" in each.text for each in found.conditions)
    assert extends == (name == "save-fits-extended")


@pytest.mark.parametrize("mode", ["standard", "autopilot"])
def test_serving_on_an_old_cluster_is_not_split_with_nodes_that_are_not_sold(mode: str) -> None:
    serving = {"kind": "stateless", "replicas": 4, "accelerator": "h200", "mode": mode}

    old, new = (answer(serving, version=v) for v in ("1.31.5-gke.1", "1.36.1-gke.1"))

    assert old.strategy is Strategy.NEITHER
    assert old.snippet is None
    assert "1.33.3-gke.1136000" in (old.instead or "")
    assert Capacity.ON_DEMAND not in new.chain


def test_other_regions_are_the_nearest_as_gpus_has_them() -> None:
    found = answer(SPOT, region="europe-west4").also
    (offer, *_) = offers("nvidia-l4", "europe-north1")

    assert found is not None
    assert list(found.regions) == ["europe-west3", "europe-west1", "europe-west2", "europe-west6"]
    assert "How far" not in " ".join(found.unknown)
    elsewhere = answer(SPOT, region="europe-north1").also
    assert elsewhere is not None
    assert next(iter(elsewhere.regions)) in " ".join(offer.instead)


@pytest.mark.parametrize("hours", [100_001, 1e300])
def test_hours_beyond_reason_are_a_slip(hours: float) -> None:
    with pytest.raises(ProblemsError, match="say `forever`"):
        answer(FLEX, hours=hours)

    assert answer(FLEX, hours=100_000, checkpoints=True).strategy is Strategy.FLEX_START


@pytest.mark.parametrize(("hours", "spot"), [(5, True), (7.6, False)])
def test_work_without_saves_leaves_spot_where_it_takes_more_than_twice_as_long(
    hours: float, spot: bool
) -> None:
    found = answer(SPOT, checkpoints=False, start_flexible=True, hours=hours)

    assert (found.strategy is Strategy.SPOT) is spot


@pytest.mark.parametrize("accelerator", ["t4", "l4", "a100", "h100"])
def test_other_machines_have_no_more_than_twice_the_gpu_memory(accelerator: str) -> None:
    found = answer(SPOT, accelerator=accelerator, region="us-central1", gpus=1).also
    first = hardware.machines_with(answer(SPOT, accelerator=accelerator).question.accelerator or "")

    assert found is not None
    most = max(each.gpu_memory_gb for each in found.machine_types if isinstance(each, MachineType))
    assert most <= 2 * first[0].gpu_memory_gb


@pytest.mark.parametrize(
    ("nodes", "strategy"), [(1, Strategy.NEITHER), (4, Strategy.FLEX_START_QUEUED)]
)
def test_queued_nodes_are_older_than_flex_start_ones(nodes: int, strategy: Strategy) -> None:
    assert answer(FLEX, nodes=nodes, version="1.32.4-gke.1000000").strategy is strategy


@pytest.mark.parametrize(("hours", "seconds"), [(1, 86_400), (20, 216_000), (None, 2_592_000)])
def test_deadline_leaves_room_for_waits_and_interruptions(
    hours: float | None, seconds: int
) -> None:
    found = answer(SPOT, hours=hours).snippet

    assert found is not None
    assert found.settings["spotproof:spotJobs"]["run-1"]["deadlineSeconds"] == seconds


@pytest.mark.parametrize("name", ["l", "b2", "t", "", "nvidia-", "a10"])
def test_gpu_is_not_guessed_from_a_letter_or_two(name: str) -> None:
    assert accelerator_named(name) is None
