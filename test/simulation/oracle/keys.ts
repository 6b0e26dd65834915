import { highestAt, type ToldKey } from '../users/told.js';
import { told, type Evidence } from './evidence.js';

/** How long after its answer a revocation may end the billing of a key's machines (N11), in milliseconds. */
const STOP_MAX_MS = 2_000;

interface KeyedRental {
  readonly id: string;
  readonly key: string;
  readonly started_ms: string;
  readonly ended_ms: string | null;
  readonly max_spend: string | null;
  readonly settled: boolean;
  readonly overage: string;
  readonly status: string;
}

interface Spent {
  readonly key: string;
  readonly at_ms: string;
  readonly cents: string;
}

/** Decisions 108 and 109: no key spends beyond its cap, and none rents or lets its machines run once it is revoked. */
export async function judgeKeys({ ask, told: said }: Evidence): Promise<string[]> {
  const rentals = await ask<KeyedRental>(
    `select id, api_key_id as key, extract(epoch from started_at) * 1000 as started_ms, max_spend_cents as max_spend,
            extract(epoch from ended_at) * 1000 as ended_ms, settled_at is not null as settled,
            overage_cents as overage, status
       from rentals where api_key_id is not null order by no`,
  );
  // What a failed machine is charged and given back within one transaction was never spent (decision 27).
  const spent = await ask<Spent>(
    `select r.api_key_id as key, extract(epoch from e.created_at) * 1000 as at_ms,
            sum(-sum(e.amount_cents)) over (partition by r.api_key_id order by e.created_at) as cents
       from seen_entries e join rentals r on r.no = e.rental_no
      where r.api_key_id is not null and r.status <> 'failed' group by r.api_key_id, e.created_at
      order by 1, 2`,
  );
  return [...said.keys.values()].flatMap((key) => [
    ...judgeSpent(
      key,
      spent.filter((one) => one.key === key.id),
    ),
    ...rentals.filter((one) => one.key === key.id).flatMap((one) => judgeRental(key, one)),
    ...judgeSum(
      key,
      rentals.filter((one) => one.key === key.id),
      Number(spent.findLast((one) => one.key === key.id)?.cents ?? 0),
    ),
  ]);
}

function judgeSpent(key: ToldKey, spent: readonly Spent[]): string[] {
  return spent.flatMap(({ at_ms: atMs, cents }) => {
    const cap = highestAt(key.caps, Number(atMs));
    return told(Number(cents) > cap, `${key.id} had spent ${cents} cents at ${atMs}, and its cap was ${cap}`);
  });
}

/** What its rentals have cost, with the debts that they left, and what those that go on may still cost. */
function judgeSum(key: ToldKey, rentals: readonly KeyedRental[], paid: number): string[] {
  const cap = highestAt(key.caps, Infinity);
  const owed = rentals.reduce((sum, { overage }) => sum + Number(overage), 0);
  return told(paid + owed > cap, `${key.id} has spent ${paid} and owes ${owed} cents, and its cap is ${cap}`);
}

function judgeRental(key: ToldKey, rental: KeyedRental): string[] {
  const { revokedMs = Infinity, stoppedMs = Infinity } = key;
  const isCapped = key.caps.every(({ value }) => value !== Infinity);
  const endedMs = Number(rental.ended_ms ?? (rental.settled ? 0 : Infinity));
  const isBound = Number(rental.started_ms) <= stoppedMs;
  return [
    ...told(isCapped && rental.max_spend === null, `${rental.id} has no limit, and its key ${key.id} a cap`),
    ...told(
      Number(rental.started_ms) > revokedMs,
      `${rental.id} began ${Number(rental.started_ms) - revokedMs} ms after its key was revoked`,
    ),
    ...told(
      isBound && endedMs > stoppedMs + STOP_MAX_MS,
      `${rental.id} was billed ${endedMs - stoppedMs} ms beyond the revocation that stopped it`,
    ),
  ];
}
