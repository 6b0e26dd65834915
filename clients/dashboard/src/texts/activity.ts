import type { EventType } from '@gpu-rental/client';
import type { AuditKind } from '../data/audit.js';
import { plural, texts } from './texts.js';

/** What an event holds, as texts. What is not there, or is something else by now, is a dash. */
export interface Told {
  /** The thing that it happened to, by its name where it has one, or by what is given. */
  readonly named: (word: string, unnamed: string) => string;
  /** The rental that it happened to. */
  readonly rental: string;
  /** The kind of its GPUs. */
  readonly family: string;
  /** The brand of a card. */
  readonly brand: string;
  readonly money: (name: string) => string;
  readonly number: (name: string) => string;
  readonly isTrue: (name: string) => boolean;
  readonly time: (name: string) => string;
  readonly word: (name: string) => string;
  /** A word of the service, in words of people. */
  readonly reason: (name: string) => string;
  readonly list: (name: string) => string;
  /** Rentals by their names. */
  readonly rentals: (name: string) => string;
  /** What was changed of a rental, and which way. */
  readonly changes: string;
}

/** What happened, in words, by the type of the event. */
const events = {
  'rental.created': (told) =>
    `${told.rental}: rented ${told.number('gpuCount')} × ${told.family} at ${told.money('pricePerHourCents')} an hour; ${told.money('holdCents')} is held for it`,
  'rental.machine_found': (told) => `${told.rental}: machine found at ${told.word('providerCode')}`,
  'rental.ssh_answered': (told) =>
    `${told.rental}: SSH answers at ${told.word('host')}, port ${told.word('port')}`,
  'rental.running': (told) => `${told.rental}: running, billed since ${told.time('runningAt')}`,
  'rental.warned': (told) => `${told.rental}: needs your attention, ${told.reason('warning')}`,
  'rental.script_fetched': (told) =>
    `${told.rental}: the machine fetched your start script (time ${told.number('fetch')}${told.isTrue('afterRestart') ? ' since it restarted' : ''})`,
  'rental.kept_alive': (told) =>
    `${told.rental}: kept running until ${told.time('until')}, ${told.reason('by')}`,
  'rental.ports_closed': (told) => `${told.rental}: we closed its public ports and stopped it`,
  'rental.changed': (told) => `${told.rental}: ${told.changes}`,
  'rental.stopping': (told) =>
    `${told.rental}: billing stopped at ${told.time('stoppedAt')}, ${told.reason('reason')}`,
  'rental.stopped': (told) =>
    `${told.rental}: ended; ${told.money('chargedCents')} charged, ${told.money('refundedCents')} of its hold returned`,
  'rental.failed': (told) =>
    `${told.rental}: failed, ${told.reason('code')}; you were not charged, and ${told.money('refundedCents')} was returned`,
  'topup.succeeded': (told) =>
    `Top-up by ${told.reason('source')}: ${told.money('creditedCents')} was added to your wallet.`,
  'topup.failed': (told) =>
    `A top-up of ${told.money('amountCents')} by ${told.reason('source')} failed. You were not charged.`,
  'topup.reversed': (told) =>
    told.word('kind') === 'refund'
      ? `${told.money('amountCents')} of a payment was refunded; ${told.money('debitedCents')} came out of your wallet.`
      : `Your bank took back ${told.money('amountCents')} of a payment; ${told.money('debitedCents')} came out of your wallet.`,
  'topup.reinstated': (told) =>
    `A payment was reinstated: ${told.money('returnedCents')} is back in your wallet.`,
  'topup.expired': (told) => `A top-up of ${told.money('amountCents')} expired before it was paid.`,
  'wallet.credited': (told) =>
    `${told.money('amountCents')} was added to your wallet; your balance is ${told.money('balanceCents')}.`,
  'wallet.low': (told) =>
    `Your balance lasts less than an hour: ${told.money('balanceCents')} at ${told.money('burnPerHourCents')} an hour.`,
  'wallet.exhausted': (told) =>
    `Your balance ran out, so we stopped these machines: ${told.rentals('rentalIds')}.`,
  'budget.reached': (told) =>
    `You have spent ${told.number('percent')}% of your budget for ${told.word('month')}: ${told.money('spentCents')} of ${told.money('monthlyCents')}.`,
  'auto_topup.succeeded': (told) => `An automatic top-up added ${told.money('creditedCents')}.`,
  'auto_topup.switched_off': (told) => `Automatic top-ups were turned off: ${told.reason('reason')}.`,
  'card.saved': (told) => `A card was saved: ${told.brand} ending in ${told.word('last4')}.`,
  'card.removed': (told) => `Your saved card was removed: ${told.reason('reason')}.`,
  'invoice.opened': (told) =>
    `You have an invoice for ${told.money('amountCents')} (${told.reason('reason')}), due ${told.time('dueAt')}.`,
  'invoice.paid': (told) => `An invoice for ${told.money('amountCents')} was paid.`,
  'invoice.voided': (told) => `An invoice for ${told.money('amountCents')} was voided.`,
  'invoice.uncollectible': (told) =>
    `An invoice for ${told.money('amountCents')} was marked uncollectible. You can still pay it.`,
  'ssh_key.added': (told) => `${told.named('SSH key', 'An SSH key')} was added: ${told.word('fingerprint')}.`,
  'ssh_key.removed': (told) =>
    `${told.named('SSH key', 'An SSH key')} was removed: ${told.word('fingerprint')}.`,
  'passkey.added': () => 'A passkey was added.',
  'passkey.removed': () => 'A passkey was removed.',
  'api_key.created': (told) => `${told.named('API key', 'An API key')} was created.`,
  'api_key.changed': (told) => `${told.named('API key', 'An API key')} was changed: ${told.list('changed')}.`,
  'api_key.revoked': (told) => `${told.named('API key', 'An API key')} was revoked.`,
  'webhook.created': (told) => `${told.named('Webhook', 'A webhook')} was added.`,
  'webhook.changed': (told) => `${told.named('Webhook', 'A webhook')} was changed: ${told.list('changed')}.`,
  'webhook.switched_off': (told) =>
    `${told.named('Webhook', 'A webhook')} was turned off: ${told.reason('reason')}.`,
  'webhook.removed': (told) => `${told.named('Webhook', 'A webhook')} was removed.`,
  'webhook.ping': (told) => `A ping was sent to ${told.named('webhook', 'a webhook')}.`,
  'session.started': (told) => `Someone signed in with ${told.reason('by')}.`,
  'session.ended': (told) => `A session ended: ${told.reason('by')}.`,
  'feed.resync': () => 'The service was restored from a backup. Events before this one may be missing.',
} satisfies Readonly<Record<EventType, (told: Told) => string>>;

/** The types of events, in a few words, for the filter. */
const eventTypes = {
  'rental.created': 'Rental created',
  'rental.machine_found': 'Machine found',
  'rental.ssh_answered': 'SSH ready',
  'rental.running': 'Rental running',
  'rental.warned': 'Machine warning',
  'rental.script_fetched': 'Start script fetched',
  'rental.kept_alive': 'Kept running',
  'rental.ports_closed': 'Public ports closed',
  'rental.changed': 'Rental changed',
  'rental.stopping': 'Billing stopped',
  'rental.stopped': 'Rental ended',
  'rental.failed': 'Rental failed',
  'topup.succeeded': 'Top-up paid',
  'topup.failed': 'Top-up failed',
  'topup.reversed': 'Payment taken back',
  'topup.reinstated': 'Payment reinstated',
  'topup.expired': 'Top-up expired',
  'wallet.credited': 'Money added',
  'wallet.low': 'Low balance',
  'wallet.exhausted': 'Balance ran out',
  'budget.reached': 'Budget reached',
  'auto_topup.succeeded': 'Automatic top-up paid',
  'auto_topup.switched_off': 'Automatic top-ups off',
  'card.saved': 'Card saved',
  'card.removed': 'Card removed',
  'invoice.opened': 'New invoice',
  'invoice.paid': 'Invoice paid',
  'invoice.voided': 'Invoice voided',
  'invoice.uncollectible': 'Invoice uncollectible',
  'ssh_key.added': 'SSH key added',
  'ssh_key.removed': 'SSH key removed',
  'passkey.added': 'Passkey added',
  'passkey.removed': 'Passkey removed',
  'api_key.created': 'API key created',
  'api_key.changed': 'API key changed',
  'api_key.revoked': 'API key revoked',
  'webhook.created': 'Webhook added',
  'webhook.changed': 'Webhook changed',
  'webhook.switched_off': 'Webhook turned off',
  'webhook.removed': 'Webhook removed',
  'webhook.ping': 'Webhook ping',
  'session.started': 'Signed in',
  'session.ended': 'Session ended',
  'feed.resync': 'Service restored',
} satisfies Readonly<Record<EventType, string>>;

/** What was done, by the kind of the record. */
const audit = {
  signed_in: 'Signed in',
  signed_out: 'Signed out',
  proof_refreshed: 'Confirmed their identity',
  ssh_key_added: 'Added an SSH key',
  ssh_key_removed: 'Removed an SSH key',
  passkey_added: 'Added a passkey',
  passkey_removed: 'Removed a passkey',
  passkey_refused: 'A passkey was refused: it may be a copy',
  account_exported: 'Downloaded all data of the account',
  rental_created: 'Rented a machine',
  rental_changed: 'Changed a rental',
  rental_stopped: 'Stopped a rental',
  checkout_begun: 'Started a payment',
  card_saved: 'Saved a card',
  card_removed: 'Removed a card',
  auto_topup_changed: 'Changed automatic top-ups',
  changed_by_operator: 'Changed by our staff',
  charges_held: 'Automatic charges were paused',
  rental_ended: 'A rental ended automatically',
  notices_changed: 'Changed email notices',
  webhook_created: 'Added a webhook',
  webhook_changed: 'Changed a webhook',
  webhook_removed: 'Removed a webhook',
  webhook_switched_off: 'A webhook was turned off',
  billing_details_changed: 'Changed the billing details',
  budget_changed: 'Changed the budget',
  api_key_created: 'Created an API key',
  api_key_changed: 'Changed an API key',
  api_key_revoked: 'Revoked an API key',
} satisfies Readonly<Record<AuditKind, string>>;

/** The same with the thing to which it was done, of those that have names. */
const auditNamed: Readonly<Partial<Record<AuditKind, (told: Told) => string>>> = {
  ssh_key_added: (told) => `Added ${told.named('SSH key', 'an SSH key')}`,
  rental_created: (told) => `Rented ${told.rental}`,
  rental_changed: (told) => `Changed ${told.rental}: ${told.changes}`,
  rental_stopped: (told) => `Stopped ${told.rental}`,
  rental_ended: (told) => `${told.rental} ended automatically: ${told.reason('reason')}`,
  webhook_created: (told) => `Added ${told.named('webhook', 'a webhook')}`,
  webhook_changed: (told) => `Changed ${told.named('webhook', 'a webhook')}: ${told.list('changed')}`,
  webhook_switched_off: (told) => `${told.named('Webhook', 'A webhook')} was turned off`,
  api_key_created: (told) => `Created ${told.named('API key', 'an API key')}`,
  api_key_changed: (told) => `Changed ${told.named('API key', 'an API key')}: ${told.list('changed')}`,
  api_key_revoked: (told) => `Revoked ${told.named('API key', 'an API key')}`,
};

/** Names of fields, where they need more than to be set apart. */
const fields: Readonly<Record<string, string>> = {
  url: 'address',
  types: 'events',
  spendCapCents: 'cap',
  allowedCidrs: 'allowed addresses',
  maxSpendCents: 'limit',
  autoStopAt: 'time limit',
  monthlyCents: 'budget',
  thresholdCents: 'below',
  amountCents: 'amount',
  chargedCents: 'charged',
  refundedCents: 'returned',
  hard: 'strict',
};

/** The feed of events, and the audit trail. */
export const activityTexts = texts({
  lead: 'What happened in your account, and who did what. Newest first.',
  tab: 'View',
  tabs: { events: 'Events', audit: 'Audit trail' },
  type: 'Type',
  allTypes: 'All types',
  kind: 'Kind',
  allKinds: 'All kinds',
  events,
  eventTypes,
  audit,
  auditNamed,
  /** A thing and its name. */
  named: (word: string, name: string) => `${word} “${name}”`,
  aRental: 'A rental',
  changes: {
    name: 'renamed',
    labels: 'labels changed',
    notes: 'notes changed',
    spendSet: (amount: string) => `limit set to ${amount}`,
    spendRaised: (amount: string) => `limit raised to ${amount}`,
    spendLowered: (amount: string) => `limit lowered to ${amount}`,
    spendRemoved: 'limit removed',
    timeSet: (time: string) => `set to stop at ${time}`,
    timeLater: (time: string) => `extended until ${time}`,
    timeEarlier: (time: string) => `shortened, stops at ${time}`,
    timeRemoved: 'time limit removed',
    timeChanged: 'time limit changed',
  },
  fields,
  yes: 'yes',
  no: 'no',
  /** Words of the service that say why, where they need more than their underscores taken away. */
  reasons: {
    user: 'you stopped it',
    auto_stop: 'it reached its time limit',
    spend_limit: 'it reached its spending limit',
    balance_exhausted: 'your balance ran out',
    pod_lost: 'the machine was lost',
    operator: 'our staff stopped it',
    idle: 'it was idle',
    not_provisioned: 'no machine came up',
    lost_at_start: 'the machine was lost right after it started',
    ssh_unreachable: 'it can’t be reached over SSH',
    host_key_changed: 'its host key has changed',
    auto_stop_near: 'its time limit is near',
    spend_limit_near: 'its spending limit is near',
    upstream_end_near: 'its provider is about to end it',
    idle_stop_near: 'it is idle and will stop soon',
    renter: 'as you asked',
    machine: 'as asked on the machine',
    checkout: 'payment page',
    saved_card: 'the saved card',
    auto_topup: 'automatic top-up',
    charge_failed: 'a charge failed',
    card_removed: 'the card was removed',
    card_expired: 'the card has expired',
    charges_held: 'charges are paused',
    replaced: 'you saved another card',
    detached: 'it was removed at the payment processor',
    overage: 'use beyond your balance',
    manual: 'a correction',
    topup_failed: 'a failed top-up',
    passkey: 'a passkey',
    sign_out: 'signed out',
    new_sign_in: 'a new sign-in',
    other_session: 'ended from another session',
    restored: 'the service was restored',
    code: 'a code by email',
  },
  unknown: '–',
  unknownEvent: (type: string) => `This page does not know this type of event: ${type}.`,
  number: (seq: string) => `No. ${seq}`,
  copyId: 'Copy id',
  from: (address: string) => `from ${address}`,
  byKey: (name: string) => `by API key ${name}`,
  failedSignIns: (tries: string, number: number) =>
    plural(number, { one: '1 wrong code was entered', other: `${tries} wrong codes were entered` }),
  failedNote: 'In the hour that followed. We count them and show the total.',
  open: { rental: 'Rental', billing: 'Billing', invoices: 'Invoices', keys: 'SSH keys', webhook: 'Webhook' },
  openApiKeys: 'API keys',
  openSessions: 'Sessions',
  openBudget: 'Budget',
  openLedger: 'Ledger',
  more: 'Show more',
  end: 'We keep nothing older.',
  empty: 'Nothing has happened yet',
  emptyText: 'Rentals, payments and sign-ins will show up here.',
  emptyFiltered: 'No such activity yet',
});
