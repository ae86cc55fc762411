"""Who acts for Kubernetes and GKE themselves. Table and source: `data/cluster_managers.yaml`."""

from collections.abc import Collection

from spotproof_gke.admission.cel import both, either, literal
from spotproof_gke.admission.namespaces import matches
from spotproof_gke.rules.system_pods import SYSTEM_NAMESPACES
from spotproof_gke.tables import table

# Requests from within the API server have no user name, and a plain read of it is an error.
_USER = 'request.userInfo.?username.orValue("")'
_GROUPS = "request.userInfo.?groups.orValue([])"


def by_a_manager(further_users: Collection[str] = ()) -> str:
    """Whether a request comes from the control plane, GKE's managers, or one of further users."""
    known = table("cluster_managers")
    is_component = both(
        f"{_USER}.startsWith({literal(known['reserved_prefix'])})",
        f"!{_USER}.startsWith({literal(known['service_account_prefix'])})",
        f"!({_USER} in {literal(known['not_components'])})",
    )
    of_the_system = matches("g", SYSTEM_NAMESPACES, known["service_accounts_group_prefix"])
    return either(
        [
            is_component,
            f"{_GROUPS}.exists(g, g in {literal(known['groups'])} || {of_the_system})",
            *(f"{_USER}.matches({literal(each)})" for each in known["user_patterns"]),
            *([f"{_USER} in {literal(sorted(further_users))}"] if further_users else []),
        ]
    )
