"""A drill of interruptions on this machine: named promises, each shown kept or broken."""
