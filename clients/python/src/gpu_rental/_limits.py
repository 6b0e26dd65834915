"""Holds what is read to an end, however slowly it comes."""

from __future__ import annotations

import time
from typing import AsyncIterator, Iterator, Union

import httpx


class Limited(httpx.SyncByteStream, httpx.AsyncByteStream):
    """The pieces of an answer, up to an end. httpx limits the wait for each piece alone.

    :param ends_at: by time.monotonic()
    """

    def __init__(self, inner: Union[httpx.SyncByteStream, httpx.AsyncByteStream], ends_at: float) -> None:
        self._inner = inner
        self._ends_at = ends_at

    def __iter__(self) -> Iterator[bytes]:
        assert isinstance(self._inner, httpx.SyncByteStream)
        for piece in self._inner:
            self._check()
            yield piece

    async def __aiter__(self) -> AsyncIterator[bytes]:
        assert isinstance(self._inner, httpx.AsyncByteStream)
        async for piece in self._inner:
            self._check()
            yield piece

    def close(self) -> None:
        """Close the answer."""
        assert isinstance(self._inner, httpx.SyncByteStream)
        self._inner.close()

    async def aclose(self) -> None:
        """Close the answer."""
        assert isinstance(self._inner, httpx.AsyncByteStream)
        await self._inner.aclose()

    def _check(self) -> None:
        if time.monotonic() >= self._ends_at:
            raise httpx.ReadTimeout("it did not come to its end in time")
