import type { Reach } from './reach.js';

/** What each run reaches for sure, however short it is: the edges of the money, where the oracle has something to judge. */
const edges: Readonly<Record<string, readonly string[]>> = {
  'words of columns': [
    'rentals.stop_reason user',
    'rentals.stop_reason auto_stop',
    'rentals.stop_reason spend_limit',
    'rentals.stop_reason balance_exhausted',
    'rentals.status failed',
    'ledger_entries.type processor_topup',
    'ledger_entries.type auto_topup',
    'ledger_entries.type refund',
    'invoices.reason topup_failed',
  ],
  'error codes of the API': ['insufficient_balance', 'price_changed'],
  activities: ['giveUpProvisioning'],
  'refusals of what closings give back': ['decided'],
};

/** @returns each of them that was not reached, in words */
export function edgesMissed(reach: Reach): string[] {
  return Object.entries(edges).flatMap(([name, wanted]) => {
    const seen = new Set(reach[name]?.seen);
    return wanted.filter((one) => !seen.has(one)).map((one) => `never reached, of the ${name}: ${one}`);
  });
}
