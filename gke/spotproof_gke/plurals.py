"""Numbers of things in words."""


def counted(number: int, noun: str) -> str:
    """`1 bucket`, `2 buckets`, `1,000 buckets`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
