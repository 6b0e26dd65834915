"""The client of the GPU rental API: rents GPU machines by the second.

    import gpu_rental as gpu

    with gpu.rent("h100-80gb", hours=2) as machine:
        machine.run("nvidia-smi")
"""

from __future__ import annotations

from typing import Optional

from typing_extensions import Unpack

from . import refusals, types
from ._async.client import AsyncClient
from ._retries import is_passing
from ._sync.client import Client
from ._wish import Wish
from .errors import (
    ApiError,
    GpuRentalError,
    MachineError,
    NoAnswerError,
    RentalNotReadyError,
    StillRunningError,
)
from .machine import AsyncMachine, Machine
from .money import cents, dollars
from .stream import (
    BalanceNow,
    Closed,
    Connected,
    Happened,
    MeterNow,
    Reconnecting,
    Resync,
    Seen,
    StreamItem,
)
from .version import VERSION as __version__

__all__ = [
    "ApiError",
    "AsyncClient",
    "AsyncMachine",
    "BalanceNow",
    "Client",
    "Closed",
    "Connected",
    "GpuRentalError",
    "Happened",
    "Machine",
    "MachineError",
    "MeterNow",
    "NoAnswerError",
    "Reconnecting",
    "RentalNotReadyError",
    "Resync",
    "Seen",
    "StillRunningError",
    "StreamItem",
    "Wish",
    "__version__",
    "cents",
    "dollars",
    "is_passing",
    "refusals",
    "rent",
    "types",
]


def rent(family: str, *, client: Optional[Client] = None, **wish: Unpack[Wish]) -> Machine:
    """A machine that is rented when a `with` block begins, and ended when the block ends, whatever happens there.

        with rent("h100-80gb", hours=2) as machine:
            machine.run("nvidia-smi")

    It is ended after an exception, ctrl-C, SIGTERM, sys.exit, and at the end of the interpreter. What ends a process
    without a last word (kill -9, a power cut, SIGTERM where it is rented in another thread than the main one), or cuts
    it off from the service, can't end the machine: its limits do.
    Without `hours` and `max_spend` it stops by itself after one hour.

    :param family: such as "h100-80gb"; `Client.list_families` has all of them
    :param client: by default one of GPU_API_URL and GPU_API_KEY
    :param wish: gpus, hours, max_spend and max_price_per_hour (in dollars: Decimal, int or text), region, template,
        name, labels, notes, ready_within (seconds) and on_phase
    :raises ApiError: what the API refuses, such as refusals.InsufficientBalanceError
    :raises RentalNotReadyError: when it did not come up
    :raises StillRunningError: when it could not be ended
    """
    return (client or Client()).rent(family, **wish)
