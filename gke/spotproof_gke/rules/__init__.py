"""Rules: predicates over plain mappings in the engine's camelCase.

A rule lives here once: constructors, policy packs and pages that say the same thing call it.
Nothing here imports Pulumi; what the engine hands over is turned into plain data by
`spotproof_gke.policy_adapter`. No rule raises on a wrong type, a missing key or a null.
"""
