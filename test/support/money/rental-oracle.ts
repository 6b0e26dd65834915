import assert from 'node:assert/strict';
import type { Database } from '../../../adapters/postgres/database.js';
import type { RentalId } from '../../../domain/ids.js';
import { getRental } from './money.js';

/** The test's own requests about a rental. Milliseconds count from its start. */
export interface Asked {
  readonly priceCents: number;
  readonly maxSpendCents: number | null;
  readonly autoStopMs: number | null;
  /** When its machine was lost, if that came before every other end. */
  lostAfterMs?: number;
}

const HOUR = 3_600_000n;

/**
 * Computes the due price of a settled rental from the test's requests, its stop request and the ledger alone. Nothing
 * comes from the code under test: the end in the rental's row is compared, not trusted.
 * @returns the cents
 */
export async function dueOf(db: Database, id: RentalId, asked: Asked): Promise<number> {
  const rental = await getRental(db, id);
  assert.ok(rental.running_at && rental.ended_at, `${id} ran, and has ended`);
  const runningMs = rental.running_at.getTime();
  const endedMs = rental.ended_at.getTime() - runningMs;
  if (rental.status === 'failed') {
    assert.ok((asked.lostAfterMs ?? Infinity) <= 60_000, `${id} is free, and was not lost within a minute`);
    return 0;
  }
  const { ticked, charged } = await readCharges(db, rental.no);
  const stopMs = await readStopMs(db, rental.no, runningMs);
  const ownMs = askedMs(asked, stopMs, ticked);
  const dueMs = Math.min(ownMs, asked.lostAfterMs ?? Infinity);
  if (rental.stop_reason === 'pod_lost') assert.ok(endedMs < ownMs, `${id} ended before it was lost`);
  if (rental.stop_reason !== 'balance_exhausted') {
    assert.equal(endedMs, dueMs, `the end of ${id}`);
    return price(asked, dueMs);
  }
  const inTime = endedMs >= msAt(asked.priceCents, ticked) && endedMs <= msAt(asked.priceCents, charged);
  const late = endedMs - msAt(asked.priceCents, ticked + 1) > 5_000;
  assert.ok(endedMs <= dueMs, `${id} ended after ${endedMs} ms, and something ended it after ${dueMs}`);
  assert.ok(inTime || late || endedMs === dueMs, `${id} ended after ${endedMs} ms, its money elsewhere`);
  return price(asked, endedMs);
}

/** The earliest of its stop and its limits. A tick that ran while the stop was committed keeps its cent. */
function askedMs({ priceCents, maxSpendCents, autoStopMs }: Asked, stopMs: number, ticked: number): number {
  const spentMs = maxSpendCents === null ? Infinity : msAt(priceCents, maxSpendCents);
  const limitMs = Math.min(autoStopMs ?? Infinity, spentMs);
  return stopMs < limitMs ? Math.max(stopMs, msAt(priceCents, ticked)) : limitMs;
}

async function readStopMs(db: Database, rentalNo: number, runningMs: number): Promise<number> {
  const stop = await db('stop_requests').where({ rental_no: rentalNo }).first();
  return stop ? Math.max(0, stop.requested_at.getTime() - runningMs) : Infinity;
}

/** Reads the sum that ticks charged for a rental, and the sum of all its charges. */
async function readCharges(db: Database, rentalNo: number): Promise<{ ticked: number; charged: number }> {
  const { rows } = await db.raw<{ rows: { ticked: number; charged: number }[] }>(
    `select coalesce(-sum(e.amount_cents) filter (where c.cause is null), 0)::bigint as ticked,
            coalesce(-sum(e.amount_cents), 0)::bigint as charged
       from ledger_entries e left join ledger_causes c on c.wallet_id = e.wallet_id and c.seq = e.seq
      where e.rental_no = ? and e.type = 'rental_charge'`,
    [rentalNo],
  );
  return rows[0] ?? assert.fail();
}

/** The first millisecond at which this many cents have accrued. */
function msAt(priceCents: number, cents: number): number {
  const rate = BigInt(priceCents);
  return Number((BigInt(cents) * HOUR + rate - 1n) / rate);
}

/** The price of a duration: rounded half up, and at most its limit. */
function price({ priceCents, maxSpendCents }: Asked, ms: number): number {
  const halves = (BigInt(priceCents) * BigInt(ms) * 2n) / HOUR;
  return Math.min(maxSpendCents ?? Infinity, Number((halves + 1n) / 2n));
}
