import { listUnhandledEvents, markHandled } from '../../adapters/postgres/payments/event-handling.js';
import { readClock } from '../../adapters/postgres/clock.js';
import { isHeld } from '../../adapters/postgres/payments/charge-marks.js';
import { becomePage, beginTopup, endTopup, markChargeSent } from '../../money/topups/topups.js';
import { earlierOf, findTopupRequest } from '../../adapters/postgres/requests/opening-requests.js';
import { mailTopupOutcome } from '../../adapters/postgres/payments/topup-mails.js';
import type { TopupRow } from '../../adapters/postgres/rows/tables.js';
import { ProcessorError } from '../../adapters/processor/processor.js';
import type { TopupId } from '../../domain/ids.js';
import { paymentLimits } from '../../domain/payments/limits.js';
import { Refusal } from '../../domain/refusal.js';
import type { TopupInput } from '../../workflows/contracts/topup.js';
import type { ActivityDeps } from '../deps.js';
import { ONE_CALL_MS, withHeartbeat } from '../heartbeat.js';
import { settleNamedPayments } from '../payments/settle-payment.js';
import { learnFingerprint } from './fingerprint.js';
import { answeringRefusals, tellingNothingDone } from '../refusals.js';
import { settleCharge } from './charge.js';
import { openPage, settlePage, takePageUp } from './page.js';

export type TopupLook = {
  /** waiting: nothing is decided yet. closed: credited, or over with nothing paid. */
  readonly state: 'missing' | 'waiting' | 'closed';
  readonly status: string;
  readonly summary: string;
};

type Open = NonNullable<TopupInput['open']>;
type Asked = Parameters<typeof beginTopup>[2];

/** The activities of a top-up. The row is the state; the processor is asked what happened, never guessed. */
export function createTopupActivities(deps: ActivityDeps) {
  const { db } = deps;
  return {
    /**
     * Begins a top-up: charges the saved card, or opens a payment page. Whose card, and how much, is the word of the
     * row that the API committed (decision 88).
     * @returns the top-up that answers the request: a charge of the same amount that was under way already, or this
     * @throws ApplicationFailure with the code of a refusal
     */
    async openTopup(topupId: TopupId, open: Open): Promise<{ topupId: TopupId }> {
      return withHeartbeat(
        () => answeringRefusals(() => tellingNothingDone(() => openTopup(deps, topupId, open))),
        { stalledAfterMs: ONE_CALL_MS },
      );
    },

    /** Reads what became of the payment at the processor and writes it down: credits once, or ends the top-up. */
    async lookAtTopup(topupId: TopupId): Promise<TopupLook> {
      const topup = await db('topups').where({ id: topupId }).first();
      const events = await listUnhandledEvents(db, topupId);
      if (topup) await lookAt(deps, topup);
      await settleNamedPayments(deps, events);
      // Only what was stored before the processor was asked is handled by its answer.
      await markHandled(db, events, topup ? 'the top-up was brought up to date' : 'no such top-up');
      return lookOf(deps, topupId);
    },

    /** The top-up could not be begun in time: it is over, unless its page was asked for or its charge has left. */
    async abandonTopup(topupId: TopupId, error: string): Promise<void> {
      await endTopup(db, topupId, { status: 'failed', error, onlyUnsent: true });
    },
  };
}

async function openTopup(deps: ActivityDeps, topupId: TopupId, open: Open): Promise<{ topupId: TopupId }> {
  if (!deps.processor.enabled) throw new Refusal('billing_disabled', 'Payments are not configured here.');
  const perDay = deps.settings.topupsPerDayWhenYoung ?? paymentLimits.topupsPerDayWhenYoung;
  const asked = await askedFor(deps, topupId, open);
  await learnFingerprint(deps, asked.userId);
  const { kind, topup } = await beginTopup(deps.db, topupId, asked, perDay);
  if (kind === 'in_flight') return { topupId: topup.id };
  await goOn(deps, topup, asked.answerBefore);
  const after = await getTopup(deps, topupId);
  if (after.status === 'failed') throw refusalOf(after);
  return { topupId };
}

/**
 * What was asked for, by the committed row. What 0.1 began has none: it goes on if its top-up was begun, and if that is
 * of the user and the amount that the input names.
 * @throws Refusal when nothing of ours asks for it
 */
async function askedFor({ db }: ActivityDeps, topupId: TopupId, open: Open): Promise<Asked> {
  const request = await findTopupRequest(db, topupId);
  if (request) {
    const { user_id: userId, amount_cents: amountCents } = request;
    return { userId, amountCents, answerBefore: earlierOf(request.answer_before, open.answerBefore) };
  }
  const begun = await db('topups').where({ id: topupId }).first();
  if (begun && begun.user_id === open.userId && begun.amount_cents === open.amountCents) {
    return { userId: begun.user_id, amountCents: begun.amount_cents, answerBefore: open.answerBefore };
  }
  throw new Refusal(
    'temporarily_unavailable',
    'This request is not on record: nothing was begun, and nothing was charged. Try again.',
  );
}

/** Takes a top-up that was begun, by this attempt or an earlier one, to a page or to the answer of a charge. */
async function goOn(deps: ActivityDeps, topup: TopupRow, answerBefore: string): Promise<void> {
  if (topup.closed_at !== null || topup.session_id !== null) return;
  if (topup.source !== 'checkout') return chargeOrPage(deps, topup, answerBefore);
  // A charge that became a page has left in time.
  await openPage(deps, topup, topup.charge_sent_at === null ? answerBefore : undefined);
}

async function chargeOrPage(deps: ActivityDeps, topup: TopupRow, answerBefore: string): Promise<void> {
  // An earlier attempt may have marked it; only one that was never marked is too late.
  await markChargeSent(deps.db, topup.id, answerBefore);
  const marked = await getTopup(deps, topup.id);
  if (marked.status === 'creating') return goOnUncharged(deps, marked, answerBefore);
  try {
    const outcome = marked.closed_at === null ? await settleCharge(deps, marked) : 'decided';
    if (outcome === 'needs_page') await openPage(deps, marked);
  } catch (error) {
    // Not known in time: the answer is "processing", and the workflow finds out.
    if (isUnknown(error) && (await readClock(deps.db)) > new Date(answerBefore)) return;
    throw error;
  }
}

/** Its charge did not leave: its payer was marked since it began, and pays on a page (decision 79), or it is too late. */
async function goOnUncharged(deps: ActivityDeps, topup: TopupRow, answerBefore: string): Promise<void> {
  if (!(await isHeld(deps.db, topup.user_id, topup.pm_id))) {
    throw new Refusal('temporarily_unavailable', 'The card could not be charged in time. Try again.');
  }
  await becomePage(deps.db, topup.id);
  return openPage(deps, topup, answerBefore);
}

async function lookAt(deps: ActivityDeps, topup: TopupRow): Promise<void> {
  if (topup.session_id !== null) {
    // An expired or failed one that is paid after all gets its credit.
    if (topup.credited_at === null) await settlePage(deps, topup, topup.session_id);
    return;
  }
  if (topup.closed_at !== null) return;
  if (topup.page_asked_at !== null) return takePageUp(deps, topup, topup.page_asked_at);
  if (topup.charge_sent_at === null) return endWhenNeverBegun(deps, topup);
  if (topup.source === 'saved_card') return lookAtCharge(deps, topup);
  // The charge needs its owner, and a crash has kept his page from being opened.
  return openPageForOwner(deps, topup);
}

/** Nobody waits for the answer any more, so the user is told by mail when it is not a success. */
async function lookAtCharge(deps: ActivityDeps, topup: TopupRow): Promise<void> {
  const outcome = await settleCharge(deps, topup);
  if (outcome === 'needs_page') await openPageForOwner(deps, topup);
  else await mailTopupOutcome(deps.db, topup.id);
}

async function openPageForOwner(deps: ActivityDeps, topup: TopupRow): Promise<void> {
  await openPage(deps, topup);
  await mailTopupOutcome(deps.db, topup.id);
}

async function endWhenNeverBegun(deps: ActivityDeps, topup: TopupRow): Promise<void> {
  const ageMs = (await readClock(deps.db)).getTime() - topup.created_at.getTime();
  if (ageMs < paymentLimits.topupBeginMs) return;
  const error = 'It could not be begun in time. Nothing was charged: try again.';
  await endTopup(deps.db, topup.id, { status: 'failed', error, onlyUnsent: true });
}

function refusalOf(topup: TopupRow): Refusal {
  const message = topup.error ?? 'The top-up failed. Try again.';
  return topup.decline_code === null
    ? new Refusal('temporarily_unavailable', message, { topupId: topup.id })
    : new Refusal('card_declined', message, { declineCode: topup.decline_code, topupId: topup.id });
}

function isUnknown(error: unknown): boolean {
  return error instanceof ProcessorError && error.kind === 'unknown';
}

async function getTopup(deps: ActivityDeps, topupId: TopupId): Promise<TopupRow> {
  const topup = await deps.db('topups').where({ id: topupId }).first();
  if (!topup) throw new Error(`top-up ${topupId} vanished`);
  return topup;
}

async function lookOf(deps: ActivityDeps, topupId: TopupId): Promise<TopupLook> {
  const topup = await deps.db('topups').where({ id: topupId }).first();
  if (!topup) return { state: 'missing', status: 'missing', summary: 'no such top-up' };
  return {
    state: topup.closed_at === null ? 'waiting' : 'closed',
    status: topup.status,
    summary: `${topup.status}: ${topup.credited_cents ?? topup.amount_cents} cents${topup.error === null ? '' : `; ${topup.error}`}`,
  };
}
