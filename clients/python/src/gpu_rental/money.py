"""Money is whole cents in what the API takes and answers, and Decimal dollars where people write and read it."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Union

Dollars = Union[Decimal, int, str]


def dollars(cents: int) -> Decimal:
    """Cents as dollars: 1250 is Decimal("12.50")."""
    return Decimal(cents).scaleb(-2).quantize(Decimal("0.01"))


def cents(amount: Dollars) -> int:
    """Dollars as cents: "12.50" is 1250. A float is refused: 0.1 + 0.2 is none of its numbers."""
    if isinstance(amount, (bool, float)):
        raise TypeError(f'an amount is a Decimal, an int or a text such as "12.50", not {amount!r}')
    try:
        value = Decimal(amount).scaleb(2)
    except InvalidOperation:
        value = Decimal("NaN")
    if not value.is_finite() or value != value.to_integral_value():
        raise ValueError(f"an amount is in dollars with at most two decimals, not {amount!r}")
    return int(value)
