import type { UserId } from '../../../domain/ids.js';
import type { Database } from '../database.js';
import { isOperationRentalSql, operationRentalCauseSql } from './cause-sql.js';
import {
  capRule,
  discrepancyLimit,
  firstOf,
  hashRule,
  pricedRentals,
  ruleNames,
  rules,
  sealRule,
  sums,
  type Discrepancy,
} from './verify-rules.js';

/** The wallets to walk: one user's, or those with ids from one up to another. */
type Wallets = { readonly userId?: UserId } | WalletRange;

/** Wallets that are walked at once, by their ids. */
export interface WalletRange {
  readonly fromId: number;
  readonly toId: number;
}

/** How many entries one statement walks, well within its time limit. */
const ENTRIES_AT_ONCE = 500_000;
const WALLETS_AT_ONCE = 200;
const NO_END = '9223372036854774000';

const walked = `
       select * from wallets where (:userId::text is null or user_id = :userId)
          and id between coalesce(:fromId::bigint, 0) and coalesce(:toId::bigint, ${NO_END})`;

/** Counts the wallets, or tells whether this user has one. */
export async function countWallets(db: Database, userId?: UserId): Promise<number> {
  const query = db('wallets').count<{ count: number }[]>('* as count').first();
  if (userId !== undefined) void query.where({ user_id: userId });
  return (await query)?.count ?? 0;
}

/** Finds the highest number of a wallet, 0 when there is none. */
export async function findNewestWallet(db: Database): Promise<number> {
  const row = await db('wallets').max<{ max: number | null }[]>('id as max').first();
  return row?.max ?? 0;
}

/** Lists all wallets in ranges that are walked in a few statements; a wallet of many entries stands alone. */
export async function* walletRanges(
  db: Database,
  { entries, wallets } = { entries: ENTRIES_AT_ONCE, wallets: WALLETS_AT_ONCE },
): AsyncGenerator<WalletRange> {
  for (let fromId = 1; ;) {
    const { rows } = await db.raw<{ rows: { id: number }[] }>(
      `select id from (select id, sum(seq) over by_id as entries, row_number() over by_id as place
                         from (select id, seq from wallets where id >= :fromId order by id limit :wallets) next
                       window by_id as (order by id)) next
        where place = 1 or entries <= :entries order by id desc limit 1`,
      { fromId, entries, wallets },
    );
    const toId = rows[0]?.id;
    if (toId === undefined) return;
    yield { fromId, toId };
    fromId = toId + 1;
  }
}

/**
 * Walks every wallet and checks the rules of the ledger. Each entry continues its predecessor. The newest equals the
 * wallet. The reserved amount equals the holds of its rentals. Each rental's charges and refunds equal its entries.
 * Each settled rental ended when its rows say, no limit of it was lowered below what had accrued, and its net charge, overage and write-off equal the formula of decision
 * 25, "Usage as running total", for that end. Orders of many gave the amounts of their entries, and nobody got more
 * than they were charged. API keys have spent and reserve what their rentals say.
 * @param userId only this user's wallet
 * @param tell called after each range of wallets, with how many discrepancies were found so far
 * @returns every discrepancy, at most 100
 */
export async function verifyLedger(
  db: Database,
  userId?: UserId,
  tell?: (range: WalletRange, found: number) => void,
): Promise<Discrepancy[]> {
  if (userId !== undefined) return verifyWallets(db, { userId });
  const found: Discrepancy[] = [];
  for await (const range of walletRanges(db)) {
    found.push(...(await verifyWallets(db, range)));
    if (found.length >= discrepancyLimit) break;
    tell?.(range, found.length);
  }
  return firstFound(found);
}

/**
 * Verifies some wallets, so that a long ledger can be walked in parts. Their chains are walked in spans of entries.
 * @param parts.tell called after each statement
 */
export async function verifyWallets(
  db: Database,
  wallets: Wallets,
  { tell, entriesAtOnce = ENTRIES_AT_ONCE }: { tell?: () => void; entriesAtOnce?: number } = {},
): Promise<Discrepancy[]> {
  const of = { userId: null, fromId: null, toId: null, ...wallets };
  const sums = await verifySums(db, of);
  tell?.();
  const chain: Discrepancy[] = [];
  const newest = await findNewestSeq(db, of);
  for (let fromSeq = 1; chain.length < discrepancyLimit; fromSeq += entriesAtOnce) {
    const isLast = fromSeq + entriesAtOnce > newest;
    const span = { fromSeq, toSeq: isLast ? NO_END : fromSeq + entriesAtOnce - 1 };
    chain.push(...(await verifySpan(db, { ...of, ...span })));
    tell?.();
    if (isLast) break;
  }
  return firstFound([...chain, ...sums]);
}

/** Orders what several statements found as one does: the cause of others first, and at most 100. */
function firstFound(found: readonly Discrepancy[]): Discrepancy[] {
  const rank = ({ rule }: Discrepancy) => ruleNames.indexOf(rule);
  return found.toSorted((a, b) => rank(a) - rank(b)).slice(0, discrepancyLimit);
}

type Bindings = Readonly<Record<string, string | number | null>>;

/** Finds the number of the newest entry of these wallets, whichever of wallet and ledger tells the higher one. */
async function findNewestSeq(db: Database, wallets: Bindings): Promise<number> {
  const { rows } = await db.raw<{ rows: { seq: number }[] }>(
    `select coalesce(max(greatest(w.seq, (select max(e.seq) from ledger_rows e where e.wallet_id = w.id))), 0) as seq
       from (${walked}) w`,
    wallets,
  );
  return rows[0]?.seq ?? 0;
}

/** Walks the entries, seals and hashes of a span. Its first entry continues the one before the span. */
async function verifySpan(db: Database, wallets: Bindings): Promise<Discrepancy[]> {
  const { rows } = await db.raw<{ rows: Discrepancy[] }>(
    `with w as (${walked}
     ), chain as (
       select e.wallet_id, w.user_id, e.seq, e.amount_cents, e.balance_after_cents,
              lag(e.seq, 1, 0::bigint) over by_seq as before_seq,
              lag(e.balance_after_cents, 1, 0::bigint) over by_seq as before
         from w cross join lateral ledger_between(w.id, :fromSeq::bigint - 1, :toSeq::bigint) e
       window by_seq as (partition by e.wallet_id order by e.seq)
     )
     ${firstOf(`select 'chain' as rule, wallet_id as "walletId", user_id as "userId", seq, null::text as "rentalId",
            'entry ' || seq || ' has balance ' || balance_after_cents || ' after ' || before as detail
       from chain
      where seq >= :fromSeq::bigint and (seq <> before_seq + 1 or balance_after_cents <> before + amount_cents)
     union all ${sealRule}
     union all ${hashRule}`)}`,
    wallets,
  );
  return rows;
}

/** Checks all rules that go by sums. Those of seals are what verifySpan finds their entries to add up to. */
async function verifySums(db: Database, wallets: Bindings): Promise<Discrepancy[]> {
  const { rows } = await db.raw<{ rows: Discrepancy[] }>(
    `with w as (${walked}
     ), newest as (
       select distinct on (e.wallet_id) e.wallet_id, e.seq, e.balance_after_cents
         from ledger_rows e join w on w.id = e.wallet_id order by e.wallet_id, e.seq desc
     ), held as (
       select r.wallet_id, sum(r.hold_cents) as held from rentals_now r join w on w.id = r.wallet_id group by r.wallet_id
     ), looked_at as (
       select r.* from rentals_now r join w on w.id = r.wallet_id
     ), entries as (
       select e.rental_no, ${sums}
         from w cross join lateral ledger_sums(w.id, 1, ${NO_END}) e where e.rental_no is not null group by e.rental_no
     ), ordered as (
       select i.* from operator_order_items i join looked_at r on r.no = i.rental_no
     ), ${pricedRentals}
     ${firstOf(`select 'order' as rule, c.wallet_id as "walletId", w.user_id as "userId", c.seq, null::text as "rentalId",
            'entry ' || c.seq || ' is for ' || c.cause || ', and no order gave that' as detail
       from ledger_causes c join w on w.id = c.wallet_id
      where ${isOperationRentalSql('c.cause')}
        and not exists (select 1 from ordered i join rentals r on r.no = i.rental_no
                         where c.cause = ${operationRentalCauseSql('i.order_id', 'r.id')} and i.done_at is not null)
     union all ${capRule}
     union all ${rules}`)}`,
    wallets,
  );
  return rows;
}

/**
 * Verifies what can be checked often: every wallet against its newest entry and its holds, and each rental that was
 * settled, or refunded by an order of many, since an instant. Only `verifyWallets` walks the chain itself.
 */
export async function verifyRecent(db: Database, since: Date): Promise<Discrepancy[]> {
  const { rows } = await db.raw<{ rows: Discrepancy[] }>(
    `with w as (select * from wallets),
     newest as (
       select e.wallet_id, e.seq, e.balance_after_cents
         from w join ledger_rows e on e.wallet_id = w.id and e.seq = w.seq
     ), held as (
       -- The schema keeps a closed rental from holding anything.
       select wallet_id, sum(hold_cents) as held from rentals_now where closed_at is null group by wallet_id
     ), looked_at as (
       select * from rentals_now where settled_at >= :since
     ), entries as (
       select r.no as rental_no, of_it.charged, of_it.refunded
         from looked_at r
        cross join lateral (
          select ${sums} from ledger_sums(r.wallet_id, r.opened_seq + 1, r.settled_seq) e where e.rental_no = r.no
        ) of_it
     ), ordered as (
       select i.* from operator_order_items i
        where exists (select 1 from operator_order_items j where j.rental_no = i.rental_no and j.done_at >= :since)
     ), ${pricedRentals}
     ${firstOf(rules)}`,
    { since },
  );
  return rows;
}
