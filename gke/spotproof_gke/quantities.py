"""Quantities as Kubernetes reads them, and as the API server writes them back.

Source: kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity (canonical form),
read on 2026-11-30; answers of a server of Kubernetes 1.36.
"""

import math
import re
from fractions import Fraction

_FORM = re.compile(r"\+?([0-9]+\.?[0-9]*|\.[0-9]+)([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]{1,2})?")
_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_DECIMAL = ("n", "u", "m", "", "k", "M", "G", "T", "P", "E")
_ONE = _DECIMAL.index("")


def amount(quantity: str) -> Fraction:
    """The number that a quantity is: 1/2 for `500m`, 1000000000 for `1e9` and for `1G`.

    Raises:
        ValueError: It is no quantity, or a negative one.
    """
    number, suffix = _parts(quantity)
    if suffix in _BINARY:
        return number * 1024 ** _BINARY.index(suffix)
    return number * Fraction(1000) ** (_DECIMAL.index(suffix) - _ONE)


def suffix_of(quantity: str) -> str:
    """The unit of a quantity, such as `Gi` or `m`; "" when it has none, or an exponent for one.

    Raises:
        ValueError: It is no quantity, or a negative one.
    """
    return _parts(quantity)[1]


def _parts(quantity: str) -> tuple[Fraction, str]:
    form = _FORM.fullmatch(quantity)
    if form is None:
        raise ValueError(f"{quantity!r} is no quantity")
    number, suffix = Fraction(form[1]), form[2] or ""
    if suffix in _BINARY or suffix in _DECIMAL:
        return number, suffix
    return number * Fraction(10) ** int(suffix[1:]), ""


def canonical(quantity: str) -> str:
    """A quantity in its canonical form: `500m` for `0.5`, `1Gi` for `1024Mi`, `1G` for `1e9`.

    What is written in another form seems changed after each update, as soon as something in the
    cluster reads and writes the object.

    Raises:
        ValueError: It is no quantity, or a negative one.
    """
    value = amount(quantity)
    if suffix_of(quantity) in _BINARY[1:] and value >= 1024:
        return _shortest(math.ceil(value), 1024, _BINARY)
    return _shortest(math.ceil(value * 1000**_ONE), 1000, _DECIMAL) if value else "0"


def _shortest(units: int, base: int, suffixes: tuple[str, ...]) -> str:
    power = 0
    while units % base == 0 and power < len(suffixes) - 1:
        units //= base
        power += 1
    return f"{units}{suffixes[power]}"
