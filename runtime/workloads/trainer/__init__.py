"""A resumable training: a small model learns to add two numbers, written as text."""
