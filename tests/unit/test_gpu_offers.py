"""`spotproof gpus`: where GPUs are, how they are sold, and what is nearest."""

import json

import pytest

from spotproof_gke import distance, gpu_names
from spotproof_gke.capacity import Capacity
from spotproof_gke.cli import main
from spotproof_gke.gpu_offers import Offer, offers
from spotproof_gke.locations import REGIONS
from spotproof_gke.tables import table


def offer(machine_type: str, found: list[Offer]) -> Offer:
    return next(each for each in found if each.machine.name == machine_type)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("nvidia-l4", "nvidia-l4"),
        ("L4", "nvidia-l4"),
        ("nvidia-tesla-l4", "nvidia-l4"),
        ("a100", "nvidia-tesla-a100"),
        ("A100 80GB", "nvidia-a100-80gb"),
        ("h100", "nvidia-h100-80gb"),
        ("h100_mega_80gb", "nvidia-h100-mega-80gb"),
        ("t4", "nvidia-tesla-t4"),
        ("rtx-pro-6000", "nvidia-rtx-pro-6000"),
    ],
)
def test_gpus_are_known_by_what_people_call_them(said: str, meant: str) -> None:
    assert gpu_names.accelerator(said) == meant


@pytest.mark.parametrize(
    ("said", "near"),
    [("nvidia-l44", "nvidia-l4"), ("h1000", "nvidia-h100"), ("b2000", "nvidia-b200")],
)
def test_misspelt_gpu_leads_to_the_near_one(
    said: str, near: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["gpus", "--accelerator", said]) == 2

    assert f'did you mean "{near}' in capsys.readouterr().err


def test_gpu_that_is_there_so_fits_and_needs_nothing_else() -> None:
    found = offer("g2-standard-8", offers("nvidia-l4", "europe-west4", Capacity.SPOT))

    assert found.fits
    assert found.zones == ("europe-west4-a", "europe-west4-b", "europe-west4-c")
    assert not found.instead


def test_gpu_of_another_region_leads_to_the_nearest_and_to_another_gpu_here() -> None:
    wanted = offers("nvidia-tesla-a100", "northamerica-northeast2", Capacity.SPOT)
    here, there = offer("a2-highgpu-1g", wanted).instead

    assert "in northamerica-northeast2 (2 x nvidia-l4, 48 GB)" in here
    assert "a2-highgpu-1g in us-" in there
    assert " km away" in there


def test_gpu_that_is_not_sold_so_leads_to_the_machine_that_is() -> None:
    found = offer("a3-highgpu-1g", offers("nvidia-h100-80gb", "us-central1", Capacity.ON_DEMAND))

    assert found.fits is False
    assert found.why_not == "not sold as on-demand"
    here, there = found.instead
    assert here == "a3-highgpu-8g in us-central1 (same GPU, 640 GB)"
    assert there.startswith("a3-highgpu-8g in us-")
    assert "us-central1" not in there


def test_capacity_alone_leads_to_the_ways_it_is_sold() -> None:
    found = offer("a3-highgpu-1g", offers("nvidia-h100-80gb", None, Capacity.ON_DEMAND))

    assert found.instead == ("as flex-start, flex-start-queued, spot",)


def test_gpu_whose_zones_no_table_has_stays_unknown() -> None:
    [found] = offers("nvidia-tesla-v100", "us-central1")

    assert found.fits is None
    assert "no table lists" in found.why_not
    assert found.counts == (1, 2, 4, 8)


def test_region_alone_shows_what_fits_there() -> None:
    found = offers(None, "europe-west4", Capacity.ON_DEMAND)

    assert {each.fits for each in found} == {True, None}
    assert all(each.zones for each in found if each.fits)


def test_zone_counts_as_its_region(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gpus", "--accelerator", "l4", "--region", "us-east4-a", "--json"]) == 0

    said = json.loads(capsys.readouterr().out)
    assert said["region"] == "us-east4"
    assert said["accelerator"] == "nvidia-l4"
    assert said["offers"][0]["zones"] == ["us-east4-a", "us-east4-c"]


def test_text_says_what_gke_calls_the_gpu_and_where_it_is_from(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["gpus", "--accelerator", "h100", "--region", "us-east5"]) == 0

    out = capsys.readouterr().out
    assert "h100: GKE calls it nvidia-h100-80gb." in out
    assert "Source, read on 2026-" in out


def test_unknown_region_is_one_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gpus", "--region", "us-centrall1"]) == 2

    assert 'did you mean "us-central1"?' in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--accelerator", "--region"])
def test_name_that_is_empty_is_not_one_that_was_left_out(
    option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["gpus", option, ""]) == 2

    out, err = capsys.readouterr()
    assert not out
    assert f"{option} = ''" in err


def test_nothing_sold_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert [each for each in offers(None, "me-central1") if each.fits] == []
    assert main(["gpus", "--region", "me-central1"]) == 0

    assert "not known" in capsys.readouterr().out


def test_every_region_has_a_place() -> None:
    assert set(table("places")["places"]) == set(REGIONS)


@pytest.mark.parametrize(
    ("one", "other", "least", "most"),
    [
        ("europe-west1", "europe-west4", 200, 500),
        ("us-central1", "us-east4", 1400, 1900),
        ("asia-northeast1", "us-west2", 8000, 9500),
        ("us-central1", "us-central1", 0, 0),
    ],
)
def test_distances_are_about_right(one: str, other: str, least: int, most: int) -> None:
    assert least <= (distance.kilometres(one, other) or 0) <= most
    assert distance.kilometres(one, other) == pytest.approx(distance.kilometres(other, one))
