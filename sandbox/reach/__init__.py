"""Whether a cluster can be reached, and has what a stack's objects need, before the engine asks."""
