import { told, type Evidence } from './evidence.js';

interface WalletRow {
  readonly id: string;
  readonly available: string;
  readonly reserved: string;
  readonly entries: string;
  readonly held: string;
  /** What neither a payment nor a rental moved: reversals, and what operators gave. */
  readonly adjusted: string;
  /** What its rentals cost by their own rows. */
  readonly billed: string;
  readonly charges: readonly string[];
}

/**
 * Decisions 26 and 28: each balance is its predecessor's plus the amount, the newest is available + reserved, and neither
 * is ever below 0. What a wallet has is what was truly paid into it, less what its rentals cost: so it is for all together.
 */
export async function judgeLedgers({ ask, world }: Evidence): Promise<string[]> {
  const broken = await ask<{ wallet_id: string; seq: string }>(
    `select wallet_id, seq from (
       select wallet_id, seq, amount_cents, balance_after_cents,
              lag(balance_after_cents, 1, 0::bigint) over chain as before, lag(seq, 1, 0::bigint) over chain as earlier
         from seen_entries window chain as (partition by wallet_id order by seq)) walked
      where balance_after_cents <> before + amount_cents or seq <> earlier + 1 or balance_after_cents < 0`,
  );
  const wallets = await ask<WalletRow>(
    `select w.id, w.available_cents as available, w.reserved_cents as reserved,
            coalesce((select sum(amount_cents) from seen_entries e where e.wallet_id = w.id), 0) as entries,
            coalesce((select sum(greatest(0, case when m.rental_no is null then r.hold_cents else m.hold_cents end))
                        from rentals r left join meters m on m.rental_no = r.no
                       where r.wallet_id = w.id and r.settled_at is null), 0) as held,
            coalesce((select sum(amount_cents) from seen_entries e
                       where e.wallet_id = w.id and e.rental_no is null
                         and e.type not in ('processor_topup', 'auto_topup')), 0) as adjusted,
            coalesce((select sum(coalesce(m.charged_cents, r.charged_cents) - r.refunded_cents)
                        from rentals r left join meters m on m.rental_no = r.no where r.wallet_id = w.id), 0) as billed,
            array(select e.processor_charge_id from seen_entries e
                   where e.wallet_id = w.id and e.type in ('processor_topup', 'auto_topup')) as charges
       from wallets w order by w.id`,
  );
  const taken = new Map(
    world.processor.truth.payments
      .filter(({ status }) => status === 'succeeded')
      .map(({ chargeId, amountReceivedCents }) => [chargeId, amountReceivedCents]),
  );
  return [
    ...broken.map(({ wallet_id, seq }) => `wallet ${wallet_id}: entry ${seq} breaks the chain`),
    ...wallets.flatMap((wallet) =>
      judgeWallet(wallet, taken).map((fault) => `wallet ${wallet.id}: ${fault}`),
    ),
  ];
}

function judgeWallet(wallet: WalletRow, taken: ReadonlyMap<string | null, number>): string[] {
  const [available, reserved, held] = [wallet.available, wallet.reserved, wallet.held].map(Number) as [
    number,
    number,
    number,
  ];
  const total = available + reserved;
  const paid = wallet.charges.reduce((sum, charge) => sum + (taken.get(charge) ?? 0), 0);
  const kept = paid + Number(wallet.adjusted) - Number(wallet.billed);
  return [
    ...told(available < 0 || reserved < 0, `it has ${available} cents, and ${reserved} are held`),
    ...told(
      total !== Number(wallet.entries),
      `its total is ${total}, its entries sum up to ${wallet.entries}`,
    ),
    ...told(reserved !== held, `${reserved - held} cents are reserved for nothing`),
    ...told(total !== kept, `its total is ${total}; paid in less its rentals it is ${kept}`),
  ];
}
