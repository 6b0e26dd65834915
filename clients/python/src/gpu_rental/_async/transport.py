"""Sends requests: who asks, deadlines, and which failures are answered by sending again."""

from __future__ import annotations

import asyncio
import os
import time as clock
from typing import Any, BinaryIO, Callable, Dict, Mapping, Optional, Union

import httpx
from typing_extensions import TypedDict

from .._ask import Ask, written
from .._files import write_whole
from .._limits import Limited
from .._retries import FIRST_PAUSE, RETRIES, Failure, most_open, pause_before
from .._settings import base_url_of, headers_of
from ..errors import ApiError, GpuRentalError, NoAnswerError, error_of

CALL_WITHIN = 120.0
"""How long a call may take with all its retries, in seconds."""
ANSWER_WITHIN = 40.0
"""Longer than the service needs to say what it knows."""

NEVER_SENT = (
    *(httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout),
    *(httpx.ProxyError, httpx.UnsupportedProtocol, httpx.LocalProtocolError),
)
"""What fails before a connection, behind a proxy too, takes anything of a request."""


class AsyncOptions(TypedDict, total=False):
    """What a client is made with."""

    base_url: Optional[str]
    api_key: Optional[str]
    session: Optional[Mapping[str, str]]
    retries: int
    first_pause: float
    timeout: float
    user_agent: Optional[str]
    on_retry: Callable[[int, float, GpuRentalError], None]
    http_transport: httpx.AsyncBaseTransport


class AsyncTransport:
    """Sends what a client asks."""

    def __init__(self, options: AsyncOptions) -> None:
        self.base_url = base_url_of(options.get("base_url"))
        session = options.get("session")
        api_key = options.get("api_key") or (os.environ.get("GPU_API_KEY") if session is None else None)
        self._retries = options.get("retries", RETRIES)
        self._first_pause = options.get("first_pause", FIRST_PAUSE)
        self.timeout = options.get("timeout", CALL_WITHIN)
        """How long a call may take where it is not told."""
        self._on_retry = options.get("on_retry")
        self._http = httpx.AsyncClient(
            headers=headers_of(api_key or None, options.get("user_agent")),
            cookies=dict(session or {}),
            timeout=httpx.Timeout(ANSWER_WITHIN, connect=10.0),
            follow_redirects=False,
            transport=options.get("http_transport"),
        )

    @property
    def session(self) -> Dict[str, str]:
        """The cookies of the session, to go on with later: they are a secret."""
        return {cookie.name: cookie.value or "" for cookie in self._http.cookies.jar}

    @property
    def is_closed(self) -> bool:
        """Whether nothing can be sent any more."""
        return self._http.is_closed

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def call(self, ask: Ask, timeout: Optional[float]) -> Any:
        """Call the API, and again where that can do no harm.

        :raises ApiError: what the API refused, as the class of its code
        :raises NoAnswerError: when there was no answer of it
        """
        return await self._repeat(ask, self.ends_at(timeout), self._attempt)

    def ends_at(self, timeout: Optional[float]) -> float:
        """Tell when a call that begins now ends, by the monotonic clock.

        :param timeout: of the call alone; None for the client's own
        """
        return clock.monotonic() + (self.timeout if timeout is None else timeout)

    async def _repeat(self, ask: Ask, ends_at: float, attempt: Callable[[Ask, float], Any]) -> Any:
        told: Optional[Failure] = None
        tries = 0
        while True:
            tries += 1
            try:
                return await attempt(ask, ends_at)
            except (ApiError, NoAnswerError) as error:
                error.sent = tries
                if tries > 1 and isinstance(error, ApiError) and error.status == ask.gone:
                    return {"ok": True}
                pause = pause_before(tries, ask.repeats, error, self._retries, self._first_pause)
                told = error if ask.repeats == "read" else most_open(told, error)
                if pause is None or clock.monotonic() + pause >= ends_at:
                    if told is error:
                        raise
                    told.sent = tries
                    raise told from error
                if self._on_retry is not None:
                    self._on_retry(tries, pause, error)
            await asyncio.sleep(pause)

    async def _open(self, ask: Ask, ends_at: float) -> httpx.Response:
        answer_within = max(0.001, min(ends_at - clock.monotonic(), ANSWER_WITHIN))
        request = self.request(ask.method, ask.path, params=ask.params(), body=ask.body, key=ask.key)
        request.extensions["timeout"] = httpx.Timeout(answer_within, connect=min(10.0, answer_within)).as_dict()
        response = await self.send(request)
        if response.is_success:
            return response
        await self.read(response, min(ends_at, clock.monotonic() + ANSWER_WITHIN))
        raise error_of(response)

    async def _attempt(self, ask: Ask, ends_at: float) -> Any:
        response = await self._open(ask, ends_at)
        await self.read(response, ends_at)
        kind = response.headers.get("Content-Type", "")
        if kind.startswith("text/"):
            return response.text
        if not kind.startswith("application/json"):
            return response.content
        try:
            return response.json()
        except ValueError as error:
            raise NoAnswerError("The answer is not whole JSON.", status=response.status_code) from error

    async def save(self, ask: Ask, file: BinaryIO) -> int:
        """Write the answer to a file, as it comes. One that breaks off is not asked for again.

        :returns: how many bytes it has
        """
        response = await self._repeat(ask, self.ends_at(None), self._open)
        # The connection looks here when the reading begins: each piece may take as long as an answer.
        response.request.extensions["timeout"]["read"] = ANSWER_WITHIN
        written = 0
        try:
            async for piece in response.aiter_bytes():
                written += write_whole(file, piece)
        except httpx.RequestError as error:
            raise self._no_answer(error) from error
        finally:
            await response.aclose()
        return written

    def request(
        self,
        method: str,
        path: str,
        *,
        params: Optional[Mapping[str, str]] = None,
        body: Optional[object] = None,
        key: Optional[str] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> httpx.Request:
        """Build a request of a path of the API."""
        own = dict(headers or {})
        if key is not None:
            own["Idempotency-Key"] = key
        content = None
        if body is not None:
            own["Content-Type"] = "application/json"
            content = written(body)
        url = self.base_url + path
        return self._http.build_request(method, url, params=params or None, headers=own, content=content)

    async def send(self, request: httpx.Request) -> httpx.Response:
        """Send one request. Its answer is not read.

        :raises NoAnswerError: when there is no answer, or one of another place
        """
        try:
            response = await self._http.send(request, stream=True)
        except httpx.RequestError as error:
            raise self._no_answer(error) from error
        if response.is_redirect:
            await response.aclose()
            raise NoAnswerError(
                f"{self.base_url} redirects to another address: use that one as base_url.",
                status=response.status_code,
            )
        return response

    async def read(self, response: httpx.Response, ends_at: float) -> None:
        """Read the whole of an answer, and close it.

        :raises NoAnswerError: when it does not come to its end in time
        """
        response.stream = Limited(response.stream, ends_at)
        # The connection looks here when the reading begins.
        within = response.request.extensions.get("timeout", {})
        within["read"] = max(0.001, min(ends_at - clock.monotonic(), ANSWER_WITHIN))
        try:
            await response.aread()
        except httpx.RequestError as error:
            raise self._no_answer(error) from error
        finally:
            await response.aclose()

    def _no_answer(self, error: Union[httpx.RequestError, httpx.TimeoutException]) -> NoAnswerError:
        never_sent = isinstance(error, NEVER_SENT)
        why = str(error) or type(error).__name__
        return NoAnswerError(f"No answer from {self.base_url}: {why}", never_sent=never_sent)
