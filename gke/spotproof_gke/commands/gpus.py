"""The command line of `spotproof gpus`."""

from collections.abc import Iterator
from typing import Annotated, Any

import typer
from rich.text import Text

from spotproof_gke import gpu_names
from spotproof_gke.capacity import Capacity
from spotproof_gke.commands.plain_table import print_table
from spotproof_gke.commands.terminal import Json, console, print_json
from spotproof_gke.gpu_offers import Offer, offers
from spotproof_gke.locations import REGIONS, is_zone, region_of
from spotproof_gke.problems import Problem, did_you_mean, raise_if_any
from spotproof_gke.tables import table

MOST_REGIONS = 4
"""More regions than these are counted in the text, and not named."""

EPILOG = "\n\n".join(
    (
        "examples:",
        "spotproof gpus --accelerator l4 --region europe-west4  # is it there, and how",
        "spotproof gpus --accelerator h100 --region us-central1 --capacity on-demand",
        "spotproof gpus --region us-east4 --capacity spot  # all that this region has as Spot",
        "exit codes: 0 answered, also when nothing fits; 2 wrong usage",
    )
)


def gpus(
    accelerator: Annotated[
        str | None,
        typer.Option(metavar="GPU", help="As GKE names it, or short: nvidia-l4, l4, h100."),
    ] = None,
    region: Annotated[
        str | None, typer.Option(metavar="REGION", help="Where it is wanted.")
    ] = None,
    capacity: Annotated[Capacity | None, typer.Option(help="How it is wanted.")] = None,
    json_: Json = False,
) -> None:
    """Show which GPU machines there are, where, how they are sold, and what is nearest else.

    Answers from dated tables, offline. That a machine type is sold somewhere does not mean that
    one is free there now.
    """
    wanted = None
    if accelerator is not None:
        wanted = gpu_names.accelerator(accelerator, "--accelerator")
    place = None if region is None else _region(region)
    found = offers(wanted, place, capacity)
    if json_:
        print_json(_as_json(wanted, place, capacity, found))
        return
    out = console()
    if accelerator and wanted != accelerator:
        out.print(Text(f"{accelerator}: GKE calls it {wanted}.\n"))
    if not found:
        kind = f" as {capacity.value}" if capacity else ""
        out.print(Text(f"Nothing with a GPU is sold{kind} in {place or 'any region'}.\n"))
    else:
        columns = ("machine type", "GPUs", "GB, most", "zones" if place else "regions", "sold as")
        print_table(out, columns, _rows(found, place), numbers=("GB, most",))
        out.print()
        for each in found:
            if each.why_not:
                out.print(Text(_nearest(each)))
        if any(each.why_not for each in found):
            out.print()
    for line in _sources():
        out.print(Text(line), soft_wrap=True)


def _region(given: str) -> str:
    lower = given.strip().lower()
    found = region_of(lower) if is_zone(lower) else lower
    problems: list[Problem] = []
    if found not in REGIONS:
        fix = did_you_mean(found, REGIONS)
        problems.append(Problem("--region", given, "is no known region", fix))
    raise_if_any("GPUs", problems)
    return found


def _rows(found: list[Offer], region: str | None) -> Iterator[tuple[str, ...]]:
    for each in found:
        machine = each.machine
        yield (
            "N1 machines" if each.is_attached else machine.name,
            f"{', '.join(map(str, each.counts))} x {machine.accelerator}",
            str(machine.gpu_memory_gb // machine.gpus * max(each.counts)),
            _where(each, region),
            ", ".join(_kinds(each)),
        )


def _where(offer: Offer, region: str | None) -> str:
    if offer.fits is None:
        return "not known"
    if region:
        return ", ".join(zone.rpartition("-")[2] for zone in offer.zones) or "none"
    if len(offer.regions) > MOST_REGIONS:
        return f"{len(offer.regions)} regions"
    return ", ".join(offer.regions)


def _kinds(offer: Offer) -> list[str]:
    return [
        kind.value
        for kind in Capacity
        if kind in offer.machine.obtainable and kind is not Capacity.FLEX_START_QUEUED
    ]


def _nearest(offer: Offer) -> str:
    name = offer.machine.accelerator if offer.is_attached else offer.machine.name
    instead = "; ".join(offer.instead)
    return f"{name}: {offer.why_not}." + (f" Nearest: {instead}." if instead else "")


def _sources() -> list[str]:
    return [
        f"Source, read on {table(name)['read_on']}: {table(name)['source']}."
        for name in ("machine_types", "zones", "attachable_gpus")
    ] + ["Flex-start is sold queued too. Zones of GPUs that N1 machines take are incomplete."]


def _as_json(
    accelerator: str | None, region: str | None, capacity: Capacity | None, found: list[Offer]
) -> dict[str, Any]:
    return {
        "accelerator": accelerator,
        "region": region,
        "capacity": capacity.value if capacity else None,
        "offers": [
            {
                "machineType": each.machine.name,
                "attached": each.is_attached,
                "accelerator": each.machine.accelerator,
                "gpus": list(each.counts),
                "gpuMemoryGb": each.machine.gpu_memory_gb,
                "vcpus": each.machine.vcpus,
                "memoryGb": each.machine.memory_gb,
                "regions": list(each.regions),
                "zones": list(each.zones),
                "soldAs": [kind.value for kind in Capacity if kind in each.machine.obtainable],
                "fits": each.fits,
                "whyNot": each.why_not or None,
                "instead": list(each.instead),
            }
            for each in found
        ],
        "sources": _sources(),
    }
