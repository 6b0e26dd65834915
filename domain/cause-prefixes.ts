/**
 * The beginnings of the causes that SQL makes from ids, or searches for:
 * [cause-sql.ts](../adapters/postgres/ledger/cause-sql.ts).
 */
export const causePrefixes = {
  payment: 'payment:',
  settlement: 'settle:',
  operation: 'operation:',
  invoiceReturned: 'invoice-returned:',
} as const;

/** The text between the kind of a reversal and its id, where it came back. */
export const reversalReturned = '-returned:';
