import type { TrueDispute, TrueRefund } from '../world/truth.js';
import { told, type Evidence } from './evidence.js';

/** Less than this is written off, and not asked for, in cents (decision 26, "End of the money"). */
export const SMALLEST_INVOICE_CENTS = 50;

/** How long a charge that was marked as sent before its payer's mark may be on its way, in milliseconds. */
const ON_ITS_WAY_MS = 5_000;

interface Row {
  readonly id: string;
  readonly user_id: string;
  readonly payment_id: string;
  readonly amount: string;
  readonly debited: string;
  readonly invoiced: string;
  readonly written_off: string;
  readonly is_back: boolean;
  readonly invoice_id: string | null;
  readonly invoice_status: string | null;
  readonly invoice_cents: string | null;
  readonly is_to_be_void: boolean;
  /** The account was to be closed: what it owes is set off or given up, and its invoice void. */
  readonly is_closing: boolean;
  /** What the wallet's entries of this reversal sum up to, its return included. */
  readonly moved: string;
  /** What was paid on its invoice and given back. */
  readonly returned: string;
}

/**
 * Decision 30, "Reversed payments", and decision 80: what went back at the processor is taken here once, from what is
 * available, and the rest is owed or, below 50 cents, written off. It comes back when the money came back there. All
 * reversals of a payment together never take more than the payment.
 */
export async function judgeReversals({ ask, world }: Evidence): Promise<string[]> {
  const { refunds, disputes, payments } = world.processor.truth;
  const rows = await ask<Row>(
    `select r.id, r.user_id, r.payment_id, r.amount_cents as amount, r.debited_cents as debited,
            r.invoiced_cents as invoiced, r.written_off_cents as written_off, r.given_back_at is not null as is_back,
            r.invoice_id, i.status as invoice_status, i.amount_cents as invoice_cents,
            i.void_requested_at is not null as is_to_be_void,
            exists (select 1 from account_closings a where a.user_id = r.user_id) as is_closing,
            coalesce((select sum(e.amount_cents) from ledger_causes c join seen_entries e using (wallet_id, seq)
                       where c.cause in (r.kind || ':' || r.id, r.kind || '-returned:' || r.id)
                          or c.cause like r.kind || ':' || r.id || ':%'), 0) as moved,
            coalesce((select sum(e.amount_cents) from ledger_causes c join seen_entries e using (wallet_id, seq)
                       where c.cause = 'invoice-returned:' || r.invoice_id), 0) as returned
       from refunds_and_disputes r left join invoices i on i.id = r.invoice_id`,
  );
  const all = [...refunds, ...disputes];
  const ids = new Set(all.map(({ id }) => id));
  return [
    ...rows.filter(({ id }) => !ids.has(id)).map(({ id }) => `reversal ${id} never was`),
    ...all.flatMap((one) =>
      judgeReversal(
        one,
        rows.find(({ id }) => id === one.id),
      ),
    ),
    ...payments.flatMap((payment) => {
      const own = rows.filter((row) => row.payment_id === payment.paymentId && !row.is_back);
      const wantedCents = reversedCents(all, payment.paymentId, payment.amountReceivedCents);
      const cents = own.reduce((sum, row) => sum + takenCents(row), 0);
      return told(
        cents !== wantedCents,
        `of payment ${payment.paymentId} ${wantedCents} cents went back, and ${cents} were taken`,
      );
    }),
  ];
}

/** What went back of a payment in truth and must be taken here: never more than the payment. Cents. */
export function reversedCents(
  all: readonly (TrueRefund | TrueDispute)[],
  paymentId: string,
  paidCents: number,
): number {
  const own = all.filter((one) => one.payment.paymentId === paymentId && isTaken(one) && !isReturned(one));
  return Math.min(
    paidCents,
    own.reduce((sum, { amountCents }) => sum + amountCents, 0),
  );
}

function judgeReversal(one: TrueRefund | TrueDispute, row: Row | undefined): string[] {
  const { id, payment, amountCents } = one;
  if (row === undefined) return told(isTaken(one) && !isReturned(one), `${id} took money, and is not known`);
  const is = (isSo: boolean, what: string): string[] => told(isSo, `${id} of ${payment.paymentId} ${what}`);
  return [
    ...is(Number(row.amount) !== amountCents, `is ${row.amount} cents here, and ${amountCents} in truth`),
    ...is(row.user_id !== payment.payerId, 'is taken from somebody who did not pay it'),
    ...is(row.is_back !== isReturned(one), row.is_back ? 'was given back for nothing' : 'was not given back'),
    ...is(
      Number(row.moved) !== (row.is_back ? 0 : -Number(row.debited)),
      `moved ${row.moved} cents of the wallet, and says ${row.debited}`,
    ),
    ...is(
      // Nobody is left to pay what is lost once an account is closed.
      Number(row.written_off) >= SMALLEST_INVOICE_CENTS && row.invoice_id === null && !row.is_closing,
      `wrote ${row.written_off} cents off`,
    ),
    ...judgeInvoice(row, is),
  ];
}

function judgeInvoice(row: Row, is: (isSo: boolean, what: string) => string[]): string[] {
  if (row.invoice_id === null) return [];
  const status = row.invoice_status ?? 'missing';
  const cents = row.invoice_cents ?? '0';
  return [
    ...is(cents !== row.invoiced, `asks for ${cents} cents, and says ${row.invoiced}`),
    ...is(
      !row.is_back && !row.is_closing && (row.is_to_be_void || status === 'void'),
      `asks for nothing: its invoice is void`,
    ),
    ...is(row.is_back && !['void', 'paid'].includes(status), `came back, and its invoice is ${status}`),
    ...is(
      row.returned !== (isReturnedTo(row) ? cents : '0'),
      `gave ${row.returned} cents of its ${status} invoice of ${cents} back`,
    ),
  ];
}

/** What was paid on a debt that is none any more, or that had been set off. */
function isReturnedTo({ invoice_status: status, is_back, is_closing, is_to_be_void }: Row): boolean {
  return status === 'paid' && (is_back || (is_closing && is_to_be_void));
}

/**
 * Decision 79, "Charge marks": each dispute (inquiries count) and warning is a mark of its payer and its card, and
 * nobody who is marked is charged while they are away.
 */
export async function judgeMarks({ ask, world }: Evidence): Promise<string[]> {
  const { disputes, warnings, charges } = world.processor.truth;
  const marks = await ask<{ id: string; user_id: string | null; fingerprint: string | null; at: string }>(
    `select id, user_id, fingerprint, extract(epoch from marked_at) * 1000 as at from charge_marks where lifted_at is null`,
  );
  const denied = [...disputes, ...warnings];
  return [
    ...denied.flatMap(({ id, payment }) => {
      const mark = marks.find((one) => one.id === id);
      if (mark === undefined) return [`${id} left no mark`];
      const { user_id: userId, fingerprint } = mark;
      // The card of an account that was erased is a number that nobody can read.
      const isRight =
        userId === payment.payerId &&
        (fingerprint === payment.fingerprint || fingerprint?.startsWith('hmac:'));
      return told(!isRight, `${id} marks ${String(userId)} and ${String(fingerprint)}`);
    }),
    ...charges.flatMap((charge) => {
      const before = marks.find(
        (mark) =>
          (mark.user_id === charge.payerId || mark.fingerprint === charge.fingerprint) &&
          Number(mark.at) + ON_ITS_WAY_MS < charge.createdMs,
      );
      return told(before !== undefined, `${charge.paymentId} was charged in spite of ${String(before?.id)}`);
    }),
  ];
}

function takenCents({ debited, invoiced, written_off: writtenOff }: Row): number {
  return Number(debited) + Number(invoiced) + Number(writtenOff);
}

/** A refund takes the money from its creation on, a dispute from the withdrawal. */
function isTaken(one: TrueRefund | TrueDispute): boolean {
  return 'withdrawn' in one ? one.withdrawn : one.isLive;
}

function isReturned(one: TrueRefund | TrueDispute): boolean {
  return 'reinstated' in one ? one.reinstated : !one.isLive;
}
