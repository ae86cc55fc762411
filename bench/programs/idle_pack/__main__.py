"""A pack whose only policy is off, since the SDK takes no pack without one."""

from pulumi_policy import EnforcementLevel, PolicyPack, StackValidationPolicy

PolicyPack(
    name="idle",
    policies=[
        StackValidationPolicy(
            name="off",
            description="Judges nothing.",
            validate=lambda args, report: None,
            enforcement_level=EnforcementLevel.DISABLED,
        )
    ],
)
