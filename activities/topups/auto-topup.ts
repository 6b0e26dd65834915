import { tieToMarks } from '../../adapters/postgres/accounts/account-ties.js';
import { newId } from '../../adapters/ids.js';
import { findAutoTopup, readCooldownMs } from '../../adapters/postgres/payments/auto-topup-settings.js';
import { listUnhandledEvents } from '../../adapters/postgres/payments/event-handling.js';
import { markDetached } from '../../adapters/postgres/payments/saved-cards.js';
import { getTopup } from '../../adapters/postgres/payments/topups.js';
import type { TopupRow } from '../../adapters/postgres/rows/tables.js';
import type { TopupId, UserId } from '../../domain/ids.js';
import { formatUsd } from '../../domain/money.js';
import { paymentLimits } from '../../domain/payments/limits.js';
import { autoTopupWorkflowId } from '../../domain/payments/processor-routes.js';
import { dropAutoTopup, failAutoTopup } from '../../money/topups/auto-topup-failures.js';
import { beginAutoTopup, type AutoTopupStep } from '../../money/topups/auto-topups.js';
import { recordProcessing } from '../../money/topups/topups.js';
import type { EventLook } from '../../workflows/contracts/events.js';
import type { ActivityDeps } from '../deps.js';
import { ONE_CALL_MS, withHeartbeat, type Tell } from '../heartbeat.js';
import { chargeByPolicy } from '../payments/charge-card.js';
import type { ChargePolicy } from '../payments/classify-charge.js';
import { handleEvents, settlePayment } from '../payments/settle-payment.js';
import { learnFingerprint } from './fingerprint.js';

/**
 * The activity of auto-topup (spec: Auto-topup trigger; decision 33, "Removal of a card", and decision 34, "Trigger of
 * auto-topup"). The rows are the state.
 */
export function createAutoTopupActivities(deps: ActivityDeps) {
  return {
    /**
     * Begins an attempt if the level asks for one, or goes on with the open one. It charges the saved card and records
     * the result; however often it is called, it is the same charge.
     * @throws ProcessorError where the processor has not decided it: call it again
     */
    async lookAtAutoTopup(userId: UserId): Promise<EventLook> {
      return withHeartbeat((tell) => advanceAutoTopup(deps, userId, tell), { stalledAfterMs: ONE_CALL_MS });
    },
  };
}

async function advanceAutoTopup(deps: ActivityDeps, userId: UserId, tell: Tell): Promise<EventLook> {
  const { db, settings } = deps;
  const cooldownMs = settings.autoTopupCooldownMs ?? paymentLimits.autoTopupCooldownMs;
  const events = await listUnhandledEvents(db, autoTopupWorkflowId(userId));
  await learnFingerprint(deps, userId);
  await tieToMarks(db, userId, settings.installationKey);
  const step = await beginAutoTopup(db, userId, newId('top'), { cooldownMs });
  tell(step.kind === 'attempt' ? { charging: step.topup.id, cents: step.topup.amount_cents } : step);
  if (step.kind === 'attempt') await chargeByPolicy(deps, step.topup, policy);
  await handleEvents(deps, events, 'the auto-topup was brought up to date');
  return step.kind === 'attempt' ? lookAfter(deps, step.topup.id) : lookOfStep(step);
}

function lookOfStep(step: Exclude<AutoTopupStep, { kind: 'attempt' }>): EventLook {
  if (step.kind === 'quiet') return { state: 'closed', status: 'quiet', summary: step.why };
  return { state: 'waiting', status: 'cooling', summary: step.why, nextLookMs: step.untilMs };
}

async function lookAfter({ db }: ActivityDeps, topupId: TopupId): Promise<EventLook> {
  const topup = await getTopup(db, topupId);
  const summary = `${topup.id}: ${formatUsd(topup.amount_cents)} from the saved card is ${topup.status}`;
  if (topup.closed_at === null) return { state: 'waiting', status: topup.status, summary };
  const settings = await findAutoTopup(db, topup.user_id);
  if (settings?.enabled !== true) return { state: 'closed', status: topup.status, summary };
  return {
    state: 'waiting',
    status: 'cooling',
    summary: `${summary}; the next may follow ${settings.next_attempt_at?.toISOString() ?? 'at once'}`,
    nextLookMs: await readCooldownMs(db, topup.user_id),
  };
}

/**
 * The user is not present. What the saved card does not pay switches auto-topup off, and an invoice offers to pay it.
 */
const policy: ChargePolicy<void> = {
  paid: (deps, topup, { payment }) => settlePayment(deps, topup, payment),

  processing: ({ db }, topup, { paymentId }) => recordProcessing(db, topup.id, paymentId),

  async approval_needed(deps, topup, { paymentId }) {
    if (await goesOnUncancelled(deps, topup, paymentId)) return;
    await fail(deps, topup, 'authentication_required', 'Your bank wants you to approve the payment.');
  },

  async declined(deps, topup, { declineCode, paymentId }) {
    if (await goesOnUncancelled(deps, topup, paymentId)) return;
    await fail(deps, topup, declineCode, 'The bank declined the card.');
  },

  canceled: (deps, topup) => fail(deps, topup, 'canceled', 'The payment was cancelled.'),

  async card_gone(deps, topup, { cardId }) {
    await fail(deps, topup, 'card_removed', 'The card is no longer available.');
    await markDetached(deps.db, cardId);
  },

  async refused(deps, topup, { error }) {
    deps.log.error({ err: error, topupId: topup.id }, 'the processor refused an auto-topup');
    await fail(deps, topup, 'refused', 'The payment processor refused the charge.');
  },

  never_left: ({ db }, topup) => dropAutoTopup(db, topup),
};

/**
 * Cancels a payment that waits. A user whom an invoice asks to pay must not be able to approve the charge as well.
 * @returns whether the payment went on meanwhile; then the next look finds out how
 */
async function goesOnUncancelled(
  { db, processor }: ActivityDeps,
  topup: TopupRow,
  paymentId: string | null,
): Promise<boolean> {
  if (paymentId === null) return false;
  const { status } = await processor.cancelPayment(paymentId);
  if (status === 'canceled' || status === 'failed') return false;
  await recordProcessing(db, topup.id, paymentId);
  return true;
}

async function fail(deps: ActivityDeps, topup: TopupRow, declineCode: string, error: string): Promise<void> {
  deps.log.info({ topupId: topup.id, userId: topup.user_id, declineCode }, 'an auto-topup failed');
  await failAutoTopup(deps.db, topup, { declineCode, error });
}
