import { readClock } from '../../adapters/postgres/clock.js';
import { isHeld } from '../../adapters/postgres/payments/charge-marks.js';
import { mailLateOutcome } from '../../adapters/postgres/payments/topup-mails.js';
import { getTopup } from '../../adapters/postgres/payments/topups.js';
import { earlierOf, findTopupRequest } from '../../adapters/postgres/requests/opening-requests.js';
import type { TopupRow } from '../../adapters/postgres/rows/tables.js';
import { ProcessorError } from '../../adapters/processor/processor.js';
import type { TopupId } from '../../domain/ids.js';
import { paymentLimits } from '../../domain/payments/limits.js';
import { Refusal } from '../../domain/refusal.js';
import { becomePage, beginTopup, markChargeSent, type NewTopup } from '../../money/topups/topups.js';
import type { TopupInput } from '../../workflows/contracts/topup.js';
import type { ActivityDeps } from '../deps.js';
import { chargeTopup } from './charge.js';
import { learnFingerprint } from './fingerprint.js';
import { openPage } from './page.js';

/**
 * The workflow's word on the opening. The committed row says whose top-up it is and how much (decision 88, "Rows before
 * workflows").
 */
export type OpenInput = NonNullable<TopupInput['open']>;

/**
 * Begins a top-up, or goes on with one that was begun: charges the saved card, or opens a payment page.
 * @returns the top-up that answers the request: this one, or a charge of the same amount that was under way already
 * @throws Refusal when nothing may be charged, or when it is too late; `card_declined` with the bank's code
 */
export async function openTopup(
  deps: ActivityDeps,
  topupId: TopupId,
  open: OpenInput,
): Promise<{ topupId: TopupId }> {
  if (!deps.processor.enabled) throw new Refusal('billing_disabled', 'Payments are not configured here.');
  const perDay = deps.settings.topupsPerDayWhenYoung ?? paymentLimits.topupsPerDayWhenYoung;
  const asked = await readRequest(deps, topupId, open);
  await learnFingerprint(deps, asked.userId);
  const { kind, topup } = await beginTopup(deps.db, topupId, asked, perDay);
  if (kind === 'in_flight') return { topupId: topup.id };
  await goOn(deps, topup, asked.answerBefore);
  const after = await getTopup(deps.db, topupId);
  // Whoever was answered with "processing" hears of what came later by mail.
  await mailLateOutcome(deps.db, after);
  if (after.status === 'failed') throw refusalOf(after);
  return { topupId };
}

/**
 * Reads from the committed row what was asked for.
 * @throws Refusal when nothing of ours asks for it
 */
async function readRequest({ db }: ActivityDeps, topupId: TopupId, open: OpenInput): Promise<NewTopup> {
  const request = await findTopupRequest(db, topupId);
  if (!request) {
    throw new Refusal(
      'temporarily_unavailable',
      'We have no record of this request, so nothing happened and you were not charged. Try again.',
    );
  }
  const { user_id: userId, amount_cents: amountCents, api_key_id: apiKeyId } = request;
  return { userId, amountCents, apiKeyId, answerBefore: earlierOf(request.answer_before, open.answerBefore) };
}

/** Takes a top-up that this attempt or an earlier one began to a page or to the answer of a charge. */
async function goOn(deps: ActivityDeps, topup: TopupRow, answerBefore: string): Promise<void> {
  if (topup.closed_at !== null || topup.session_id !== null) return;
  if (topup.source !== 'checkout') return chargeOrPage(deps, topup, answerBefore);
  // A charge that became a page has left in time.
  await openPage(deps, topup, topup.charge_sent_at === null ? answerBefore : undefined);
}

async function chargeOrPage(deps: ActivityDeps, topup: TopupRow, answerBefore: string): Promise<void> {
  // An earlier attempt may have marked it; only a charge that was never marked is too late.
  await markChargeSent(deps.db, topup.id, answerBefore);
  const marked = await getTopup(deps.db, topup.id);
  if (marked.status === 'creating') return openPageInstead(deps, marked, answerBefore);
  try {
    const outcome = marked.closed_at === null ? await chargeTopup(deps, marked) : 'decided';
    if (outcome === 'needs_page') await openPage(deps, marked);
  } catch (error) {
    // The outcome is not known in time: the answer is "processing", and the workflow finds out.
    if (isUndecided(error) && (await readClock(deps.db)) > new Date(answerBefore)) return;
    throw error;
  }
}

/**
 * Opens a page in place of a charge that did not leave. Either its payer was marked since it began, and pays on a page
 * (decision 79, "Charge marks"), or it is too late.
 */
async function openPageInstead(deps: ActivityDeps, topup: TopupRow, answerBefore: string): Promise<void> {
  if (!(await isHeld(deps.db, topup.user_id, topup.pm_id))) {
    throw new Refusal('temporarily_unavailable', 'We could not charge the card in time. Try again.');
  }
  await becomePage(deps.db, topup.id);
  return openPage(deps, topup, answerBefore);
}

function refusalOf(topup: TopupRow): Refusal {
  const message = topup.error ?? 'The top-up failed. Try again.';
  return topup.decline_code === null
    ? new Refusal('temporarily_unavailable', message, { topupId: topup.id })
    : new Refusal('card_declined', message, { declineCode: topup.decline_code, topupId: topup.id });
}

function isUndecided(error: unknown): boolean {
  return error instanceof ProcessorError && error.isOfPeer;
}
