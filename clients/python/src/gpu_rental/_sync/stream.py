"""As _async/stream.py, for programs that block.

Made of _async/stream.py by `npm run generate:python`: it is not written by hand.
"""

from __future__ import annotations

import time
import json
import random
import time as clock
from typing import Iterator, Dict, Optional, Sequence

import httpx
from httpx_sse import EventSource

from ..errors import ApiError, GpuRentalError, NoAnswerError, error_of
from ..stream import Reconnecting, StreamItem, items_of
from .transport import ANSWER_WITHIN, Transport

SILENCE = 45.0
"""The service gives a sign of life each 15 s."""
FIRST_RETRY = 2.0
RETRY_MAX = 60.0


class Feed:
    """One stream, which outlives its connections."""

    def __init__(
        self,
        transport: Transport,
        after: Optional[int] = None,
        types: Optional[Sequence[str]] = None,
        first_retry: float = FIRST_RETRY,
    ) -> None:
        self._transport = transport
        self._last_id = None if after is None else str(after)
        self._params: Dict[str, str] = {} if types is None else {"types": ",".join(types)}
        self._retry = first_retry
        self._failures = 0

    def items(self) -> Iterator[StreamItem]:
        """Tell what happens, until the loop ends.

        :raises ApiError: what stays refused: the session or key has ended, or the request is not right
        """
        while True:
            error: Optional[GpuRentalError] = None
            try:
                for item in self._connection():
                    yield item
            except ApiError as cause:
                if cause.status < 500 and cause.status != 429:
                    raise
                error = cause
            except NoAnswerError as cause:
                error = cause
            self._failures += 1
            delay = self._pause(error)
            yield Reconnecting(delay, error)
            time.sleep(delay)

    def _pause(self, error: Optional[GpuRentalError]) -> float:
        """Never sooner than the service asked, and later with each failure."""
        asked = error.retry_after or 0 if isinstance(error, (ApiError, NoAnswerError)) else 0
        growing = min(RETRY_MAX, self._retry * 2.0 ** min(self._failures - 1, 10))
        return max(float(asked), growing) * random.uniform(1, 1.5)

    def _connection(self) -> Iterator[StreamItem]:
        headers = {"Accept": "text/event-stream"}
        if self._last_id is not None:
            headers["Last-Event-ID"] = self._last_id
        request = self._transport.request("GET", "/v1/events/stream", params=self._params, headers=headers)
        request.extensions["timeout"] = httpx.Timeout(SILENCE, connect=10.0).as_dict()
        response = self._transport.send(request)
        try:
            if not response.is_success:
                self._transport.read(response, clock.monotonic() + ANSWER_WITHIN)
                raise error_of(response)
            for message in EventSource(response).iter_sse():
                self._failures = 0
                if message.retry is not None:
                    self._retry = message.retry / 1000
                if message.data == "":
                    continue
                for item in items_of(message.event, json.loads(message.data)):
                    yield item
                # Only what the caller has taken counts as told.
                self._last_id = message.id or self._last_id
        except httpx.RequestError as error:
            raise NoAnswerError(f"The stream of events broke: {error or type(error).__name__}") from error
        finally:
            response.close()
