import type { LedgerSealingRow } from '../rows/tables.js';
import type { Database, Transaction } from '../database.js';

/** Whether the ledger is sealed, and how far the walk over all wallets has come (decision 139, "Seals of the ledger"). */
export async function readSealing(db: Database | Transaction): Promise<LedgerSealingRow> {
  const row = await db('ledger_sealing').first();
  if (!row) throw new Error('the row of ledger_sealing is missing');
  return row;
}

/**
 * Begins a walk over all wallets.
 * @param isDaily it seals each wallet up to its newest entry
 * @returns when it began, by which it is named
 */
export async function beginWalk(db: Database, isDaily: boolean): Promise<Date> {
  const [row] = await db('ledger_sealing')
    .update({ walk_began_at: db.raw('clock_ms()'), walked_wallet: 0, is_daily: isDaily })
    .returning('walk_began_at');
  if (!row?.walk_began_at) throw new Error('the row of ledger_sealing is missing');
  return row.walk_began_at;
}

/** Notes how far a walk has come: a later round, or another worker, goes on there. A walk that is over is left alone. */
export async function noteWalked(db: Database, begun: Date, walletId: number): Promise<void> {
  await db('ledger_sealing')
    .where({ walk_began_at: begun })
    .where('walked_wallet', '<', walletId)
    .update({ walked_wallet: walletId });
}

/** Ends a walk, unless another one has begun. */
export async function endWalk(db: Database, begun: Date): Promise<void> {
  await db('ledger_sealing')
    .where({ walk_began_at: begun })
    .update({
      ...{ walk_began_at: null, walked_wallet: 0, walked_at: db.raw('clock_ms()') },
      daily_at: db.raw('case when is_daily then walk_began_at else daily_at end'),
    });
}

/**
 * Finds wallets with at least so many entries that are not sealed, in the order of their numbers.
 * @param span the wallets that are looked at: above the first number, up to the second
 */
export async function findUnsealed(
  db: Database,
  span: { readonly above: number; readonly upTo: number },
  leastEntries: number,
): Promise<number[]> {
  const { rows } = await db.raw<{ rows: { id: number }[] }>(
    `select w.id from wallets w
      where w.id > :above and w.id <= :upTo and w.seq >= :leastEntries and w.seq - sealed_through(w.id) >= :leastEntries order by w.id`,
    { ...span, leastEntries },
  );
  return rows.map(({ id }) => id);
}

/** How many entries a seal must hold, and may. */
export interface SealLimits {
  readonly leastEntries: number;
  readonly mostEntries: number;
}

/** How many entries of a wallet were sealed. */
interface SealedWallet {
  readonly walletId: number;
  readonly entries: number;
}

/**
 * Seals the next entries of each of some wallets, at most so many. Their rows go in the same transaction. Rows of many
 * wallets lie in one page: what one transaction takes of it is cleaned at once.
 * @returns how many were sealed of each; 0 where there are fewer than the least, while another seals the wallet, and while
 *   sealing is off
 */
async function sealWallets(
  db: Database,
  walletIds: readonly number[],
  limits: SealLimits,
): Promise<SealedWallet[]> {
  const { rows } = await db.raw<{ rows: SealedWallet[] }>(
    `select id as "walletId", seal_wallet(id, :leastEntries, :mostEntries) as entries from unnest(:walletIds::bigint[]) id`,
    { ...limits, walletIds: [...walletIds] },
  );
  return rows;
}

/**
 * Finds which of these wallets go on: those of which as many were sealed as may be, and that have enough left, and those
 * with runs that were sealed before and taken back, which come again as they were, however short.
 */
async function findUnfinished(
  db: Database,
  sealed: readonly SealedWallet[],
  { leastEntries, mostEntries }: SealLimits,
): Promise<number[]> {
  const idsFrom = (least: number): number[] =>
    sealed.filter(({ entries }) => entries >= least).map(({ walletId }) => walletId);
  const { rows } = await db.raw<{ rows: { id: number }[] }>(
    `select w.id from wallets w cross join lateral (select sealed_through(w.id) as through offset 0) sealed
      where w.id = any (:some::bigint[])
        and (w.id = any (:full::bigint[]) and w.seq - through >= :leastEntries
             or exists (select 1 from ledger_hashes h where h.wallet_id = w.id and h.last_seq > through))
      order by w.id`,
    { leastEntries, some: idsFrom(1), full: idsFrom(mostEntries) },
  );
  return rows.map(({ id }) => id);
}

/**
 * Seals wallets seal by seal, until too few entries are left.
 * @param isEnough is told after each turn how many entries that has sealed; true ends it there
 * @returns those that have more to seal
 */
export async function sealInTurns(
  db: Database,
  walletIds: readonly number[],
  limits: SealLimits,
  isEnough: (entries: number) => boolean,
): Promise<number[]> {
  let due = [...walletIds];
  while (due.length > 0) {
    const sealed = await sealWallets(db, due, limits);
    due = await findUnfinished(db, sealed, limits);
    if (isEnough(sealed.reduce((sum, { entries }) => sum + entries, 0))) break;
  }
  return due;
}

/** How much is sealed; a count of seals, and of the entries that they hold. */
export async function countSealed(
  db: Database,
): Promise<{ readonly seals: number; readonly entries: number; readonly bytes: number }> {
  const { rows } = await db.raw<{ rows: { seals: number; entries: number; bytes: number }[] }>(
    `select count(*) as seals, coalesce(sum(last_seq - first_seq + 1), 0)::bigint as entries,
            pg_total_relation_size('ledger_seals') as bytes
       from ledger_seals`,
  );
  return rows[0] ?? { seals: 0, entries: 0, bytes: 0 };
}

/** Switches sealing on or off. */
export async function switchSealing(trx: Transaction, isOn: boolean): Promise<void> {
  await trx.raw('select switch_sealing(?)', [isOn]);
}

/** Lists wallets that have a seal, in the order of their numbers, above one. */
export async function listSealed(db: Database, above: number, limit: number): Promise<number[]> {
  const { rows } = await db.raw<{ rows: { id: number }[] }>(
    `select w.id from wallets w
      where w.id > :above and exists (select 1 from ledger_seals s where s.wallet_id = w.id) order by w.id limit :limit`,
    { above, limit },
  );
  return rows.map(({ id }) => id);
}

/** Writes the rows of a wallet's newest seal back. @returns how many entries it held; 0: the wallet has no seal */
export async function unsealWallet(db: Database, walletId: number): Promise<number> {
  const { rows } = await db.raw<{ rows: { held: number }[] }>('select unseal_wallet(?) as held', [walletId]);
  return rows[0]?.held ?? 0;
}

/** Lets the service read the table again. @throws a database error while sealing is on or a seal is left */
export async function endUnsealing(db: Database): Promise<void> {
  await db.raw('select end_unsealing()');
}

/**
 * Lists the connections of processes of a release that knows no seals: those name no release (see processName).
 * @returns their names in pg_stat_activity
 */
export async function listOlderProcesses(db: Database | Transaction): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { name: string }[] }>(
    `select distinct application_name as name from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()
        and application_name ~ '^(api|worker|ops)(-[a-z]+|)$'
      order by 1`,
  );
  return rows.map(({ name }) => name);
}
