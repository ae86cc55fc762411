"""Which changes of a cluster the provider does not see, and which replace it."""

from typing import Any

from sandbox.cloud.diff import Change

AUTOPILOTS_OWN = (
    "clusterAutoscaling.autoProvisioningDefaults.diskSize",
    "clusterAutoscaling.autoProvisioningDefaults.diskType",
    "clusterAutoscaling.autoProvisioningDefaults.imageType",
    "clusterAutoscaling.autoscalingProfile",
    "clusterAutoscaling.resourceLimits",
    "dnsConfig",
)
"""What Autopilot decides by itself, so that the provider compares none of it."""
_OWN_DOMAIN = "dnsConfig.additiveVpcScopeDnsDomain"


def of_autopilot(changes: list[Change]) -> list[Change]:
    """The changes that matter to an Autopilot cluster."""
    return [
        Change(change.path, change.kind, True) if change.path == _OWN_DOMAIN else change
        for change in changes
        if change.path == _OWN_DOMAIN or not change.path.startswith(AUTOPILOTS_OWN)
    ]


def turned_off(old: Any, new: Any) -> bool:
    """What is on cannot be turned off in the same cluster."""
    return bool(old) and not new


def lost_one(old: Any, new: Any) -> bool:
    """Whether the new list lacks an item of the old one."""
    return bool(set(old or []) - set(new or [])) and bool(new)


def gone_when_off(old: Any, new: Any) -> bool:
    """Whether a block that was off is left out."""
    return new is None and isinstance(old, dict) and not old.get("enabled")


def same_when_off(old: Any, new: Any) -> bool:
    """Whether a block that is off comes or goes."""
    return gone_when_off(old, new) or (old is None and gone_when_off(new, None))


def same_fleet(old: Any, new: Any) -> bool:
    """Whether the fleet is registered by others, or the new one names no project."""
    if isinstance(old, dict) and old.get("preRegistered"):
        return True
    return old is None and isinstance(new, dict) and not new.get("project")


def same_recurrence(old: Any, new: Any) -> bool:
    """Google's console writes every day of the week for daily."""
    return old == "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SA,SU" and new == "FREQ=DAILY"
