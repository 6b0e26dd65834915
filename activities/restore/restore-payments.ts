import { findCredit } from '../../adapters/postgres/payments/credits.js';
import { insertProcessorEvent } from '../../adapters/postgres/payments/processor-events.js';
import { findLostTopupsUser, insertLostTopup } from '../../adapters/postgres/restore/restore.js';
import { reconcilingWithin } from '../../adapters/postgres/restore/watermark.js';
import { eventPages } from '../../adapters/processor/event-pages.js';
import type { Payment, ProcessorEvent } from '../../adapters/processor/processor.js';
import type { MissingPayment, Reconciled } from '../../domain/operations/restore.js';
import { isPaidKind, paymentIdOf, routeOf } from '../../domain/payments/processor-routes.js';
import type { ActivityDeps } from '../deps.js';
import type { FailedItems } from '../reconcile/failed-items.js';
import type { Tell } from '../heartbeat.js';
import { settleByMetadata } from '../payments/settle-payment.js';

/**
 * A pass over what the processor says. Each item stands by itself, and the pass tells of those that fail at its end.
 */
export interface Pass {
  readonly tell: Tell;
  readonly failed: FailedItems;
}

/** Lists payments for users of ours that succeeded since an instant and that no ledger entry here was made for. */
export async function listMissingPayments(
  deps: ActivityDeps,
  since: Date,
  pass: Pass,
): Promise<MissingPayment[]> {
  const missing = await findMissing(deps, await listEvents(deps, since, pass.tell), pass);
  return missing.map(({ paymentId, amountReceivedCents: amountCents, currency, userId, topupId }) => ({
    paymentId,
    amountCents,
    currency,
    userId,
    topupId,
  }));
}

/**
 * Stores the processor's events since an instant, as if they had just arrived: workflows follow refunds, disputes and
 * invoices once the service goes on. Payments are credited now, before anything is charged.
 * @param found the payments that were missing at the beginning; a worker that died midway has credited some of them
 * @returns what became of each of them, and of those that came since
 */
export async function rebuildPayments(
  deps: ActivityDeps,
  since: Date,
  found: readonly Pick<MissingPayment, 'paymentId'>[],
  pass: Pass,
): Promise<Pick<Reconciled, 'credited' | 'parked'>> {
  const { tell, failed } = pass;
  const events = await listEvents(deps, since, tell);
  for (const [stored, event] of events.entries()) {
    await failed.unlessItFails(event.id, () => insertProcessorEvent(deps.db, event, routeOf(event)));
    tell({ stored: stored + 1, of: events.length });
  }
  const missing = await findMissing(deps, events, pass);
  for (const payment of missing) {
    tell({ crediting: payment.paymentId });
    await failed.unlessItFails(payment.paymentId, () =>
      reconcilingWithin(deps.db, async (trx) => {
        const within = { ...deps, db: trx };
        await rebuildTopup(within, payment);
        await settleByMetadata(within, payment);
      }),
    );
  }
  return becameOf(deps, new Set([...found, ...missing].map(({ paymentId }) => paymentId)));
}

async function becameOf(
  { db }: ActivityDeps,
  paymentIds: ReadonlySet<string>,
): Promise<Pick<Reconciled, 'credited' | 'parked'>> {
  const credited: { paymentId: string; amountCents: number }[] = [];
  const parked: string[] = [];
  for (const paymentId of paymentIds) {
    const credit = await findCredit(db, paymentId);
    if (credit) credited.push({ paymentId, amountCents: credit.creditedCents });
    else parked.push(paymentId);
  }
  return { credited, parked };
}

/** Rebuilds a top-up under the id that its owner was told. */
async function rebuildTopup({ db }: ActivityDeps, payment: Payment): Promise<void> {
  const userId = await findLostTopupsUser(db, payment);
  if (userId === undefined) return;
  const { amountReceivedCents: amountCents, chargedAt } = payment;
  await insertLostTopup(db, { topupId: payment.topupId ?? '', userId, amountCents, chargedAt });
}

async function listEvents({ processor }: ActivityDeps, since: Date, tell: Tell): Promise<ProcessorEvent[]> {
  const events: ProcessorEvent[] = [];
  if (!processor.enabled) return events;
  for await (const page of eventPages(processor, since)) {
    events.push(...page);
    tell({ events: events.length });
  }
  return events;
}

async function findMissing(
  deps: ActivityDeps,
  events: readonly ProcessorEvent[],
  { tell, failed }: Pass,
): Promise<Payment[]> {
  const paid = events.filter((event) => isPaidKind(event.kind) && routeOf(event) !== null);
  const ids = new Set(paid.map(({ object }) => paymentIdOf(object)).filter((id) => id !== null));
  const missing: Payment[] = [];
  for (const paymentId of ids) {
    if (await findCredit(deps.db, paymentId)) continue;
    const payment = await failed.unlessItFails(paymentId, () => deps.processor.getPayment(paymentId));
    if (payment?.status === 'succeeded') missing.push(payment);
    tell({ missing: missing.length });
  }
  return missing;
}
