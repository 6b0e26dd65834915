import type { OperationId } from '../../../domain/ids.js';
import type { HumanDecision, Operation, OperationResult } from '../../../domain/operations/operation.js';
import { Refusal } from '../../../domain/refusal.js';
import type { Transaction } from '../database.js';
import { listHeldPods } from '../machines/pods-watch.js';
import { acceptMissing } from '../catalog/provider-health.js';
import { acknowledgeFinding } from '../reconcile/findings.js';
import { listUnknownPods, releaseUnknownPods } from '../restore/restore.js';
import { putBack } from '../upkeep/stuck-items.js';

type Decision = Pick<Operation, 'operator' | 'reason'>;

/**
 * Writes a decision that only a human can make: machines are gone or may go, money was given back, a finding is known.
 * @throws Refusal when there is nothing of the kind to decide about; nothing is written then
 */
export async function decide(
  trx: Transaction,
  decision: Decision,
  action: HumanDecision,
): Promise<OperationResult> {
  switch (action.kind) {
    case 'release_missing':
      return releaseMissing(trx, action.providerCode, action.minutes);
    case 'release_pods':
      return releasePods(trx, decision, action.podIds);
    case 'resolve_parked':
      return resolveParked(trx, decision, action);
    case 'lift_charge_mark':
      return liftChargeMark(trx, action.markId);
    case 'acknowledge_finding':
      return acknowledge(trx, decision, action.findingId);
    case 'retry_set_aside':
      return retrySetAside(trx, action);
    case 'replace_run':
      return replaceRun(trx, action.workflowId);
  }
}

/** Machines that an upstream's lists miss count as gone, for some minutes. */
async function releaseMissing(
  trx: Transaction,
  providerCode: string,
  minutes: number,
): Promise<OperationResult> {
  const held = (await listHeldPods(trx)).filter((pod) => pod.provider_code === providerCode);
  if (await acceptMissing(trx, providerCode, minutes)) {
    return { providerCode, minutes, heldMachines: held.length };
  }
  throw new Refusal('not_found', `There is no upstream ${providerCode}: see ops providers.`);
}

/** Lets the sweeper end machines that a restored database did not know. */
async function releasePods(
  trx: Transaction,
  decision: Decision,
  podIds: readonly string[],
): Promise<OperationResult> {
  const waiting = new Set((await listUnknownPods(trx)).map(({ pod_id: podId }) => podId));
  const missing = podIds.filter((id) => !waiting.has(id));
  if (missing.length > 0) {
    throw new Refusal(
      'not_found',
      `Not waiting for a decision: ${missing.join(', ')}. See ops restore pods.`,
    );
  }
  return { released: await releaseUnknownPods(trx, podIds, decision) };
}

/** Resolves a parked payment: it has been credited or given back. */
async function resolveParked(
  trx: Transaction,
  { reason }: Decision,
  { paymentId, creditedBy }: Extract<HumanDecision, { kind: 'resolve_parked' }>,
): Promise<OperationResult> {
  const parked = await trx('parked_payments').where({ payment_id: paymentId }).forUpdate().first();
  if (!parked) throw new Refusal('not_found', `No payment ${paymentId} is parked: see ops parked.`);
  if (parked.resolved_at !== null) {
    throw new Refusal('validation_failed', `${paymentId} is resolved already: ${parked.resolution ?? ''}.`);
  }
  if (creditedBy !== undefined) await refuseUnlessCredited(trx, creditedBy);
  await trx('parked_payments')
    .where({ payment_id: paymentId })
    .update({
      resolved_at: trx.raw('clock_ms()'),
      resolution: reason,
      credited_by: creditedBy ?? null,
    });
  return { paymentId, amountCents: parked.amount_cents, currency: parked.currency };
}

/** Only an operation that gave a wallet money can have credited a payment, and only one. */
async function refuseUnlessCredited(trx: Transaction, operationId: OperationId): Promise<void> {
  const action = await trx('operator_actions').where({ id: operationId }).first('kind', 'request');
  const { amountCents } = (action?.request ?? {}) as { amountCents?: number };
  const gave = action?.kind === 'adjust' || action?.kind === 'refund';
  if (!gave || amountCents === undefined || amountCents <= 0) {
    throw new Refusal('not_found', `${operationId} credited no wallet: see ops actions.`);
  }
  const other = await trx('parked_payments').where({ credited_by: operationId }).first('payment_id');
  if (other) {
    throw new Refusal('validation_failed', `${operationId} credited ${other.payment_id}, and only that.`);
  }
}

/** Lifts the mark of a denied payment. Auto-topup stays off until its user switches it on. */
async function liftChargeMark(trx: Transaction, markId: string): Promise<OperationResult> {
  const mark = await trx('charge_marks').where({ id: markId }).forUpdate().first();
  if (!mark) throw new Refusal('not_found', `There is no mark ${markId}: see ops marks.`);
  if (mark.lifted_at !== null) {
    throw new Refusal(
      'validation_failed',
      `${markId} was already lifted, at ${mark.lifted_at.toISOString()}.`,
    );
  }
  await trx('charge_marks')
    .where({ id: markId })
    .update({ lifted_at: trx.raw('clock_ms()') });
  return { markId, userId: mark.user_id ?? 'nobody', card: mark.fingerprint ?? 'unknown' };
}

/** Acknowledges a finding: it raises no alarm any more. */
async function acknowledge(
  trx: Transaction,
  { operator, reason }: Decision,
  findingId: number,
): Promise<OperationResult> {
  const row = await acknowledgeFinding(trx, findingId, operator, reason);
  if (row) return { findingId, finding: row.kind, subject: row.subject };
  throw new Refusal('not_found', `There is no open finding ${findingId}: see ops findings.`);
}

/** Lets the item's loop try it in its next round. */
async function retrySetAside(
  trx: Transaction,
  { duty, item }: Extract<HumanDecision, { kind: 'retry_set_aside' }>,
): Promise<OperationResult> {
  const items = await putBack(trx, duty, item);
  if (items > 0)
    return { items, ...(duty === undefined ? {} : { duty }), ...(item === undefined ? {} : { item }) };
  throw new Refusal('not_found', 'Nothing like that is set aside: see ops set-aside list.');
}

/** Only a run that was seen to fail may be replaced. The caller tells Temporal, and the next round looks again. */
async function replaceRun(trx: Transaction, workflowId: string): Promise<OperationResult> {
  if ((await putBack(trx, 'run', workflowId)) > 0) return { workflowId };
  throw new Refusal('not_found', `No failing run of ${workflowId} is set aside: see ops set-aside list.`);
}
