import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Database } from '../../../adapters/postgres/database.js';
import type { RentalId } from '../../../domain/ids.js';
import { dueCents, endOfMetered, type MeteredRental } from '../../../domain/metering/metered-end.js';
import type { StopReason } from '../../../domain/rentals/rental.js';
import { fundingOf } from '../../../domain/rentals/settlement.js';
import { getRental, insertRunning, insertWallet } from './money.js';

const HOUR = 3_600_000;

const instant = fc.option(fc.integer({ min: 0, max: 5 * HOUR }), { freq: 3, nil: null });
const limits = fc.record({ autoStopMs: instant, spendLimitMs: instant, stopMs: instant });
const machine = fc.record({
  priceCents: fc.integer({ min: 1, max: 50_000 }),
  holdCents: fc.integer({ min: 0, max: 50_000 }),
  ranMs: fc.integer({ min: 0, max: 2 * HOUR }),
  waited: fc.boolean(),
  limits: fc.tuple(limits, limits),
});
/** Wallets with machines, and the limits that each gets before each of two ticks. */
export const someWallets = fc.array(
  fc.record({
    availableCents: fc.integer({ min: 1, max: 150_000 }),
    machines: fc.array(machine, { minLength: 1, maxLength: 3 }),
  }),
  { minLength: 15, maxLength: 15 },
);
/** How long after the first tick the second one comes, in milliseconds: in time, late, or after hours. */
export const betweenTicks = fc.oneof(fc.nat(1_000), fc.nat(10_000), fc.nat(2 * HOUR));
type AskedWallet = typeof someWallets extends fc.Arbitrary<(infer One)[]> ? One : never;

/** What the domain knows of a rental, and what is asked for it. */
interface Modelled {
  readonly id: RentalId;
  readonly asked: AskedWallet['machines'][number];
  rental: MeteredRental;
  holdCents: number;
  /** Why it has ended. */
  reason: StopReason | undefined;
}

interface ModelledWallet {
  availableCents: number;
  readonly rentals: Modelled[];
}

/** Inserts a wallet and its machines, which run. */
export async function insertModel(
  db: Database,
  { availableCents, machines }: AskedWallet,
): Promise<ModelledWallet> {
  const holds = machines.reduce((sum, { holdCents }) => sum + holdCents, 0);
  const wallet = await insertWallet(db, availableCents + holds);
  const rentals: Modelled[] = [];
  for (const asked of machines) {
    const { holdCents, priceCents: pricePerHourCents } = asked;
    const id = await insertRunning(db, wallet, asked);
    const { running_at: runningAt } = await getRental(db, id);
    assert.ok(runningAt);
    const limits = { autoStopAt: null, spendLimitAt: null, stop: null };
    const rental = { runningAt, pricePerHourCents, chargedCents: 0, ...limits };
    rentals.push({ id, asked, rental, holdCents, reason: undefined });
  }
  return { availableCents, rentals };
}

/** Sets the limits of a round, also ones that are over by then, and what a meter says that has waited. */
export async function setLimits(db: Database, one: Modelled, round: 0 | 1): Promise<void> {
  if (one.reason !== undefined) return;
  const { autoStopMs, spendLimitMs, stopMs } = one.asked.limits[round];
  const at = (ms: number | null) => (ms === null ? null : new Date(one.rental.runningAt.getTime() + ms));
  const [autoStopAt, spendLimitAt, requestedAt] = [at(autoStopMs), at(spendLimitMs), at(stopMs)];
  const { no } = await getRental(db, one.id);
  await db('rentals').where({ no }).update({ auto_stop_at: autoStopAt, spend_limit_at: spendLimitAt });
  if (one.asked.waited) await db('meters').where({ rental_no: no }).update({ starved_ms: 1 });
  // A request that was there before stays.
  if (requestedAt && !one.rental.stop) {
    const wish = { rental_no: no, requested_by: 'user', requested_at: requestedAt } as const;
    await db('stop_requests').insert(wish);
    one.rental = { ...one.rental, stop: { requestedAt, requestedBy: 'user' } };
  }
  one.rental = { ...one.rental, autoStopAt, spendLimitAt };
}

/** Lets the domain make the same tick, the elder siblings first, and compares. */
export async function checkTick(db: Database, wallet: ModelledWallet, now: Date): Promise<void> {
  for (const one of wallet.rentals.filter(({ reason }) => reason === undefined)) {
    const due = dueCents(one.rental, now);
    const { fromHoldCents, fromAvailableCents } = fundingOf(due, { ...one, ...wallet });
    const paidCents = fromHoldCents + fromAvailableCents;
    wallet.availableCents -= fromAvailableCents;
    one.holdCents -= fromHoldCents;
    one.rental = { ...one.rental, chargedCents: one.rental.chargedCents + paidCents };
    const unpaid = { unpaidCents: due - paidCents, hasWaited: one.asked.waited };
    const end = endOfMetered(one.rental, unpaid, now);
    one.reason = end?.reason;
    const row = await getRental(db, one.id);
    assert.deepEqual(
      [row.charged_cents, row.hold_cents, row.status, row.stop_reason, row.ended_at],
      [
        ...[one.rental.chargedCents, one.holdCents],
        ...(end ? ['stopping', end.reason, end.at] : ['running', null, null]),
      ],
    );
  }
}
