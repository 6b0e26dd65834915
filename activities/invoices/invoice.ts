import { ensureCustomer } from '../../adapters/customer-of-user.js';
import { isOlder, msSince } from '../../adapters/postgres/clock.js';
import { listUnhandledEvents, markHandled } from '../../adapters/postgres/payments/event-handling.js';
import {
  findInvoiceRow,
  getInvoiceRow,
  listMirroredLines,
  listUnsettledMirrored,
} from '../../adapters/postgres/invoices/invoices.js';
import { findCustomerId } from '../../adapters/postgres/payments/payers.js';
import { mailReminder } from '../../adapters/postgres/invoices/invoice-mails.js';
import { settleInvoice } from '../../money/payments/settle-invoice.js';
import {
  becomeOpen,
  becomeUncollectible,
  becomeVoid,
  clearAttention,
  recordMirror,
} from '../../money/invoices/invoice-states.js';
import type { InvoiceRow } from '../../adapters/postgres/rows/tables.js';
import {
  unlessMissing,
  type FoundInvoice,
  type ProcessorInvoice,
} from '../../adapters/processor/processor.js';
import { dueReminder, dunning, msUntilNextStep } from '../../domain/payments/dunning.js';
import type { InvoiceId, UserId } from '../../domain/ids.js';
import { atMost } from '../../domain/durations.js';
import { lookedForFrom } from '../payments/looked-for.js';
import { paymentLimits } from '../../domain/payments/limits.js';
import { formatUsd } from '../../domain/money.js';
import type { EventLook } from '../../workflows/contracts/events.js';
import type { ActivityDeps } from '../deps.js';
import { SEVERAL_CALLS_MS, withHeartbeat } from '../heartbeat.js';
import { isDebt } from '../../domain/payments/invoices.js';

/**
 * The activity of invoices (decision 35, "Invoices and reminders"). The row is the state; the processor is asked before
 * anything is done.
 */
export function createInvoiceActivities(deps: ActivityDeps) {
  return {
    /**
     * Mirrors an invoice at the processor, brings it to what the processor says, reminds of it and writes it off.
     * @param askedDayMs the length of a day of dunning, in milliseconds. It is never shorter than this installation's,
     *   so that nobody who reaches Temporal gives a debt up at once
     * @throws ProcessorError: call it again
     */
    async lookAtInvoice(invoiceId: InvoiceId, askedDayMs: number): Promise<EventLook> {
      const leastMs = deps.settings.minDunningDayMs ?? paymentLimits.dayMs;
      const dayMs = Math.max(atMost(askedDayMs, paymentLimits.dayMs), leastMs);
      return withHeartbeat(() => advanceInvoice(deps, invoiceId, dayMs), {
        stalledAfterMs: SEVERAL_CALLS_MS,
      });
    },
  };
}

async function advanceInvoice(deps: ActivityDeps, invoiceId: InvoiceId, dayMs: number): Promise<EventLook> {
  const { db } = deps;
  const events = await listUnhandledEvents(db, invoiceId);
  const row = await findInvoiceRow(db, invoiceId);
  if (row && deps.processor.enabled) await bringUpToDate(deps, row, dayMs);
  await markHandled(db, events, row ? 'the invoice was brought up to date' : 'no such invoice');
  if (row) await clearAttention(db, row);
  return lookOf(deps, invoiceId, dayMs);
}

/**
 * Brings a user's unsettled invoices to what the processor says. So a payment that settled one of them is known before
 * anything is done about that payment. An invoice whose mirror is gone was settled by nothing: its own workflow tells
 * that, and it keeps no payment of its user waiting.
 */
export async function settleInvoicesOf(deps: ActivityDeps, userId: UserId): Promise<void> {
  for (const row of await listUnsettledMirrored(deps.db, userId)) {
    const mirror = await unlessMissing(() => mirrorOf(deps, row));
    if (mirror) await apply(deps, row, mirror, paymentLimits.dayMs);
  }
}

async function bringUpToDate(deps: ActivityDeps, row: InvoiceRow, dayMs: number): Promise<void> {
  if (row.status === 'draft' && row.void_requested_at === null) await issue(deps, row, dayMs);
  const known = await getInvoiceRow(deps.db, row.id);
  if (known.processor_invoice_id === null)
    return isToBeVoid(known) ? voidLostMirror(deps, known, dayMs) : undefined;
  if (known.status === 'paid') return;
  if (isToBeVoid(known)) return apply(deps, known, await voidMirror(deps, known), dayMs);
  await apply(deps, known, await mirrorOf(deps, known), dayMs);
  const current = await getInvoiceRow(deps.db, row.id);
  if (current.status === 'open') await dun(deps, current, dayMs);
}

/** Tells whether a void invoice is still to be voided at the processor, because a call made its mirror too late. */
function isToBeVoid(row: InvoiceRow): boolean {
  if (row.status === 'paid') return false;
  return row.status === 'void' ? row.attention_at !== null : row.void_requested_at !== null;
}

/**
 * Voids the mirror of a void invoice whose maker died before it wrote its id down. It is looked for once: a maker that
 * lives writes it down, and the next look voids it.
 */
async function voidLostMirror(deps: ActivityDeps, row: InvoiceRow, dayMs: number): Promise<void> {
  const customerId = await findCustomerId(deps.db, row.user_id);
  const found = customerId && (await lookFor(deps, row, customerId));
  if (!found) return;
  await recordMirror(deps.db, row.id, found.processorInvoiceId);
  await apply(deps, row, await deps.processor.voidInvoice(found.processorInvoiceId), dayMs);
}

/** Looks for the mirror of an invoice among those of its customer. */
async function lookFor(
  deps: ActivityDeps,
  row: InvoiceRow,
  customerId: string,
): Promise<FoundInvoice | null> {
  return deps.processor.findInvoice({
    customerId,
    invoiceId: row.id,
    createdFrom: lookedForFrom(row.created_at),
  });
}

/** Makes the mirror, once, and opens it. */
async function issue(deps: ActivityDeps, row: InvoiceRow, dayMs: number): Promise<void> {
  const mirror = row.processor_invoice_id === null ? await makeMirror(deps, row) : await mirrorOf(deps, row);
  if (mirror.totalCents !== row.amount_cents) {
    throw new Error(
      `the mirror ${mirror.processorInvoiceId} of ${row.id} is about ${mirror.totalCents} cents, not ${row.amount_cents}: void one of them by hand`,
    );
  }
  const open =
    mirror.status === 'draft' ? await deps.processor.finalizeInvoice(mirror.processorInvoiceId) : mirror;
  await apply(deps, row, open, dayMs);
}

async function makeMirror(deps: ActivityDeps, row: InvoiceRow): Promise<ProcessorInvoice> {
  const customerId = await ensureCustomer(deps, row.user_id);
  const mirror = (await findMirror(deps, row, customerId)) ?? (await createMirror(deps, row, customerId));
  await recordMirror(deps.db, row.id, mirror.processorInvoiceId);
  return mirror;
}

async function createMirror(
  deps: ActivityDeps,
  row: InvoiceRow,
  customerId: string,
): Promise<ProcessorInvoice> {
  return deps.processor.createInvoice({
    invoiceId: row.id,
    userId: row.user_id,
    customerId,
    daysUntilDue: dunning.dueDays,
    lines: await listMirroredLines(deps.db, row.id),
  });
}

/**
 * Finds the mirror that an earlier call made. The processor forgets a key after a day: then the same request would make
 * a second mirror.
 */
async function findMirror(
  deps: ActivityDeps,
  row: InvoiceRow,
  customerId: string,
): Promise<ProcessorInvoice | null> {
  if (!(await isOlder(deps.db, row.created_at, paymentLimits.chargeKeyMs))) return null;
  const found = await lookFor(deps, row, customerId);
  if (found?.status !== 'draft' || found.totalCents === row.amount_cents) return found;
  // A crash cut the draft off before it had all its lines. While the key may still be known, the processor would answer
  // it with the draft that is deleted here. Our row may be far older than the call.
  if (
    !(await isOlder(deps.db, row.created_at, paymentLimits.keyForgottenMs)) ||
    (await msSince(deps.db, found.createdAt)) < paymentLimits.keyForgottenMs
  ) {
    throw new Error(
      `the mirror of ${row.id} lacks lines; we make it again once the processor forgets its key`,
    );
  }
  await deps.processor.voidInvoice(found.processorInvoiceId);
  return null;
}

async function mirrorOf(deps: ActivityDeps, row: InvoiceRow): Promise<ProcessorInvoice> {
  if (row.processor_invoice_id === null) throw new Error(`${row.id} has no mirror`);
  return deps.processor.getInvoice(row.processor_invoice_id);
}

async function voidMirror(deps: ActivityDeps, row: InvoiceRow): Promise<ProcessorInvoice> {
  if (row.processor_invoice_id === null) throw new Error(`${row.id} has no mirror`);
  return deps.processor.voidInvoice(row.processor_invoice_id);
}

/** Brings the row to the state of its mirror. */
async function apply(
  deps: ActivityDeps,
  row: InvoiceRow,
  mirror: ProcessorInvoice,
  dayMs: number,
): Promise<void> {
  switch (mirror.status) {
    case 'draft':
      return;
    case 'open':
      return becomeOpen(deps.db, row.id, mirror, dayMs);
    case 'paid':
      return settle(deps, row, mirror);
    case 'void':
      return becomeVoid(deps.db, row.id);
    case 'uncollectible':
      return becomeUncollectible(deps.db, row.id);
  }
}

async function settle(deps: ActivityDeps, row: InvoiceRow, mirror: ProcessorInvoice): Promise<void> {
  if (row.status === 'paid') return;
  const { paymentId, paidAt } = mirror;
  const payment = paymentId === null ? null : await deps.processor.getPayment(paymentId);
  await settleInvoice(deps.db, row.id, { payment, paidAt });
}

/** Returns how long ago an invoice was opened, in milliseconds; 0: it is not open yet. */
async function openForMs({ db }: ActivityDeps, { finalized_at: openedAt }: InvoiceRow): Promise<number> {
  return openedAt === null ? 0 : msSince(db, openedAt);
}

/**
 * Reminds of a debt, and gives up a debt that is unpaid for a month (spec: Limits). Its mirror was read just before.
 */
async function dun(deps: ActivityDeps, row: InvoiceRow, dayMs: number): Promise<void> {
  const ageMs = await openForMs(deps, row);
  if (ageMs >= dunning.writeOffDays * dayMs || row.write_off_requested_at !== null) {
    const mirror = await deps.processor.writeOffInvoice(row.processor_invoice_id ?? '');
    return apply(deps, row, mirror, dayMs);
  }
  // Nobody is reminded of an offer.
  const reminder = isDebt(row) ? dueReminder(ageMs, dayMs) : null;
  if (reminder !== null) await deps.db.transaction((trx) => mailReminder(trx, row, reminder));
}

async function lookOf(deps: ActivityDeps, id: InvoiceId, dayMs: number): Promise<EventLook> {
  const row = await findInvoiceRow(deps.db, id);
  if (!row) return { state: 'missing', status: 'missing', summary: 'no such invoice' };
  const summary = `${row.status}: ${formatUsd(row.amount_cents)}, ${row.reason}, for ${row.user_id}`;
  if (row.closed_at !== null && row.attention_at === null) {
    return { state: 'closed', status: row.status, summary };
  }
  if (row.status !== 'open') return { state: 'waiting', status: row.status, summary, nextLookMs: dayMs };
  const ageMs = await openForMs(deps, row);
  return {
    state: 'waiting',
    status: 'open',
    summary: `${summary}; ${nextStepOf(row, ageMs, dayMs)}`,
    nextLookMs: msUntilNextStep(ageMs, dayMs, isDebt(row)),
  };
}

/** Tells operators what comes next if nobody pays. */
function nextStepOf(row: InvoiceRow, ageMs: number, dayMs: number): string {
  const sent = isDebt(row) ? (dueReminder(ageMs, dayMs) ?? 0) : dunning.reminderDays.length;
  return sent < dunning.reminderDays.length
    ? `reminder ${sent + 1} of ${dunning.reminderDays.length} comes next`
    : 'it is written off next';
}
