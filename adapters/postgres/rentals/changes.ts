import type { ApiKeyId, ChangeId, RentalId, UserId } from '../../../domain/ids.js';
import { Refusal } from '../../../domain/refusal.js';
import {
  fieldsOf,
  limitsTold,
  refusalOfWords,
  type AskedChange,
  type RentalLimits,
} from '../../../domain/rentals/changes.js';
import { insertAuditEvent } from '../accounts/audit-events.js';
import { readClock } from '../clock.js';
import type { Database, Transaction } from '../database.js';
import { recordEvent } from '../events/outbox.js';
import type { RentalChangeRow, RentalRow } from '../rows/tables.js';
import { writeIdleGuard } from './idle-guards.js';
import { writeWords } from './words.js';
import { endingOf, limitsOf } from './facts.js';

/** A change as its request asks for it. */
export interface NewChange {
  readonly id: ChangeId;
  readonly rental: Pick<RentalRow, 'no' | 'id' | 'user_id'>;
  readonly asked: AskedChange;
  /** The API key that asks; undefined for a session. */
  readonly apiKeyId?: ApiKeyId | undefined;
  /** By the database's clock: nothing is changed after it (decision 4, "Promise of a 503"). */
  readonly answerBefore: Date;
}

/**
 * Commits what a change asks for, before the rental's workflow is told (decision 88, "Rows before workflows"). The first
 * request under an id stands: a repetition changes nothing.
 */
export async function insertChange(db: Database, change: NewChange): Promise<void> {
  await db('rental_changes').insert(rowOf(change)).onConflict('id').ignore();
}

/** Finds a change, with its rental. Undefined when there is none of ours. */
export async function findChange(
  db: Database | Transaction,
  id: ChangeId,
): Promise<(RentalChangeRow & { rental_id: RentalId }) | undefined> {
  return db({ c: 'rental_changes' })
    .join({ r: 'rentals' }, 'r.no', 'c.rental_no')
    .where({ 'c.id': id })
    .first<RentalChangeRow & { rental_id: RentalId }>('c.*', { rental_id: 'r.id' });
}

/**
 * Does a change that asks for words alone, in one transaction and without any workflow. It does nothing when it is done
 * already, or was given up (`giveUpChange`).
 * @returns a refusal, which changed nothing
 */
export async function changeWords(
  db: Database,
  change: NewChange,
  clientAddress: string | undefined,
): Promise<Refusal | undefined> {
  return db.transaction(async (trx) => {
    // Settling changes this row as well: the labels are those from before it, or are refused.
    const rental = await trx('rentals').where({ no: change.rental.no }).forNoKeyUpdate().first();
    if (!rental) throw new Error(`no rental ${change.rental.id}`);
    const known = await trx('rental_changes').where({ id: change.id }).first('id');
    if (known) return undefined;
    const stop = await trx('stop_requests').where({ rental_no: rental.no }).first('rental_no');
    const now = await readClock(trx);
    const refusal = refusalOfWords(endingOf(rental), change.asked, stop !== undefined, now);
    if (refusal) return refusal;
    const [made] = await trx('rental_changes')
      .insert({ ...rowOf(change), answered_at: trx.raw('clock_ms()') })
      .onConflict('id')
      .ignore()
      .returning('id');
    const limits = limitsOf(rental);
    if (made) await applyWords(trx, change, { before: limits, after: limits }, clientAddress);
    return undefined;
  });
}

/**
 * Gives up a change of words that nobody heard of any more: its id is taken, so it can't be made later.
 * @returns whether it was made before
 */
export async function giveUpChange(db: Database, change: NewChange): Promise<boolean> {
  await insertChange(db, change);
  const row = await db('rental_changes').where({ id: change.id }).first('answered_at');
  return row !== undefined && row.answered_at !== null;
}

/** Writes a change's words, and tells of the change. The rental must be locked by this transaction. */
export async function applyWords(
  trx: Transaction,
  { id, rental, asked, apiKeyId }: Pick<NewChange, 'id' | 'rental' | 'asked' | 'apiKeyId'>,
  { before, after }: { readonly before: RentalLimits; readonly after: RentalLimits },
  clientAddress?: string,
): Promise<void> {
  await writeWords(trx, rental, asked);
  if (asked.idleGuard !== undefined) await writeIdleGuard(trx, rental.no, asked.idleGuard);
  const changed = fieldsOf(asked);
  const limits = limitsTold(before, after);
  const about: { userId: UserId; entityId: string } = { userId: rental.user_id, entityId: rental.id };
  await insertAuditEvent(trx, {
    userId: rental.user_id,
    kind: 'rental_changed',
    entityId: id,
    details: { rentalId: rental.id, changed, ...limits },
    apiKeyId,
    clientAddress,
  });
  await recordEvent(trx, { ...about, type: 'rental.changed', data: { changeId: id, changed, ...limits } });
}

/** The refusal that a change was answered with; undefined when it was done. */
export function refusalOfChange({ refused }: Pick<RentalChangeRow, 'refused'>): Refusal | undefined {
  return refused === null ? undefined : new Refusal(refused.code, refused.message, refused.details);
}

function rowOf({ id, rental, asked, apiKeyId, answerBefore }: NewChange) {
  return {
    id,
    rental_no: rental.no,
    user_id: rental.user_id,
    asked,
    api_key_id: apiKeyId ?? null,
    answer_before: answerBefore,
  };
}
