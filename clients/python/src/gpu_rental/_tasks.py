"""What a task waits for that must not be held up by other work, or left half done."""

from __future__ import annotations

import asyncio
import contextvars
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Awaitable, Callable, Optional, TypeVar

from . import _ending

T = TypeVar("T")


def in_thread(work: Callable[..., T], *given: Any) -> asyncio.Future[T]:
    """Do work that blocks, in a thread of its own.

    The loop's own threads are few, and it resolves the hosts of requests in them: who fills them can't end a machine.
    A loop that ends cancels its tasks; this is none.
    """
    own = ThreadPoolExecutor(1, "gpu-rental")
    doing = asyncio.get_running_loop().run_in_executor(own, contextvars.copy_context().run, work, *given)
    own.shutdown(wait=False)
    return doing


async def to_its_end(work: Awaitable[T]) -> T:
    """Do work that a task must not leave half done, however often it is cancelled; the cancellation comes after it."""
    task = asyncio.ensure_future(work)
    cancelled: Optional[asyncio.CancelledError] = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = error
    fault = None if task.cancelled() else task.exception()
    if cancelled is not None and (fault is None or not _ending.outranks(fault)):
        raise cancelled from fault
    return task.result()
