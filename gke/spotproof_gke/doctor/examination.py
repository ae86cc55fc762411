"""Everything that is looked at, in the order in which a report shows it."""

from collections.abc import Collection

from spotproof_gke.doctor.machine import machine_rows
from spotproof_gke.doctor.place import Place
from spotproof_gke.doctor.project import needed_plugins, project_rows
from spotproof_gke.doctor.row import Row, Status
from spotproof_gke.doctor.state import state_rows


def examine(
    place: Place, state: str = "", *, online: bool = False, skip: Collection[str] = ()
) -> list[Row]:
    """All rows, without those of a name in `skip`.

    Args:
        place: What is looked at.
        state: A file with an exported state; "" for the one that the backend keeps.
        online: Whether gcloud may be asked which APIs are enabled.
        skip: Names of rows to leave out.

    Raises:
        InputError: The state that was given is none.
    """
    rows = [*machine_rows(place, needed_plugins(place)), *project_rows(place)]
    if place.project_file or state:
        rows += state_rows(place, state, online=online)
    return [row for row in rows if row.name not in skip]


def all_fine(rows: Collection[Row]) -> bool:
    """Whether nothing is missing; what is unknown does not count."""
    return not any(row.status is Status.MISSING for row in rows)
