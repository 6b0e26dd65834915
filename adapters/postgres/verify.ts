import type { UserId } from '../../domain/ids.js';
import type { Database } from './database.js';

/** One thing that does not add up, with enough to find it. */
export interface Discrepancy {
  readonly rule: 'chain' | 'wallet' | 'holds' | 'rental' | 'price';
  readonly walletId: number;
  /** Of the wallet. */
  readonly userId: UserId;
  /** The entry's number for `chain`. */
  readonly seq: number | null;
  /** For `rental` and `price`. */
  readonly rentalId: string | null;
  readonly detail: string;
}

/** At most so many are told of at once. */
export const discrepancyLimit = 100;

/** What each settled rental must come to: the formula of decision 25; nothing where it failed (decision 27). */
const pricedColumns = `r.*, least(r.max_spend_cents,
                (2 * r.price_per_hour_cents::numeric * coalesce(epoch_ms(r.ended_at) - r.running_ms, 0) + 3600000)
                  ::bigint / 7200000) as final_cents`;

/** The rules but the chain's, over w (wallets), newest, held, looked_at (rentals), entries and priced. */
const rules = `
     select 'wallet' as rule, w.id as "walletId", w.user_id as "userId", null::bigint as seq, null::text as "rentalId",
            'total ' || w.available_cents + w.reserved_cents || ', newest entry ' ||
            coalesce(n.balance_after_cents, 0) as detail
       from w left join newest n on n.wallet_id = w.id
      where w.available_cents + w.reserved_cents <> coalesce(n.balance_after_cents, 0) or w.seq <> coalesce(n.seq, 0)
     union all
     select 'holds', w.id, w.user_id, null, null, 'reserved ' || w.reserved_cents || ', holds ' || coalesce(h.held, 0)
       from w left join held h on h.wallet_id = w.id
      where w.reserved_cents <> coalesce(h.held, 0)
     union all
     select 'rental', r.wallet_id, r.user_id, null, r.id, r.id || ' says charged ' || r.charged_cents || ' refunded ' ||
            r.refunded_cents || ', entries say ' || coalesce(e.charged, 0) || ' and ' || coalesce(e.refunded, 0)
       from looked_at r left join entries e on e.rental_no = r.no
      where r.charged_cents <> coalesce(e.charged, 0) or r.refunded_cents <> coalesce(e.refunded, 0)
     union all
     select 'price', wallet_id, user_id, null, id, id || ' is settled at ' ||
            charged_cents - refunded_cents + overage_cents + written_off_cents || ', the formula says ' || final_cents
       from priced
      where charged_cents - refunded_cents + overage_cents + written_off_cents
            <> case status when 'failed' then 0 else final_cents end`;

const sums = `-sum(e.amount_cents) filter (where e.type = 'rental_charge') as charged,
              sum(e.amount_cents) filter (where e.type = 'refund') as refunded`;

/** Which wallets are walked: one user's, or those with ids from one up to another. */
type Wallets = { readonly userId?: UserId; readonly fromId?: number; readonly toId?: number };

/** How many wallets there are, or whether this user has one. */
export async function countWallets(db: Database, userId?: UserId): Promise<number> {
  const query = db('wallets').count<{ count: number }[]>('* as count').first();
  if (userId !== undefined) void query.where({ user_id: userId });
  return (await query)?.count ?? 0;
}

/** The highest number of a wallet, 0 when there is none. */
export async function findNewestWallet(db: Database): Promise<number> {
  const row = await db('wallets').max<{ max: number | null }[]>('id as max').first();
  return row?.max ?? 0;
}

/**
 * Walks every wallet and checks what must hold: each entry continues its predecessor, the newest equals the wallet,
 * what is reserved equals the holds of its rentals, each rental's charges and refunds equal its entries, and each
 * settled rental's net charge, overage and write-off equal the formula of decision 25.
 * @param userId only this user's wallet
 * @returns every discrepancy, at most 100
 */
export async function verifyLedger(db: Database, userId?: UserId): Promise<Discrepancy[]> {
  return verifyWallets(db, userId === undefined ? {} : { userId });
}

/** The same for some wallets, so that a long ledger can be walked in parts. */
export async function verifyWallets(db: Database, { userId, fromId, toId }: Wallets): Promise<Discrepancy[]> {
  const { rows } = await db.raw<{ rows: Discrepancy[] }>(
    `with w as (
       select * from wallets where (:userId::text is null or user_id = :userId)
          and id between coalesce(:fromId::bigint, 0) and coalesce(:toId::bigint, 9223372036854775807)
     ), chain as (
       select e.wallet_id, w.user_id, e.seq, e.amount_cents, e.balance_after_cents,
              lag(e.seq, 1, 0::bigint) over by_seq as before_seq,
              lag(e.balance_after_cents, 1, 0::bigint) over by_seq as before
         from ledger_entries e join w on w.id = e.wallet_id
       window by_seq as (partition by e.wallet_id order by e.seq)
     ), newest as (
       select distinct on (e.wallet_id) e.wallet_id, e.seq, e.balance_after_cents
         from ledger_entries e join w on w.id = e.wallet_id order by e.wallet_id, e.seq desc
     ), held as (
       select r.wallet_id, sum(r.hold_cents) as held from rentals_now r join w on w.id = r.wallet_id group by r.wallet_id
     ), looked_at as (
       select r.* from rentals_now r join w on w.id = r.wallet_id
     ), entries as (
       select e.rental_no, ${sums}
         from ledger_entries e join w on w.id = e.wallet_id where e.rental_no is not null group by e.rental_no
     ), priced as (select ${pricedColumns} from looked_at r where r.settled_at is not null)
     select 'chain' as rule, wallet_id as "walletId", user_id as "userId", seq, null::text as "rentalId",
            'entry ' || seq || ' has balance ' || balance_after_cents || ' after ' || before as detail
       from chain where seq <> before_seq + 1 or balance_after_cents <> before + amount_cents
     union all ${rules}
     limit ${discrepancyLimit}`,
    { userId: userId ?? null, fromId: fromId ?? null, toId: toId ?? null },
  );
  return rows;
}

/**
 * What can be checked often: every wallet against its newest entry and its holds, and each rental that was settled
 * since an instant. The chain itself is walked by `verifyWallets` only.
 */
export async function verifyRecent(db: Database, since: Date): Promise<Discrepancy[]> {
  const { rows } = await db.raw<{ rows: Discrepancy[] }>(
    `with w as (select * from wallets),
     newest as (
       select e.wallet_id, e.seq, e.balance_after_cents
         from w join ledger_entries e on e.wallet_id = w.id and e.seq = w.seq
     ), held as (
       -- The schema keeps a closed rental from holding anything.
       select wallet_id, sum(hold_cents) as held from rentals_now where closed_at is null group by wallet_id
     ), looked_at as (
       select * from rentals_now where settled_at >= :since
     ), entries as (
       select r.no as rental_no, of_it.charged, of_it.refunded
         from looked_at r
        cross join lateral (
          select ${sums} from ledger_entries e
           where e.wallet_id = r.wallet_id and e.seq > r.opened_seq and e.seq <= r.settled_seq and e.rental_no = r.no
        ) of_it
     ), priced as (select ${pricedColumns} from looked_at r)
     ${rules}
     limit ${discrepancyLimit}`,
    { since },
  );
  return rows;
}
