import {
  autoTopupOffReasons,
  cardRemovedReasons,
  keptAliveBy,
  rentalFailures,
  sessionEnds,
  warningsOfEvents,
  whysOff,
  type EventData,
  type EventType,
} from '../../domain/events/events.js';
import {
  bool,
  count,
  idOf,
  instant,
  listOf,
  named,
  object,
  oneOf,
  orNull,
  text,
  whole,
  type JsonSchema,
} from '../http/openapi/json-schema.js';
import { invoiceReason } from '../invoices/describe.js';
import { stopReason } from '../rentals/describe.js';
import { topupSource } from '../topups/describe.js';
import { ledgerEntryType } from '../wallet/describe.js';

const nothing = named('NoEventData', object({}));
const limits = {
  autoStopAt: orNull(instant, 'Null: it has no such limit, or does not run yet.'),
  spendLimitAt: orNull(
    instant,
    'When it reaches its limit of costs. Null: it has none, or does not run yet.',
  ),
};
const invoice = { amountCents: count, reason: invoiceReason };
const ended = named('InvoiceEventData', object(invoice));
const key = named('SshKeyEventData', object({ fingerprint: text }));
const changed = named(
  'ChangedEventData',
  object({ changed: { ...listOf(text), description: 'Which fields.' } }),
);
const reversal = {
  kind: { ...oneOf(['refund', 'dispute']), description: 'dispute: the bank took it back.' },
  paymentId: { ...text, description: 'Of the payment processor.' },
};

const data = {
  'rental.created': object({
    familyId: text,
    gpuCount: whole,
    region: text,
    pricePerHourCents: count,
    holdCents: count,
  }),
  'rental.machine_found': object({ providerCode: text }),
  'rental.ssh_answered': object({
    host: text,
    port: whole,
    username: text,
    hostKeyFingerprint: orNull(text),
  }),
  'rental.running': object({ runningAt: instant, ...limits }),
  'rental.warned': object({
    warning: oneOf(warningsOfEvents),
    at: orNull(instant, 'When it will end by it, where that is known.'),
  }),
  'rental.script_fetched': object({
    fetch: { ...whole, description: 'For which time, since it was rented or started again.' },
    afterRestart: { ...bool, description: 'Whether its provider started it again.' },
  }),
  'rental.kept_alive': object({
    until: instant,
    by: { ...oneOf(keptAliveBy), description: 'machine: by `gpu-keep-alive` on it.' },
  }),
  'rental.ports_closed': object({ ports: { ...listOf(text), description: 'By their names.' } }),
  'rental.changed': object(
    {
      changeId: idOf('chg'),
      changed: { ...listOf(text), description: 'Which fields.' },
      maxSpendCents: orNull(count),
      ...limits,
      maxSpendCentsBefore: orNull(count, 'Before this change. Events of release 0.2 don’t tell it.'),
      autoStopAtBefore: orNull(instant, 'The same.'),
    },
    ['maxSpendCentsBefore', 'autoStopAtBefore'],
  ),
  'rental.stopping': object({ reason: stopReason, stoppedAt: instant }),
  'rental.stopped': object({
    reason: stopReason,
    stoppedAt: instant,
    chargedCents: count,
    refundedCents: { ...count, description: 'What was left of its hold, and is available again.' },
  }),
  'rental.failed': object({ code: oneOf(rentalFailures), message: text, refundedCents: count }),
  'topup.succeeded': object({
    amountCents: { ...count, description: 'What was asked for.' },
    creditedCents: { ...count, description: 'What came in.' },
    source: topupSource,
  }),
  'topup.failed': object({
    amountCents: count,
    source: topupSource,
    declineCode: orNull(text, 'The bank’s word, where it gave one.'),
    message: orNull(text),
  }),
  'topup.expired': object({ amountCents: count }),
  'topup.reversed': object({
    ...reversal,
    amountCents: count,
    debitedCents: { ...count, description: 'Taken from the wallet.' },
    invoicedCents: { ...count, description: 'Asked for by an invoice.' },
  }),
  'topup.reinstated': object({ ...reversal, returnedCents: count }),
  'wallet.credited': object({
    amountCents: count,
    balanceCents: count,
    ledgerSeq: count,
    entryType: ledgerEntryType,
  }),
  'wallet.low': object({ balanceCents: count, burnPerHourCents: count, runwaySeconds: count }),
  'wallet.exhausted': object({ rentalIds: listOf(idOf('rent')) }),
  'budget.reached': object({
    percent: whole,
    month: { ...text, description: 'Such as 2026-11, in UTC.' },
    spentCents: count,
    monthlyCents: count,
  }),
  'auto_topup.succeeded': object({ creditedCents: count }),
  'auto_topup.switched_off': object({ reason: oneOf(autoTopupOffReasons) }),
  'card.saved': object({ brand: text, last4: text }),
  'card.removed': object({
    reason: {
      ...oneOf(cardRemovedReasons),
      description: 'replaced: by a card that was saved later. detached: at the payment processor.',
    },
  }),
  'invoice.opened': object({ ...invoice, dueAt: instant }),
  'invoice.paid': object({ ...invoice, paidAt: instant }),
  'invoice.voided': ended,
  'invoice.uncollectible': ended,
  'ssh_key.added': key,
  'ssh_key.removed': key,
  'passkey.added': nothing,
  'passkey.removed': nothing,
  'api_key.created': nothing,
  'api_key.changed': changed,
  'api_key.revoked': nothing,
  'webhook.created': nothing,
  'webhook.changed': changed,
  'webhook.switched_off': object({ reason: oneOf(whysOff) }),
  'webhook.removed': nothing,
  'webhook.ping': nothing,
  'session.started': object({ by: text }),
  'session.ended': object({ by: oneOf(sessionEnds) }),
  'feed.resync': nothing,
};

/** What `data` of an event holds, by its type. */
export const eventData: { readonly [Type in EventType]: JsonSchema<EventData[Type]> } = data;
