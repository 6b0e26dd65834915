import { debtReasons } from '../../../domain/payments/invoices.js';

/** In SQL, whether an invoice is a debt by its reason. @param invoice the name of its row in the query */
export function isDebtSql(invoice: string): string {
  return `${invoice}.reason in (${debtReasons.map((reason) => `'${reason}'`).join(', ')})`;
}
