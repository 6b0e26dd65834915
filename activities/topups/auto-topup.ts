import { newId } from '../../adapters/ids.js';
import { listUnhandledEvents, markHandled } from '../../adapters/postgres/payments/event-handling.js';
import { dropAutoTopup, failAutoTopup } from '../../money/topups/auto-topup-failures.js';
import { beginAutoTopup, type AutoTopupStep } from '../../money/topups/auto-topups.js';
import { keepProcessing } from '../../money/topups/topups.js';
import { markDetached } from '../../adapters/postgres/payments/saved-cards.js';
import type { TopupRow } from '../../adapters/postgres/rows/tables.js';
import type { Payment, ProcessorError } from '../../adapters/processor/processor.js';
import type { UserId } from '../../domain/ids.js';
import { paymentLimits } from '../../domain/payments/limits.js';
import { formatUsd } from '../../domain/money.js';
import { autoTopupWorkflowId } from '../../domain/payments/processor-routes.js';
import type { EventLook } from '../../workflows/contracts/events.js';
import { charge, declineCodeOf, isGone } from '../payments/charge-card.js';
import type { ActivityDeps } from '../deps.js';
import { learnFingerprint } from './fingerprint.js';
import { ONE_CALL_MS, withHeartbeat } from '../heartbeat.js';
import { settleNamedPayments, settlePayment } from '../payments/settle-payment.js';

/** The activity of auto-topup (spec: Auto-topup trigger; decisions 33, 34). The rows are the state. */
export function createAutoTopupActivities(deps: ActivityDeps) {
  const { db, settings } = deps;
  const rules = { cooldownMs: settings.autoTopupCooldownMs ?? paymentLimits.autoTopupCooldownMs };
  return {
    /**
     * Begins an attempt if the level asks for one, or goes on with the open one: charges the saved card, however often
     * it is called the same charge, and writes down what came of it.
     * @throws ProcessorError `unknown`: call it again
     */
    async lookAtAutoTopup(userId: UserId): Promise<EventLook> {
      return withHeartbeat(
        async (tell) => {
          const events = await listUnhandledEvents(db, autoTopupWorkflowId(userId));
          await learnFingerprint(deps, userId);
          const step = await beginAutoTopup(db, userId, newId('top'), rules);
          tell(step.kind === 'attempt' ? { charging: step.topup.id, cents: step.topup.amount_cents } : step);
          if (step.kind === 'attempt') await settleAttempt(deps, step.topup);
          await settleNamedPayments(deps, events);
          await markHandled(db, events, 'the auto-topup was brought up to date');
          return step.kind === 'attempt' ? lookAfter(deps, step.topup) : lookOfStep(step);
        },
        { stalledAfterMs: ONE_CALL_MS },
      );
    },
  };
}

async function lookAfter(deps: ActivityDeps, begun: TopupRow): Promise<EventLook> {
  const topup = await deps.db('topups').where({ id: begun.id }).first();
  if (!topup) throw new Error(`top-up ${begun.id} vanished`);
  const summary = `${topup.id}: ${formatUsd(topup.amount_cents)} from the saved card is ${topup.status}`;
  if (topup.closed_at === null) return { state: 'waiting', status: topup.status, summary };
  const row = await deps.db('auto_topups').where({ user_id: topup.user_id }).first();
  if (row?.enabled !== true) return { state: 'closed', status: topup.status, summary };
  const cooling = `${summary}; the next may follow ${row.next_attempt_at?.toISOString() ?? 'at once'}`;
  return {
    state: 'waiting',
    status: 'cooling',
    summary: cooling,
    nextLookMs: await msUntilNext(deps, topup),
  };
}

/** How long the cooldown still lasts by the database's clock. */
async function msUntilNext(deps: ActivityDeps, topup: TopupRow): Promise<number> {
  const { rows } = await deps.db.raw<{ rows: { ms: number }[] }>(
    `select greatest(0, ceil(extract(epoch from next_attempt_at - clock_ms()) * 1000))::bigint as ms
       from auto_topups where user_id = ?`,
    [topup.user_id],
  );
  return rows[0]?.ms ?? 0;
}

function lookOfStep(step: Exclude<AutoTopupStep, { kind: 'attempt' }>): EventLook {
  if (step.kind === 'quiet') return { state: 'closed', status: 'quiet', summary: step.why };
  return { state: 'waiting', status: 'cooling', summary: step.why, nextLookMs: step.untilMs };
}

async function settleAttempt(deps: ActivityDeps, topup: TopupRow): Promise<void> {
  const charged = await charge(deps, topup);
  switch (charged.kind) {
    case 'payment':
      return settleCharged(deps, topup, charged.payment);
    case 'declined':
      return decline(deps, topup, charged.declineCode, charged.paymentId);
    case 'refused':
      return refuse(deps, topup, charged.error);
    case 'none':
      return dropAutoTopup(deps.db, topup);
  }
}

async function settleCharged(deps: ActivityDeps, topup: TopupRow, payment: Payment): Promise<void> {
  switch (payment.status) {
    case 'succeeded':
      return settlePayment(deps, topup, payment);
    case 'processing':
      return keepProcessing(deps.db, topup.id, payment.paymentId);
    case 'requires_action':
      return decline(deps, topup, 'authentication_required', payment.paymentId);
    case 'failed':
      return decline(deps, topup, declineCodeOf(payment.failure), payment.paymentId);
    case 'canceled':
      return fail(deps, topup, 'canceled', 'The payment was cancelled.');
  }
}

/** Whoever is asked to pay by an invoice must not be able to approve the charge as well: it is cancelled first. */
async function decline(
  deps: ActivityDeps,
  topup: TopupRow,
  declineCode: string,
  paymentId: string | null,
): Promise<void> {
  if (paymentId !== null) {
    const { status } = await deps.processor.cancelPayment(paymentId);
    // It went on meanwhile: the next look finds out how.
    if (status !== 'canceled' && status !== 'failed') return keepProcessing(deps.db, topup.id, paymentId);
  }
  const error =
    declineCode === 'authentication_required'
      ? 'Your bank wants you to approve the payment.'
      : 'The bank declined the card.';
  return fail(deps, topup, declineCode, error);
}

async function refuse(deps: ActivityDeps, topup: TopupRow, error: ProcessorError): Promise<void> {
  if (topup.pm_id !== null && (await isGone(deps, topup.pm_id))) {
    await fail(deps, topup, 'card_removed', 'The card is not available any more.');
    return markDetached(deps.db, topup.pm_id);
  }
  deps.log.error({ err: error, topupId: topup.id }, 'the processor refused an auto-topup');
  return fail(deps, topup, 'refused', 'The payment processor refused the charge.');
}

async function fail(deps: ActivityDeps, topup: TopupRow, declineCode: string, error: string): Promise<void> {
  deps.log.info({ topupId: topup.id, userId: topup.user_id, declineCode }, 'an auto-topup failed');
  await failAutoTopup(deps.db, topup, { declineCode, error });
}
