import { isDeepStrictEqual } from 'node:util';
import type { OperationId, RentalId } from '../../../domain/ids.js';
import type { Operation, OperationResult } from '../../../domain/operations/operation.js';
import { Refusal } from '../../../domain/refusal.js';
import type { Database, Transaction } from '../database.js';
import type { OperatorActionRow } from '../rows/tables.js';

type AnyOperation = Operation<{ readonly kind: string }>;

/**
 * Finds the result of an operation that was done before under its id; undefined for a new one.
 * @throws Refusal when who or why is missing, or the id was used for something else
 */
export async function findRepeated(
  trx: Transaction,
  input: AnyOperation,
): Promise<OperationResult | undefined> {
  refuseWhenTextUnfit('Who does it', input.operator);
  refuseWhenTextUnfit('The reason', input.reason);
  const known = await trx('operator_actions').where({ id: input.operationId }).first();
  if (!known) return undefined;
  if (!isDeepStrictEqual(known.request, input.action)) {
    throw new Refusal(
      'idempotency_conflict',
      `${input.operationId} was used for something else. Leave out the id to get a new one.`,
    );
  }
  return known.result as OperationResult;
}

/** Keeps an action with its operator, reason and result for good, in the transaction of the action. */
export async function recordAction(
  trx: Transaction,
  input: AnyOperation,
  result: OperationResult,
): Promise<void> {
  await trx('operator_actions').insert({
    id: input.operationId,
    kind: input.action.kind,
    operator: input.operator,
    reason: input.reason,
    request: JSON.stringify(input.action),
    result: JSON.stringify(result),
  });
}

/** Finds the operation that closed the public ports of a rental; undefined when none did. */
export async function findPortsClosed(
  trx: Transaction,
  rentalId: RentalId,
): Promise<OperationId | undefined> {
  const row = await trx('operator_actions')
    .where({ kind: 'close_ports' })
    .whereRaw("request ->> 'rentalId' = ?", [rentalId])
    .first('id');
  return row?.id;
}

/** Lists operators' actions about a user, a rental, an invoice, an upstream, or anything; newest first. */
export async function listActions(
  db: Database,
  about: string | undefined,
  limit: number,
): Promise<OperatorActionRow[]> {
  const query = db('operator_actions').orderBy('done_at', 'desc').limit(limit);
  if (about !== undefined) {
    void query.whereRaw(
      `(exists (select 1 from jsonb_each_text(request || result) f where f.key <> 'kind' and f.value = :about)
        -- One that refunds many names its rentals and users in rows of their own.
        or exists (select 1 from rentals r join operator_order_items i on i.rental_no = r.no
                    where i.order_id = operator_actions.id and :about in (r.id, r.user_id)))`,
      { about },
    );
  }
  return query;
}

/** Kept for good, and read by people. */
const MAX_TEXT_LENGTH = 500;

/** Refuses a text for operators. @throws Refusal for a text that says nothing, or too much */
export function refuseWhenTextUnfit(what: string, text: string): void {
  if (text.trim() !== '' && text.length <= MAX_TEXT_LENGTH) return;
  throw new Refusal('validation_failed', `${what} is required, in at most ${MAX_TEXT_LENGTH} characters.`);
}
