import { debtReasons, unsettledStatuses } from '../../../domain/payments/invoices.js';

/** In SQL, whether an invoice is a debt by its reason. @param invoice the name of its row in the query */
export function isDebtSql(invoice: string): string {
  return `${invoice}.reason in (${quoted(debtReasons)})`;
}

/** In SQL, whether nothing has settled an invoice. @param invoice the name of its row in the query */
export function isUnsettledSql(invoice: string): string {
  return `${invoice}.status in (${quoted(unsettledStatuses)})`;
}

/** In SQL, whether an invoice is owed now, as `isOwed` says. @param invoice the name of its row in the query */
export function isOwedSql(invoice: string): string {
  return `${invoice}.status = 'open' and ${invoice}.void_requested_at is null and ${isDebtSql(invoice)}`;
}

function quoted(words: readonly string[]): string {
  return words.map((word) => `'${word}'`).join(', ');
}
