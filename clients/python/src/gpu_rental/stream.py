"""What a stream of events tells, in the order in which it comes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Union, cast

from .errors import GpuRentalError

if TYPE_CHECKING:
    from . import types


@dataclass(frozen=True)
class Connected:
    """The stream has (again) begun: events after `after_seq` follow."""

    after_seq: int


@dataclass(frozen=True)
class Happened:
    """An event. Its type may be newer than this release."""

    event: types.Event


@dataclass(frozen=True)
class Seen:
    """With `types`: events up to this number were left out."""

    last_seq: int


@dataclass(frozen=True)
class BalanceNow:
    """A state, not an event: at most one a second, and only when something changed."""

    balance: types.LiveBalance


@dataclass(frozen=True)
class MeterNow:
    """A state, as the balance is."""

    meter: types.LiveMeter


@dataclass(frozen=True)
class Resync:
    """Events between are not to be had: read rentals and balance anew. The stream goes on by itself."""

    last_seq: int


@dataclass(frozen=True)
class Closed:
    """The service ends the connection, and says why."""

    reason: str


@dataclass(frozen=True)
class Reconnecting:
    """The connection is gone; the next one is tried after `delay` seconds, from the last event on."""

    delay: float
    error: Optional[GpuRentalError]


StreamItem = Union[Connected, Happened, Seen, BalanceNow, MeterNow, Resync, Closed, Reconnecting]


def items_of(name: str, data: Dict[str, Any]) -> List[StreamItem]:
    """Read one message. Those of newer services that are no events are left out."""
    if name == "ready":
        return [Connected(data["afterSeq"])]
    if name == "seen":
        return [Seen(data["lastSeq"])]
    if name == "balance":
        return [BalanceNow(cast("types.LiveBalance", data))]
    if name == "meter":
        return [MeterNow(cast("types.LiveMeter", data))]
    if name == "resync":
        return [Resync(data["lastSeq"])]
    if name == "closed":
        return [Closed(data["reason"])]
    if not ("seq" in data and "type" in data):
        return []
    event: StreamItem = Happened(cast("types.Event", data))
    return [event, Resync(data["seq"])] if name == "feed.resync" else [event]
