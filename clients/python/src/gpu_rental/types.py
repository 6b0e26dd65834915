"""The things of the API, by the names of its description. Money is whole cents of a US dollar.

Made of the service’s description by `npm run generate:python`: it is not written by hand.
"""

from typing import Any, Dict, List, Literal, Optional, Union

from typing_extensions import NotRequired, TypedDict


class AccountClosing(TypedDict):
    state: Optional["AccountClosingState"]
    requestedAt: Optional[str]
    waitsFor: List["AccountClosingWait"]
    machines: int
    openInvoices: int
    openDisputes: int
    returns: List["CardReturn"]
    lapsesCents: int

class AccountClosingError(TypedDict):
    error: Literal["account_closing"]
    message: str
    requestId: str
    support: NotRequired[str]

class AddPasskeyCredentialResponse(TypedDict):
    clientDataJSON: str
    attestationObject: str
    transports: NotRequired[List[str]]

class AddPasskeyCredential(TypedDict):
    id: str
    rawId: str
    type: Literal["public-key"]
    authenticatorAttachment: NotRequired[Optional[str]]
    clientExtensionResults: NotRequired[Dict[str, Any]]
    response: "AddPasskeyCredentialResponse"

class AddPasskey(TypedDict):
    name: str
    credential: "AddPasskeyCredential"

class AddSshKey(TypedDict):
    name: str
    publicKey: NotRequired[str]
    generate: NotRequired[Literal[True]]

class AddWebhook(TypedDict):
    url: str
    types: NotRequired[List[Literal["rental.created", "rental.machine_found", "rental.ssh_answered", "rental.running", "rental.warned", "rental.script_fetched", "rental.kept_alive", "rental.ports_closed", "rental.changed", "rental.stopping", "rental.stopped", "rental.failed", "topup.succeeded", "topup.failed", "topup.expired", "topup.reversed", "topup.reinstated", "wallet.credited", "wallet.low", "wallet.exhausted", "budget.reached", "auto_topup.succeeded", "auto_topup.switched_off", "card.saved", "card.removed", "invoice.opened", "invoice.paid", "invoice.voided", "invoice.uncollectible", "ssh_key.added", "ssh_key.removed", "passkey.added", "passkey.removed", "api_key.created", "api_key.changed", "api_key.revoked", "webhook.created", "webhook.changed", "webhook.switched_off", "webhook.removed", "session.started", "session.ended", "feed.resync"]]]
    description: NotRequired[str]

class AddedSshKey(TypedDict):
    id: str
    name: str
    fingerprint: str
    publicKey: str
    byKey: bool
    createdAt: str
    privateKey: NotRequired[str]

class AddedWebhook(TypedDict):
    id: str
    url: str
    types: List[Literal["rental.created", "rental.machine_found", "rental.ssh_answered", "rental.running", "rental.warned", "rental.script_fetched", "rental.kept_alive", "rental.ports_closed", "rental.changed", "rental.stopping", "rental.stopped", "rental.failed", "topup.succeeded", "topup.failed", "topup.expired", "topup.reversed", "topup.reinstated", "wallet.credited", "wallet.low", "wallet.exhausted", "budget.reached", "auto_topup.succeeded", "auto_topup.switched_off", "card.saved", "card.removed", "invoice.opened", "invoice.paid", "invoice.voided", "invoice.uncollectible", "ssh_key.added", "ssh_key.removed", "passkey.added", "passkey.removed", "api_key.created", "api_key.changed", "api_key.revoked", "webhook.created", "webhook.changed", "webhook.switched_off", "webhook.removed", "session.started", "session.ended", "feed.resync"]]
    description: str
    state: Literal["pending", "enabled", "switched_off"]
    deliveredSeq: int
    createdAt: str
    lastSuccessAt: Optional[str]
    failingSince: Optional[str]
    switchedOffAt: Optional[str]
    switchedOffReason: Optional[Literal["gone", "no_success", "challenge_unanswered"]]
    secret: str

class AlreadyStoppedDetails(TypedDict):
    status: "RentalStatus"
    finalChargedCents: Optional[int]
    refundedCents: Optional[int]

class AlreadyStoppedError(TypedDict):
    error: Literal["already_stopped"]
    message: str
    details: "AlreadyStoppedDetails"
    requestId: str
    support: NotRequired[str]

class ApiKey(TypedDict):
    id: str
    name: str
    hint: str
    scopes: List["ApiKeyScope"]
    ends: "ApiKeyEnds"
    allowedCidrs: Optional[List[str]]
    expiresAt: str
    spendCapCents: Optional[int]
    spentCents: int
    reservedCents: int
    leftCents: Optional[int]
    createdAt: str
    lastUsedAt: Optional[str]
    lastUsedAddress: Optional[str]
    revokedAt: Optional[str]
    suspendedAt: Optional[str]

class ApiKeyChangedEvent(TypedDict):
    id: str
    seq: int
    entityId: str
    createdAt: str
    type: Literal["api_key.changed"]
    data: "ChangedEventData"

class ApiKeyCreatedEvent(TypedDict):
    id: str
    seq: int
    entityId: str
    createdAt: str
    type: Literal["api_key.created"]
    data: "NoEventData"

class ApiKeyPage(TypedDict):
    apiKeys: List["ApiKey"]
    nextCursor: Optional[str]

class ApiKeyRevokedEvent(TypedDict):
    id: str
    seq: int
    entityId: str
    createdAt: str
    type: Literal["api_key.revoked"]
    data: "NoEventData"

class AuditEvent(TypedDict):
    id: str
    kind: "AuditKind"
    entityId: Optional[str]
    details: Optional[Dict[str, Any]]
    apiKeyId: Optional[str]
    clientAddress: Optional[str]
    at: str

class AuditEventPage(TypedDict):
    events: List["AuditEvent"]
    failedSignIns: List["FailedSignIns"]
    nextCursor: Optional[str]

class AutoTopup(TypedDict):
    enabled: bool
    thresholdCents: Optional[int]
    topupAmountCents: Optional[int]
    dailyCapCents: Optional[int]
    disabledReason: Optional["AutoTopupDisabledReason"]
    nextAttemptAt: Optional[str]

class AutoTopupSucceededEventData(TypedDict):
    creditedCents: int

class AutoTopupSucceededEvent(TypedDict):
    id: str
    seq: int
    entityId: str
    createdAt: str
    type: Literal["auto_topup.succeeded"]
    data: "AutoTopupSucceededEventData"

class AutoTopupSwitchedOffEventData(TypedDict):
    reason: Literal["user", "charge_failed", "card_removed", "card_expired", "charges_held"]

class AutoTopupSwitchedOffEvent(TypedDict):
    id: str
    seq: int
    entityId: str
    createdAt: str
    type: Literal["auto_topup.switched_off"]
    data: "AutoTopupSwitchedOffEventData"

class Balance(TypedDict):
    availableCents: int
    reservedCents: int
    totalCents: int
    openInvoicesCents: int
    openInvoiceCount: int
    burnPerHourCents: int
    runwaySeconds: Optional[int]
    updatedAt: str

class BillingConfig(TypedDict):
    publishableKey: str
    currency: Literal["USD"]
    minTopupCents: int
    maxTopupCents: int
    supportContact: Optional[str]

class BillingDetails(TypedDict):
    name: Optional[str]
    address: Optional[str]
    taxId: Optional[str]

class BillingDisabledError(TypedDict):
    error: Literal["billing_disabled"]
    message: str
    requestId: str
    support: NotRequired[str]

class BlockedDetails(TypedDict):
    reason: str
    invoiceId: NotRequired[str]
    limit: NotRequired[int]

class BlockedError(TypedDict):
    error: Literal["blocked"]
    message: str
    details: "BlockedDetails"
    requestId: str
    support: NotRequired[str]

class Budget(TypedDict):
    monthlyCents: Optional[int]
    hard: bool
    month: str
    monthEndsAt: str
    spentCents: int
    reservedCents: int
    leftCents: Optional[int]
    alertPercents: List[int]

class BudgetReachedEventData(TypedDict):
    percent: int
    month: str
    spentCents: int
    monthlyCents: int

class BudgetReachedEvent(TypedDict):
    id: str
    seq: int
    entityId: str
    createdAt: str
    type: Literal["budget.reached"]
    data: "BudgetReachedEventData"

class BudgetReserved(TypedDict):
    month: str
    askedCents: int
    leftCents: NotRequired[int]
    limitCents: NotRequired[int]
    spentCents: NotRequired[int]
    reservedCents: NotRequired[int]
    reservedBy: NotRequired[List["HeldByRental"]]
    unlimited: NotRequired[List["UnlimitedRental"]]

class BudgetReservedError(TypedDict):
    error: Literal["budget_reserved"]
    message: str
    details: "BudgetReserved"
    requestId: str
    support: NotRequired[str]

class CapReserved(TypedDict):
    apiKeyId: str
    askedCents: int
    leftCents: NotRequired[int]
    limitCents: NotRequired[int]
    spentCents: NotRequired[int]
    reservedCents: NotRequired[int]
    reservedBy: NotRequired[List["HeldByRental"]]
    unlimited: NotRequired[List["UnlimitedRental"]]

class CapReservedError(TypedDict):
    error: Literal["cap_reserved"]
    message: str
    details: "CapReserved"
    requestId: str
    support: NotRequired[str]

class Card(TypedDict):
    brand: Optional[str]
    last4: Optional[str]
    expMonth: Optional[int]
    expYear: Optional[int]
    pmId: Optional[str]

class CardDeclinedDetails(TypedDict):
    declineCode: str
    topupId: str

class CardDeclinedError(TypedDict):
    error: Literal["card_declined"]
    message: str
    details: "CardDeclinedDetails"
    requestId: str
    support: NotRequired[str]

class CardRemovedEventData(TypedDict):
    reason: Literal["user", "replaced", "detached"]

class CardRemovedEvent(TypedDict):
    id: str
    seq: int
    entityId: str
    createdAt: str
    type: Literal["card.removed"]
    data: "CardRemovedEventData"

class CardReturn(TypedDict):
    paymentId: str
    amountCents: int
    cardBrand: Optional[str]
    cardLast4: Optional[str]
    status: Literal["planned", "sent", "refused"]

class CardSavedEventData(TypedDict):
    brand: str
    last4: str

class CardSavedEvent(TypedDict):
    id: str
    seq: int
    entityId: str
    createdAt: str
    type: Literal["card.saved"]
    data: "CardSavedEventData"

class CardSetup(TypedDict):
    clientSecret: str
    publishableKey: str
    pageUrl: Optional[str]

class ChangeApiKey(TypedDict):
    name: NotRequired[str]
    allowedCidrs: NotRequired[Optional[List[str]]]
    spendCapCents: NotRequired[Optional[int]]

class ChangeRental(TypedDict):
    name: NotRequired[Optional[str]]
    labels: NotRequired[Dict[str, str]]
    notes: NotRequired[Optional[str]]
    maxSpendCents: NotRequired[Optional[int]]
    autoStopAt: NotRequired[Optional[str]]
    autoStopAfterHours: NotRequired[Optional[float]]
    stopWhenIdleMinutes: NotRequired[Optional[int]]
    idleIgnores: NotRequired[List[Literal["sessions"]]]

class ChangeWebhook(TypedDict):
    url: NotRequired[str]
    types: NotRequired[List[Literal["rental.created", "rental.machine_found", "rental.ssh_answered", "rental.running", "rental.warned", "rental.script_fetched", "rental.kept_alive", "rental.ports_closed", "rental.changed", "rental.stopping", "rental.stopped", "rental.failed", "topup.succeeded", "topup.failed", "topup.expired", "topup.reversed", "topup.reinstated", "wallet.credited", "wallet.low", "wallet.exhausted", "budget.reached", "auto_topup.succeeded", "auto_topup.switched_off", "card.saved", "card.removed", "invoice.opened", "invoice.paid", "invoice.voided", "invoice.uncollectible", "ssh_key.added", "ssh_key.removed", "passkey.added", "passkey.removed", "api_key.created", "api_key.changed", "api_key.revoked", "webhook.created", "webhook.changed", "webhook.switched_off", "webhook.removed", "session.started", "session.ended", "feed.resync"]]]
    description: NotRequired[str]

class ChangedEventData(TypedDict):
    changed: List[str]

class ChargeInProgressDetails(TypedDict):
    topupId: str
    amountCents: int

class ChargeInProgressError(TypedDict):
    error: Literal["charge_in_progress"]
    message: str
    details: "ChargeInProgressDetails"
    requestId: str
    support: NotRequired[str]

class Charges(TypedDict):
    rentalId: str
    interval: Literal["hour", "day"]
    charges: List["PeriodCharge"]
    totalChargedCents: int

class CheckoutCharge(TypedDict):
    checkoutUrl: Any
    sessionId: Any
    topupId: str
    status: "TopupStatus"
    amountCents: int
    processorChargeId: Optional[str]

class CheckoutPage(TypedDict):
    checkoutUrl: str
    sessionId: str
    topupId: str
    status: "TopupStatus"

class CloseAccount(TypedDict):
    email: str

class CodeInvalidError(TypedDict):
    error: Literal["code_invalid"]
    message: str
    requestId: str
    support: NotRequired[str]

class CodeRequestRateLimitedError(TypedDict):
    error: Literal["code_request_rate_limited"]
    message: str
    details: "LaterAgainDetails"
    requestId: str
    support: NotRequired[str]

class CreateApiKey(TypedDict):
    name: str
    scopes: List[Literal["read", "rentals", "billing", "setup"]]
    ends: NotRequired[Literal["all", "own"]]
    expiresAt: NotRequired[str]
    allowedCidrs: NotRequired[Optional[List[str]]]
    spendCapCents: NotRequired[Optional[int]]

class CreateCheckout(TypedDict):
    amountCents: int

class CreatedApiKey(TypedDict):
    id: str
    name: str
    hint: str
    scopes: List["ApiKeyScope"]
    ends: "ApiKeyEnds"
    allowedCidrs: Optional[List[str]]
    expiresAt: str
    spendCapCents: Optional[int]
    spentCents: int
    reservedCents: int
    leftCents: Optional[int]
    createdAt: str
    lastUsedAt: Optional[str]
    lastUsedAddress: Optional[str]
    revokedAt: Optional[str]
    suspendedAt: Optional[str]
    key: str

class Done(TypedDict):
    ok: Literal[True]

class DuplicateKeyDetails(TypedDict):
    fingerprint: str

class DuplicateKeyError(TypedDict):
    error: Literal["duplicate_key"]
    message: str
    details: "DuplicateKeyDetails"
    requestId: str
    support: NotRequired[str]

class DuplicatePasskeyError(TypedDict):
    error: Literal["duplicate_passkey"]
    message: str
    requestId: str
    support: NotRequired[str]

class EndOtherSessionsAnswer(TypedDict):
    ended: int

class Endpoint(TypedDict):
    name: str
    kind: "EndpointKind"
    machinePort: int
    public: bool
    url: Optional[str]
    host: Optional[str]
    port: Optional[int]
    tls: bool
    auth: "EndpointAuth"
    changesOnRestart: bool

class EndpointNotFoundError(TypedDict):
    error: Literal["endpoint_not_found"]
    message: str
    requestId: str
    support: NotRequired[str]

class EndpointToken(TypedDict):
    token: str

class EventPage(TypedDict):
    events: List["Event"]
    lastSeq: int

class ExplainedByHand(TypedDict):
    operationId: str
    kind: str
    reason: str
    doneAt: str

ExplainedCharge = TypedDict(
    "ExplainedCharge",
    {
        "occasion": Literal["tick", "settlement", "capture"],
        "pricePerHourCents": int,
        "runningAt": Optional[str],
        "from": Optional[str],
        "until": Optional[str],
        "untilWas": Optional[Literal["clock", "stop_requested", "auto_stop", "spend_limit", "ended"]],
        "elapsedMs": int,
        "accruedCents": int,
        "chargedBeforeCents": int,
        "dueCents": int,
        "amountCents": int,
        "unpaidCents": int,
        "formula": str,
    },
)

class ExplainedEntry(TypedDict):
    id: str
    type: "LedgerEntryType"
    amountCents: int
    balanceBeforeCents: int
    balanceAfterCents: int
    createdAt: str
    rentalId: Optional[str]
    processorChargeId: Optional[str]

class ExplainedInvoice(TypedDict):
    id: str
    reason: "InvoiceReason"
    status: "InvoiceStatus"
    amountCents: int
    paidAt: Optional[str]
    receiptUrl: Optional[str]
    voidReason: Optional[str]

class ExplainedPayment(TypedDict):
    paymentId: Optional[str]
    chargeId: Optional[str]
    sessionId: Optional[str]
    topupId: Optional[str]
    source: Optional["TopupSource"]
    receiptUrl: Optional[str]

class ExplainedRental(TypedDict):
    id: str
    status: "RentalStatus"
    family: str
    model: str
    gpuCount: int
    provider: str
    startedAt: str
    runningAt: Optional[str]
    stoppedAt: Optional[str]
    terminatedAt: Optional[str]
    stopReason: Optional["StopReason"]
    error: Optional[str]

class ExplainedRentalRefund(TypedDict):
    chargedCents: int
    finalCents: int
    refundedCents: int
    billedMs: int
    formula: str

class ExplainedReversal(TypedDict):
    id: str
    kind: Literal["refund", "dispute"]
    status: str
    paymentId: str
    amountCents: int
    debitedCents: int
    invoicedCents: int
    writtenOffCents: int
    takenAt: Optional[str]
    givenBackAt: Optional[str]

class Explanation(TypedDict):
    entry: "ExplainedEntry"
    why: str
    charge: Optional["ExplainedCharge"]
    rentalRefund: Optional["ExplainedRentalRefund"]
    rental: Optional["ExplainedRental"]
    payment: Optional["ExplainedPayment"]
    reversal: Optional["ExplainedReversal"]
    invoice: Optional["ExplainedInvoice"]
    byHand: Optional["ExplainedByHand"]

class ExportRunningError(TypedDict):
    error: Literal["export_running"]
    message: str
    details: "LaterAgainDetails"
    requestId: str
    support: NotRequired[str]

class FailedSignIns(TypedDict):
    hour: str
    tries: int

class Family(TypedDict):
    family: "FamilyId"
    models: List[str]
    fromPricePerHourCents: Optional[int]
    liveCount: int

class FamilyHistory(TypedDict):
    familyId: "FamilyId"
    points: List["FamilyHour"]

class FamilyHour(TypedDict):
    at: str
    lowestPricePerHourCents: Optional[int]
    available: int

class FeedRange(TypedDict):
    firstSeq: int
    lastSeq: int

class FeedResyncEvent(TypedDict):
    id: str
    seq: int
    entityId: str
    createdAt: str
    type: Literal["feed.resync"]
    data: "NoEventData"

class FieldFault(TypedDict):
    field: str
    message: str

class ForbiddenError(TypedDict):
    error: Literal["forbidden"]
    message: str
    requestId: str
    support: NotRequired[str]

class FreshSignInRequiredDetails(TypedDict):
    provedAt: Optional[str]

class FreshSignInRequiredError(TypedDict):
    error: Literal["fresh_sign_in_required"]
    message: str
    details: "FreshSignInRequiredDetails"
    requestId: str
    support: NotRequired[str]

class HeldByRental(TypedDict):
    rentalId: str
    reservedCents: int

class IdempotencyConflictError(TypedDict):
    error: Literal["idempotency_conflict"]
    message: str
    requestId: str
    support: NotRequired[str]

class IdempotencyInProgressDetails(TypedDict):
    """What is being opened."""
    rentalId: NotRequired[str]
    topupId: NotRequired[str]
    changeId: NotRequired[str]

class IdempotencyInProgressError(TypedDict):
    error: Literal["idempotency_in_progress"]
    message: str
    details: "IdempotencyInProgressDetails"
    requestId: str
    support: NotRequired[str]

class IdleGuard(TypedDict):
    minutes: int
    ignores: List["IdleIgnored"]
    idleSince: Optional[str]
    stopsAt: Optional[str]
    keepAliveUntil: Optional[str]

class IdleGuardUnsupportedDetails(TypedDict):
    misfits: List["SoftwareMisfit"]

class IdleGuardUnsupportedError(TypedDict):
    error: Literal["idle_guard_unsupported"]
    message: str
    details: "IdleGuardUnsupportedDetails"
    requestId: str
    support: NotRequired[str]

class InsufficientBalanceDetails(TypedDict):
    requiredCents: int
    availableCents: int

class InsufficientBalanceError(TypedDict):
    error: Literal["insufficient_balance"]
    message: str
    details: "InsufficientBalanceDetails"
    requestId: str
    support: NotRequired[str]

class InternalError(TypedDict):
    error: Literal["internal_error"]
    message: str
    details: NotRequired["OpeningOutcome"]
    requestId: str
    support: NotRequired[str]

class InvalidAmountError(TypedDict):
    error: Literal["invalid_amount"]
    message: str
    details: "InvalidFields"
    requestId: str
    support: NotRequired[str]

class InvalidCountError(TypedDict):
    error: Literal["invalid_count"]
    message: str
    details: "InvalidFields"
    requestId: str
    support: NotRequired[str]

class InvalidEmailError(TypedDict):
    error: Literal["invalid_email"]
    message: str
    details: "InvalidFields"
    requestId: str
    support: NotRequired[str]

class InvalidFields(TypedDict):
    fields: List["FieldFault"]

class Invoice(TypedDict):
    id: str
    status: "InvoiceStatus"
    reason: "InvoiceReason"
    amountCents: int
    currency: Literal["USD"]
    rentalId: Optional[str]
    processorInvoiceId: Optional[str]
    hostedInvoiceUrl: Optional[str]
    invoicePdfUrl: Optional[str]
    receiptUrl: Optional[str]
    createdAt: str
    dueAt: Optional[str]
    paidAt: Optional[str]
    voidedAt: Optional[str]
    lineItems: List["InvoiceLine"]

class InvoiceEventData(TypedDict):
    amountCents: int
    reason: "InvoiceReason"

class InvoiceLine(TypedDict):
    id: str
    description: str
    amountCents: int
    rentalId: Optional[str]
    periodStart: Optional[str]
    periodEnd: Optional[str]

class InvoiceNotFoundError(TypedDict):
    error: Literal["invoice_not_found"]
    message: str
    requestId: str
    support: NotRequired[str]

class InvoiceOpenedEventData(TypedDict):
    amountCents: int
    reason: "InvoiceReason"
    dueAt: str

class InvoiceOpenedEvent(TypedDict):
    id: str
    seq: int
    entityId: str
    createdAt: str
    type: Literal["invoice.opened"]
    data: "InvoiceOpenedEventData"

class InvoicePaidEventData(TypedDict):
    amountCents: int
    reason: "InvoiceReason"
    paidAt: str

class InvoicePaidEvent(TypedDict):
    id: str
    seq: int
    entityId: str
    createdAt: str
    type: Literal["invoice.paid"]
    data: "InvoicePaidEventData"

class InvoiceUncollectibleEvent(TypedDict):
    id: str
    seq: int
    entityId: str
    createdAt: str
    type: Literal["invoice.uncollectible"]
    data: "InvoiceEventData"

class InvoiceVoidedEvent(TypedDict):
    id: str
    seq: int
    entityId: str
    createdAt: str
    type: Literal["invoice.voided"]
    data: "InvoiceEventData"

class KeepRentalAlive(TypedDict):
    until: str

class KeyAddressDetails(TypedDict):
    address: str

class KeyAddressError(TypedDict):
    error: Literal["key_address"]
    message: str
    details: "KeyAddressDetails"
    requestId: str
    support: NotRequired[str]

class KeyEndsOwnDetails(TypedDict):
    rentalId: str

class KeyEndsOwnError(TypedDict):
    error: Literal["key_ends_own"]
    message: str
    details: "KeyEndsOwnDetails"
    requestId: str
    support: NotRequired[str]

class KeyExpiredDetails(TypedDict):
    expiredAt: str

class KeyExpiredError(TypedDict):
    error: Literal["key_expired"]
    message: str
    details: "KeyExpiredDetails"
    requestId: str
    support: NotRequired[str]

class KeyNotFoundDetails(TypedDict):
    sshKeyId: str

class KeyNotFoundError(TypedDict):
    error: Literal["key_not_found"]
    message: str
    details: NotRequired["KeyNotFoundDetails"]
    requestId: str
    support: NotRequired[str]

class KeyRevokedDetails(TypedDict):
    revokedAt: str

class KeyRevokedError(TypedDict):
    error: Literal["key_revoked"]
    message: str
    details: "KeyRevokedDetails"
    requestId: str
    support: NotRequired[str]

class KeyScopeDetails(TypedDict):
    scope: "ApiKeyScope"
    scopes: List["ApiKeyScope"]

class KeyScopeError(TypedDict):
    error: Literal["key_scope"]
    message: str
    details: "KeyScopeDetails"
    requestId: str
    support: NotRequired[str]

class KeySetupDetails(TypedDict):
    reason: Literal["sign_in_events", "not_made_by_key", "budget_raised"]

class KeySetupError(TypedDict):
    error: Literal["key_setup"]
    message: str
    details: "KeySetupDetails"
    requestId: str
    support: NotRequired[str]

class KeySuspendedError(TypedDict):
    error: Literal["key_suspended"]
    message: str
    requestId: str
    support: NotRequired[str]

class KeyUnknownError(TypedDict):
    error: Literal["key_unknown"]
    message: str
    requestId: str
    support: NotRequired[str]

class KnownPasskey(TypedDict):
    type: Literal["public-key"]
    id: str
    transports: List[str]

class LaterAgainDetails(TypedDict):
    retryAfterSeconds: int

class LedgerEntry(TypedDict):
    id: str
    type: "LedgerEntryType"
    amountCents: int
    balanceAfterCents: int
    createdAt: str
    rentalId: NotRequired[str]
    processorChargeId: NotRequired[str]

class LedgerEntryPage(TypedDict):
    entries: List["LedgerEntry"]
    balanceCents: int
    range: NotRequired["LedgerRange"]
    nextCursor: Optional[str]

class LedgerRange(TypedDict):
    oldestSeq: int
    newestSeq: int

class LedgerRoot(TypedDict):
    number: int
    line: str
    endorsed: Optional[str]
    signature: str
    signedAt: Optional[str]

class ListFamiliesAnswer(TypedDict):
    families: List["Family"]

class ListInvoicesAnswer(TypedDict):
    data: List["Invoice"]

class ListPasskeysAnswer(TypedDict):
    passkeys: List["Passkey"]

class ListProvidersAnswer(TypedDict):
    providers: List["SignInProvider"]

class ListRootsAnswer(TypedDict):
    roots: List["LedgerRoot"]

class ListSshKeysAnswer(TypedDict):
    sshKeys: List["SshKey"]

class ListTemplatesAnswer(TypedDict):
    templates: List["Template"]

class ListWebhooksAnswer(TypedDict):
    webhooks: List["Webhook"]

class Listing(TypedDict):
    id: str
    model: str
    family: "FamilyId"
    vramGb: int
    gpuCount: Literal[1, 2, 4, 8]
    pricePerHourCents: int
    providerCode: str
    region: str
    regionCode: str
    interconnect: str
    vcpus: Optional[int]
    memoryGb: Optional[int]
    diskGb: Optional[int]
    networkMbps: Optional[int]
    cudaVersion: Optional[str]
    driverVersion: Optional[str]
    availableUntil: Optional[str]
    reliability: Optional["Reliability"]
    recentStarts: Optional["RecentStarts"]

class ListingPage(TypedDict):
    listings: List["Listing"]
    nextCursor: Optional[str]

class LiveBalance(TypedDict):
    availableCents: int
    reservedCents: int
    totalCents: int
    burnPerHourCents: int
    ledgerSeq: int
    readAt: str

class LiveMeter(TypedDict):
    rentalId: str
    status: "RentalStatus"
    pricePerHourCents: int
    chargedCents: int
    holdCents: int
    runningAt: Optional[str]
    endedAt: Optional[str]
    readAt: str

class Meter(TypedDict):
    rentalId: str
    pricePerHourCents: int
    secondsBilled: int
    chargedCents: int
    pendingMillicents: int
    holdCents: int
    lastTickAt: Optional[str]

class MethodNotAllowedError(TypedDict):
    error: Literal["method_not_allowed"]
    message: str
    requestId: str
    support: NotRequired[str]

class ModelUnavailableDetails(TypedDict):
    familyId: str
    gpuCount: int
    region: Optional[str]
    alternatives: List["Listing"]
    retryAfterSeconds: NotRequired[int]

class ModelUnavailableError(TypedDict):
    error: Literal["model_unavailable"]
    message: str
    details: "ModelUnavailableDetails"
    requestId: str
    support: NotRequired[str]

class NewRentalRegistryAuth(TypedDict):
    """Signs in to the image’s registry. No answer shows it."""
    username: str
    password: str

class NewRentalPortsItem(TypedDict):
    name: str
    port: int
    kind: Literal["http", "tcp"]
    public: NotRequired[bool]

class NewRental(TypedDict):
    familyId: str
    gpuCount: Literal[1, 2, 4, 8]
    templateId: NotRequired[Literal["ubuntu-24-04", "pytorch", "jupyter", "vllm", "ollama", "a1111", "text-generation-webui"]]
    region: NotRequired[str]
    name: NotRequired[str]
    labels: NotRequired[Dict[str, str]]
    notes: NotRequired[str]
    autoStopAfterHours: NotRequired[float]
    sshKeyIds: NotRequired[List[str]]
    maxSpendCents: NotRequired[int]
    maxPricePerHourCents: NotRequired[int]
    sshPublicKeys: NotRequired[List[str]]
    stopWhenIdleMinutes: NotRequired[int]
    idleIgnores: NotRequired[List[Literal["sessions"]]]
    telemetry: NotRequired[bool]
    image: NotRequired[str]
    entrypoint: NotRequired[Literal["keep", "replace"]]
    registryAuth: NotRequired["NewRentalRegistryAuth"]
    args: NotRequired[List[str]]
    env: NotRequired[Dict[str, str]]
    startScript: NotRequired[str]
    ports: NotRequired[List["NewRentalPortsItem"]]
    diskGb: NotRequired[int]

class NoEventData(TypedDict):
    pass

class NoIdleGuardError(TypedDict):
    error: Literal["no_idle_guard"]
    message: str
    requestId: str
    support: NotRequired[str]

class NoSavedCardError(TypedDict):
    error: Literal["no_saved_card"]
    message: str
    requestId: str
    support: NotRequired[str]

class NotFoundDetails(TypedDict):
    reason: Literal["unknown_route", "unknown_entry"]

class NotFoundError(TypedDict):
    error: Literal["not_found"]
    message: str
    details: "NotFoundDetails"
    requestId: str
    support: NotRequired[str]

class Notice(TypedDict):
    kind: "NoticeKind"
    on: bool
    canSwitchOff: bool
    description: str

class NoticeSettings(TypedDict):
    notices: List["Notice"]

class OauthStateMismatchError(TypedDict):
    error: Literal["oauth_state_mismatch"]
    message: str
    requestId: str
    support: NotRequired[str]

class OpenApiDocument(TypedDict):
    openapi: str
    info: Dict[str, Any]
    paths: Dict[str, Any]
    components: Dict[str, Any]

class OpenSession(TypedDict):
    id: str
    isCurrent: bool
    device: Optional[str]
    address: Optional[str]
    createdAt: str
    lastUsedAt: str
    provedAt: Optional[str]
    expiresAt: str

class OpenSessionPage(TypedDict):
    sessions: List["OpenSession"]
    nextCursor: Optional[str]

class OpenedRental(TypedDict):
    id: str
    status: "RentalStatus"
    host: Optional[str]
    port: Optional[int]
    pricePerHourCents: int
    startedAt: str
    warnings: NotRequired[List["RentalWarning"]]

class OpeningOutcome(TypedDict):
    outcome: Literal["not_done", "unknown"]
    lookAt: NotRequired[str]
    rentalId: NotRequired[str]
    topupId: NotRequired[str]
    changeId: NotRequired[str]

class OtherError(TypedDict):
    error: "ErrorCode"
    message: str
    details: NotRequired[Dict[str, Any]]
    requestId: str
    support: NotRequired[str]

class OtherEvent(TypedDict):
    """Of a type that is newer than this description."""
    id: str
    seq: int
    entityId: str
    createdAt: str
    type: "EventType"
    data: Dict[str, Any]

class OwnSoftware(TypedDict):
    image: Optional[str]
    entrypoint: "EntrypointChoice"
    envNames: List[str]
    hasArgs: bool
    hasStartScript: bool
    hasRegistryAuth: bool
    diskGb: Optional[int]

class Passkey(TypedDict):
    id: str
    name: str
    synced: bool
    createdAt: str
    lastUsedAt: Optional[str]

class PasskeyAddedEvent(TypedDict):
    id: str
    seq: int
    entityId: str
    createdAt: str
    type: Literal["passkey.added"]
    data: "NoEventData"

class PasskeyCreationRp(TypedDict):
    id: str
    name: str

class PasskeyCreationUser(TypedDict):
    id: str
    name: str
    displayName: str

class PasskeyCreationPubKeyCredParamsItem(TypedDict):
    type: Literal["public-key"]
    alg: int

class PasskeyCreationAuthenticatorSelection(TypedDict):
    residentKey: Literal["required"]
    requireResidentKey: Literal[True]
    userVerification: Literal["required"]

class PasskeyCreation(TypedDict):
    rp: "PasskeyCreationRp"
    user: "PasskeyCreationUser"
    challenge: str
    timeout: int
    pubKeyCredParams: List["PasskeyCreationPubKeyCredParamsItem"]
    excludeCredentials: List["KnownPasskey"]
    authenticatorSelection: "PasskeyCreationAuthenticatorSelection"
    attestation: Literal["none"]

class PasskeyInvalidError(TypedDict):
    error: Literal["passkey_invalid"]
    message: str
    requestId: str
    support: NotRequired[str]

class PasskeyNotFoundError(TypedDict):
    error: Literal["passkey_not_found"]
    message: str
    requestId: str
    support: NotRequired[str]

class PasskeyProof(TypedDict):
    freshUntil: str

class PasskeyRemovedEvent(TypedDict):
    id: str
    seq: int
    entityId: str
    createdAt: str
    type: Literal["passkey.removed"]
    data: "NoEventData"

class PasskeyRequest(TypedDict):
    rpId: str
    challenge: str
    timeout: int
    allowCredentials: List["KnownPasskey"]
    userVerification: Literal["required"]

class PayUrl(TypedDict):
    url: Optional[str]

class PayloadTooLargeError(TypedDict):
    error: Literal["payload_too_large"]
    message: str
    requestId: str
    support: NotRequired[str]

PeriodCharge = TypedDict(
    "PeriodCharge",
    {
        "from": str,
        "chargedCents": int,
        "refundedCents": int,
        "entries": int,
    },
)

class PriceChangedDetails(TypedDict):
    quoteId: str
    quotedPricePerHourCents: int
    pricePerHourCents: int
    quote: Optional["Quote"]
    alternatives: NotRequired[List["Listing"]]

class PriceChangedError(TypedDict):
    error: Literal["price_changed"]
    message: str
    details: "PriceChangedDetails"
    requestId: str
    support: NotRequired[str]

class ProofNotReadyError(TypedDict):
    error: Literal["proof_not_ready"]
    message: str
    details: "LaterAgainDetails"
    requestId: str
    support: NotRequired[str]

class PutAutoTopup(TypedDict):
    enabled: bool
    thresholdCents: NotRequired[int]
    topupAmountCents: NotRequired[int]
    dailyCapCents: NotRequired[Optional[int]]

class PutBillingDetails(TypedDict):
    name: NotRequired[Optional[str]]
    address: NotRequired[Optional[str]]
    taxId: NotRequired[Optional[str]]

class PutBudget(TypedDict):
    monthlyCents: Optional[int]
    hard: NotRequired[bool]

class Quote(TypedDict):
    quoteId: str
    expiresAt: str
    listing: "Listing"
    pricePerHourCents: int
    holdCents: int
    maxSpendCents: Optional[int]
    capLeftCents: Optional[int]
    budgetLeftCents: Optional[int]
    worstCaseCents: Optional[int]
    walletAfterCents: int
    missingCents: int
    runwaySecondsAfter: int
    expectedReadySeconds: Optional["Spread"]
    ownSoftware: Optional["QuotedSoftware"]
    telemetrySource: Optional["TelemetrySource"]
    idleGuard: Optional["QuotedIdleGuard"]
    alternatives: List["Listing"]

class QuoteExpiredDetails(TypedDict):
    quoteId: str
    expiresAt: str
    quote: Optional["Quote"]
    alternatives: NotRequired[List["Listing"]]

class QuoteExpiredError(TypedDict):
    error: Literal["quote_expired"]
    message: str
    details: "QuoteExpiredDetails"
    requestId: str
    support: NotRequired[str]

class QuoteNotFoundError(TypedDict):
    error: Literal["quote_not_found"]
    message: str
    requestId: str
    support: NotRequired[str]

class QuotedIdleGuard(TypedDict):
    minutes: int
    looksAt: List["IdleLooksAt"]
    ignores: List["IdleIgnored"]

class QuotedSoftware(TypedDict):
    graceSeconds: int
    publicPorts: List[str]
    imageNeeds: List["ImageNeed"]

class RateLimitedDetails(TypedDict):
    retryAfterSeconds: int
    reason: NotRequired[Literal["too_many_at_once", "too_many_free_machines", "too_many_card_tries"]]
    costCents: NotRequired[int]
    limitCents: NotRequired[int]

class RateLimitedError(TypedDict):
    error: Literal["rate_limited"]
    message: str
    details: "RateLimitedDetails"
    requestId: str
    support: NotRequired[str]

class Readiness(TypedDict):
    status: Literal["ready", "degraded"]
    checks: "ReadinessChecks"

class ReadinessChecks(TypedDict):
    postgres: Literal["ok", "away", "read_only"]
    schema: Literal["ok", "behind", "unknown"]
    temporal: Literal["ok", "away"]
    brakes: List[str]

class RecentStarts(TypedDict):
    succeeded: int
    asked: int

class RedeliverWebhook(TypedDict):
    afterSeq: int

class RefreshProof(TypedDict):
    code: NotRequired[str]

class RefreshedProof(TypedDict):
    codeMailed: bool
    freshUntil: Optional[str]

class Reliability(TypedDict):
    createSuccess: float
    timeToSshSeconds: Optional["Spread"]
    lossesPer1000Hours: Optional[float]
    samples: int
    days: int

class RenamePasskey(TypedDict):
    name: str

class Rental(TypedDict):
    id: str
    name: Optional[str]
    labels: Dict[str, str]
    notes: Optional[str]
    status: "RentalStatus"
    phase: Optional["RentalPhase"]
    phaseSince: Optional[str]
    attempt: Optional[int]
    expectedReadyAt: Optional[str]
    familyId: str
    family: str
    model: str
    gpuCount: Literal[1, 2, 4, 8]
    region: str
    provider: str
    providerCode: str
    templateId: str
    software: Optional["OwnSoftware"]
    endpoints: List["Endpoint"]
    interconnect: str
    pricePerHourCents: int
    host: Optional[str]
    port: Optional[int]
    username: Optional[str]
    hostKeyFingerprint: Optional[str]
    startedAt: str
    runningAt: Optional[str]
    stoppedAt: Optional[str]
    terminatedAt: Optional[str]
    autoStopAt: Optional[str]
    maxSpendCents: Optional[int]
    stopWhenIdleMinutes: Optional[int]
    idleGuard: Optional["IdleGuard"]
    totalChargedCents: int
    writtenOffCents: int
    error: Optional[str]
    failure: Optional["RentalFailure"]
    stopReason: Optional["StopReason"]
    warnings: List["RentalWarning"]

class RentalChangedEventData(TypedDict):
    changeId: str
    changed: List[str]
    maxSpendCents: Optional[int]
    autoStopAt: Optional[str]
    spendLimitAt: Optional[str]
    maxSpendCentsBefore: NotRequired[Optional[int]]
    autoStopAtBefore: NotRequired[Optional[str]]

class RentalChangedEvent(TypedDict):
    id: str
    seq: int
    entityId: str
    createdAt: str
    type: Literal["rental.changed"]
    data: "RentalChangedEventData"

class RentalCounts(TypedDict):
    provisioning: int
    running: int
    stopping: int
    stopped: int
    failed: int

class RentalCreatedEventData(TypedDict):
    familyId: str
    gpuCount: int
    region: str
    pricePerHourCents: int
    holdCents: int

class RentalCreatedEvent(TypedDict):
    id: str
    seq: int
    entityId: str
    createdAt: str
    type: Literal["rental.created"]
    data: "RentalCreatedEventData"

class RentalEndingDetails(TypedDict):
    status: "RentalStatus"
    stopReason: Optional["StopReason"]

class RentalEndingError(TypedDict):
    error: Literal["rental_ending"]
    message: str
    details: "RentalEndingDetails"
    requestId: str
    support: NotRequired[str]

class RentalFailedEventData(TypedDict):
    code: Literal["not_provisioned", "lost_at_start"]
    message: str
    refundedCents: int

class RentalFailedEvent(TypedDict):
    id: str
    seq: int
    entityId: str
    createdAt: str
    type: Literal["rental.failed"]
    data: "RentalFailedEventData"

class RentalFailure(TypedDict):
    code: Literal["not_provisioned", "lost_at_start"]
    message: str

class RentalKeptAliveEventData(TypedDict):
    until: str
    by: Literal["renter", "machine"]

class RentalKeptAliveEvent(TypedDict):
    id: str
    seq: int
    entityId: str
    createdAt: str
    type: Literal["rental.kept_alive"]
    data: "RentalKeptAliveEventData"

class RentalMachineFoundEventData(TypedDict):
    providerCode: str

class RentalMachineFoundEvent(TypedDict):
    id: str
    seq: int
    entityId: str
    createdAt: str
    type: Literal["rental.machine_found"]
    data: "RentalMachineFoundEventData"

class RentalNotFoundError(TypedDict):
    error: Literal["rental_not_found"]
    message: str
    requestId: str
    support: NotRequired[str]

class RentalPage(TypedDict):
    rentals: List["Rental"]
    counts: NotRequired["RentalCounts"]
    nextCursor: Optional[str]

class RentalPortsClosedEventData(TypedDict):
    ports: List[str]

class RentalPortsClosedEvent(TypedDict):
    id: str
    seq: int
    entityId: str
    createdAt: str
    type: Literal["rental.ports_closed"]
    data: "RentalPortsClosedEventData"

class RentalRunningEventData(TypedDict):
    runningAt: str
    autoStopAt: Optional[str]
    spendLimitAt: Optional[str]

class RentalRunningEvent(TypedDict):
    id: str
    seq: int
    entityId: str
    createdAt: str
    type: Literal["rental.running"]
    data: "RentalRunningEventData"

class RentalScriptFetchedEventData(TypedDict):
    fetch: int
    afterRestart: bool

class RentalScriptFetchedEvent(TypedDict):
    id: str
    seq: int
    entityId: str
    createdAt: str
    type: Literal["rental.script_fetched"]
    data: "RentalScriptFetchedEventData"

class RentalSshAnsweredEventData(TypedDict):
    host: str
    port: int
    username: str
    hostKeyFingerprint: Optional[str]

class RentalSshAnsweredEvent(TypedDict):
    id: str
    seq: int
    entityId: str
    createdAt: str
    type: Literal["rental.ssh_answered"]
    data: "RentalSshAnsweredEventData"

class RentalStoppedEventData(TypedDict):
    reason: "StopReason"
    stoppedAt: str
    chargedCents: int
    refundedCents: int

class RentalStoppedEvent(TypedDict):
    id: str
    seq: int
    entityId: str
    createdAt: str
    type: Literal["rental.stopped"]
    data: "RentalStoppedEventData"

class RentalStoppingEventData(TypedDict):
    reason: "StopReason"
    stoppedAt: str

class RentalStoppingEvent(TypedDict):
    id: str
    seq: int
    entityId: str
    createdAt: str
    type: Literal["rental.stopping"]
    data: "RentalStoppingEventData"

class RentalWarnedEventData(TypedDict):
    warning: Literal["ssh_unreachable", "host_key_changed", "auto_stop_near", "spend_limit_near", "upstream_end_near", "idle_stop_near"]
    at: Optional[str]

class RentalWarnedEvent(TypedDict):
    id: str
    seq: int
    entityId: str
    createdAt: str
    type: Literal["rental.warned"]
    data: "RentalWarnedEventData"

class RequestCode(TypedDict):
    email: str
    intent: NotRequired[Literal["login", "signup"]]

class ResyncError(TypedDict):
    error: Literal["resync"]
    message: str
    details: "FeedRange"
    requestId: str
    support: NotRequired[str]

class Reversal(TypedDict):
    kind: Literal["refund", "dispute"]
    amountCents: int
    debitedCents: int
    invoicedCents: int
    takenAt: str

class RotatedWebhook(TypedDict):
    id: str
    url: str
    types: List[Literal["rental.created", "rental.machine_found", "rental.ssh_answered", "rental.running", "rental.warned", "rental.script_fetched", "rental.kept_alive", "rental.ports_closed", "rental.changed", "rental.stopping", "rental.stopped", "rental.failed", "topup.succeeded", "topup.failed", "topup.expired", "topup.reversed", "topup.reinstated", "wallet.credited", "wallet.low", "wallet.exhausted", "budget.reached", "auto_topup.succeeded", "auto_topup.switched_off", "card.saved", "card.removed", "invoice.opened", "invoice.paid", "invoice.voided", "invoice.uncollectible", "ssh_key.added", "ssh_key.removed", "passkey.added", "passkey.removed", "api_key.created", "api_key.changed", "api_key.revoked", "webhook.created", "webhook.changed", "webhook.switched_off", "webhook.removed", "session.started", "session.ended", "feed.resync"]]
    description: str
    state: Literal["pending", "enabled", "switched_off"]
    deliveredSeq: int
    createdAt: str
    lastSuccessAt: Optional[str]
    failingSince: Optional[str]
    switchedOffAt: Optional[str]
    switchedOffReason: Optional[Literal["gone", "no_success", "challenge_unanswered"]]
    secret: str
    previousSecretValidUntil: str

class SaveNoticesKinds(TypedDict):
    rental_auto_stop: NotRequired[bool]
    rental_spend_limit: NotRequired[bool]
    rental_idle_near: NotRequired[bool]
    rental_idle: NotRequired[bool]
    rental_balance_exhausted: NotRequired[Literal[True]]
    rental_operator_stop: NotRequired[bool]
    rental_lost: NotRequired[bool]
    rental_failed: NotRequired[bool]
    low_balance: NotRequired[Literal[True]]
    budget_reached: NotRequired[Literal[True]]
    statement: NotRequired[bool]
    webhook_switched_off: NotRequired[bool]
    auto_topup_off: NotRequired[Literal[True]]
    payments: NotRequired[Literal[True]]
    ssh_key_added: NotRequired[Literal[True]]
    passkey_added: NotRequired[Literal[True]]
    passkey_refused: NotRequired[Literal[True]]
    api_key_created: NotRequired[Literal[True]]
    api_key_widened: NotRequired[Literal[True]]
    setup_acted: NotRequired[Literal[True]]
    card_saved: NotRequired[Literal[True]]

class SaveNotices(TypedDict):
    kinds: "SaveNoticesKinds"

class Session(TypedDict):
    user: "User"
    expiresAt: str
    freshUntil: Optional[str]
    closingSince: Optional[str]
    apiKey: NotRequired["ApiKey"]

class SessionEndedEventData(TypedDict):
    by: Literal["sign_out", "new_sign_in", "other_session", "operator", "restored"]

class SessionEndedEvent(TypedDict):
    id: str
    seq: int
    entityId: str
    createdAt: str
    type: Literal["session.ended"]
    data: "SessionEndedEventData"

class SessionNotFoundError(TypedDict):
    error: Literal["session_not_found"]
    message: str
    requestId: str
    support: NotRequired[str]

class SessionRequiredError(TypedDict):
    error: Literal["session_required"]
    message: str
    requestId: str
    support: NotRequired[str]

class SessionStartedEventData(TypedDict):
    by: str

class SessionStartedEvent(TypedDict):
    id: str
    seq: int
    entityId: str
    createdAt: str
    type: Literal["session.started"]
    data: "SessionStartedEventData"

class ShowAliveAnswer(TypedDict):
    status: Literal["ok"]

class ShowPasskeyCredentialResponse(TypedDict):
    clientDataJSON: str
    authenticatorData: str
    signature: str
    userHandle: NotRequired[Optional[str]]

class ShowPasskeyCredential(TypedDict):
    id: str
    rawId: str
    type: Literal["public-key"]
    authenticatorAttachment: NotRequired[Optional[str]]
    clientExtensionResults: NotRequired[Dict[str, Any]]
    response: "ShowPasskeyCredentialResponse"

class ShowPasskey(TypedDict):
    credential: "ShowPasskeyCredential"

class SignInProvider(TypedDict):
    id: str
    name: str

class SignedIn(TypedDict):
    user: "User"
    created: bool
    expiresAt: str

class SoftwareMisfit(TypedDict):
    field: str
    providerCode: str
    limit: Optional[int]
    message: str

class SoftwareUnsupportedDetails(TypedDict):
    misfits: List["SoftwareMisfit"]

class SoftwareUnsupportedError(TypedDict):
    error: Literal["software_unsupported"]
    message: str
    details: "SoftwareUnsupportedDetails"
    requestId: str
    support: NotRequired[str]

Spending = TypedDict(
    "Spending",
    {
        "from": str,
        "to": str,
        "openingBalanceCents": int,
        "days": List["SpendingDay"],
        "closingBalanceCents": int,
    },
)

SpendingDay = TypedDict(
    "SpendingDay",
    {
        "from": str,
        "entries": int,
        "chargedCents": int,
        "refundedCents": int,
        "amountCents": int,
        "rentals": List["SpendingRental"],
        "otherRentals": NotRequired["SpendingOthers"],
    },
)

class SpendingOthers(TypedDict):
    rentals: int
    entries: int
    chargedCents: int
    refundedCents: int

class SpendingRental(TypedDict):
    rentalId: str
    name: Optional[str]
    family: str
    gpuCount: int
    entries: int
    chargedCents: int
    refundedCents: int

class Spread(TypedDict):
    p50: int
    p90: int

class SshKey(TypedDict):
    id: str
    name: str
    fingerprint: str
    publicKey: str
    byKey: bool
    createdAt: str

class SshKeyAddedEvent(TypedDict):
    id: str
    seq: int
    entityId: str
    createdAt: str
    type: Literal["ssh_key.added"]
    data: "SshKeyEventData"

class SshKeyEventData(TypedDict):
    fingerprint: str

class SshKeyRemovedEvent(TypedDict):
    id: str
    seq: int
    entityId: str
    createdAt: str
    type: Literal["ssh_key.removed"]
    data: "SshKeyEventData"

class Standing(TypedDict):
    blockedReason: Optional[str]
    chargesHeld: bool
    reversals: List["Reversal"]

Statement = TypedDict(
    "Statement",
    {
        "from": str,
        "to": str,
        "openingBalanceCents": int,
        "totals": List["StatementTotal"],
        "rentals": List["StatementRental"],
        "groups": NotRequired[List["StatementGroup"]],
        "closingBalanceCents": int,
    },
)

class StatementGroup(TypedDict):
    kind: Literal["label", "unlabelled", "other"]
    key: str
    value: Optional[str]
    entries: int
    chargedCents: int
    refundedCents: int
    amountCents: int

class StatementRental(TypedDict):
    rentalId: str
    entries: int
    chargedCents: int
    refundedCents: int
    amountCents: int

class StatementTotal(TypedDict):
    type: "LedgerEntryType"
    entries: int
    amountCents: int

class StoppedRental(TypedDict):
    id: str
    status: "RentalStatus"
    finalChargedCents: Optional[int]
    refundedCents: Optional[int]

class StoredAutoTopup(TypedDict):
    enabled: bool
    thresholdCents: Optional[int]
    topupAmountCents: Optional[int]
    dailyCapCents: Optional[int]
    disabledReason: Optional["AutoTopupDisabledReason"]
    nextAttemptAt: Optional[str]
    warnings: List[str]

class StreamClosed(TypedDict):
    reason: Literal["too_many_streams", "session_ended", "session_renewed", "key_ended", "key_changed", "server_stopping"]

class StreamReady(TypedDict):
    afterSeq: int
    lastSeq: int

class StreamSeen(TypedDict):
    lastSeq: int

class TakeProcessorEventAnswer(TypedDict):
    received: Literal[True]

class TakenQuote(TypedDict):
    quoteId: str

Telemetry = TypedDict(
    "Telemetry",
    {
        "rentalId": str,
        "source": Optional["TelemetrySource"],
        "from": str,
        "to": str,
        "stepSeconds": int,
        "points": List["TelemetryPoint"],
    },
)

class TelemetryPoint(TypedDict):
    at: str
    gpuPercent: Optional[int]
    busiestGpuPercent: Optional[int]
    gpuMemoryPercent: Optional[int]
    cpuPercent: Optional[int]
    memoryPercent: Optional[int]

class Template(TypedDict):
    id: Literal["ubuntu-24-04", "pytorch", "jupyter", "vllm", "ollama", "a1111", "text-generation-webui"]
    name: str
    description: str
    isDefault: bool

class TemporarilyUnavailableError(TypedDict):
    error: Literal["temporarily_unavailable"]
    message: str
    details: NotRequired["OpeningOutcome"]
    requestId: str
    support: NotRequired[str]

class TooManyKeysDetails(TypedDict):
    maxKeys: int

class TooManyKeysError(TypedDict):
    error: Literal["too_many_keys"]
    message: str
    details: "TooManyKeysDetails"
    requestId: str
    support: NotRequired[str]

class TooManyPasskeysDetails(TypedDict):
    maxPasskeys: int

class TooManyPasskeysError(TypedDict):
    error: Literal["too_many_passkeys"]
    message: str
    details: "TooManyPasskeysDetails"
    requestId: str
    support: NotRequired[str]

class TooManyWebhooksDetails(TypedDict):
    maxWebhooks: int

class TooManyWebhooksError(TypedDict):
    error: Literal["too_many_webhooks"]
    message: str
    details: "TooManyWebhooksDetails"
    requestId: str
    support: NotRequired[str]

class Topup(TypedDict):
    id: str
    source: "TopupSource"
    status: "TopupStatus"
    amountCents: int
    creditedCents: Optional[int]
    reversedCents: int
    checkoutUrl: Optional[str]
    sessionId: Optional[str]
    processorChargeId: Optional[str]
    receiptUrl: Optional[str]
    error: Optional[str]
    declineCode: Optional[str]
    createdAt: str
    expiresAt: Optional[str]
    creditedAt: Optional[str]

class TopupExpiredEventData(TypedDict):
    amountCents: int

class TopupExpiredEvent(TypedDict):
    id: str
    seq: int
    entityId: str
    createdAt: str
    type: Literal["topup.expired"]
    data: "TopupExpiredEventData"

class TopupFailedEventData(TypedDict):
    amountCents: int
    source: "TopupSource"
    declineCode: Optional[str]
    message: Optional[str]

class TopupFailedEvent(TypedDict):
    id: str
    seq: int
    entityId: str
    createdAt: str
    type: Literal["topup.failed"]
    data: "TopupFailedEventData"

class TopupNotFoundError(TypedDict):
    error: Literal["topup_not_found"]
    message: str
    requestId: str
    support: NotRequired[str]

class TopupPage(TypedDict):
    topups: List["Topup"]
    nextCursor: Optional[str]

class TopupReinstatedEventData(TypedDict):
    kind: Literal["refund", "dispute"]
    paymentId: str
    returnedCents: int

class TopupReinstatedEvent(TypedDict):
    id: str
    seq: int
    entityId: str
    createdAt: str
    type: Literal["topup.reinstated"]
    data: "TopupReinstatedEventData"

class TopupReversedEventData(TypedDict):
    kind: Literal["refund", "dispute"]
    paymentId: str
    amountCents: int
    debitedCents: int
    invoicedCents: int

class TopupReversedEvent(TypedDict):
    id: str
    seq: int
    entityId: str
    createdAt: str
    type: Literal["topup.reversed"]
    data: "TopupReversedEventData"

class TopupSucceededEventData(TypedDict):
    amountCents: int
    creditedCents: int
    source: "TopupSource"

class TopupSucceededEvent(TypedDict):
    id: str
    seq: int
    entityId: str
    createdAt: str
    type: Literal["topup.succeeded"]
    data: "TopupSucceededEventData"

class UnauthorizedError(TypedDict):
    error: Literal["unauthorized"]
    message: str
    requestId: str
    support: NotRequired[str]

class UnknownFamilyDetails(TypedDict):
    familyId: str

class UnknownFamilyError(TypedDict):
    error: Literal["unknown_family"]
    message: str
    details: "UnknownFamilyDetails"
    requestId: str
    support: NotRequired[str]

class UnknownHostError(TypedDict):
    error: Literal["unknown_host"]
    message: str
    requestId: str
    support: NotRequired[str]

class UnlimitedRental(TypedDict):
    rentalId: str

class Unreadiness(TypedDict):
    status: Literal["unavailable"]
    checks: "ReadinessChecks"

class UnsupportedMediaTypeError(TypedDict):
    error: Literal["unsupported_media_type"]
    message: str
    requestId: str
    support: NotRequired[str]

class User(TypedDict):
    id: str
    email: str
    createdAt: str

class ValidationFailedError(TypedDict):
    error: Literal["validation_failed"]
    message: str
    details: NotRequired["InvalidFields"]
    requestId: str
    support: NotRequired[str]

class VerifyCode(TypedDict):
    email: str
    code: str

class WalletCreditedEventData(TypedDict):
    amountCents: int
    balanceCents: int
    ledgerSeq: int
    entryType: "LedgerEntryType"

class WalletCreditedEvent(TypedDict):
    id: str
    seq: int
    entityId: str
    createdAt: str
    type: Literal["wallet.credited"]
    data: "WalletCreditedEventData"

class WalletExhaustedEventData(TypedDict):
    rentalIds: List[str]

class WalletExhaustedEvent(TypedDict):
    id: str
    seq: int
    entityId: str
    createdAt: str
    type: Literal["wallet.exhausted"]
    data: "WalletExhaustedEventData"

class WalletLowEventData(TypedDict):
    balanceCents: int
    burnPerHourCents: int
    runwaySeconds: int

class WalletLowEvent(TypedDict):
    id: str
    seq: int
    entityId: str
    createdAt: str
    type: Literal["wallet.low"]
    data: "WalletLowEventData"

class WeakKeyError(TypedDict):
    error: Literal["weak_key"]
    message: str
    requestId: str
    support: NotRequired[str]

class Webhook(TypedDict):
    id: str
    url: str
    types: List[Literal["rental.created", "rental.machine_found", "rental.ssh_answered", "rental.running", "rental.warned", "rental.script_fetched", "rental.kept_alive", "rental.ports_closed", "rental.changed", "rental.stopping", "rental.stopped", "rental.failed", "topup.succeeded", "topup.failed", "topup.expired", "topup.reversed", "topup.reinstated", "wallet.credited", "wallet.low", "wallet.exhausted", "budget.reached", "auto_topup.succeeded", "auto_topup.switched_off", "card.saved", "card.removed", "invoice.opened", "invoice.paid", "invoice.voided", "invoice.uncollectible", "ssh_key.added", "ssh_key.removed", "passkey.added", "passkey.removed", "api_key.created", "api_key.changed", "api_key.revoked", "webhook.created", "webhook.changed", "webhook.switched_off", "webhook.removed", "session.started", "session.ended", "feed.resync"]]
    description: str
    state: Literal["pending", "enabled", "switched_off"]
    deliveredSeq: int
    createdAt: str
    lastSuccessAt: Optional[str]
    failingSince: Optional[str]
    switchedOffAt: Optional[str]
    switchedOffReason: Optional[Literal["gone", "no_success", "challenge_unanswered"]]

class WebhookChallengeData(TypedDict):
    challenge: str

class WebhookChallenge(TypedDict):
    id: str
    type: Literal["webhook.challenge"]
    entityId: str
    data: "WebhookChallengeData"
    createdAt: str

class WebhookChallengeAnswer(TypedDict):
    challenge: str

class WebhookChangedEvent(TypedDict):
    id: str
    seq: int
    entityId: str
    createdAt: str
    type: Literal["webhook.changed"]
    data: "ChangedEventData"

class WebhookCreatedEvent(TypedDict):
    id: str
    seq: int
    entityId: str
    createdAt: str
    type: Literal["webhook.created"]
    data: "NoEventData"

class WebhookDelivery(TypedDict):
    id: str
    eventId: Optional[str]
    seq: Optional[int]
    type: str
    attempt: int
    outcome: Literal["delivered", "failed", "given_up"]
    httpStatus: Optional[int]
    fault: Optional[str]
    durationMs: int
    at: str

class WebhookDeliveryPage(TypedDict):
    deliveries: List["WebhookDelivery"]
    nextCursor: Optional[str]

class WebhookNotEnabledDetails(TypedDict):
    state: Literal["pending", "switched_off"]

class WebhookNotEnabledError(TypedDict):
    error: Literal["webhook_not_enabled"]
    message: str
    details: "WebhookNotEnabledDetails"
    requestId: str
    support: NotRequired[str]

class WebhookNotFoundError(TypedDict):
    error: Literal["webhook_not_found"]
    message: str
    requestId: str
    support: NotRequired[str]

class WebhookPingEvent(TypedDict):
    id: str
    seq: int
    entityId: str
    createdAt: str
    type: Literal["webhook.ping"]
    data: "NoEventData"

class WebhookRedelivery(TypedDict):
    ok: Literal[True]
    afterSeq: int

class WebhookRemovedEvent(TypedDict):
    id: str
    seq: int
    entityId: str
    createdAt: str
    type: Literal["webhook.removed"]
    data: "NoEventData"

class WebhookSwitchedOffEventData(TypedDict):
    reason: Literal["gone", "no_success", "challenge_unanswered"]

class WebhookSwitchedOffEvent(TypedDict):
    id: str
    seq: int
    entityId: str
    createdAt: str
    type: Literal["webhook.switched_off"]
    data: "WebhookSwitchedOffEventData"

class WebhooksDisabledError(TypedDict):
    error: Literal["webhooks_disabled"]
    message: str
    requestId: str
    support: NotRequired[str]
AccountClosingState = Literal["stopping", "settling", "returning", "erasing", "kept", "closed"]
AccountClosingWait = Literal["rentals", "topups", "invoices", "disputes", "parked_payments", "refunds", "refused_refunds", "processor", "installation_key", "late_events"]
ApiError = Union["ValidationFailedError", "InvalidEmailError", "InvalidAmountError", "InvalidCountError", "WeakKeyError", "DuplicateKeyError", "TooManyKeysError", "DuplicatePasskeyError", "TooManyPasskeysError", "UnknownFamilyError", "ModelUnavailableError", "SoftwareUnsupportedError", "IdleGuardUnsupportedError", "BillingDisabledError", "TooManyWebhooksError", "WebhooksDisabledError", "UnauthorizedError", "CodeInvalidError", "PasskeyInvalidError", "OauthStateMismatchError", "KeyUnknownError", "KeyExpiredError", "KeyRevokedError", "KeySuspendedError", "CardDeclinedError", "InsufficientBalanceError", "ForbiddenError", "BlockedError", "AccountClosingError", "FreshSignInRequiredError", "SessionRequiredError", "KeyScopeError", "KeyAddressError", "KeyEndsOwnError", "KeySetupError", "CapReservedError", "BudgetReservedError", "NotFoundError", "RentalNotFoundError", "InvoiceNotFoundError", "TopupNotFoundError", "KeyNotFoundError", "SessionNotFoundError", "PasskeyNotFoundError", "QuoteNotFoundError", "EndpointNotFoundError", "WebhookNotFoundError", "MethodNotAllowedError", "ResyncError", "ChargeInProgressError", "AlreadyStoppedError", "QuoteExpiredError", "PriceChangedError", "RentalEndingError", "NoIdleGuardError", "NoSavedCardError", "WebhookNotEnabledError", "ProofNotReadyError", "ExportRunningError", "IdempotencyConflictError", "IdempotencyInProgressError", "PayloadTooLargeError", "UnsupportedMediaTypeError", "UnknownHostError", "RateLimitedError", "CodeRequestRateLimitedError", "InternalError", "TemporarilyUnavailableError"]
ApiKeyEnds = Literal["all", "own"]
ApiKeyScope = Literal["read", "rentals", "billing", "setup"]
AuditKind = Literal["signed_in", "signed_out", "proof_refreshed", "ssh_key_added", "ssh_key_removed", "rental_created", "rental_changed", "rental_stopped", "checkout_begun", "card_saved", "card_removed", "auto_topup_changed", "billing_details_changed", "changed_by_operator", "charges_held", "rental_ended", "notices_changed", "webhook_created", "webhook_changed", "webhook_removed", "webhook_switched_off", "budget_changed", "api_key_created", "api_key_changed", "api_key_revoked", "passkey_added", "passkey_removed", "passkey_refused", "account_exported"]
AutoTopupDisabledReason = Literal["charge_failed", "card_removed", "card_expired", "charges_held"]
Checkout = Union["CheckoutPage", "CheckoutCharge"]
CreateRental = Union["NewRental", "TakenQuote"]
EndpointAuth = Literal["none", "token"]
EndpointKind = Literal["http", "tcp"]
EntrypointChoice = Literal["keep", "replace"]
ErrorCode = Literal["validation_failed", "invalid_email", "invalid_amount", "invalid_count", "weak_key", "duplicate_key", "too_many_keys", "duplicate_passkey", "too_many_passkeys", "unknown_family", "model_unavailable", "software_unsupported", "idle_guard_unsupported", "billing_disabled", "too_many_webhooks", "webhooks_disabled", "unauthorized", "code_invalid", "passkey_invalid", "oauth_state_mismatch", "key_unknown", "key_expired", "key_revoked", "key_suspended", "card_declined", "insufficient_balance", "forbidden", "blocked", "account_closing", "fresh_sign_in_required", "session_required", "key_scope", "key_address", "key_ends_own", "key_setup", "cap_reserved", "budget_reserved", "not_found", "rental_not_found", "invoice_not_found", "topup_not_found", "key_not_found", "session_not_found", "passkey_not_found", "quote_not_found", "endpoint_not_found", "webhook_not_found", "method_not_allowed", "resync", "charge_in_progress", "already_stopped", "quote_expired", "price_changed", "rental_ending", "no_idle_guard", "no_saved_card", "webhook_not_enabled", "proof_not_ready", "export_running", "idempotency_conflict", "idempotency_in_progress", "payload_too_large", "unsupported_media_type", "unknown_host", "rate_limited", "code_request_rate_limited", "internal_error", "temporarily_unavailable"]
Event = Union["RentalCreatedEvent", "RentalMachineFoundEvent", "RentalSshAnsweredEvent", "RentalRunningEvent", "RentalWarnedEvent", "RentalScriptFetchedEvent", "RentalKeptAliveEvent", "RentalPortsClosedEvent", "RentalChangedEvent", "RentalStoppingEvent", "RentalStoppedEvent", "RentalFailedEvent", "TopupSucceededEvent", "TopupFailedEvent", "TopupExpiredEvent", "TopupReversedEvent", "TopupReinstatedEvent", "WalletCreditedEvent", "WalletLowEvent", "WalletExhaustedEvent", "BudgetReachedEvent", "AutoTopupSucceededEvent", "AutoTopupSwitchedOffEvent", "CardSavedEvent", "CardRemovedEvent", "InvoiceOpenedEvent", "InvoicePaidEvent", "InvoiceVoidedEvent", "InvoiceUncollectibleEvent", "SshKeyAddedEvent", "SshKeyRemovedEvent", "PasskeyAddedEvent", "PasskeyRemovedEvent", "ApiKeyCreatedEvent", "ApiKeyChangedEvent", "ApiKeyRevokedEvent", "WebhookCreatedEvent", "WebhookChangedEvent", "WebhookSwitchedOffEvent", "WebhookRemovedEvent", "WebhookPingEvent", "SessionStartedEvent", "SessionEndedEvent", "FeedResyncEvent"]
EventType = Literal["rental.created", "rental.machine_found", "rental.ssh_answered", "rental.running", "rental.warned", "rental.script_fetched", "rental.kept_alive", "rental.ports_closed", "rental.changed", "rental.stopping", "rental.stopped", "rental.failed", "topup.succeeded", "topup.failed", "topup.expired", "topup.reversed", "topup.reinstated", "wallet.credited", "wallet.low", "wallet.exhausted", "budget.reached", "auto_topup.succeeded", "auto_topup.switched_off", "card.saved", "card.removed", "invoice.opened", "invoice.paid", "invoice.voided", "invoice.uncollectible", "ssh_key.added", "ssh_key.removed", "passkey.added", "passkey.removed", "api_key.created", "api_key.changed", "api_key.revoked", "webhook.created", "webhook.changed", "webhook.switched_off", "webhook.removed", "webhook.ping", "session.started", "session.ended", "feed.resync"]
FamilyId = Literal["rtx-3090", "rtx-4090", "rtx-5080", "rtx-5090", "rtx-4000-ada", "rtx-6000-ada", "rtx-pro-6000", "rtx-a4000", "rtx-a5000", "rtx-a6000", "a10", "a40", "l4", "l40", "l40s", "a100-40gb", "a100-80gb", "h100-80gb", "h100-94gb", "h200-141gb", "gh200", "b200", "b300", "mi300x"]
IdleIgnored = Literal["sessions"]
IdleLooksAt = Literal["gpu", "cpu", "network", "sessions"]
ImageNeed = Literal["sh", "base64", "mktemp", "chmod", "curl_or_wget"]
InvoiceReason = Literal["topup_failed", "overage", "manual"]
InvoiceStatus = Literal["draft", "open", "paid", "void", "uncollectible"]
LedgerEntryType = Literal["processor_topup", "auto_topup", "rental_charge", "refund", "adjustment"]
NoticeKind = Literal["rental_auto_stop", "rental_spend_limit", "rental_idle_near", "rental_idle", "rental_balance_exhausted", "rental_operator_stop", "rental_lost", "rental_failed", "low_balance", "budget_reached", "statement", "webhook_switched_off", "auto_topup_off", "payments", "ssh_key_added", "passkey_added", "passkey_refused", "api_key_created", "api_key_widened", "setup_acted", "card_saved"]
ProcessorEvent = Dict[str, Any]
RentalPhase = Literal["queued", "buying", "booting", "installing", "checking", "ready"]
RentalStatus = Literal["provisioning", "running", "stopping", "stopped", "failed"]
RentalWarning = Literal["no_ssh_key", "ssh_unreachable", "host_key_changed", "public_port"]
StopReason = Literal["user", "auto_stop", "spend_limit", "balance_exhausted", "pod_lost", "operator", "idle"]
TelemetrySource = Literal["upstream", "reporter"]
TopupSource = Literal["checkout", "saved_card", "auto_topup"]
TopupStatus = Literal["creating", "requires_payment", "processing", "succeeded", "expired", "failed"]