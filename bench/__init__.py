"""Measures what the project costs: ratios of runs that stand side by side, and peak memory."""
