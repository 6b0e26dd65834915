import type { SavedCardRow } from '../../adapters/postgres/rows/tables.js';

/** The saved card (spec: Saved card): all null when there is none. */
export function presentCard(card: SavedCardRow | undefined) {
  if (card === undefined) return { brand: null, last4: null, expMonth: null, expYear: null, pmId: null };
  const { brand, last4, exp_month: expMonth, exp_year: expYear, pm_id: pmId } = card;
  return { brand, last4, expMonth, expYear, pmId };
}
