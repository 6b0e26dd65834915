import type { AccountClosingWait } from './schema.js';

/** For how long debts and disputes keep an account open that is being closed, in days. */
export const closingWaitsAtMostDays = 35;

/** What a closing waits for, as people read it. */
export const closingWaitWords: Readonly<Record<AccountClosingWait, string>> = {
  rentals: 'machines that are shutting down',
  topups: 'payments that are being decided',
  invoices: 'open invoices',
  disputes: 'open disputes',
  parked_payments: 'payments that we are looking into',
  refunds: 'refunds that are on their way',
  refused_refunds: 'our support team, because no card accepts the refund',
  processor: 'the payment processor',
  installation_key: 'our support team',
  late_events: 'late records about your account',
};
