"""What the API refuses: a class for each code, with what its details hold.

Made of the service’s description by `npm run generate:python`: it is not written by hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Dict, Optional, Type

from .errors import ApiError

if TYPE_CHECKING:
    from . import types


class ValidationFailedError(ApiError):
    """validation_failed"""

    details: Optional[types.InvalidFields]


class InvalidEmailError(ApiError):
    """invalid_email"""

    details: types.InvalidFields


class InvalidAmountError(ApiError):
    """invalid_amount"""

    details: types.InvalidFields


class InvalidCountError(ApiError):
    """invalid_count"""

    details: types.InvalidFields


class WeakKeyError(ApiError):
    """weak_key"""


class DuplicateKeyError(ApiError):
    """duplicate_key"""

    details: types.DuplicateKeyDetails


class TooManyKeysError(ApiError):
    """too_many_keys"""

    details: types.TooManyKeysDetails


class DuplicatePasskeyError(ApiError):
    """duplicate_passkey"""


class TooManyPasskeysError(ApiError):
    """too_many_passkeys"""

    details: types.TooManyPasskeysDetails


class UnknownFamilyError(ApiError):
    """unknown_family"""

    details: types.UnknownFamilyDetails


class ModelUnavailableError(ApiError):
    """model_unavailable"""

    details: types.ModelUnavailableDetails


class SoftwareUnsupportedError(ApiError):
    """software_unsupported"""

    details: types.SoftwareUnsupportedDetails


class IdleGuardUnsupportedError(ApiError):
    """idle_guard_unsupported"""

    details: types.IdleGuardUnsupportedDetails


class BillingDisabledError(ApiError):
    """billing_disabled"""


class TooManyWebhooksError(ApiError):
    """too_many_webhooks"""

    details: types.TooManyWebhooksDetails


class WebhooksDisabledError(ApiError):
    """webhooks_disabled"""


class UnauthorizedError(ApiError):
    """unauthorized"""


class CodeInvalidError(ApiError):
    """code_invalid"""


class PasskeyInvalidError(ApiError):
    """passkey_invalid"""


class OauthStateMismatchError(ApiError):
    """oauth_state_mismatch"""


class KeyUnknownError(ApiError):
    """key_unknown"""


class KeyExpiredError(ApiError):
    """key_expired"""

    details: types.KeyExpiredDetails


class KeyRevokedError(ApiError):
    """key_revoked"""

    details: types.KeyRevokedDetails


class KeySuspendedError(ApiError):
    """key_suspended"""


class CardDeclinedError(ApiError):
    """card_declined"""

    details: types.CardDeclinedDetails


class InsufficientBalanceError(ApiError):
    """insufficient_balance"""

    details: types.InsufficientBalanceDetails


class ForbiddenError(ApiError):
    """forbidden"""


class BlockedError(ApiError):
    """blocked"""

    details: types.BlockedDetails


class AccountClosingError(ApiError):
    """account_closing"""


class FreshSignInRequiredError(ApiError):
    """fresh_sign_in_required"""

    details: types.FreshSignInRequiredDetails


class SessionRequiredError(ApiError):
    """session_required"""


class KeyScopeError(ApiError):
    """key_scope"""

    details: types.KeyScopeDetails


class KeyAddressError(ApiError):
    """key_address"""

    details: types.KeyAddressDetails


class KeyEndsOwnError(ApiError):
    """key_ends_own"""

    details: types.KeyEndsOwnDetails


class KeySetupError(ApiError):
    """key_setup"""

    details: types.KeySetupDetails


class CapReservedError(ApiError):
    """cap_reserved"""

    details: types.CapReserved


class BudgetReservedError(ApiError):
    """budget_reserved"""

    details: types.BudgetReserved


class NotFoundError(ApiError):
    """not_found"""

    details: types.NotFoundDetails


class RentalNotFoundError(ApiError):
    """rental_not_found"""


class InvoiceNotFoundError(ApiError):
    """invoice_not_found"""


class TopupNotFoundError(ApiError):
    """topup_not_found"""


class KeyNotFoundError(ApiError):
    """key_not_found"""

    details: Optional[types.KeyNotFoundDetails]


class SessionNotFoundError(ApiError):
    """session_not_found"""


class PasskeyNotFoundError(ApiError):
    """passkey_not_found"""


class QuoteNotFoundError(ApiError):
    """quote_not_found"""


class EndpointNotFoundError(ApiError):
    """endpoint_not_found"""


class WebhookNotFoundError(ApiError):
    """webhook_not_found"""


class MethodNotAllowedError(ApiError):
    """method_not_allowed"""


class ResyncError(ApiError):
    """resync"""

    details: types.FeedRange


class ChargeInProgressError(ApiError):
    """charge_in_progress"""

    details: types.ChargeInProgressDetails


class AlreadyStoppedError(ApiError):
    """already_stopped"""

    details: types.AlreadyStoppedDetails


class QuoteExpiredError(ApiError):
    """quote_expired"""

    details: types.QuoteExpiredDetails


class PriceChangedError(ApiError):
    """price_changed"""

    details: types.PriceChangedDetails


class RentalEndingError(ApiError):
    """rental_ending"""

    details: types.RentalEndingDetails


class NoIdleGuardError(ApiError):
    """no_idle_guard"""


class NoSavedCardError(ApiError):
    """no_saved_card"""


class WebhookNotEnabledError(ApiError):
    """webhook_not_enabled"""

    details: types.WebhookNotEnabledDetails


class ProofNotReadyError(ApiError):
    """proof_not_ready"""

    details: types.LaterAgainDetails


class ExportRunningError(ApiError):
    """export_running"""

    details: types.LaterAgainDetails


class IdempotencyConflictError(ApiError):
    """idempotency_conflict"""


class IdempotencyInProgressError(ApiError):
    """idempotency_in_progress"""

    details: types.IdempotencyInProgressDetails


class PayloadTooLargeError(ApiError):
    """payload_too_large"""


class UnsupportedMediaTypeError(ApiError):
    """unsupported_media_type"""


class UnknownHostError(ApiError):
    """unknown_host"""


class RateLimitedError(ApiError):
    """rate_limited"""

    details: types.RateLimitedDetails


class CodeRequestRateLimitedError(ApiError):
    """code_request_rate_limited"""

    details: types.LaterAgainDetails


class InternalError(ApiError):
    """internal_error"""

    details: Optional[types.OpeningOutcome]


class TemporarilyUnavailableError(ApiError):
    """temporarily_unavailable"""

    details: Optional[types.OpeningOutcome]


BY_CODE: Dict[str, Type[ApiError]] = {
    "validation_failed": ValidationFailedError,
    "invalid_email": InvalidEmailError,
    "invalid_amount": InvalidAmountError,
    "invalid_count": InvalidCountError,
    "weak_key": WeakKeyError,
    "duplicate_key": DuplicateKeyError,
    "too_many_keys": TooManyKeysError,
    "duplicate_passkey": DuplicatePasskeyError,
    "too_many_passkeys": TooManyPasskeysError,
    "unknown_family": UnknownFamilyError,
    "model_unavailable": ModelUnavailableError,
    "software_unsupported": SoftwareUnsupportedError,
    "idle_guard_unsupported": IdleGuardUnsupportedError,
    "billing_disabled": BillingDisabledError,
    "too_many_webhooks": TooManyWebhooksError,
    "webhooks_disabled": WebhooksDisabledError,
    "unauthorized": UnauthorizedError,
    "code_invalid": CodeInvalidError,
    "passkey_invalid": PasskeyInvalidError,
    "oauth_state_mismatch": OauthStateMismatchError,
    "key_unknown": KeyUnknownError,
    "key_expired": KeyExpiredError,
    "key_revoked": KeyRevokedError,
    "key_suspended": KeySuspendedError,
    "card_declined": CardDeclinedError,
    "insufficient_balance": InsufficientBalanceError,
    "forbidden": ForbiddenError,
    "blocked": BlockedError,
    "account_closing": AccountClosingError,
    "fresh_sign_in_required": FreshSignInRequiredError,
    "session_required": SessionRequiredError,
    "key_scope": KeyScopeError,
    "key_address": KeyAddressError,
    "key_ends_own": KeyEndsOwnError,
    "key_setup": KeySetupError,
    "cap_reserved": CapReservedError,
    "budget_reserved": BudgetReservedError,
    "not_found": NotFoundError,
    "rental_not_found": RentalNotFoundError,
    "invoice_not_found": InvoiceNotFoundError,
    "topup_not_found": TopupNotFoundError,
    "key_not_found": KeyNotFoundError,
    "session_not_found": SessionNotFoundError,
    "passkey_not_found": PasskeyNotFoundError,
    "quote_not_found": QuoteNotFoundError,
    "endpoint_not_found": EndpointNotFoundError,
    "webhook_not_found": WebhookNotFoundError,
    "method_not_allowed": MethodNotAllowedError,
    "resync": ResyncError,
    "charge_in_progress": ChargeInProgressError,
    "already_stopped": AlreadyStoppedError,
    "quote_expired": QuoteExpiredError,
    "price_changed": PriceChangedError,
    "rental_ending": RentalEndingError,
    "no_idle_guard": NoIdleGuardError,
    "no_saved_card": NoSavedCardError,
    "webhook_not_enabled": WebhookNotEnabledError,
    "proof_not_ready": ProofNotReadyError,
    "export_running": ExportRunningError,
    "idempotency_conflict": IdempotencyConflictError,
    "idempotency_in_progress": IdempotencyInProgressError,
    "payload_too_large": PayloadTooLargeError,
    "unsupported_media_type": UnsupportedMediaTypeError,
    "unknown_host": UnknownHostError,
    "rate_limited": RateLimitedError,
    "code_request_rate_limited": CodeRequestRateLimitedError,
    "internal_error": InternalError,
    "temporarily_unavailable": TemporarilyUnavailableError,
}
