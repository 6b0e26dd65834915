import type { ApiKeyId, RentalId, UserId } from '../../../domain/ids.js';
import type { DirectAction, Operation, OperationResult } from '../../../domain/operations/operation.js';
import { routeOf } from '../../../domain/payments/processor-routes.js';
import { Refusal } from '../../../domain/refusal.js';
import { insertAuditEvent } from '../accounts/audit-events.js';
import { insertClosing } from '../accounts/closings.js';
import { lockApiKeysOf, revokeApiKeysOf } from '../accounts/api-key-list.js';
import { deleteSessionsOf } from '../accounts/sessions.js';
import { pullBrake, releaseBrake } from './brakes.js';
import { listOlderProcesses, readSealing, switchSealing } from '../ledger/sealing.js';
import type { Database, Transaction } from '../database.js';
import { findRepeated, recordAction } from './operator-actions.js';
import { decide } from './operator-decisions.js';
import { insertStopRequest } from '../rentals/stop-requests.js';
import type { UserRow } from '../rows/tables.js';

/**
 * Does an operator's action that moves no money by itself, in one transaction with its record, once per operation id
 * (decision 65, "Explained cents"). It needs Postgres only.
 * @throws Refusal when it can't be done; nothing is written then
 */
export async function actDirectly(db: Database, input: Operation<DirectAction>): Promise<OperationResult> {
  return db.transaction(async (trx) => {
    const known = await findRepeated(trx, input);
    if (known) return known;
    const result = await act(trx, input);
    await recordAction(trx, input, result);
    const userId = await findUserOf(trx, input.action);
    if (userId !== undefined) {
      await insertAuditEvent(trx, {
        userId,
        kind: 'changed_by_operator',
        entityId: input.operationId,
        details: { action: input.action.kind },
      });
    }
    return result;
  });
}

/**
 * Finds the user whose account the action is about, if any: they read of it in the audit trail (decision 59, "The audit
 * trail").
 */
async function findUserOf(trx: Transaction, action: DirectAction): Promise<UserId | undefined> {
  if ('userId' in action) return action.userId;
  if (action.kind === 'lift_charge_mark') {
    return (await trx('charge_marks').where({ id: action.markId }).first('user_id'))?.user_id ?? undefined;
  }
  if (!('rentalId' in action)) return undefined;
  return (await trx('rentals').where({ id: action.rentalId }).first('user_id'))?.user_id;
}

type Doing = Operation<DirectAction>;

async function act(trx: Transaction, input: Doing): Promise<OperationResult> {
  const { action } = input;
  if ('userId' in action) return actOnUser(trx, input, action);
  if (isOfSealing(action)) return changeSealing(trx, action.kind);
  switch (action.kind) {
    case 'stop_rental':
      return stopRental(trx, action.rentalId, input.reason);
    case 'pause_provider':
    case 'resume_provider':
      return pauseProvider(trx, input, action);
    case 'pause':
    case 'resume':
      return pause(trx, input, action);
    case 'replay_event':
      return replayEvent(trx, action.eventId);
    default:
      return decide(trx, input, action);
  }
}

async function actOnUser(
  trx: Transaction,
  { reason }: Doing,
  action: Extract<DirectAction, { userId: UserId }>,
): Promise<OperationResult> {
  const { userId } = action;
  switch (action.kind) {
    case 'block_user':
      return blockUser(trx, userId, reason);
    case 'unblock_user':
      return unblockUser(trx, userId);
    case 'end_sessions':
      return endSessions(trx, userId);
    case 'close_account':
      return closeAccount(trx, userId);
    case 'revoke_api_keys':
      return revokeApiKeys(trx, userId, action.keyId);
  }
}

async function blockUser(trx: Transaction, userId: UserId, reason: string): Promise<OperationResult> {
  const user = await lockUser(trx, userId);
  if (user.blocked_at !== null) {
    throw new Refusal('validation_failed', `${userId} is blocked already: ${user.blocked_reason ?? ''}.`);
  }
  await trx('users')
    .where({ id: userId })
    .update({ blocked_at: trx.raw('clock_ms()'), blocked_reason: reason });
  return { userId, liveRentals: await countLive(trx, userId) };
}

async function unblockUser(trx: Transaction, userId: UserId): Promise<OperationResult> {
  const user = await lockUser(trx, userId);
  const { rows } = await trx.raw<{ rows: { why: string | null }[] }>('select block_of(?) as why', [userId]);
  const why = rows[0]?.why ?? null;
  if (why === null) throw new Refusal('validation_failed', `${userId} is not blocked.`);
  // A closed account of the same mailbox blocks nobody any more.
  await trx.raw(
    `update users set blocked_at = null, blocked_reason = null
      where id = :userId
         or id in (select k.user_id from account_ties t join closed_marks k on k.value = t.value
                    where t.user_id = :userId and t.kind = 'mailbox')`,
    { userId },
  );
  return { userId, was: user.blocked_reason ?? why };
}

async function endSessions(trx: Transaction, userId: UserId): Promise<OperationResult> {
  await lockUser(trx, userId);
  return { userId, sessions: await deleteSessionsOf(trx, userId, 'operator') };
}

/** Has an account closed; the reviver begins its workflow within a minute. */
async function closeAccount(trx: Transaction, userId: UserId): Promise<OperationResult> {
  await lockUser(trx, userId);
  if (await insertClosing(trx, userId, 'operator'))
    return { userId, liveRentals: await countLive(trx, userId) };
  throw new Refusal('validation_failed', `${userId} is being closed already: see ops users closing.`);
}

/** Revokes keys at once. What they rented runs on: its user pays for it, and can stop it. */
async function revokeApiKeys(
  trx: Transaction,
  userId: UserId,
  keyId: ApiKeyId | undefined,
): Promise<OperationResult> {
  // Before the account, as what is done by a key locks them.
  await lockApiKeysOf(trx, userId, keyId);
  await lockUser(trx, userId);
  const revoked = await revokeApiKeysOf(trx, userId, keyId);
  if (keyId !== undefined && revoked.length === 0) {
    throw new Refusal('key_not_found', `${userId} has no active key ${keyId}: see ops users keys.`);
  }
  return { userId, keys: revoked.length };
}

async function lockUser(trx: Transaction, userId: UserId): Promise<UserRow> {
  const user = await trx('users').where({ id: userId }).forUpdate().first();
  if (!user) throw new Refusal('not_found', `There is no user ${userId}.`);
  return user;
}

async function countLive(trx: Transaction, userId: UserId): Promise<number> {
  const row = await trx('rentals')
    .where({ user_id: userId })
    .whereNull('closed_at')
    .count<{ count: number }[]>('* as count')
    .first();
  return row?.count ?? 0;
}

type SealingAction = Extract<DirectAction, { kind: `${string}seal${string}` }>;

function isOfSealing(action: DirectAction): action is SealingAction {
  return action.kind.includes('seal');
}

/** @throws Refusal when it is so already, while an earlier release reads rows, and for unsealing while sealing is on */
async function changeSealing(trx: Transaction, kind: SealingAction['kind']): Promise<OperationResult> {
  const { is_on: isOn } = await readSealing(trx);
  if (kind === 'unseal_ledger') {
    if (!isOn) return {};
    throw new Refusal('validation_failed', 'The ledger is being sealed: first ops ledger seal off.');
  }
  if (isOn === (kind === 'seal_ledger')) {
    throw new Refusal('validation_failed', `Sealing is ${isOn ? 'on' : 'off'} already.`);
  }
  const older = kind === 'seal_ledger' ? await listOlderProcesses(trx) : [];
  if (older.length > 0) {
    throw new Refusal(
      'validation_failed',
      `Processes of an earlier release are connected, which would miss what is sealed: ${older.join(', ')}. Upgrade or stop them first.`,
    );
  }
  await switchSealing(trx, kind === 'seal_ledger');
  return {};
}

/** Asks for the rental's end as a user does; metering ends it at this instant (decision 15, "Stopping a rental"). */
async function stopRental(trx: Transaction, rentalId: RentalId, reason: string): Promise<OperationResult> {
  const rental = await trx('rentals').where({ id: rentalId }).first('no', 'status', 'settled_at');
  if (!rental) throw new Refusal('rental_not_found', `There is no rental ${rentalId}.`);
  if (rental.settled_at !== null) {
    throw new Refusal('already_stopped', `${rentalId} is ${rental.status}: its billing has ended.`);
  }
  await insertStopRequest(trx, rental.no, 'operator', reason);
  return { rentalId, was: rental.status };
}

async function pauseProvider(
  trx: Transaction,
  { operator, reason }: Doing,
  { kind, providerCode }: { readonly kind: string; readonly providerCode: string },
): Promise<OperationResult> {
  const provider = await trx('providers').where({ code: providerCode }).forUpdate().first();
  if (!provider) throw new Refusal('not_found', `There is no upstream ${providerCode}: see ops providers.`);
  const pausing = kind === 'pause_provider';
  if (pausing === (provider.paused_at !== null)) {
    throw new Refusal(
      'validation_failed',
      `${providerCode} is ${pausing ? 'already paused' : 'not paused'}.`,
    );
  }
  await trx('providers')
    .where({ code: providerCode })
    .update(
      pausing
        ? { paused_at: trx.raw('clock_ms()'), paused_by: operator, paused_reason: reason }
        : { paused_at: null, paused_by: null, paused_reason: null },
    );
  return { providerCode, was: pausing ? 'for sale' : 'paused' };
}

async function pause(
  trx: Transaction,
  { operator, reason }: Doing,
  { kind, brake }: Extract<DirectAction, { kind: 'pause' | 'resume' }>,
): Promise<OperationResult> {
  const changed =
    kind === 'pause'
      ? await pullBrake(trx, { kind: brake, by: operator, reason })
      : await releaseBrake(trx, brake);
  if (changed) return { brake, was: kind === 'pause' ? 'released' : 'pulled' };
  throw new Refusal(
    'validation_failed',
    `${brake} is ${kind === 'pause' ? 'already paused' : 'not paused'}: see ops brakes.`,
  );
}

/** Makes the event's workflow look at it again. Its effects happen once only, however often it is replayed. */
async function replayEvent(trx: Transaction, eventId: string): Promise<OperationResult> {
  const event = await trx('processor_events').where({ id: eventId }).forUpdate().first();
  if (!event) throw new Refusal('not_found', `There is no event ${eventId}: see ops webhooks list.`);
  // Routes by today's table: it may now know a kind that nobody acted on when the event came.
  const route = routeOf(event);
  if (!route) {
    throw new Refusal(
      'validation_failed',
      `${eventId} is a ${event.kind} that is not about anything of ours, so nothing handles it.`,
    );
  }
  await trx('processor_events').where({ id: eventId }).update({
    workflow_type: route.workflow,
    workflow_id: route.workflowId,
    handled_at: null,
    note: null,
  });
  return { eventId, kind: event.kind, workflow: route.workflow, workflowId: route.workflowId };
}
