import type { ApiKeyId, TopupId, UserId } from '../../domain/ids.js';
import { Refusal } from '../../domain/refusal.js';
import type { CheckoutSession } from '../../adapters/processor/processor.js';
import { insertAuditEvent } from '../../adapters/postgres/accounts/audit-events.js';
import type { Database, Transaction } from '../../adapters/postgres/database.js';
import { recordEvent } from '../../adapters/postgres/events/outbox.js';
import { isHeld, isMarked } from '../../adapters/postgres/payments/charge-marks.js';
import { lockBy } from '../../adapters/postgres/locks.js';
import { lockTopup } from '../../adapters/postgres/requests/last-word.js';
import { refuseWhenLate } from '../../adapters/postgres/rentals/open-guards.js';
import { findChargeableCard } from '../../adapters/postgres/payments/saved-cards.js';
import { findTopup } from '../../adapters/postgres/payments/topups.js';
import type { TopupRow } from '../../adapters/postgres/rows/tables.js';
import { refuseWhenTopupNotAllowed } from './topup-guards.js';

export interface NewTopup {
  readonly userId: UserId;
  readonly amountCents: number;
  /** The API key that asks: it never charges a card (decision 108, "API keys"). Null or absent for a session. */
  readonly apiKeyId?: ApiKeyId | null;
  /** Instant by the database's clock; nothing is begun after it (decision 4, "Promise of a 503"). */
  readonly answerBefore: string;
}

export type Begun =
  | { readonly kind: 'begun'; readonly topup: TopupRow }
  /**
   * A charge of the same amount is already under way: it answers this request too (decision 32, "Checkout and credit").
   */
  | { readonly kind: 'in_flight'; readonly topup: TopupRow };

/**
 * Returns the row of a top-up, and makes it when it is not there: a charge of the user's saved card, or a payment page
 * if there is no card.
 * @throws Refusal when it is too late or not allowed, `charge_in_progress` when another amount is being charged
 */
export async function beginTopup(
  db: Database,
  topupId: TopupId,
  input: NewTopup,
  perDayWhenYoung: number,
): Promise<Begun> {
  return db.transaction(async (trx): Promise<Begun> => {
    // First of the locks: while it is waited for, the last look at this top-up can be made.
    await lockBy(trx, 'topupsOfUser', input.userId);
    await lockTopup(trx, topupId);
    const existing = await findTopup(trx, topupId);
    if (existing) return { kind: 'begun', topup: existing };
    const joined = await findJoined(trx, topupId);
    if (joined) return { kind: 'in_flight', topup: joined };
    await refuseWhenTopupNotAllowed(trx, input.userId, perDayWhenYoung);
    const topup = await insertTopup(trx, topupId, input, await cardToCharge(trx, input));
    if (!topup) return joinCharge(trx, topupId, input);
    const { userId, apiKeyId } = input;
    const asked = { userId, apiKeyId: apiKeyId ?? undefined };
    await insertAuditEvent(trx, { ...asked, kind: 'checkout_begun', entityId: topupId });
    // This check is the last: a caller that waits for the answer counts on nothing being begun after this instant.
    await refuseWhenLate(trx, input.answerBefore);
    return { kind: 'begun', topup };
  });
}

/** The saved card that a top-up charges; null where its user pays on a page. */
async function cardToCharge(trx: Transaction, { userId, apiKeyId }: NewTopup): Promise<string | null> {
  if (apiKeyId) return null;
  const card = await findChargeableCard(trx, userId);
  // A user whose payment was denied pays on a page (decision 79, "Charge marks").
  return card && !(await isHeld(trx, userId)) ? card.pm_id : null;
}

async function insertTopup(
  trx: Transaction,
  topupId: TopupId,
  { userId, amountCents }: NewTopup,
  pmId: string | null,
): Promise<TopupRow | undefined> {
  const { rows } = await trx.raw<{ rows: TopupRow[] }>(
    `insert into topups (id, user_id, wallet_id, amount_cents, status, source, pm_id)
     select :topupId, :userId, w.id, :amountCents, 'creating', :source, :pmId from wallets w where w.user_id = :userId
     on conflict (user_id) where source = 'saved_card' and closed_at is null do nothing
     returning *`,
    { topupId, userId, amountCents, source: pmId === null ? 'checkout' : 'saved_card', pmId },
  );
  return rows[0];
}

/** Finds the charge that has answered a request before; it may be over by now. */
async function findJoined(trx: Transaction, topupId: TopupId): Promise<TopupRow | undefined> {
  const asked = await trx('topup_requests').where({ id: topupId }).first('joined_topup_id');
  return asked?.joined_topup_id ? findTopup(trx, asked.joined_topup_id) : undefined;
}

/** Answers a request by the charge under way, once and for all: its opening may run again when that charge is over. */
async function joinCharge(
  trx: Transaction,
  topupId: TopupId,
  { userId, amountCents }: NewTopup,
): Promise<Begun> {
  const topup = await trx('topups')
    .where({ user_id: userId, source: 'saved_card' })
    .whereNull('closed_at')
    .first();
  // It ended between the two statements: the next try begins a new one.
  if (!topup) throw new Error(`the charge in flight of ${userId} has just ended`);
  if (topup.amount_cents === amountCents) {
    await trx('topup_requests').where({ id: topupId }).update({ joined_topup_id: topup.id });
    return { kind: 'in_flight', topup };
  }
  throw new Refusal(
    'charge_in_progress',
    'We are already charging your card for another amount. Check that top-up, and try again when it is done.',
    { topupId: topup.id, amountCents: topup.amount_cents },
  );
}

/**
 * Notes that the charge leaves now. The same statement sees that nobody has marked its payer or its card (decision 79,
 * "Charge marks"). From here on its outcome is the processor's word.
 * @returns false when it is too late (decision 4, "Promise of a 503"), it may not be charged, or the top-up is over
 */
export async function markChargeSent(db: Database, topupId: TopupId, answerBefore: string): Promise<boolean> {
  return db.transaction(async (trx) => {
    await lockTopup(trx, topupId);
    const marked = await trx('topups')
      .where({ id: topupId, source: 'saved_card', status: 'creating' })
      .whereRaw('clock_ms() <= ?::timestamptz', [answerBefore])
      .whereRaw(
        `not ${isMarked('topups.user_id', '(select c.fingerprint from saved_cards c where c.pm_id = topups.pm_id)')}`,
      )
      .update({ status: 'processing', charge_sent_at: trx.raw('clock_ms()') });
    return marked === 1;
  });
}

/**
 * Notes that the payment page is asked for now: from here on one may be open (decision 82, "Honest checkout failures").
 * @param answerBefore left out where nobody counts on nothing being done: it is never too late
 * @returns false when it is too late (decision 4, "Promise of a 503"), the top-up is over, or its page is open; true
 *   also when it was noted before
 */
export async function markPageAsked(db: Database, topupId: TopupId, answerBefore?: string): Promise<boolean> {
  return db.transaction(async (trx) => {
    await lockTopup(trx, topupId);
    const marked = await trx('topups')
      .where({ id: topupId, source: 'checkout', status: 'creating' })
      .whereRaw('(page_asked_at is not null or clock_ms() <= ?::timestamptz)', [answerBefore ?? 'infinity'])
      .update({ page_asked_at: trx.raw('coalesce(page_asked_at, clock_ms())') });
    return marked === 1;
  });
}

/** Records that the bank has not decided yet. */
export async function recordProcessing(
  db: Database,
  topupId: TopupId,
  paymentId: string | null,
): Promise<void> {
  await db('topups')
    .where({ id: topupId })
    .whereNull('closed_at')
    .update({ status: 'processing', payment_id: db.raw('coalesce(?, payment_id)', [paymentId]) });
}

/** Turns a top-up into a payment page, because the saved card can't be charged without its owner. */
export async function becomePage(db: Database, topupId: TopupId): Promise<void> {
  await db('topups')
    .where({ id: topupId, source: 'saved_card' })
    .whereNull('closed_at')
    .update({ source: 'checkout', status: 'creating', payment_id: null });
}

export async function recordPage(db: Database, topupId: TopupId, session: CheckoutSession): Promise<void> {
  await db('topups').where({ id: topupId, status: 'creating' }).update({
    status: 'requires_payment',
    session_id: session.sessionId,
    checkout_url: session.url,
    session_expires_at: session.expiresAt,
  });
}

/**
 * Ends a top-up with nothing paid, and tells so, unless it has ended already. A payment that still comes is credited.
 */
export async function endTopup(
  db: Database | Transaction,
  topupId: TopupId,
  end: {
    readonly status: 'failed' | 'expired';
    readonly error?: string;
    readonly declineCode?: string;
    /** Ends it only when nothing was asked of the processor for it. */
    readonly onlyUnsent?: true;
  },
): Promise<boolean> {
  return db.transaction(async (trx) => {
    const query = trx('topups').where({ id: topupId }).whereNull('closed_at');
    if (end.onlyUnsent === true) void query.where({ status: 'creating', page_asked_at: null });
    const [ended] = await query
      .update({
        status: end.status,
        error: end.error ?? null,
        decline_code: end.declineCode ?? null,
        closed_at: trx.raw('clock_ms()'),
      })
      .returning('*');
    if (ended) await tellEnd(trx, ended);
    return ended !== undefined;
  });
}

async function tellEnd(trx: Transaction, topup: TopupRow): Promise<void> {
  const of = { userId: topup.user_id, entityId: topup.id };
  const { amount_cents: amountCents, source, decline_code: declineCode, error: message } = topup;
  if (topup.status === 'expired') {
    return recordEvent(trx, { ...of, type: 'topup.expired', data: { amountCents } });
  }
  await recordEvent(trx, {
    ...of,
    type: 'topup.failed',
    data: { amountCents, source, declineCode, message },
  });
}
