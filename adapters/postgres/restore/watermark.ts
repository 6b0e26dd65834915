import { restoredMessage } from '../../../domain/operations/watermark.js';
import { suspendApiKeys } from '../accounts/api-keys.js';
import { suspendPasskeys } from '../accounts/passkeys.js';
import type { Database, Transaction } from '../database.js';

/**
 * Tells whether this very incarnation of the database was compared with Temporal's watermark (decision 67, "Restored
 * databases"). After any restart or restore it is false until somebody has compared.
 */
export async function isDatabaseConfirmed(db: Database | Transaction): Promise<boolean> {
  const { rows } = await db.raw<{ rows: { confirmed: boolean }[] }>(
    'select database_is_confirmed() as confirmed',
  );
  return rows[0]?.confirmed === true;
}

export interface Watermark {
  readonly value: number;
  readonly raisedAt: Date;
}

/** Reads the watermark of this database. */
export async function readWatermark(db: Database | Transaction): Promise<Watermark> {
  const row = await db('watermark').first('value', 'raised_at');
  if (!row) throw new Error('the watermark row is missing');
  return { value: row.value, raisedAt: row.raised_at };
}

/** What is known of a database: `unproven` while a new line waits for its witnesses. */
export type Verdict = 'confirmed' | 'restored' | 'unproven';

/**
 * Compares the database with Temporal's watermark, and its line of history with what the processes saw acknowledged
 * (decision 170, "Witnesses of commits"). A database that is not behind is confirmed in its present incarnation. A
 * database that is behind was restored: it loses its confirmation, and the brake says so until an operator reconciles.
 * All API keys and passkeys rest from then on, because some may have been revoked or removed in the lost time.
 * @param kept Temporal's watermark; null when it never heard of one
 */
export async function confirmDatabase(db: Database, kept: number | null): Promise<Verdict> {
  return db.transaction(async (trx) => {
    const row = await trx('watermark').forUpdate().first('value');
    if (!row) throw new Error('the watermark row is missing');
    const verdict = row.value >= (kept ?? 0) ? await hearWitnesses(trx) : 'restored';
    if (verdict === 'unproven') {
      // Since now where nobody doubted yet, or did so by a clock that was set back since.
      await trx.raw('update watermark set doubted_at = least(doubted_at, clock_ms())');
      return verdict;
    }
    if (verdict === 'confirmed') {
      await trx.raw(
        `update watermark set confirmed_as = database_incarnation(tableoid)
          where confirmed_as is distinct from 'new' and not database_is_confirmed()`,
      );
      await trx.raw(
        `update watermark set lineage = database_lineage(), doubted_at = null
          where lineage is distinct from database_lineage() or doubted_at is not null`,
      );
      await trx('brakes').where({ kind: 'restored' }).delete();
      return 'confirmed';
    }
    await trx('watermark').update({ confirmed_as: null });
    const pulled = await trx('brakes')
      .insert({ kind: 'restored', pulled_by: 'the service', reason: restoredMessage })
      .onConflict('kind')
      .ignore()
      .returning('kind');
    if (pulled.length > 0) {
      await suspendApiKeys(trx);
      await suspendPasskeys(trx);
    }
    return 'restored';
  });
}

/** How long a new line waits for a process that saw commits in the one before, in seconds. */
const WITNESSES_WAIT_S = 10;

/**
 * Judges the database's line of history. One that is known is durable by itself. Another one was restored, unless each
 * process that saw commits acknowledged in the one before has said that they are here.
 */
async function hearWitnesses(trx: Transaction): Promise<Verdict> {
  const { rows } = await trx.raw<{ rows: { verdict: Verdict }[] }>(
    `select case
              when exists (select 1 from witnesses where misses) then 'restored'
              when w.lineage is null or w.lineage = here.lineage then 'confirmed'
              when not exists (select 1 from witnesses s where s.lineage <> here.lineage) then 'confirmed'
              when w.doubted_at < clock_ms() - make_interval(secs => ?) then 'restored'
              else 'unproven'
            end as verdict
       from watermark w, (select database_lineage() as lineage) here`,
    [WITNESSES_WAIT_S],
  );
  return rows[0]?.verdict ?? 'unproven';
}

/**
 * Raises the watermark of a confirmed database.
 * @returns its new value
 * @throws when the database is not confirmed
 */
export async function raiseWatermark(db: Database): Promise<number> {
  const [row] = await db('watermark')
    .whereRaw('database_is_confirmed()')
    .update({
      value: db.raw('value + 1'),
      raised_at: db.raw('clock_ms()'),
      confirmed_as: db.raw('database_incarnation(tableoid)'),
    })
    .returning('value');
  if (!row) throw new Error('the database is not confirmed: compare its watermark with Temporal’s first');
  return row.value;
}

/** Lets the rest of this transaction write although the database is behind: for reconciling alone. */
export async function reconcilingWithin<T>(db: Database, work: (trx: Transaction) => Promise<T>): Promise<T> {
  return db.transaction(async (trx) => {
    await trx.raw(`select set_config('gpu_rental.reconciling', 'on', true)`);
    return work(trx);
  });
}
