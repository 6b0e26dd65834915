"""Machines that end with the block that rented them."""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
import uuid
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Callable, List, Optional, Sequence, Union, cast

import httpx

from . import _ending
from ._ask import written
from ._retries import growing, is_passing, may_be_done, open_id
from ._ssh import Entrance, Leash, run_shown
from ._tasks import in_thread, to_its_end
from ._wish import Wish, body_of
from .errors import ApiError, GpuRentalError, StillRunningError
from .money import dollars

if TYPE_CHECKING:
    from . import types
    from ._async.client import AsyncClient
    from ._sync.client import Client

READY_WITHIN = 3600.0
END_WITHIN = 300.0
"""For how long an end is tried again while the service is away, in seconds."""
OPENED_WITHIN = 25.0
"""The service opens nothing later than 20 s after it was asked."""


class _Rented:
    """What is known of a machine, and how it is entered."""

    def __init__(self, family: str, wish: Wish) -> None:
        self._family = family
        self._wish = wish
        self._entrance: Optional[Entrance] = None
        self._key = str(uuid.uuid4())
        self._process = 0
        self.id: Optional[str] = None
        """The rental's id; None before it is rented."""
        self.rental: Optional[types.Rental] = None
        """The rental as it was seen last."""
        self.receipt: Optional[types.StoppedRental] = None
        """What it cost, once it has ended; None where the service could not tell any more."""
        self.has_ended = False

    def _begin(self, client: Union[Client, AsyncClient]) -> types.NewRental:
        """Prepare everything that can fail without a machine: what fails later may have been sent."""
        if client._transport.is_closed:
            raise RuntimeError("The client is closed: rent with one that is open.")
        if self.id is not None or self._entrance is not None:
            raise GpuRentalError("This machine was rented before: rent another one.")
        self._entrance = Entrance()
        try:
            body = body_of(self._family, self._wish, self._entrance.public_key)
            written(body)
        except BaseException:
            self._entrance.remove()
            raise
        self._process = os.getpid()
        return body

    def _keep(self, end: Callable[[], None]) -> None:
        """Whatever was rented is ended, a stop() that came before its id too."""
        if self.id is None:
            return
        _ending.keep(self, end)
        if self.has_ended:
            self.has_ended = False
            _ending.soften()
            raise GpuRentalError("The machine was stopped while it was being rented.")

    def _finish(self, receipt: Optional[types.StoppedRental]) -> None:
        """It has ended, or nothing was rented."""
        if not self.has_ended:
            self.has_ended = True
            self.receipt = receipt
            _ending.forget(self)
            _ending.harden()
            if self._entrance is not None:
                self._entrance.remove()

    def _is_over(self) -> bool:
        """Whether nothing is left to end. A forked child must not end the machine of its parent."""
        return self._process == 0 or self.has_ended or self.id is None or self._process != os.getpid()

    def _running(self) -> types.Rental:
        if self.rental is None or self.has_ended:
            raise GpuRentalError("There is no machine: it is rented when the block of `with` begins.")
        return self.rental

    def _still_running(self, error: BaseException) -> StillRunningError:
        stops = (self.rental or cast("types.Rental", {})).get("autoStopAt")
        limit = f"It stops by itself at {stops}." if stops else "Only its own limits end it now."
        return StillRunningError(
            f"{self.id} could not be ended and may still cost money: {error}. {limit} "
            f"End it yourself: gpu stop {self.id}",
            self.id or "",
        )

    @property
    def ssh_command(self) -> List[str]:
        """The command line that enters the machine, for subprocess. Its key is gone when the block ends."""
        rental = self._running()
        assert self._entrance is not None
        return self._entrance.command(rental)

    @property
    def price_per_hour(self) -> Decimal:
        """In dollars."""
        return dollars(self._running()["pricePerHourCents"])

    @property
    def cost(self) -> Optional[Decimal]:
        """What it cost in dollars, once it has ended; None before, and where the service could not tell."""
        final = self.receipt["finalChargedCents"] if self.receipt else None
        return None if final is None else dollars(final)

    def _run(
        self,
        command: Union[str, Sequence[str]],
        check: bool,
        show: bool,
        input: Optional[str],
        timeout: Optional[float],
        leash: Optional[Leash] = None,
    ) -> subprocess.CompletedProcess[str]:
        done = run_shown(self.ssh_command, command, show=show, input=input, timeout=timeout, leash=leash)
        if check:
            done.check_returncode()
        return done

    def __repr__(self) -> str:
        state = "ended" if self.has_ended else "not rented yet" if self.id is None else "rented"
        return f"<{type(self).__name__} {self.id or self._family}: {state}>"


def _receipt_of(error: ApiError) -> Optional[types.StoppedRental]:
    details = error.details if error.code == "already_stopped" else None
    return cast("Optional[types.StoppedRental]", details)


def _anew(client: Union[Client, AsyncClient]) -> Client:
    """A client of the same options that blocks, for where the given one can send nothing any more."""
    from ._sync.client import Client

    options: Any = {**client._options, "session": client.session or client._options.get("session")}
    if not isinstance(options.get("http_transport"), httpx.BaseTransport):
        options.pop("http_transport", None)
    return Client(**options)


def _is_gone(error: BaseException) -> bool:
    return isinstance(error, ApiError) and error.code in ("already_stopped", "rental_not_found")


_ASKED = "The request to rent was sent: waiting for its answer, to end what it rents."
_ENDING = "The machine is being ended."
_UNSURE = "Nobody knows whether a machine was rented. See your machines with: gpu ls"


class Machine(_Rented):
    """A machine that is rented when a `with` block begins and ended when the block ends.

    It is ended whatever happens in the block: an exception, ctrl-C, SIGTERM, sys.exit, the end of the interpreter.
    Signals reach the main thread alone: SIGTERM does not end a machine that is rented in another one.
    What ends a process without a last word (kill -9, a power cut) or cuts it off from the service can't end the
    machine. That is why each one has a limit after which it stops by itself: `hours`, one by default, or `max_spend`.
    """

    def __init__(self, client: Client, family: str, wish: Wish) -> None:
        super().__init__(family, wish)
        self._client = client

    def __enter__(self) -> Machine:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> Machine:
        """Rent it and wait until it can be entered, as the block does when it begins: for notebooks.

        Call stop() when you are done; the end of the interpreter does it as well.
        """
        body = self._begin(self._client)
        _ending.soften()
        try:
            with _ending.not_now(_ASKED):
                self._open(body)
            wait = self._wish.get("ready_within", READY_WITHIN)
            self.rental = self._client.wait_until_running(
                cast("str", self.id), timeout=wait, on_phase=self._wish.get("on_phase")
            )
        except BaseException:
            self.stop()
            raise
        return self

    def _open(self, body: types.NewRental) -> None:
        try:
            self.id = self._client.create_rental(body, idempotency_key=self._key)["id"]
        except GpuRentalError as error:
            self.id = open_id(error) or (self._look_for() if may_be_done(error) else None)
            raise
        except BaseException:
            _ending.tell(_UNSURE)
            raise
        finally:
            self._keep(lambda: (self.stop(), None)[1])

    def _look_for(self) -> Optional[str]:
        """The id of what the request rented whose answer was lost; None when it rented nothing, or it is told of."""
        try:
            return self._found()
        except BaseException as error:
            _ending.tell(_UNSURE)
            if isinstance(error, GpuRentalError):
                return None
            raise

    def _found(self) -> Optional[str]:
        asked_at = time.monotonic()
        while True:
            looked_at = time.monotonic()
            try:
                found = self._client.list_rentals(idempotency_key=self._key, timeout=10)["rentals"]
                if found:
                    return found[0]["id"]
                if looked_at >= asked_at + OPENED_WITHIN:
                    return None
            except GpuRentalError as error:
                if not is_passing(error) or looked_at >= asked_at + END_WITHIN:
                    raise
            time.sleep(1)

    def stop(self) -> Optional[types.StoppedRental]:
        """End it; billing ends with the request. What has ended stays ended.

        :raises StillRunningError: when the service can't be reached for five minutes, or refuses
        """
        if self._is_over():
            if self.id is None and self._process == os.getpid():
                self._finish(None)
            return self.receipt
        with _ending.not_now(_ENDING):
            self._finish(self._end(END_WITHIN))
        return self.receipt

    def _end(self, within: float) -> Optional[types.StoppedRental]:
        id, ends_at, tries = cast("str", self.id), time.monotonic() + within, 0
        client = _anew(self._client) if self._client._transport.is_closed else self._client
        while True:
            tries += 1
            try:
                return client.stop_rental(id, timeout=max(1.0, min(120.0, ends_at - time.monotonic())))
            except GpuRentalError as error:
                if _is_gone(error):
                    return _receipt_of(cast("ApiError", error))
                pause = growing(tries, 1.0, 8.0)
                if not is_passing(error) or time.monotonic() + pause >= ends_at:
                    raise self._still_running(error) from error
            time.sleep(pause)

    def run(
        self,
        command: Union[str, Sequence[str]],
        *,
        check: bool = True,
        show: bool = True,
        input: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run a command on the machine, by its shell.

        :param command: a text as the shell reads it, or the words of one command
        :param check: raise CalledProcessError when its exit code is not 0; 255 is also how ssh says that it failed
        :param show: write what it writes to this program's output, as it comes
        :param timeout: seconds
        :raises MachineError: when the machine can't be entered
        """
        return self._run(command, check, show, input, timeout)


class AsyncMachine(_Rented):
    """As Machine, for `async with`: the block is also left when its task is cancelled. For asyncio."""

    def __init__(self, client: AsyncClient, family: str, wish: Wish) -> None:
        super().__init__(family, wish)
        self._client = client

    async def __aenter__(self) -> AsyncMachine:
        return await self.start()

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def start(self) -> AsyncMachine:
        """As Machine.start."""
        body = await in_thread(self._begin, self._client)
        _ending.soften()
        try:
            await to_its_end(self._open(body))
            wait = self._wish.get("ready_within", READY_WITHIN)
            self.rental = await self._client.wait_until_running(
                cast("str", self.id), timeout=wait, on_phase=self._wish.get("on_phase")
            )
        except BaseException:
            await self.stop()
            raise
        return self

    async def _open(self, body: types.NewRental) -> None:
        try:
            self.id = (await self._client.create_rental(body, idempotency_key=self._key))["id"]
        except GpuRentalError as error:
            self.id = open_id(error)
            if self.id is None and may_be_done(error):
                await self._look_for()
            raise
        except (asyncio.CancelledError, KeyboardInterrupt, SystemExit):
            # The loop itself is ending, or a signal came while this task was at work: the request may have left.
            await self._look_for()
            raise
        finally:
            self._keep(self._end_blocking)

    async def _look_for(self) -> None:
        # A loop that ends cancels its tasks, and no thread.
        await to_its_end(in_thread(self._look_blocking))

    def _look_blocking(self) -> None:
        self.id = self._blocking()._look_for()

    def _blocking(self) -> Machine:
        """The same machine, for where nothing can wait any more. Proxies and the like are left out."""
        machine = Machine(_anew(self._client), self._family, self._wish)
        machine.id, machine._key, machine._process = self.id, self._key, self._process
        return machine

    def _end_blocking(self) -> None:
        if not self._is_over():
            self._finish(self._blocking()._end(END_WITHIN))

    async def stop(self) -> Optional[types.StoppedRental]:
        """As Machine.stop. A task that is cancelled meanwhile ends the machine first."""
        if self._is_over():
            if self.id is None and self._process == os.getpid():
                self._finish(None)
            return self.receipt
        await to_its_end(self._end())
        return self.receipt

    async def _end(self) -> None:
        try:
            self._finish(await self._end_within(END_WITHIN))
        except asyncio.CancelledError:
            # The loop itself is ending.
            await to_its_end(in_thread(self._end_blocking))
            raise
        except RuntimeError:
            # The client is closed, or its connections are those of a loop that has ended.
            await to_its_end(in_thread(self._end_blocking))

    async def _end_within(self, within: float) -> Optional[types.StoppedRental]:
        id, ends_at, tries = cast("str", self.id), time.monotonic() + within, 0
        while True:
            tries += 1
            try:
                left = max(1.0, min(120.0, ends_at - time.monotonic()))
                return await self._client.stop_rental(id, timeout=left)
            except GpuRentalError as error:
                if _is_gone(error):
                    return _receipt_of(cast("ApiError", error))
                pause = growing(tries, 1.0, 8.0)
                if not is_passing(error) or time.monotonic() + pause >= ends_at:
                    raise self._still_running(error) from error
            await asyncio.sleep(pause)

    async def run(
        self,
        command: Union[str, Sequence[str]],
        *,
        check: bool = True,
        show: bool = True,
        input: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> subprocess.CompletedProcess[str]:
        """As Machine.run. It ends when its task is cancelled."""
        leash = Leash()
        try:
            return await in_thread(self._run, command, check, show, input, timeout, leash)
        finally:
            leash.pull()
