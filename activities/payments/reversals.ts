import { isPersonGone } from '../../adapters/postgres/accounts/closings.js';
import {
  listEventKinds,
  listUnhandledEvents,
  markHandled,
  type WaitingEvent,
} from '../../adapters/postgres/payments/event-handling.js';
import { applyReversal, type Reversal } from '../../money/reversals/reversals.js';
import { findMark } from '../../adapters/postgres/payments/charge-marks.js';
import { findCredit, findCreditByHand, findReturnedDebt } from '../../adapters/postgres/payments/credits.js';
import {
  findDebtor,
  findReversal,
  readDebtsPaidBy,
} from '../../adapters/postgres/payments/reversal-reads.js';
import type { RefundOrDisputeRow } from '../../adapters/postgres/rows/tables.js';
import { paymentLimits } from '../../domain/payments/limits.js';
import type { Dispute, Refund } from '../../adapters/processor/processor.js';
import type { EventLook } from '../../workflows/contracts/events.js';
import type { ActivityDeps } from '../deps.js';
import { settleInvoicesOf } from '../invoices/invoice.js';
import { findPayer, markPayer, recordWarning } from './mark-payer.js';
import { settleByMetadata } from './settle-payment.js';

/**
 * The activities of refunds and disputes (decision 30, "Reversed payments"). They ask the processor, and the wallet
 * follows.
 */
export function createReversalActivities(deps: ActivityDeps) {
  return {
    /** @param id a refund's, or that of a charge that was reported as refunded */
    async lookAtRefund(id: string): Promise<EventLook> {
      return advanceReversal(deps, id, (events) => settleRefunds(deps, id, events));
    },

    /** @param id a dispute's, or that of an early fraud warning, which takes no money */
    async lookAtDispute(id: string): Promise<EventLook> {
      return advanceReversal(deps, id, (events) => settleDispute(deps, id, events));
    },
  };
}

async function settleRefunds(deps: ActivityDeps, id: string, events: readonly WaitingEvent[]): Promise<void> {
  const ofCharge = events.some(({ kind }) => kind === 'charge.refunded');
  const refunds = ofCharge
    ? await deps.processor.listRefundsOfCharge(id)
    : [await deps.processor.getRefund(id)];
  for (const refund of refunds) if (refund) await settleRefund(deps, refund);
}

/** Lets the wallet follow a refund, however often it is called. */
export async function settleRefund(deps: ActivityDeps, refund: Refund): Promise<void> {
  await settle(deps, refund.paymentId, refund.currency, ofRefund(refund));
}

async function settleDispute(deps: ActivityDeps, id: string, events: readonly WaitingEvent[]): Promise<void> {
  if (events.some(({ kind }) => kind.startsWith('radar.early_fraud_warning.'))) {
    return recordWarning(deps, id);
  }
  const dispute = await deps.processor.getDispute(id);
  if (dispute === null) return;
  const { chargeId, paymentId } = dispute;
  // The mark comes first: the dispute's own debit may cause an automatic charge.
  await markPayer(deps, { id, kind: 'dispute', chargeId, paymentId });
  const kinds = await listEventKinds(deps.db, id, paymentLimits.eventAheadMs);
  await settle(deps, dispute.paymentId, dispute.currency, ofDispute(dispute, kinds));
}

/** Advances a reversal. A row of which nothing is expected, and about which no event waits, costs no question. */
async function advanceReversal(
  deps: ActivityDeps,
  id: string,
  ask: (events: readonly WaitingEvent[]) => Promise<void>,
): Promise<EventLook> {
  const row = await findReversal(deps.db, id);
  const events = await listUnhandledEvents(deps.db, id);
  if (events.length > 0 || row?.closed_at === null) await ask(events);
  const after = await findReversal(deps.db, id);
  const look = after === undefined ? await lookOfMark(deps, id) : lookOf(after);
  await markHandled(deps.db, events, look.summary);
  return look;
}

/** Looks at a dispute or warning that moved no money here: it may have left a mark (decision 79, "Charge marks"). */
async function lookOfMark({ db }: ActivityDeps, id: string): Promise<EventLook> {
  const mark = await findMark(db, id);
  if (!mark) return nothingOfOurs;
  const state = mark.lifted_at === null ? 'marked' : 'lifted';
  const whom = mark.user_id ?? 'nobody here';
  return {
    state: 'closed',
    status: state,
    summary: `${mark.kind} about ${mark.charge_id} of ${whom}: ${state}`,
  };
}

const nothingOfOurs: EventLook = {
  state: 'missing',
  status: 'missing',
  summary: 'nothing that a user of ours has paid',
};

function lookOf(row: RefundOrDisputeRow): EventLook {
  const parts = [
    row.taken_at === null ? 'nothing taken' : `debited ${row.debited_cents} cents`,
    ...(row.invoiced_cents > 0 ? [`invoiced ${row.invoiced_cents}`] : []),
    ...(row.written_off_cents > 0 ? [`wrote off ${row.written_off_cents}`] : []),
    ...(row.given_back_at === null ? [] : ['given back']),
  ];
  return {
    state: row.closed_at === null ? 'waiting' : 'closed',
    status: row.status,
    summary: `${row.kind} of ${row.amount_cents} cents of ${row.payment_id} is ${row.status}: ${parts.join(', ')}`,
  };
}

type Word = Pick<Reversal, 'id' | 'kind' | 'status' | 'amountCents' | 'taken' | 'returned' | 'closed'>;

function ofRefund({ refundId, status, amountCents }: Refund): Word {
  const returned = status === 'failed' || status === 'canceled';
  return {
    id: refundId,
    kind: 'refund',
    status,
    amountCents,
    // The refund counts from its creation on: the processor takes the money at once.
    taken: !returned,
    returned,
    closed: status !== 'pending',
  };
}

/**
 * Reads what a dispute says. The kinds of its events move no money: they stand in rows that the API writes (decision
 * 150, "Words of the API"). No document says which of the two is up to date first, so an event that the dispute does not
 * say yet keeps it open, and it is asked again, for a day: one that is still not said then was never true.
 */
function ofDispute(dispute: Dispute, kinds: ReadonlySet<string>): Word {
  const { withdrawn: taken, reinstated: returned } = dispute;
  // Money that was taken for a dispute that was not lost is still to come back.
  const isOwed = taken && !returned && dispute.status !== 'lost';
  const isAhead =
    (!taken && kinds.has('charge.dispute.funds_withdrawn')) ||
    (!returned && kinds.has('charge.dispute.funds_reinstated'));
  return {
    id: dispute.disputeId,
    kind: 'dispute',
    status: dispute.status,
    amountCents: dispute.amountCents,
    taken,
    returned,
    closed: dispute.closed && !isOwed && !isAhead,
  };
}

async function settle(deps: ActivityDeps, paymentId: string, currency: string, word: Word): Promise<void> {
  const payment = await findPaymentOf(deps, paymentId);
  if (payment === undefined) return;
  if (currency !== 'usd') {
    deps.log.error(
      { ...word, paymentId, currency },
      'a refund or dispute in another currency was not applied: settle it by hand',
    );
    return;
  }
  await applyReversal(deps.db, { ...word, ...payment, paymentId });
}

type Brought = Pick<Reversal, 'userId' | 'paymentCents' | 'credited'>;

/**
 * Finds whose payment it is and what it brought. A payment of ours that succeeded and was not credited yet is credited
 * first, because events come in any order. A payment that is parked, or that nobody here knows, has brought nothing:
 * nothing is owed when it is given back (decision 80, "Reversals without a credit").
 */
async function findPaymentOf(deps: ActivityDeps, paymentId: string): Promise<Brought | undefined> {
  const early = await findAnyCredit(deps, paymentId);
  if (early) return early;
  const payment = await deps.processor.getPayment(paymentId);
  if (payment.topupId !== null || payment.userId !== null) await settleByMetadata(deps, payment);
  const late = await findAnyCredit(deps, paymentId);
  if (late) return late;
  const userId = (await findPayer(deps, payment)) ?? (await findDebtor(deps.db, paymentId));
  if (userId === undefined || payment.currency !== 'usd') return undefined;
  // The payment may have settled an invoice of ours whose own event is late: an offer is credited, a debt is owed
  // again.
  await settleInvoicesOf(deps, userId);
  return (
    (await findAnyCredit(deps, paymentId)) ?? {
      userId,
      paymentCents: await readDebtsPaidBy(deps.db, paymentId),
      // Of an account that closes, the wallet has what a debt's payment brought: its money is going back.
      credited: await isPersonGone(deps.db, userId),
    }
  );
}

async function findAnyCredit({ db }: ActivityDeps, paymentId: string): Promise<Brought | undefined> {
  const credit =
    (await findCredit(db, paymentId)) ??
    (await findCreditByHand(db, paymentId)) ??
    (await findReturnedDebt(db, paymentId));
  return credit && { userId: credit.userId, paymentCents: credit.creditedCents, credited: true };
}
