import type { StillOpen } from '../../adapters/postgres/accounts/closings.js';
import type { AccountClosingRow } from '../../adapters/postgres/rows/tables.js';
import type { ClosingWait } from '../../domain/accounts/closing.js';
import { Refusal } from '../../domain/refusal.js';

/** @throws Refusal validation_failed: whoever closes an account types its address */
export function refuseOtherAddress(email: string, own: string): void {
  if (email.trim().toLowerCase() === own) return;
  const message = 'email is not this account’s own address: send that one to close it';
  throw new Refusal('validation_failed', `The request is invalid: ${message}.`, {
    fields: [{ field: 'email', message }],
  });
}

interface Money {
  readonly returns: readonly {
    readonly paymentId: string;
    readonly amountCents: number;
    readonly cardBrand: string | null;
    readonly cardLast4: string | null;
    readonly status: 'planned' | 'sent' | 'refused';
  }[];
  readonly lapsesCents: number;
}

/** A closing on read. @param row undefined: nobody has asked for it */
export function presentClosing(
  row: Pick<AccountClosingRow, 'state' | 'requested_at' | 'waits_for'> | undefined,
  { machines, openInvoices, openDisputes }: Pick<StillOpen, 'machines' | 'openInvoices' | 'openDisputes'>,
  money: Money,
) {
  return {
    state: row?.state ?? null,
    requestedAt: row?.requested_at.toISOString() ?? null,
    waitsFor: (row?.waits_for ?? []) as ClosingWait[],
    ...{ machines, openInvoices, openDisputes },
    ...money,
  };
}
