"""The client: each operation of the API by its name, and what takes several of them."""

from __future__ import annotations

import asyncio
import time as clock
import uuid
from typing import TYPE_CHECKING, Any, AsyncIterator, BinaryIO, Callable, Dict, Optional, Sequence, cast

from typing_extensions import Unpack

from .._ask import Ask
from .._retries import growing, is_passing, open_id
from .._wish import Wish
from ..errors import ApiError, not_ready
from ..machine import AsyncMachine
from ..refusals import AlreadyStoppedError
from ..stream import StreamItem
from .operations import AsyncOperations
from .stream import FIRST_RETRY, AsyncFeed
from .transport import AsyncOptions, AsyncTransport

if TYPE_CHECKING:
    from .. import types

LOOK_FOR = 60.0
"""The service opens nothing later than 20 s after it was asked; what is not there after this was not done."""
GAP = 300.0
"""For how long the service may be away while a machine is waited for, in seconds."""
POLL = 2.0


class AsyncClient(AsyncOperations):
    """The GPU rental API.

    :param base_url: where it is, such as https://api.example.com; by default what GPU_API_URL says
    :param api_key: by default what GPU_API_KEY says; without one the session counts
    :param session: the cookies of a session of before, as `client.session` told them
    :param retries: how often a request is sent again at most
    :param first_pause: seconds before the first repetition; later ones double
    :param timeout: seconds for a call with all its retries; each call takes its own as well
    :param user_agent: names your program to the service
    :param on_retry: is told the number, the pause and the failure before a request is sent again
    :param http_transport: how httpx sends, such as over a proxy
    :raises ValueError: when the address or the key can't be right
    """

    def __init__(self, **options: Unpack[AsyncOptions]) -> None:
        self._options = options
        self._transport = AsyncTransport(options)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections."""
        await self._transport.close()

    @property
    def base_url(self) -> str:
        """Where the API is."""
        return self._transport.base_url

    @property
    def session(self) -> Dict[str, str]:
        """The cookies of the session, for `session=` of a client later. They are a secret."""
        return self._transport.session

    def rent(self, family: str, **wish: Unpack[Wish]) -> AsyncMachine:
        """A machine that is rented when a `with` block begins, and ended when the block ends, whatever happens there.

        `gpu_rental.rent` says what the wish may hold, and what nobody can promise.
        """
        return AsyncMachine(self, family, wish)

    async def _call(self, ask: Ask, timeout: Optional[float]) -> Any:
        return await self._transport.call(ask, timeout)

    async def request(
        self, method: str, path: str, *, body: Optional[object] = None, timeout: Optional[float] = None
    ) -> Any:
        """Call any route by its path, such as one that is newer than this release: "/v1/rentals?pageSize=5".

        A change is sent again only where it certainly was not begun.
        """
        if not path.startswith("/") or ".." in path.split("?")[0].split("/"):
            raise ValueError(f"path begins with a slash and stays below {self.base_url}, not {path!r}")
        return await self._call(Ask(method, path, "read" if method == "GET" else "once", body=body), timeout)

    async def save_export(self, file: BinaryIO) -> int:
        """Everything we hold about you, as export_account gives it, but written to a file as it comes.

        An archive that ends early raises, and what was written of it does not open.

        :param file: open for writing bytes, such as open("account.zip", "wb")
        :returns: how many bytes it has
        """
        return await self._transport.save(Ask("GET", "/v1/account/export", "once"), file)

    async def save_ledger(
        self, file: BinaryIO, *, from_: Optional[str] = None, to: Optional[str] = None
    ) -> int:
        """The ledger as download_ledger gives it, but written to a file as it comes, however long it is.

        :param file: open for writing bytes, such as open("ledger.csv", "wb")
        :returns: how many bytes it has
        """
        return await self._transport.save(
            Ask("GET", "/v1/billing/ledger.csv", "read", query={"from": from_, "to": to}), file
        )

    async def save_proof(self, file: BinaryIO, *, month: str) -> int:
        """The proof of a month as download_proof gives it, but written to a file as it comes.

        :param file: open for writing bytes; `gpu verify` reads it
        :returns: how many bytes it has
        """
        return await self._transport.save(Ask("GET", "/v1/billing/proof", "read", query={"month": month}), file)

    async def create_rental(
        self,
        body: types.CreateRental,
        *,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> types.OpenedRental:
        """Rent a machine, or take a quote. POST /v1/rentals

        It is sent again under its Idempotency-Key alone, and where the service knows the rental's id but not its
        outcome, that rental is looked up and no other one is made.

        :param idempotency_key: your own, kept over a restart of your program; by default a new one for each call
        """
        ends_at = self._transport.ends_at(timeout)
        key = idempotency_key or str(uuid.uuid4())
        try:
            return await super().create_rental(body, idempotency_key=key, timeout=timeout)
        except ApiError as error:
            found = await self._look_up("/v1/rentals/", error, ends_at)
            if found is None:
                raise
        fields = ("id", "status", "host", "port", "pricePerHourCents", "startedAt", "warnings")
        return cast("types.OpenedRental", {name: found[name] for name in fields})

    async def create_checkout(
        self,
        body: types.CreateCheckout,
        *,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> types.Checkout:
        """Open a payment page, or charge the saved card, as create_rental rents. POST /v1/billing/checkout"""
        ends_at = self._transport.ends_at(timeout)
        key = idempotency_key or str(uuid.uuid4())
        try:
            return await super().create_checkout(body, idempotency_key=key, timeout=timeout)
        except ApiError as error:
            found = await self._look_up("/v1/billing/topups/", error, ends_at)
            if found is None:
                raise
        shared = {"topupId": found["id"], "status": found["status"]}
        if found["checkoutUrl"] is not None and found["sessionId"] is not None:
            page = {"checkoutUrl": found["checkoutUrl"], "sessionId": found["sessionId"], **shared}
            return cast("types.Checkout", page)
        rest = {"amountCents": found["amountCents"], "processorChargeId": found["processorChargeId"]}
        return cast("types.Checkout", {"checkoutUrl": None, "sessionId": None, **shared, **rest})

    async def change_rental(
        self,
        id: str,
        body: types.ChangeRental,
        *,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> types.Rental:
        """Change what is sent: words or limits; None takes a text or a limit away. PATCH /v1/rentals/{id}"""
        key = idempotency_key or str(uuid.uuid4())
        return await super().change_rental(id, body, idempotency_key=key, timeout=timeout)

    async def stop_rental(self, id: str, *, timeout: Optional[float] = None) -> types.StoppedRental:
        """End it: billing ends with the request. POST /v1/rentals/{id}/stop

        Where an answer was lost and the repetition finds it stopped, the figures of that stop are answered.
        """
        try:
            return await super().stop_rental(id, timeout=timeout)
        except AlreadyStoppedError as error:
            if error.sent == 1:
                raise
            return {"id": id, **error.details}

    async def iter_events(
        self, *, after: int = 0, types: Optional[Sequence[str]] = None
    ) -> AsyncIterator[types.Event]:
        """The events after a number, oldest first, up to the newest one."""
        while True:
            page = await self._call(Ask("GET", "/v1/events", "read", query={"after": after, "types": types}), None)
            for event in page["events"]:
                yield event
            if page["lastSeq"] == after:
                return
            after = page["lastSeq"]

    async def stream_events(
        self,
        *,
        after: Optional[int] = None,
        types: Optional[Sequence[str]] = None,
        first_retry: float = FIRST_RETRY,
    ) -> AsyncIterator[StreamItem]:
        """Events as they happen, with balance and meters, over lost connections and without a gap.

        :param after: the `seq` of the last event that you know; by default what happens from now on
        :param types: only events of these types; balance and meters come all the same
        """
        async for item in AsyncFeed(self._transport, after, types, first_retry).items():
            yield item

    async def wait_until_running(
        self,
        id: str,
        *,
        timeout: float = 3600.0,
        on_phase: Optional[Callable[[types.Rental], None]] = None,
    ) -> types.Rental:
        """Wait until a rental's machine can be entered.

        :param timeout: seconds; the rental goes on all the same
        :param on_phase: is told at the first look, and whenever the rental's phase has changed
        :raises RentalNotReadyError: when it ended before, or the time is over
        """
        ends_at = clock.monotonic() + timeout
        seen: Optional[types.Rental] = None
        seen_at = clock.monotonic()
        while True:
            # A look gets a second in any case, so that a wait without any time left looks once.
            within = min(self._transport.timeout, max(1.0, ends_at - clock.monotonic()))
            try:
                rental = await self.show_rental(id, timeout=within)
            except Exception as error:
                # Looks that fail for a while end no wait: the machine goes on meanwhile.
                if not is_passing(error) or clock.monotonic() >= min(ends_at, seen_at + GAP):
                    if seen is not None and is_passing(error) and clock.monotonic() >= ends_at:
                        raise not_ready(seen, timeout) from error
                    raise
            else:
                seen_at = clock.monotonic()
                if on_phase is not None and (seen is None or rental["phase"] != seen["phase"]):
                    on_phase(rental)
                seen = rental
                if rental["status"] == "running":
                    return rental
                if rental["status"] != "provisioning":
                    raise not_ready(rental, None)
                if clock.monotonic() >= ends_at:
                    raise not_ready(rental, timeout)
            await asyncio.sleep(min(POLL, max(0.0, ends_at - clock.monotonic())))

    async def _look_up(self, path: str, error: ApiError, ends_at: float) -> Optional[Dict[str, Any]]:
        """Find what a create made whose outcome the service could not tell; None where it stays unknown."""
        id = open_id(error)
        if id is None:
            return None
        ends_at = min(ends_at, clock.monotonic() + LOOK_FOR)
        tries = 0
        while True:
            tries += 1
            try:
                ask = Ask("GET", f"{path}{id}", "read")
                return cast("Dict[str, Any]", await self._call(ask, max(0.001, ends_at - clock.monotonic())))
            except ApiError as fault:
                if fault.status < 500 and fault.status != 404:
                    return None
            except Exception as fault:
                if not is_passing(fault):
                    raise
            pause = growing(tries, 1.0, 8.0)
            if clock.monotonic() + pause >= ends_at:
                return None
            await asyncio.sleep(pause)
