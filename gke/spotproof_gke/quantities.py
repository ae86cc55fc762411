"""Quantities as the API server writes them back.

Source: kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity (canonical form),
read on 2026-11-30; answers of a server of Kubernetes 1.36.
"""

import math
import re
from fractions import Fraction

_FORM = re.compile(r"([0-9]+(?:\.[0-9]+)?)([mkMGTPE]|[KMGTPE]i)?")
_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_DECIMAL = ("n", "u", "m", "", "k", "M", "G", "T", "P", "E")
_ONE = _DECIMAL.index("")


def canonical(quantity: str) -> str:
    """A quantity in its canonical form: `500m` for `0.5`, `1Gi` for `1024Mi`.

    What is written in another form seems changed after each update, as soon as something in the
    cluster reads and writes the object.

    Raises:
        ValueError: It is no quantity.
    """
    form = _FORM.fullmatch(quantity)
    if form is None:
        raise ValueError(f"{quantity!r} is no quantity")
    number, suffix = Fraction(form[1]), form[2] or ""
    if suffix in _BINARY[1:]:
        value = number * 1024 ** _BINARY.index(suffix)
        if value >= 1024:
            return _shortest(math.ceil(value), 1024, _BINARY)
    else:
        value = number * Fraction(1000) ** (_DECIMAL.index(suffix) - _ONE)
    return _shortest(math.ceil(value * 1000**_ONE), 1000, _DECIMAL) if value else "0"


def _shortest(amount: int, base: int, suffixes: tuple[str, ...]) -> str:
    power = 0
    while amount % base == 0 and power < len(suffixes) - 1:
        amount //= base
        power += 1
    return f"{amount}{suffixes[power]}"
