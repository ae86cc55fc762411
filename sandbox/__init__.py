"""Runs the program's stacks on the real engine and an emulated Google Cloud."""
