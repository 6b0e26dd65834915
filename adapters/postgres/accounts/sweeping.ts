import { sweeps, type Sweep } from '../../../domain/accounts/erasure.js';
import type { UserId } from '../../../domain/ids.js';
import type { Database, Transaction } from '../database.js';
import { findAddress } from './closings.js';
import { beginErasing, eraseAccount, eraseMany, statementOf } from './erasing.js';

/** How many rows one transaction looks through. */
const BATCH = 5_000;

/**
 * Erases the person of an account that is being closed: what it has much of, and the large tables first, since nothing finds
 * their words once the address is gone. It may run again.
 * @param who whose customer at the processor this was when it was erased there
 * @param installationKey in base64
 * @throws Error without a key, and where the account has another customer by now
 */
export async function erasePerson(
  db: Database,
  { userId, customerId }: Pick<Person, 'userId' | 'customerId'>,
  installationKey: string,
  tell: (told: { swept: string } | { erased: string }) => void,
): Promise<void> {
  await eraseMany(db, userId, tell);
  await sweepTables(db, userId, tell);
  await eraseAccount(db, userId, installationKey, customerId);
}

/**
 * Takes a person's words out of the large tables in which no index finds them: each is read once, in batches, and later
 * only what came after (decision 183, "What closing erases"). A batch and how far it came are one transaction.
 * @param tell told after each batch
 */
export async function sweepTables(
  db: Database,
  userId: UserId,
  tell: (told: { swept: string }) => void,
  batch = BATCH,
): Promise<void> {
  const person = await readPerson(db, userId);
  for (const table of new Set(sweeps.map((one) => one.table))) {
    while (await sweepBatch(db, person, table, batch)) tell({ swept: table });
  }
}

interface Person {
  readonly userId: UserId;
  /** null once it is erased: what comes late is found by numbers. */
  readonly email: string | null;
  readonly customerId: string | null;
}

async function readPerson(db: Database, userId: UserId): Promise<Person> {
  const user = await db('users').where({ id: userId }).first('id', 'email', 'processor_customer_id');
  if (!user) throw new Error(`no user ${userId}`);
  return { userId, email: await findAddress(db, user), customerId: user.processor_customer_id };
}

/** @returns whether there may be more */
async function sweepBatch(db: Database, person: Person, table: string, batch: number): Promise<boolean> {
  const ofTable = sweeps.filter((one) => one.table === table);
  const [first] = ofTable;
  if (!first) return false;
  return db.transaction(async (trx) => {
    await beginErasing(trx);
    const from = await readCursor(trx, person.userId, table);
    const { count, last, settled } = await readRange(trx, first, from, batch);
    if (last === null) return false;
    for (const sweep of ofTable) {
      const whose = `${rangeSql(sweep, from)} and ${keyOf(sweep)} <= ${rowOf(sweep, 'to')} and (${sweep.whose})`;
      await trx.raw(statementOf({ ...sweep, whose }), {
        ...person,
        from: JSON.stringify(from),
        to: JSON.stringify(last),
      });
    }
    if (settled !== null)
      await trx('account_closings')
        .where({ user_id: person.userId })
        .update({
          swept: trx.raw('swept || jsonb_build_object(?::text, ?::jsonb)', [table, JSON.stringify(settled)]),
        });
    return count === batch && settled !== null;
  });
}

type Key = readonly unknown[] | null;

async function readCursor(trx: Transaction, userId: UserId, table: string): Promise<Key> {
  const row = await trx('account_closings').where({ user_id: userId }).first('swept');
  if (!row) throw new Error(`${userId} is not being closed`);
  return row.swept[table] ?? null;
}

/**
 * Reads up to where the next batch goes. What is younger than five minutes is looked at again the next time: a row that
 * was numbered before may be committed after.
 */
async function readRange(
  trx: Transaction,
  sweep: Sweep,
  from: Key,
  batch: number,
): Promise<{ count: number; last: Key; settled: Key }> {
  const { rows } = await trx.raw<{ rows: { key: readonly unknown[]; settled: boolean }[] }>(
    `select jsonb_build_array(${Object.keys(sweep.key)
      .map((column) => `t.${column}`)
      .join(', ')}) as key,
            ${sweep.at} < clock_ms() - interval '5 minutes' as settled
       from ${sweep.table} t where ${rangeSql(sweep, from)}
      order by ${keyOf(sweep)} limit :batch`,
    { from: JSON.stringify(from), batch },
  );
  const firstYoung = rows.findIndex(({ settled }) => !settled);
  const settledRows = firstYoung === -1 ? rows : rows.slice(0, firstYoung);
  return { count: rows.length, last: rows.at(-1)?.key ?? null, settled: settledRows.at(-1)?.key ?? null };
}

function rangeSql(sweep: Sweep, from: Key): string {
  return from === null ? `:from::text is not null` : `${keyOf(sweep)} > ${rowOf(sweep, 'from')}`;
}

function keyOf({ key }: Sweep): string {
  return `(${Object.keys(key)
    .map((column) => `t.${column}`)
    .join(', ')})`;
}

/** A key that was kept as JSON, as a row that compares with the table's. */
function rowOf({ key }: Sweep, binding: 'from' | 'to'): string {
  const parts = Object.values(key).map((type, at) => `(:${binding}::jsonb ->> ${at})::${type}`);
  return `(${parts.join(', ')})`;
}
