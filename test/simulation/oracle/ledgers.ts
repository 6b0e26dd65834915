import type { Evidence } from './evidence.js';

/** Decisions 26 and 28: each balance is its predecessor's plus the amount, and the newest is available + reserved. */
export async function judgeLedgers({ ask }: Evidence): Promise<string[]> {
  const broken = await ask<{ wallet_id: string; seq: string }>(
    `select wallet_id, seq from (
       select wallet_id, seq, amount_cents, balance_after_cents,
              lag(balance_after_cents, 1, 0::bigint) over chain as before, lag(seq, 1, 0::bigint) over chain as earlier
         from ledger_entries window chain as (partition by wallet_id order by seq)) walked
      where balance_after_cents <> before + amount_cents or seq <> earlier + 1 or balance_after_cents < 0`,
  );
  const differing = await ask<{ id: string; total: string; entries: string; held: string; reserved: string }>(
    `select w.id, w.available_cents + w.reserved_cents as total, w.reserved_cents as reserved,
            coalesce((select sum(amount_cents) from ledger_entries e where e.wallet_id = w.id), 0) as entries,
            coalesce((select sum(greatest(0, case when m.rental_no is null then r.hold_cents else m.hold_cents end))
                        from rentals r left join meters m on m.rental_no = r.no
                       where r.wallet_id = w.id and r.settled_at is null), 0) as held
       from wallets w`,
  );
  return [
    ...broken.map(({ wallet_id, seq }) => `wallet ${wallet_id}: entry ${seq} breaks the chain`),
    ...differing
      .filter(({ total, entries }) => Number(total) !== Number(entries))
      .map(
        ({ id, total, entries }) => `wallet ${id}: its total is ${total}, its entries sum up to ${entries}`,
      ),
    ...differing
      .filter(({ held, reserved }) => Number(held) === 0 && Number(reserved) !== 0)
      .map(({ id, reserved }) => `wallet ${id}: ${reserved} cents are reserved for nothing`),
  ];
}
