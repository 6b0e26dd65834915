"""Which failures are answered by sending again, and after which pause: as the TypeScript client does."""

from __future__ import annotations

import random
from typing import Optional, Union

from ._ask import Repeats
from .errors import ApiError, GpuRentalError, NoAnswerError

RETRIES = 3
FIRST_PAUSE = 0.5
PAUSE_MAX = 8.0
RETRY_AFTER_MAX = 30
"""A longer Retry-After is the caller's to decide on."""

Failure = Union[ApiError, NoAnswerError]


def may_repeat(repeats: Repeats, error: GpuRentalError) -> bool:
    """Tell whether a request that failed may be sent again as it is."""
    if isinstance(error, NoAnswerError):
        if error.never_sent:
            return True
        return repeats != "once" and (error.status is None or error.status >= 500)
    if not isinstance(error, ApiError):
        return False
    if not was_begun(error):
        return True
    if error.code == "idempotency_in_progress":
        return repeats == "keyed"
    # What has an id is looked up there, and not asked for once more.
    return open_id(error) is None and error.status >= 500 and repeats != "once"


def was_begun(error: GpuRentalError) -> bool:
    """Tell whether a request that failed may have been begun all the same."""
    if isinstance(error, ApiError):
        if error.code == "rate_limited":
            return False
        return not (error.code == "temporarily_unavailable" and (error.details or {}).get("outcome") == "not_done")
    return not (isinstance(error, NoAnswerError) and error.never_sent)


def may_be_done(error: BaseException) -> bool:
    """Tell whether a request that failed may have been done all the same."""
    if isinstance(error, ApiError):
        return error.code == "idempotency_in_progress" or (error.status >= 500 and was_begun(error))
    return isinstance(error, NoAnswerError) and was_begun(error)


AT_THE_DOOR = {
    *("validation_failed", "billing_disabled", "forbidden", "session_required", "fresh_sign_in_required"),
    *("key_scope", "key_address", "key_ends_own", "key_setup", "not_found"),
    *("idempotency_conflict", "idempotency_in_progress", "code_request_rate_limited"),
}
"""Refusals that come before the service looks at what a request's Idempotency-Key has done; all others tell it."""
DOOR_STATUSES = (401, 405, 413, 415, 421)


def leaves_earlier_open(error: BaseException) -> bool:
    """Tell whether a failure leaves open what became of earlier attempts of the same request, under the same key."""
    if not isinstance(error, ApiError):
        return True
    if error.code == "rate_limited":
        return (error.details or {}).get("reason") != "too_many_free_machines"
    return error.status >= 500 or error.status in DOOR_STATUSES or error.code in AT_THE_DOOR


def most_open(so_far: Optional[Failure], newest: Failure) -> Failure:
    """Choose what is told of a request that failed each time it was sent.

    That a later attempt did nothing says nothing of those before it, and an id that was told once is not forgotten.
    """
    if so_far is None or not may_be_done(so_far) or not leaves_earlier_open(newest):
        return newest
    is_as_open = may_be_done(newest) and (open_id(newest) is not None or open_id(so_far) is None)
    return newest if is_as_open else so_far


def open_id(error: BaseException) -> Optional[str]:
    """Name what a create may have made: its outcome is not known, or its first request is still under way."""
    if not isinstance(error, ApiError):
        return None
    details = error.details or {}
    is_unknown = details.get("outcome") == "unknown" and error.code in ("temporarily_unavailable", "internal_error")
    if not is_unknown and error.code != "idempotency_in_progress":
        return None
    found = details.get("rentalId") or details.get("topupId")
    return str(found) if found else None


def is_passing(error: BaseException) -> bool:
    """Tell whether a failure is one of the network or of the moment, so that asking later may help."""
    if isinstance(error, NoAnswerError):
        return error.status is None or error.status >= 500
    return isinstance(error, ApiError) and (error.status >= 500 or error.status == 429)


def pause_before(tries: int, repeats: Repeats, error: Failure, retries: int, first: float) -> Optional[float]:
    """Tell how many seconds to wait before sending again; None when the failure stands."""
    if tries > retries or not may_repeat(repeats, error):
        return None
    asked = error.retry_after or 0
    if asked > RETRY_AFTER_MAX:
        return None
    return asked + growing(tries, first, PAUSE_MAX)


def growing(tries: int, first: float, most: float) -> float:
    """A time that doubles with each try, spread, so that callers that failed together do not return so."""
    return min(most, first * 2.0 ** (tries - 1)) * random.uniform(0.5, 1)
