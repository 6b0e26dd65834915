import { HOUR_MS, told, type Evidence } from './evidence.js';
import { usedAfter } from './usage.js';

/** A rental of the wallet's, with what it paid; instants in milliseconds since 1970, amounts in cents. */
interface Spender {
  readonly id: string;
  readonly wallet_id: string;
  readonly price: string;
  readonly max_spend: string | null;
  readonly created_ms: string;
  readonly running_ms: string | null;
  readonly ended_ms: string | null;
  readonly settled_ms: string | null;
  readonly stop_reason: string | null;
  readonly net: string;
  readonly missing: string;
  /** Its user gave it other limits while it ran, which may end it at once (decision 105). */
  readonly is_changed: boolean;
  /** It ended at the instant of its stop or of a limit, which a late tick prefers to its own clock. */
  readonly is_due: boolean;
}

interface Credit {
  readonly wallet_id: string;
  readonly cents: string;
  readonly at_ms: string;
}

/** Decision 26, "End of the money": a tick that comes within this time after a cent was missing makes the end exact. */
const IN_TIME_MS = 5_000;
/** How the last cent is split may depend on the tick (decision 24, "Order of funds"): so many cents for each rental. */
const SPLIT_CENTS = 2;
/** Decision 26: an auto-topup is waited for so long, beside the time that a tick may be late. */
const UNPAID_MAX_MS = 30_000 + IN_TIME_MS;
/** How long the settlement of what has ended may take while nothing is disturbed. */
const SETTLED_WITHIN_MS = 60_000;
/** What was held up by a fault goes on within this time after the last one. */
const HELD_UP_MS = 5 * 60_000;

/**
 * Decisions 24 to 26: when the money and the spending limit end a rental, from the wallet's credits and the rates of all
 * its rentals.
 */
export async function judgeMoney({ ask }: Evidence): Promise<string[]> {
  const rentals = await readSpenders(ask);
  const credits = await ask<Credit>(
    `select wallet_id, amount_cents as cents, extract(epoch from created_at) * 1000 as at_ms
       from seen_entries where rental_no is null`,
  );
  return rentals
    .filter(({ running_ms, ended_ms, settled_ms }) => running_ms !== null && ended_ms !== null && settled_ms)
    .flatMap((rental) => {
      const isOut = rental.stop_reason === 'balance_exhausted';
      // Rounding half up may add a cent that is not there; nobody owes it.
      const isShort = Number(rental.missing) > 1;
      return [
        ...judgeLimit(rental),
        ...(isOut && !isPaidLater(rental, rentals, credits) ? judgeInstant(rental) : []),
        ...(isOut || isShort ? judgeSpare(rental, rentals, credits) : []),
      ].map((fault) => `${rental.id}: ${fault}`);
    });
}

/** Decision 26, "End of the money": while nothing is disturbed, what runs is paid, and what nobody pays ends. */
export async function judgeUnpaid({ ask, calmSinceMs, nowMs }: Evidence): Promise<string[]> {
  const rentals = await readSpenders(ask);
  const inCalm = rentals.filter(({ running_ms: runningMs, ended_ms: endedMs }) => {
    return runningMs !== null && Number(endedMs ?? nowMs) > calmSinceMs + HELD_UP_MS;
  });
  return inCalm.flatMap((rental) =>
    (rental.ended_ms === null ? judgeRunning(rental, nowMs) : judgeEnded(rental, nowMs)).map(
      (fault) => `${rental.id}: ${fault}`,
    ),
  );
}

function judgeRunning({ running_ms, price, max_spend, net }: Spender, nowMs: number): string[] {
  const used = Math.min(usedAfter(nowMs - Number(running_ms), price), Number(max_spend ?? Infinity));
  const owed = used - Number(net);
  return told(owed > 1 + usedAfter(UNPAID_MAX_MS, price), `it runs on, and nobody has paid ${owed} cents`);
}

/** A rental that waited for an auto-topup in vain has ended when its money did, and was not used for free for long. */
function judgeEnded(rental: Spender, nowMs: number): string[] {
  const { price, missing, settled_ms, stop_reason } = rental;
  const isOut = stop_reason === 'balance_exhausted';
  const lateMs = Number(settled_ms ?? nowMs) - lackedMs(rental);
  return [
    ...told(
      Number(missing) > 1 + usedAfter(IN_TIME_MS, price),
      `${String(stop_reason)} ended it ${missing} cents after the end of its money`,
    ),
    ...told(
      isOut && lateMs > UNPAID_MAX_MS + SETTLED_WITHIN_MS,
      `it was settled ${lateMs} ms after it lacked a cent`,
    ),
  ];
}

function readSpenders(ask: Evidence['ask']): Promise<Spender[]> {
  return ask<Spender>(
    `select r.id, r.wallet_id, r.price_per_hour_cents as price, r.max_spend_cents as max_spend,
            extract(epoch from r.started_at) * 1000 as created_ms, extract(epoch from r.running_at) * 1000 as running_ms,
            extract(epoch from r.ended_at) * 1000 as ended_ms, extract(epoch from r.settled_at) * 1000 as settled_ms,
            r.stop_reason, r.overage_cents + r.written_off_cents as missing,
            exists (select 1 from rental_changes c where c.rental_no = r.no and c.limits_at is not null) as is_changed,
            exists (select 1 from stop_requests s where s.rental_no = r.no and s.requested_at = r.ended_at)
              or r.ended_at in (r.auto_stop_at, r.spend_limit_at) is true as is_due,
            coalesce((select -sum(amount_cents) from seen_entries e where e.rental_no = r.no), 0) as net
       from rentals r order by r.no`,
  );
}

/** Decision 25, "Usage as running total": a spending limit ends a rental when its usage reaches it, and not before. */
function judgeLimit({ stop_reason, max_spend, price, running_ms, ended_ms, is_changed }: Spender): string[] {
  if (stop_reason !== 'spend_limit' || is_changed) return [];
  const wanted = Number(running_ms) + elapsedAt(Number(max_spend), Number(price));
  const offMs = Number(ended_ms) - wanted;
  return told(offMs !== 0, `its spending limit ended it ${offMs} ms after that instant`);
}

/**
 * Decision 26: the end is the first millisecond at which its usage took its last cent, or the clock of a tick that came
 * late, counted from when one cent more was due.
 */
function judgeInstant(rental: Spender): string[] {
  const { price, net, running_ms, ended_ms, is_due: isDue } = rental;
  const offMs = Number(ended_ms) - Number(running_ms) - elapsedAt(Number(net), Number(price));
  const isLate = isDue || Number(ended_ms) > lackedMs(rental) + IN_TIME_MS;
  return told(
    offMs < 0 || (offMs > 0 && !isLate),
    `it was out of money ${offMs} ms after it had used its ${net} cents`,
  );
}

/** The first millisecond at which it lacked a cent: what its wallet had until then, it could have been charged. */
function lackedMs({ running_ms, net, price }: Spender): number {
  return Number(running_ms) + elapsedAt(Number(net) + 1, Number(price));
}

/** Money that came or was given back before the bill was made pays for what a late tick could not take. */
function isPaidLater(one: Spender, rentals: readonly Spender[], credits: readonly Credit[]): boolean {
  const isWithin = (atMs: string | null): boolean =>
    atMs !== null && Number(atMs) > Number(one.ended_ms) && Number(atMs) <= Number(one.settled_ms);
  const isOwn = ({ wallet_id }: { readonly wallet_id: string }): boolean => wallet_id === one.wallet_id;
  return (
    credits.some((credit) => isOwn(credit) && isWithin(credit.at_ms)) ||
    rentals.some((other) => isOwn(other) && other !== one && isWithin(other.settled_ms))
  );
}

/** Nobody is out of money, or owes anything, while the wallet has some that nobody else holds. */
function judgeSpare(one: Spender, rentals: readonly Spender[], credits: readonly Credit[]): string[] {
  const isOut = one.stop_reason === 'balance_exhausted';
  const atMs = isOut ? Math.max(Number(one.ended_ms), lackedMs(one)) : Number(one.ended_ms);
  const isOwn = ({ wallet_id }: { readonly wallet_id: string }): boolean => wallet_id === one.wallet_id;
  const came = credits.filter((credit) => isOwn(credit) && Number(credit.at_ms) <= atMs);
  const others = rentals.filter((other) => isOwn(other) && other !== one && Number(other.created_ms) <= atMs);
  const taken = others.reduce((sum, other) => sum + takenAt(other, atMs), Number(one.net));
  const spare = came.reduce((sum, { cents }) => sum + Number(cents), 0) - taken;
  const slack = SPLIT_CENTS * (others.length + 1);
  return told(
    spare > slack,
    `${String(one.stop_reason)} ended it unpaid while its wallet had ${spare} cents`,
  );
}

/** What a rental had used or held of its wallet at an instant: its first hour is held until it is settled. */
function takenAt({ price, max_spend, running_ms, ended_ms, settled_ms, net }: Spender, atMs: number): number {
  if (settled_ms !== null && Number(settled_ms) <= atMs) return Number(net);
  const untilMs = Math.min(atMs, Number(ended_ms ?? Infinity));
  const used = usedAfter(Math.max(0, untilMs - Number(running_ms ?? untilMs)), price);
  return Math.max(Number(price), Math.min(used, Number(max_spend ?? Infinity)));
}

/** The first millisecond of a rental at which its usage has reached an amount of cents. */
function elapsedAt(cents: number, price: number): number {
  const rate = BigInt(price);
  return Number((BigInt(cents) * BigInt(HOUR_MS) + rate - 1n) / rate);
}
