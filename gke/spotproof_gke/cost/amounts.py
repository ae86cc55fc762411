"""How amounts are written: two or three digits that mean something, never more."""

from math import isfinite


def rounded(amount: float) -> float:
    """`amount` to three digits from 100 up, else to two."""
    if not isfinite(amount):
        return amount
    return float(f"{amount:.{3 if amount >= 100 else 2}g}")


def money(amount: float) -> str:
    """An amount in dollars: `$0.02`, `$73`, `$1,230`."""
    short = rounded(amount)
    if short >= 100:
        return f"${short:,.0f}"
    text = f"{short:.10f}".rstrip("0").rstrip(".")
    return f"${text}"


def money_span(low: float, high: float | None) -> str:
    """A range in dollars: `$0-$310`, `$73`, or `$73 or more`."""
    if high is None:
        return f"{money(low)} or more" if low else "unknown"
    return money(low) if money(low) == money(high) else f"{money(low)}-{money(high)}"


def span(least: float | None, most: float | None, noun: str) -> str:
    """A range of whole things: `3 nodes`, `0-4 nodes`, `an unknown number of nodes`."""
    if least is None and most is None:
        return f"an unknown number of {noun}s"
    ends = [f"{end:g}" if end is not None else "?" for end in (least, most)]
    if ends[0] == ends[1]:
        return f"{ends[0]} {noun}{'' if ends[0] == '1' else 's'}"
    return f"{ends[0]}-{ends[1]} {noun}s"
