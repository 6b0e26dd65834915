import { Erased } from './erased.js';
import { told, type Evidence } from './evidence.js';

/** What a user's feed must tell of one thing: how often each type, at least and at most. */
interface Telling {
  readonly id: string;
  readonly user_id: string;
  /** What it is, in words. */
  readonly what: string;
  readonly type: string;
  readonly least: number;
  readonly most: number;
  readonly count: number;
}

/**
 * N5: the feed tells each turn of the user's money once: each entry that brings some in, and each end of a top-up and of
 * an invoice, to its owner.
 */
export async function judgeMoneyEvents(evidence: Evidence): Promise<string[]> {
  const { ask } = evidence;
  const erased = await Erased.read(evidence);
  const tellings = await ask<Telling>(
    `with due (id, user_id, what, type, least, most) as (
       select t.id, t.user_id, t.status, x.type, x.least, x.most
         from topups t cross join lateral (values
           ('topup.succeeded', (t.status = 'succeeded')::int, (t.status = 'succeeded')::int),
           ('auto_topup.succeeded', (t.status = 'succeeded' and t.source = 'auto_topup')::int,
                                    (t.status = 'succeeded' and t.source = 'auto_topup')::int),
           -- What has ended may be paid yet.
           ('topup.failed', (t.status = 'failed')::int, (t.status in ('failed', 'succeeded'))::int),
           ('topup.expired', (t.status = 'expired')::int, (t.status in ('expired', 'succeeded'))::int)
         ) x (type, least, most)
       union all
       select i.id, i.user_id, i.status, x.type, x.least, x.most
         from invoices i cross join lateral (values
           ('invoice.opened', (i.finalized_at is not null)::int, (i.finalized_at is not null)::int),
           ('invoice.paid', (i.status = 'paid')::int, (i.status = 'paid')::int),
           ('invoice.voided', (i.status = 'void')::int, (i.status in ('void', 'paid'))::int),
           ('invoice.uncollectible', (i.status = 'uncollectible')::int,
                                     (i.status in ('uncollectible', 'void', 'paid'))::int)
         ) x (type, least, most)
     )
     select d.id, d.user_id, d.what, d.type, d.least, d.most,
            (select count(*) from events v where v.entity_id = d.id and v.type = d.type and v.user_id = d.user_id)::int as count
       from due d order by d.id, d.type`,
  );
  const credits = await ask<{ user_id: string; seq: string; cents: string; told: readonly string[] }>(
    `select w.user_id, e.seq, e.amount_cents as cents,
            array(select v.data ->> 'amountCents' from events v
                   where v.user_id = w.user_id and v.type = 'wallet.credited'
                     and (v.data ->> 'ledgerSeq')::bigint = e.seq) as told
       from seen_entries e join wallets w on w.id = e.wallet_id
      where e.amount_cents > 0 order by e.wallet_id, e.seq`,
  );
  return [
    ...erased
      .without(tellings)
      .flatMap(({ id, what, type, least, most, count }) =>
        told(count < least || count > most, `${id} is ${what}, and ${type} is told ${count} times`),
      ),
    ...erased
      .without(credits)
      .flatMap(({ user_id: userId, seq, cents, told: amounts }) =>
        told(
          amounts.join() !== cents,
          `entry ${seq} gave ${userId} ${cents} cents, and ${amounts.join(' and ') || 'nothing'} is told`,
        ),
      ),
  ];
}
