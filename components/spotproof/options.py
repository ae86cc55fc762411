"""Options that every component gives to its children."""

from collections.abc import Sequence

import pulumi


def child_of(
    parent: pulumi.Resource,
    *,
    depends_on: Sequence[pulumi.Resource] = (),
    ignore_changes: Sequence[str] = (),
    timeout: str | None = None,
) -> pulumi.ResourceOptions:
    """Options of a child resource.

    Args:
        parent: The component.
        depends_on: Resources that must exist before it.
        ignore_changes: Properties, in camelCase, whose changes are not ours to make.
        timeout: How long creation, update and deletion may each take, for example `2h`.
    """
    timeouts = pulumi.CustomTimeouts(create=timeout, update=timeout, delete=timeout)
    return pulumi.ResourceOptions(
        parent=parent,
        depends_on=list(depends_on),
        ignore_changes=list(ignore_changes) or None,
        custom_timeouts=timeouts if timeout else None,
    )
