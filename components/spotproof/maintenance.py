"""When GKE may upgrade a cluster and its nodes."""

import datetime
import re
from dataclasses import dataclass
from typing import TypedDict

from pulumi_gcp import container
from typing_extensions import NotRequired

from spotproof.reader import Reader

DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")


class MaintenanceWindowArgs(TypedDict):
    start_time: NotRequired[str]
    """Time of day in UTC at which the window opens, `HH:MM`; `02:00` when omitted."""

    duration_hours: NotRequired[int]
    """How long it stays open, 4 to 23 hours; 6 when omitted."""

    days: NotRequired[list[str]]
    """Days on which it opens, `MO` to `SU`; Saturday and Sunday when omitted."""


@dataclass(frozen=True)
class MaintenanceWindowPlan:
    """Checked arguments of a maintenance window."""

    start_time: str
    duration_hours: int
    days: tuple[str, ...]


def plan_maintenance_window(read: Reader) -> MaintenanceWindowPlan:
    """Judge a maintenance window; problems are noted on `read`.

    GKE wants 48 hours of windows in any 32 days, and at least 4 hours in one
    (docs.cloud.google.com/kubernetes-engine/docs/concepts/maintenance-windows-and-exclusions).
    """
    start = read.text("start_time", default="02:00")
    if start and not re.fullmatch(r"([01][0-9]|2[0-3]):[0-5][0-9]", start):
        read.problem("start_time", start, "this is a time of day in UTC, HH:MM", 'write "02:00"')
        start = "02:00"
    days = read.texts("days", default=("SA", "SU"))
    wrong = [day for day in days if day not in DAYS]
    if wrong or (not days and read.is_right("days")):
        read.problem("days", wrong, "these are days of the week", "use " + ", ".join(DAYS))
    hours = read.integer("duration_hours", default=6, least=4, most=23)
    right = read.is_right("days") and read.is_right("duration_hours")
    if right and hours * len(days) * 4 < 48:
        rule = "GKE wants at least 48 hours of windows in 32 days"
        read.problem("duration_hours", hours, rule, "open the window longer or on more days")
    return MaintenanceWindowPlan(start, hours, tuple(day for day in DAYS if day in days))


def maintenance_policy(plan: MaintenanceWindowPlan) -> container.ClusterMaintenancePolicyArgs:
    """The recurring window of this plan, in the Zulu time that GKE answers with."""
    # GKE reads the date as the first day of the recurrence, so any date in the past does.
    opens = datetime.datetime.fromisoformat(f"2025-01-01T{plan.start_time}:00")
    closes = opens + datetime.timedelta(hours=plan.duration_hours)
    return container.ClusterMaintenancePolicyArgs(
        recurring_window=container.ClusterMaintenancePolicyRecurringWindowArgs(
            start_time=f"{opens.isoformat()}Z",
            end_time=f"{closes.isoformat()}Z",
            recurrence=f"FREQ=WEEKLY;BYDAY={','.join(plan.days)}",
        )
    )
