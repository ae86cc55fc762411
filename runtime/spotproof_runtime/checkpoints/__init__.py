"""Checkpoints that survive the loss of a node at any moment; `Checkpoints` is the way in."""
