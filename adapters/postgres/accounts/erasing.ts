import { erasures, sweeps, type Erasure } from '../../../domain/accounts/erasure.js';
import { mailboxOf } from '../../../domain/accounts/mailbox.js';
import type { UserId } from '../../../domain/ids.js';
import { isMark, markOf } from '../../closed-marks.js';
import type { Database, Transaction } from '../database.js';
import { lockBy } from '../locks.js';
import { listCards } from './account-ties.js';
import { findAddress, lateUntil } from './closings.js';

/**
 * Erases the person of an account that is being closed, in one transaction (decision 183, "What closing erases"): what
 * must be recognized later becomes a number that nobody can read, and only then its words go. It may run again: a late
 * event brings words back.
 * @param installationKey in base64
 * @param customerId their customer, who was erased at the processor; undefined: whoever it is
 * @throws Error without a key, and where the account has another customer by now, whom nothing would find any more
 */
export async function eraseAccount(
  db: Database,
  userId: UserId,
  installationKey: string,
  customerId?: string | null,
): Promise<void> {
  await db.transaction(async (trx) => {
    const user = await trx('users').where({ id: userId }).forUpdate().first();
    if (!user) throw new Error(`no user ${userId}`);
    if (customerId !== undefined && user.processor_customer_id !== customerId)
      throw new Error(`${userId} has just got another customer at the processor`);
    const person = { userId, email: await findAddress(trx, user) };
    // A code that is being mailed to the address is committed first, and goes as well.
    if (person.email !== null) await lockBy(trx, 'loginCodesOfMailbox', mailboxOf(person.email));
    await beginErasing(trx);
    await eraseMails(trx, person);
    await keepMarks(trx, person, installationKey);
    await trx.raw('select erase_notes(?)', [userId]);
    for (const erasure of erasures) await trx.raw(statementOf(erasure), person);
    await trx('account_closings')
      .where({ user_id: userId, state: 'erasing' })
      .update({
        state: 'kept',
        erased_at: trx.raw('coalesce(erased_at, clock_ms())'),
        late_until: lateUntil(trx),
      });
  });
}

/** What the search for mails goes over again, as it was young then, and what came after. */
const afterSweep = `t.id > coalesce((select (swept -> 'mail_outbox' ->> 0)::bigint
  from account_closings where user_id = :userId), 0)`;

/** How many rows one statement erases before the erasure itself. */
const BATCH = 2_000;

/**
 * Erases what an account may have much of, in short transactions: the erasure itself holds locks, and has a deadline. It may
 * run again.
 * @param tell told after each batch
 */
export async function eraseMany(
  db: Database,
  userId: UserId,
  tell: (told: { erased: string }) => void,
  batch = BATCH,
): Promise<void> {
  for (const erasure of erasures.filter(({ isLarge }) => isLarge)) {
    while ((await eraseBatch(db, userId, erasure, batch)) === batch) tell({ erased: erasure.table });
    tell({ erased: erasure.table });
  }
}

/** @returns how many rows it erased */
async function eraseBatch(db: Database, userId: UserId, erasure: Erasure, batch: number): Promise<number> {
  const { table } = erasure;
  const whose = `t.ctid = any (array(select t.ctid from ${table} t where ${unerased(erasure)} limit :batch))`;
  return db.transaction(async (trx) => {
    await beginErasing(trx);
    const sql = statementOf({ ...erasure, whose });
    return (await trx.raw<{ rowCount: number }>(sql, { userId, batch })).rowCount;
  });
}

/**
 * Looks for mails once more, under the lock of the user's row: one that was being written with the address while they were
 * searched for is committed by now, and nothing finds it once the address is gone.
 */
async function eraseMails(trx: Transaction, { userId, email }: Person): Promise<void> {
  if (email === null) return;
  const person = { userId, email, customerId: null };
  for (const sweep of sweeps.filter(({ table }) => table === 'mail_outbox'))
    await trx.raw(statementOf({ ...sweep, whose: `${afterSweep} and (${sweep.whose})` }), person);
}

/** Lets this transaction take words out of rows that are never changed otherwise. */
export async function beginErasing(trx: Transaction): Promise<void> {
  await trx.raw(`select set_config('gpu_rental.erasing', 'on', true)`);
}

/** Writes the statement of one erasure; its values are those that `whose` may name. */
export function statementOf(erasure: Erasure): string {
  const { table, becomes } = erasure;
  const rows = `${table} t`;
  if (becomes === undefined) return `delete from ${rows} where ${unerased(erasure)}`;
  const columns = Object.entries(becomes).map(([column, value]) => `${column} = ${value}`);
  return `update ${rows} set ${columns.join(', ')} where ${unerased(erasure)}`;
}

/** Finds the rows that an erasure has not changed yet: it may run again, and then writes nothing. */
function unerased({ whose, becomes = {} }: Erasure): string {
  const words = Object.entries(becomes).map(([column, value]) => `t.${column} is distinct from ${value}`);
  return words.length === 0 ? whose : `(${whose}) and (${words.join(' or ')})`;
}

/** email: null once it is erased. */
type Person = { readonly userId: UserId; readonly email: string | null };

/** Keeps the marks of a mailbox and of the cards, then forgets the cards. */
async function keepMarks(
  trx: Transaction,
  { userId, email }: Person,
  installationKey: string,
): Promise<void> {
  const keep = (kind: 'mailbox' | 'card', value: string) =>
    trx('closed_marks').insert({ value, user_id: userId, kind }).onConflict().ignore();
  if (email !== null) await keep('mailbox', markOf(installationKey, 'mailbox', email));
  for (const fingerprint of await listFingerprints(trx, userId)) {
    const mark = markOf(installationKey, 'card', fingerprint);
    await keep('card', mark);
    await tieOwners(trx, userId, fingerprint, mark);
    await trx('charge_marks').where({ user_id: userId, fingerprint }).update({ fingerprint: mark });
    await trx('account_ties').where({ user_id: userId, kind: 'card', value: fingerprint }).delete();
  }
}

/** Lists the cards of an account, those that it paid by and those that were denied. */
async function listFingerprints(trx: Transaction, userId: UserId): Promise<string[]> {
  const denied = await trx('charge_marks').where({ user_id: userId }).select('fingerprint');
  const marks = denied
    .map(({ fingerprint }) => fingerprint ?? '')
    .filter((one) => one !== '' && !isMark(one));
  return [...new Set([...(await listCards(trx, userId)), ...marks])];
}

/** Ties everybody who has the same card to its mark, so that what stands against it goes on standing against them. */
async function tieOwners(trx: Transaction, userId: UserId, fingerprint: string, mark: string): Promise<void> {
  await trx.raw(
    `insert into account_ties (user_id, kind, value)
     select t.user_id, 'card', :mark from account_ties t where t.kind = 'card' and t.value = :fingerprint
      union select c.user_id, 'card', :mark from saved_cards c
       where c.fingerprint = :fingerprint and c.removed_at is null and c.user_id <> :userId
     on conflict do nothing`,
    { userId, fingerprint, mark },
  );
}
