"""What goes wrong: refusals of the API by their codes (refusals.py), and everything that is no answer of it."""

from __future__ import annotations

import email.utils
import json
import time
from typing import TYPE_CHECKING, Any, Optional

import httpx

if TYPE_CHECKING:
    from . import types


class GpuRentalError(Exception):
    """Whatever this package raises by itself."""

    sent: int = 0
    """How often the request was sent, where there was one."""


class ApiError(GpuRentalError):
    """An answer of the API that is not a success.

    Each known code has a class of its own, such as InsufficientBalanceError. A newer service may answer codes that
    this release does not know: they are plain ApiErrors.
    """

    details: Any
    """What the code tells besides, as the API's description has it; None where it tells nothing."""

    def __init__(
        self,
        message: str,
        *,
        status: int,
        code: str,
        details: Any = None,
        request_id: str = "",
        retry_after: Optional[int] = None,
        support: Optional[str] = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.code = code
        self.details = details
        self.request_id = request_id
        self.retry_after = retry_after
        """Whole seconds after which the same request may succeed; None where the service did not say."""
        self.support = support
        """Whom to write to when you need help with it; None where the service names nobody."""

    def __str__(self) -> str:
        return f"{self.message} ({self.code}, request {self.request_id})"


class NoAnswerError(GpuRentalError):
    """No answer of the API: the network failed, nobody answered in time, or something else answered in its place.

    Whether the request was done is not known, unless `never_sent` says that it can't have been.
    """

    def __init__(
        self,
        message: str,
        *,
        never_sent: bool = False,
        status: Optional[int] = None,
        retry_after: Optional[int] = None,
    ) -> None:
        super().__init__(message)
        self.never_sent = never_sent
        self.status = status
        """The HTTP status of what answered in the API's place; None when nothing did."""
        self.retry_after = retry_after


class RentalNotReadyError(GpuRentalError):
    """A rental that did not come up: it has ended, or the time to wait for it is over."""

    def __init__(self, message: str, rental: types.Rental, *, timed_out: bool) -> None:
        super().__init__(message)
        self.rental = rental
        """As it was seen last."""
        self.timed_out = timed_out
        """True when the wait is over and the rental is not: it may still come up."""


def not_ready(rental: types.Rental, waited: Optional[float]) -> RentalNotReadyError:
    """Tell of a rental as it was seen last.

    :param waited: how many seconds were given; None when it ended before they were over
    """
    id, failure = rental["id"], rental["failure"]
    if waited is not None:
        late = f"Rental {id} is not ready after {waited:g} s. It is still starting: look again, or stop it."
        return RentalNotReadyError(late, rental, timed_out=True)
    why = failure["message"] if failure else rental["error"] or rental["stopReason"] or rental["status"]
    return RentalNotReadyError(f"Rental {id} did not start: {why}", rental, timed_out=False)


class MachineError(GpuRentalError):
    """A machine that can't be entered from here: OpenSSH is missing, or the machine shows another host key."""


class StillRunningError(GpuRentalError):
    """A machine that could not be ended. It may still run, and cost money, until its limits end it."""

    def __init__(self, message: str, rental_id: str) -> None:
        super().__init__(message)
        self.rental_id = rental_id


def error_of(response: httpx.Response) -> GpuRentalError:
    """Make an error of an answer that is not a success and that was read."""
    from .refusals import BY_CODE

    retry_after = _seconds(response.headers.get("Retry-After"))
    try:
        body = json.loads(response.content)
    except ValueError:
        body = None
    if not isinstance(body, dict) or not all(isinstance(body.get(key), str) for key in ("error", "message")):
        origin = f"{response.url.scheme}://{response.url.netloc.decode()}"
        return NoAnswerError(
            f"HTTP {response.status_code} without an API error: is something else answering at {origin}?",
            status=response.status_code,
            retry_after=retry_after,
        )
    return BY_CODE.get(body["error"], ApiError)(
        body["message"],
        status=response.status_code,
        code=body["error"],
        details=body.get("details"),
        request_id=str(body.get("requestId", "")),
        retry_after=retry_after,
        support=body.get("support"),
    )


def _seconds(text: Optional[str]) -> Optional[int]:
    """Read a Retry-After, which may also be a date."""
    if text is None:
        return None
    if text.isdigit():
        return int(text)
    try:
        return max(0, round(email.utils.parsedate_to_datetime(text).timestamp() - time.time()))
    except (TypeError, ValueError):
        return None
