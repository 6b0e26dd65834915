import { findCredit } from '../../adapters/postgres/payments/credits.js';
import { insertProcessorEvent } from '../../adapters/postgres/payments/processor-events.js';
import { eachItem, keepItems } from '../../adapters/postgres/restore/items.js';
import { findLostTopupsUser, insertLostTopup } from '../../adapters/postgres/restore/restore.js';
import { reconcilingWithin } from '../../adapters/postgres/restore/watermark.js';
import { eventPages, isPlaceForgotten } from '../../adapters/processor/event-pages.js';
import type { Payment, ProcessorEvent } from '../../adapters/processor/processor.js';
import { operationLimits } from '../../domain/operations/limits.js';
import type { MissingPayment, Reconciled } from '../../domain/operations/restore.js';
import { isPaidKind, paymentIdOf, routeOf } from '../../domain/payments/processor-routes.js';
import type { ActivityDeps } from '../deps.js';
import { toldBefore, type Tell } from '../heartbeat.js';
import { settleByMetadata } from '../payments/settle-payment.js';
import { FailedItems } from '../reconcile/failed-items.js';
import { undoneAtLast } from './undone.js';

/** How far the processor's list of events was read, so that the next try goes on from there. */
export interface EventsPlace {
  /** The processor's own cursor; null at the newest event. */
  readonly after: string | null;
  readonly events: number;
  /** What failed so far: each item stands by itself, and all that failed are told at the end. */
  readonly failed: readonly string[];
}

const beginning: EventsPlace = { after: null, events: 0, failed: [] };

interface Reading {
  readonly since: Date;
  readonly runId: string;
  /** Where the try before has ended. */
  readonly place?: EventsPlace | undefined;
  readonly tell: (place: EventsPlace) => void;
}

/**
 * Keeps as rows the payments for users of ours that succeeded since an instant and that no ledger entry here was made
 * for.
 * @returns the payments that could not be read
 */
export function listMissingPayments(deps: ActivityDeps, reading: Reading): Promise<readonly string[]> {
  const asked = new Set<string>();
  return readPages(deps, reading, async (events, failed, tell) => {
    const missing = await findMissing(deps, events, { failed, tell, asked });
    await keepItems(deps.db, reading.runId, 'payment', missing.map(itemOf));
  });
}

/**
 * Stores the processor's events since an instant, as if they had just arrived: workflows follow refunds, disputes and
 * invoices once the service goes on. Payments are credited now, before anything is charged.
 * @returns what became of each payment that was missing at the beginning, or came since, and what could not be done
 */
export async function rebuildPayments(
  deps: ActivityDeps,
  { since, runId, tell }: { readonly since: Date; readonly runId: string; readonly tell: Tell },
): Promise<Pick<Reconciled, 'credited' | 'parked' | 'more'> & { undone: string[] }> {
  const asked = new Set<string>();
  let last = toldBefore<EventsPlace>('after') ?? beginning;
  const reading = { since, runId, place: last, tell: (place: EventsPlace) => tell((last = place)) };
  const failed = await readPages(deps, reading, async (events, failures, getOn) => {
    for (const event of events) {
      await failures.unlessItFails(event.id, () => insertProcessorEvent(deps.db, event, routeOf(event)));
      getOn();
    }
    for (const payment of await findMissing(deps, events, { failed: failures, tell: getOn, asked })) {
      // Whether a worker dies before or after, the row tells of it what became of it.
      await keepItems(deps.db, runId, 'payment', [itemOf(payment)]);
      await failures.unlessItFails(payment.paymentId, () =>
        reconcilingWithin(deps.db, async (trx) => {
          const within = { ...deps, db: trx };
          await rebuildTopup(within, payment);
          await settleByMetadata(within, payment);
        }),
      );
      getOn();
    }
  });
  // All are tried again: the next try begins with the newest event.
  if (failed.length > 0) tell(beginning);
  const undone = undoneAtLast(failed);
  return { ...(await becameOf(deps, runId, () => tell(last))), undone };
}

/** Does something with each page of events, from a place on. @returns what failed, in all tries */
async function readPages(
  { processor, log }: ActivityDeps,
  { since, place = beginning, tell }: Reading,
  work: (events: readonly ProcessorEvent[], failed: FailedItems, tell: () => void) => Promise<void>,
): Promise<readonly string[]> {
  if (!processor.enabled) return [];
  const failed = new FailedItems(log, place.failed);
  let here = place;
  tell(here);
  try {
    for await (const { events, after } of eventPages(processor, since, place.after)) {
      await work(events, failed, () => tell(here));
      here = { after: after ?? here.after, events: here.events + events.length, failed: failed.told };
      tell(here);
    }
  } catch (error) {
    if (isPlaceForgotten(error)) tell(beginning);
    throw error;
  }
  return failed.told;
}

function itemOf({ paymentId, amountReceivedCents, currency, userId, topupId }: Payment): MissingPayment {
  return { paymentId, amountCents: amountReceivedCents, currency, userId, topupId };
}

/** Tells of each payment of a run whether it is credited now. */
async function becameOf(
  { db }: ActivityDeps,
  runId: string,
  tell: () => void,
): Promise<Pick<Reconciled, 'credited' | 'parked' | 'more'>> {
  const most = operationLimits.restoreNamed;
  const credited: { paymentId: string; amountCents: number }[] = [];
  const parked: string[] = [];
  const more = { credited: 0, creditedCents: 0, parked: 0 };
  for await (const { id: paymentId } of eachItem(db, { runId, kind: 'payment' })) {
    const credit = await findCredit(db, paymentId);
    if (credit && credited.length < most) credited.push({ paymentId, amountCents: credit.creditedCents });
    else if (credit) {
      more.credited += 1;
      more.creditedCents += credit.creditedCents;
    } else if (parked.length < most) parked.push(paymentId);
    else more.parked += 1;
    tell();
  }
  return { credited, parked, ...(more.credited + more.parked > 0 && { more }) };
}

/** Rebuilds a top-up under the id that its owner was told. */
async function rebuildTopup({ db }: ActivityDeps, payment: Payment): Promise<void> {
  const userId = await findLostTopupsUser(db, payment);
  if (userId === undefined) return;
  const { amountReceivedCents: amountCents, chargedAt } = payment;
  await insertLostTopup(db, { topupId: payment.topupId ?? '', userId, amountCents, chargedAt });
}

/** @returns the payments behind events about received money that no entry was made for, each once in a try */
async function findMissing(
  deps: ActivityDeps,
  events: readonly ProcessorEvent[],
  pass: { readonly failed: FailedItems; readonly tell: () => void; readonly asked: Set<string> },
): Promise<Payment[]> {
  const { failed, tell, asked } = pass;
  const paid = events.filter((event) => isPaidKind(event.kind) && routeOf(event) !== null);
  const ids = new Set(paid.map(({ object }) => paymentIdOf(object)).filter((id) => id !== null));
  const missing: Payment[] = [];
  for (const paymentId of ids) {
    if (asked.has(paymentId)) continue;
    asked.add(paymentId);
    if (await findCredit(deps.db, paymentId)) continue;
    const payment = await failed.unlessItFails(paymentId, () => deps.processor.getPayment(paymentId));
    if (payment?.status === 'succeeded') missing.push(payment);
    tell();
  }
  return missing;
}
