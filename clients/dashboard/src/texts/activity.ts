import type { EventType } from '@gpu-rental/client';
import type { AuditKind } from '../data/audit.js';
import { plural, texts } from './texts.js';

/** What an event holds, as texts. What is not there, or is something else by now, is a dash. */
export interface Told {
  readonly money: (name: string) => string;
  readonly number: (name: string) => string;
  readonly time: (name: string) => string;
  readonly word: (name: string) => string;
  /** A word of the service, in words of people. */
  readonly reason: (name: string) => string;
  readonly list: (name: string) => string;
}

/** What happened, in words, by the type of the event. */
const events = {
  'rental.created': (told) =>
    `A rental of ${told.number('gpuCount')} × ${told.word('familyId')} was opened at ${told.money('pricePerHourCents')} an hour; ${told.money('holdCents')} are held.`,
  'rental.machine_found': (told) => `A machine was found for the rental, at ${told.word('providerCode')}.`,
  'rental.ssh_answered': (told) =>
    `The machine answers over SSH at ${told.word('host')}, port ${told.word('port')}.`,
  'rental.running': (told) => `The rental runs, and is billed from ${told.time('runningAt')} on.`,
  'rental.warned': (told) => `The machine is in danger: ${told.reason('warning')}.`,
  'rental.changed': (told) => `The rental was changed: ${told.list('changed')}.`,
  'rental.stopping': (told) =>
    `The rental’s billing ended at ${told.time('stoppedAt')}: ${told.reason('reason')}.`,
  'rental.stopped': (told) =>
    `The rental is settled: ${told.money('chargedCents')} in all, ${told.money('refundedCents')} of its hold given back.`,
  'rental.failed': (told) =>
    `The rental failed: ${told.reason('code')}. Nothing is charged; ${told.money('refundedCents')} were given back.`,
  'topup.succeeded': (told) =>
    `A top-up was paid by ${told.reason('source')}: ${told.money('creditedCents')} came in.`,
  'topup.failed': (told) =>
    `A top-up of ${told.money('amountCents')} by ${told.reason('source')} failed. Nothing was paid.`,
  'topup.reversed': (told) =>
    told.word('kind') === 'refund'
      ? `${told.money('amountCents')} of a payment was refunded; ${told.money('debitedCents')} left the wallet.`
      : `Your bank took back ${told.money('amountCents')} of a payment; ${told.money('debitedCents')} left the wallet.`,
  'topup.reinstated': (told) =>
    `A payment stands again: ${told.money('returnedCents')} came back into the wallet.`,
  'topup.expired': (told) => `A top-up of ${told.money('amountCents')} lapsed: nobody paid in time.`,
  'wallet.credited': (told) =>
    `${told.money('amountCents')} came into the wallet; the balance is ${told.money('balanceCents')}.`,
  'wallet.low': (told) =>
    `The money lasts for less than an hour: ${told.money('balanceCents')} at ${told.money('burnPerHourCents')} an hour.`,
  'wallet.exhausted': (told) => `The money was over, and ended rentals: ${told.list('rentalIds')}.`,
  'budget.reached': (told) =>
    `${told.number('percent')}% of the budget of ${told.word('month')} are spent: ${told.money('spentCents')} of ${told.money('monthlyCents')}.`,
  'auto_topup.succeeded': (told) => `The automatic top-up brought ${told.money('creditedCents')}.`,
  'auto_topup.switched_off': (told) => `The automatic top-up was switched off: ${told.reason('reason')}.`,
  'card.saved': (told) => `A card was saved: ${told.word('brand')}, ending in ${told.word('last4')}.`,
  'card.removed': (told) => `The saved card was removed: ${told.reason('reason')}.`,
  'invoice.opened': (told) =>
    `An invoice of ${told.money('amountCents')} was opened (${told.reason('reason')}), due ${told.time('dueAt')}.`,
  'invoice.paid': (told) => `An invoice of ${told.money('amountCents')} was paid.`,
  'invoice.voided': (told) => `An invoice of ${told.money('amountCents')} was voided.`,
  'invoice.uncollectible': (told) =>
    `An invoice of ${told.money('amountCents')} was given up. It can still be paid.`,
  'ssh_key.added': (told) => `An SSH key was added: ${told.word('fingerprint')}.`,
  'ssh_key.removed': (told) => `An SSH key was removed: ${told.word('fingerprint')}.`,
  'api_key.created': () => 'An API key was made.',
  'api_key.revoked': () => 'An API key was revoked.',
  'webhook.created': () => 'A webhook was added.',
  'webhook.changed': (told) => `A webhook was changed: ${told.list('changed')}.`,
  'webhook.switched_off': (told) => `A webhook was switched off: ${told.reason('reason')}.`,
  'webhook.removed': () => 'A webhook was removed.',
  'webhook.ping': () => 'A webhook was sent a ping.',
  'session.started': (told) => `Somebody signed in, by ${told.reason('by')}.`,
  'session.ended': (told) => `A session ended: ${told.reason('by')}.`,
  'feed.resync': () => 'The service was restored from a backup. Events before this one may be missing.',
} satisfies Readonly<Record<EventType, (told: Told) => string>>;

/** The types of events, in a few words, for the filter. */
const eventTypes = {
  'rental.created': 'Rental opened',
  'rental.machine_found': 'Machine found',
  'rental.ssh_answered': 'SSH answers',
  'rental.running': 'Rental runs',
  'rental.warned': 'Machine in danger',
  'rental.changed': 'Rental changed',
  'rental.stopping': 'Billing ended',
  'rental.stopped': 'Rental settled',
  'rental.failed': 'Rental failed',
  'topup.succeeded': 'Top-up paid',
  'topup.failed': 'Top-up failed',
  'topup.reversed': 'Payment taken back',
  'topup.reinstated': 'Payment stands again',
  'topup.expired': 'Top-up lapsed',
  'wallet.credited': 'Money came in',
  'wallet.low': 'Money is low',
  'wallet.exhausted': 'Money is over',
  'budget.reached': 'Budget reached',
  'auto_topup.succeeded': 'Automatic top-up paid',
  'auto_topup.switched_off': 'Automatic top-up off',
  'card.saved': 'Card saved',
  'card.removed': 'Card removed',
  'invoice.opened': 'Invoice opened',
  'invoice.paid': 'Invoice paid',
  'invoice.voided': 'Invoice voided',
  'invoice.uncollectible': 'Invoice given up',
  'ssh_key.added': 'SSH key added',
  'ssh_key.removed': 'SSH key removed',
  'api_key.created': 'API key made',
  'api_key.revoked': 'API key revoked',
  'webhook.created': 'Webhook added',
  'webhook.changed': 'Webhook changed',
  'webhook.switched_off': 'Webhook off',
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
  proof_refreshed: 'Showed anew who they are',
  ssh_key_added: 'Added an SSH key',
  ssh_key_removed: 'Removed an SSH key',
  rental_created: 'Opened a rental',
  rental_changed: 'Changed a rental',
  rental_stopped: 'Asked a rental to stop',
  checkout_begun: 'Began a payment',
  card_saved: 'Saved a card',
  card_removed: 'Removed a card',
  auto_topup_changed: 'Changed the automatic top-up',
  changed_by_operator: 'Changed by the service’s staff',
  charges_held: 'Automatic charges were held',
  rental_ended: 'A rental ended by itself',
  notices_changed: 'Changed which mails are sent',
  webhook_created: 'Added a webhook',
  webhook_changed: 'Changed a webhook',
  webhook_removed: 'Removed a webhook',
  webhook_switched_off: 'A webhook was switched off',
  budget_changed: 'Changed the budget',
  api_key_created: 'Made an API key',
  api_key_changed: 'Changed an API key',
  api_key_revoked: 'Revoked an API key',
} satisfies Readonly<Record<AuditKind, string>>;

/** The feed of events, and the audit trail. */
export const activityTexts = texts({
  lead: 'What happened to your account, and what was done to it, the newest first.',
  tab: 'What is shown',
  tabs: { events: 'Events', audit: 'Audit trail' },
  type: 'Type',
  allTypes: 'All types',
  kind: 'Kind',
  allKinds: 'All kinds',
  events,
  eventTypes,
  audit,
  /** Words of the service that say why, where they need more than their underscores taken away. */
  reasons: {
    user: 'as its user asked',
    auto_stop: 'its time limit',
    spend_limit: 'its spending limit',
    balance_exhausted: 'the money was over',
    pod_lost: 'the machine was lost',
    operator: 'the service’s staff',
    not_provisioned: 'no machine came up',
    lost_at_start: 'the machine was lost at once',
    ssh_unreachable: 'it can’t be reached over SSH',
    host_key_changed: 'its host key has changed',
    auto_stop_near: 'its time limit is near',
    spend_limit_near: 'its spending limit is near',
    upstream_end_near: 'its provider is about to end it',
    checkout: 'payment page',
    saved_card: 'the saved card',
    auto_topup: 'automatic top-up',
    charge_failed: 'a charge failed',
    card_removed: 'the card was removed',
    card_expired: 'the card has expired',
    charges_held: 'charges are held',
    replaced: 'another card took its place',
    detached: 'at the payment processor',
    overage: 'use beyond the money',
    manual: 'a correction',
    topup_failed: 'a failed top-up',
    sign_out: 'signed out',
    new_sign_in: 'a new sign-in',
    other_session: 'ended from another session',
    restored: 'the service was restored',
    code: 'a mailed code',
  },
  unknown: '–',
  unknownEvent: (type: string) => `Something of a kind that this page does not know: ${type}.`,
  machine: 'a machine',
  number: (seq: string) => `No. ${seq}`,
  copyId: 'Copy the id',
  from: (address: string) => `from ${address}`,
  byKey: (id: string) => `by API key ${id}`,
  failedSignIns: (tries: string, number: number) =>
    plural(number, { one: 'A wrong code was tried', other: `${tries} wrong codes were tried` }),
  failedNote: 'Within the hour from then on. They are counted, not told one by one.',
  open: { rental: 'Rental', billing: 'Billing', invoices: 'Invoices', keys: 'SSH keys', webhook: 'Webhook' },
  openApiKeys: 'API keys',
  openSessions: 'Sessions',
  openBudget: 'Budget',
  openLedger: 'Ledger',
  more: 'Show more',
  end: 'That is all that is kept.',
  empty: 'Nothing has happened yet',
  emptyText: 'What happens to your account in the next weeks is told here.',
  emptyFiltered: 'Nothing of that kind has happened',
});
