import { monthOf } from '../../../domain/instants.js';
import type { StatementFacts } from '../../../domain/notices/notices.js';
import { noticeLimits } from '../../../domain/notices/limits.js';
import { sha256 } from '../../proof/tree.js';
import type { Database } from '../database.js';
import { findProof } from '../ledger/proof.js';
import { readStatement, type Statement } from '../ledger/statement-reads.js';
import { isNotWaiting } from '../upkeep/stuck-items.js';
import { noteForUser } from './user-notices.js';

/** A month whose statements are being noted, and the wallets that come next. */
export interface StatementMonth {
  /** In UTC, such as 2026-10. */
  readonly month: string;
  /** In the order of their numbers; those that failed before and are due again are among them. */
  readonly wallets: readonly number[];
}

/**
 * Finds the next wallets whose statement is to be noted (decision 171, "Statements by mail"): of the last month. It
 * begins when a signed root covers it, where the ledger is sealed, or else after a while without one. What is left of
 * earlier months comes after it, and while its last wallets wait for their next try.
 * @returns undefined when nobody is left
 */
export async function nextStatements(db: Database): Promise<StatementMonth | undefined> {
  await db.raw(
    `insert into statement_months (month)
     select to_char(ended - interval '1 month', 'YYYY-MM')
       from (select date_trunc('month', clock_ms() at time zone 'UTC') as ended) m cross join ledger_sealing s
      where not s.is_on
         or clock_ms() at time zone 'UTC' > ended + :waitMs * interval '1 millisecond'
         or exists (select 1 from ledger_roots r where r.line is not null and coalesce(r.walk_began_at, r.made_at) at time zone 'UTC' >= ended)
     on conflict do nothing`,
    { waitMs: noticeLimits.statementWaitMs },
  );
  const { rows } = await db.raw<{ rows: StatementMonth[] }>(
    `select m.month, next.wallets
       from statement_months m cross join lateral (
              select array(
                select id from (
                  (select failed.id from unnest(m.failed_wallets) failed (id)
                    where ${isNotWaiting('statement', `m.month || ':' || failed.id`)} limit :atOnce)
                  union all
                  (select w.id from wallets w where w.id > m.walked_wallet order by w.id limit :atOnce)
                ) due order by id) as wallets) next
      where m.done_at is null and (next.wallets <> '{}' or m.failed_wallets = '{}')
      order by m.month desc limit 1`,
    { atOnce: noticeLimits.statementsAtOnce },
  );
  return rows[0];
}

/** Notes how far a month's statements have come. @param failed those of `wallets` that are tried again */
export async function noteStatementsWalked(
  db: Database,
  { month, wallets }: StatementMonth,
  failed: readonly number[],
): Promise<void> {
  await db.raw(
    `update statement_months m set walked_wallet = greatest(walked_wallet, :last),
            failed_wallets = array(select id from unnest(m.failed_wallets || cast(:failed as bigint[])) id
                                    where id <> all (cast(:wallets as bigint[])) or id = any (cast(:failed as bigint[]))
                                    group by id order by id),
            done_at = case when :isDone then clock_ms() end
      where month = :month and done_at is null`,
    {
      month,
      last: wallets.at(-1) ?? 0,
      wallets: [...wallets],
      failed: [...failed],
      isDone: wallets.length === 0,
    },
  );
}

/** Notes a wallet's statement of a month for its user, once. A month without an entry has none. */
export async function noteStatement(db: Database, walletId: number, month: string): Promise<void> {
  const span = monthOf(month);
  const wallet = await db('wallets').where({ id: walletId }).first('user_id');
  if (!span || !wallet) return;
  const userId = wallet.user_id;
  const statement = await readStatement(db, userId, span);
  if (statement.sums.length === 0) return;
  const root = (await findProof(db, userId, span))?.root;
  await noteForUser(db, {
    userId,
    kind: 'statement',
    cause: { kind: 'statement', userId, month },
    facts: { month, ...sumsOf(statement), rootHash: root === undefined ? null : sha256(root.line) },
  });
}

function sumsOf(statement: Statement): Omit<StatementFacts, 'month' | 'rootHash'> {
  const { openingBalanceCents: openingCents, closingBalanceCents: closingCents, sums } = statement;
  const sumOf = (is: (sum: Statement['sums'][number]) => boolean): number =>
    sums.filter(is).reduce((total, { amountCents }) => total + amountCents, 0);
  const machinesCents = sumOf(({ rentalId }) => rentalId !== null);
  const paidInCents = sumOf(({ type }) => type === 'processor_topup' || type === 'auto_topup');
  const otherCents = closingCents - openingCents - machinesCents - paidInCents;
  return { openingCents, paidInCents, machinesCents, otherCents, closingCents };
}
