import { texts } from './texts.js';

/** Invoices: what is owed, and what is only offered. */
export const invoicesTexts = texts({
  lead: 'The service works from what you paid in, so an invoice is rare: for what a machine used beyond it, for a correction, or as an offer.',
  owedTitle: 'Owed',
  owed: (count: string) => `${count} to pay`,
  nothingOwed: 'Nothing is owed',
  overdueTitle: 'An invoice is overdue',
  overdue: 'Until it is paid no machine can be rented.',
  filter: 'Which invoices',
  filters: { all: 'All', open: 'Open', paid: 'Paid', void: 'Void', uncollectible: 'Given up' },
  empty: 'You have no invoices',
  emptyWhy: 'What you pay in has receipts instead: they stand with your top-ups.',
  emptyFiltered: 'There is none of these',
  showAll: 'Show all',
  toBilling: 'See your top-ups',
  shownOnly: (count: string) => `The newest ${count} are shown.`,
  reasons: { topup_failed: 'Offer of a top-up', overage: 'Use beyond the wallet', manual: 'Correction' },
  why: {
    topup_failed:
      'An automatic top-up that your card did not pay. Nothing is owed: paying it adds the money.',
    overage: 'What your machines used after the money was over.',
    manual: 'A correction: its items say what for.',
  },
  states: { draft: 'Draft', open: 'Open', paid: 'Paid', void: 'Void', uncollectible: 'Given up' },
  overdueState: 'Overdue',
  issued: (day: string) => `Issued ${day}`,
  due: (day: string) => `Due ${day}`,
  paidOn: (day: string) => `Paid ${day}`,
  voidedOn: (day: string) => `Void since ${day}`,
  rental: 'The rental',
  payOf: (amount: string) => `Pay ${amount}`,
  opening: 'Opening…',
  pdf: 'PDF',
  receipt: 'Receipt',
  lines: 'Items',
  nothingToPayTitle: 'There is nothing to pay here now',
  nothingToPay:
    'The processor has no page for this invoice: it is paid already, or void. The list shows it in a moment.',
});
