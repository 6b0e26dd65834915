import { told, type Evidence } from './evidence.js';
import { reversedCents } from './reversals.js';

interface Sums {
  readonly user_id: string;
  readonly balance: string;
  readonly charges: string;
  readonly given: string;
  readonly returned: string;
  /** What lapsed or paid a debt as the account closed. */
  readonly closed: string;
  readonly owed: string;
  readonly debts: readonly string[];
}

/**
 * Nothing is lost or made: what a user paid and did not get back, by the processor's truth alone, is what they have, have
 * used up, and have paid on debts. What went back and is still owed or written off was used up before, and what operators
 * gave came from nowhere.
 */
export async function judgeConservation({ ask, world }: Evidence): Promise<string[]> {
  const { payments, invoices, refunds, disputes } = world.processor.truth;
  const all = [...refunds, ...disputes];
  const users = await ask<Sums>(
    `select w.user_id, w.available_cents + w.reserved_cents as balance,
            coalesce(-sum(e.amount_cents) filter (where e.type in ('rental_charge', 'refund')), 0) as charges,
            coalesce(sum(e.amount_cents) filter (where e.type = 'adjustment' and c.cause like 'operation:%'), 0) as given,
            coalesce(sum(e.amount_cents) filter (where c.cause like 'invoice-returned:%'), 0) as returned,
            coalesce(-sum(e.amount_cents) filter (where c.cause ~ '^(closing|set-off|set-off-returned):'), 0) as closed,
            (select coalesce(sum(r.invoiced_cents + r.written_off_cents), 0) from refunds_and_disputes r
              where r.wallet_id = w.id and r.given_back_at is null) as owed,
            array(select i.id from invoices i where i.wallet_id = w.id and i.reason in ('overage', 'manual')) as debts
       from wallets w left join seen_entries e on e.wallet_id = w.id
            left join ledger_causes c on c.wallet_id = e.wallet_id and c.seq = e.seq
      group by w.id`,
  );
  return users.flatMap((user) => {
    const own = payments.filter(({ payerId, status }) => payerId === user.user_id && status === 'succeeded');
    const keptCents = own.reduce(
      (sum, { paymentId, amountReceivedCents: cents }) => sum + cents - reversedCents(all, paymentId, cents),
      0,
    );
    const debts = new Set(user.debts);
    const onDebts = invoices.filter(({ ourId, status }) => status === 'paid' && debts.has(ourId));
    const debtCents = onDebts.reduce((sum, { totalCents }) => sum + totalCents, 0);
    const usedCents = Number(user.balance) + Number(user.charges) + Number(user.closed) + debtCents;
    const fromElsewhereCents = Number(user.given) + Number(user.returned) + Number(user.owed);
    return told(
      keptCents !== usedCents - fromElsewhereCents,
      `${user.user_id} paid ${keptCents} cents and did not get them back, and has or used ${usedCents - fromElsewhereCents}`,
    );
  });
}
