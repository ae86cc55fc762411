"""Batch inference from a queue: each text of a message becomes a vector in a database."""
