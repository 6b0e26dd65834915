"""What somebody wants to rent, in Python's words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable, Dict, Literal, Mapping, cast

from typing_extensions import TypedDict

from .money import Dollars, cents

if TYPE_CHECKING:
    from . import types

HOURS = 1.0
"""For how long a machine is rented where nobody says so."""


class Wish(TypedDict, total=False):
    """What `rent` takes besides the family."""

    gpus: Literal[1, 2, 4, 8]
    hours: float
    """It stops by itself after so many; by default after one, unless there is a max_spend."""
    max_spend: Dollars
    """In dollars: it stops by itself before it costs more."""
    max_price_per_hour: Dollars
    """In dollars: a dearer machine is not rented."""
    region: str
    template: str
    name: str
    labels: Mapping[str, str]
    notes: str
    ready_within: float
    """Seconds to wait until it can be entered; it is ended when they are over. By default an hour."""
    on_phase: Callable[[types.Rental], None]


def body_of(family: str, wish: Wish, public_key: str) -> types.NewRental:
    """The request that rents. A machine without any limit is never asked for."""
    body: Dict[str, object] = {"familyId": family, "gpuCount": wish.get("gpus", 1), "sshPublicKeys": [public_key]}
    if "hours" in wish or "max_spend" not in wish:
        body["autoStopAfterHours"] = wish.get("hours", HOURS)
    if "max_spend" in wish:
        body["maxSpendCents"] = cents(wish["max_spend"])
    if "max_price_per_hour" in wish:
        body["maxPricePerHourCents"] = cents(wish["max_price_per_hour"])
    same = {"region": "region", "template": "templateId", "name": "name", "labels": "labels", "notes": "notes"}
    body.update({theirs: wish[ours] for ours, theirs in same.items() if ours in wish})  # type: ignore[literal-required]
    return cast("types.NewRental", body)
