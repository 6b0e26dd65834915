import { isId } from '../../../domain/ids.js';
import type { Database } from '../database.js';
import type { UserRow, WalletRow } from '../rows/tables.js';
import { isOwedSql } from '../invoices/debts.js';

/** Finds a user by e-mail address or id. */
export async function findUser(db: Database, who: string): Promise<UserRow | undefined> {
  if (isId('usr', who)) return db('users').where({ id: who }).first();
  return db('users').where({ email: who.trim().toLowerCase() }).first();
}

/** Lists users, the newest first: ids begin with their time. */
export async function listUsers(db: Database, limit: number): Promise<UserRow[]> {
  return db('users').orderBy('id', 'desc').limit(limit);
}

/** The first facts about a user for an operator. Amounts in cents. */
export interface UserSummary {
  readonly user: UserRow;
  /** The block of an earlier account of the same mailbox, in words; null where there is none, or a block of its own. */
  readonly earlierBlock: string | null;
  readonly wallet: WalletRow;
  readonly liveRentals: number;
  readonly burnPerHourCents: number;
  readonly openDebts: number;
  readonly openDebtCents: number;
  readonly sessions: number;
  /** Failed tries of codes in the last 24 hours. */
  readonly failedSignIns: number;
}

interface Counts {
  block: string | null;
  live: number;
  burn: number;
  debts: number;
  debt_cents: number;
  sessions: number;
  failed: number;
}

export async function readUserSummary(db: Database, user: UserRow): Promise<UserSummary> {
  const wallet = await db('wallets').where({ user_id: user.id }).first();
  if (!wallet) throw new Error(`${user.id} has no wallet`);
  const { rows } = await db.raw<{ rows: Counts[] }>(
    `select block_of(:userId) as block, (select count(*) from rentals where user_id = :userId and closed_at is null) as live,
            (select coalesce(sum(price_per_hour_cents), 0)::bigint from meters where wallet_id = :walletId) as burn,
            count(i.id) as debts, coalesce(sum(i.amount_cents), 0)::bigint as debt_cents,
            (select count(*) from sessions where user_id = :userId and expires_at > clock_ms()) as sessions,
            (select coalesce(sum(failed), 0) from failed_sign_ins
              where user_id = :userId and hour > clock_ms() - interval '24 hours') as failed
       from invoices i
      where i.user_id = :userId and ${isOwedSql('i')}`,
    { userId: user.id, walletId: wallet.id },
  );
  const counts = rows[0];
  if (!counts) throw new Error('counting answered no row');
  return {
    user,
    earlierBlock: user.blocked_at === null ? counts.block : null,
    wallet,
    liveRentals: counts.live,
    burnPerHourCents: counts.burn,
    openDebts: counts.debts,
    openDebtCents: counts.debt_cents,
    sessions: counts.sessions,
    failedSignIns: counts.failed,
  };
}
