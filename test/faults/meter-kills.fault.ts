import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { verifyLedger } from '../../adapters/postgres/ledger/verify.js';
import type { RentalRow } from '../../adapters/postgres/rows/tables.js';
import { finalCents } from '../../domain/metering/metering.js';
import { insertRunningOnMachine } from '../support/service/fleet.js';
import { startService, type TestService } from '../support/service/living-service.js';
import { billedMs, insertWallet, type NewRunning } from '../support/money/money.js';
import { takeChances, type Chances } from '../support/seeded.js';
import { tellingHistories } from '../support/service/told-histories.js';
import { until } from '../support/until.js';
import { startWorkerProcess, type WorkerProcess } from '../support/service/worker-process.js';

const rentals = Number(process.env['FAULT_RENTALS'] ?? '500');
const kills = Number(process.env['FAULT_KILLS'] ?? '8');
const meteredSeconds = Number(process.env['FAULT_SECONDS'] ?? '240');

/** The worker is killed again and again while it meters hundreds of rentals (issue: metering). */
describe(`${rentals} rentals metered for ${meteredSeconds} s while the worker is killed ${kills} times`, function () {
  this.timeout((meteredSeconds + 300) * 1_000);
  let service: TestService;
  let chances: Chances;
  let worker: WorkerProcess | undefined;

  before(async () => {
    chances = takeChances('kills of the worker');
    service = await startService({ worker: false });
    const limit = pLimit(10);
    const pairs = Array.from({ length: rentals / 2 }, drawPair);
    await Promise.all(pairs.map((pair) => limit(() => insertPair(pair))));
  });
  after(async () => {
    await worker?.kill();
    await service.stop();
  });

  interface Pair {
    readonly walletCents: number;
    readonly running: readonly NewRunning[];
  }

  /** Two rentals on one wallet: some are rich, some poor, some with limits. */
  function drawPair(): Pair {
    const priceCents = 2_000 + chances.below(400_000);
    const poor = chances.below(4) === 0;
    return {
      walletCents: poor ? 2 * priceCents + chances.below(5_000) : 100_000_000,
      running: [1, 2].map(() => ({
        priceCents,
        ranMs: 0,
        // A poor user's first hour ends with their money, within the run.
        holdCents: poor ? Math.min(priceCents, 200 + chances.below(5_000)) : priceCents,
        ...(chances.below(5) === 0
          ? { autoStopAfterMs: 10_000 + chances.below(meteredSeconds * 1_000) }
          : {}),
        ...(chances.below(5) === 0 ? { maxSpendCents: 100 + chances.below(20_000) } : {}),
      })),
    };
  }

  async function insertPair({ walletCents, running }: Pair): Promise<void> {
    const wallet = await insertWallet(service.db, walletCents);
    for (const rental of running) await insertRunningOnMachine(service, wallet, rental);
  }

  async function ticks(): Promise<number> {
    return (await service.db('meter_shards').where({ shard: 0 }).first('ticks'))?.ticks ?? 0;
  }

  it('leaves a ledger that adds up and every final charge as the formula says', async () => {
    const begun = Date.now();
    for (let kill = 1; kill <= kills; kill += 1) {
      const before = await ticks();
      worker = await startWorkerProcess(service);
      await until('the new engine ticks', async () => (await ticks()) > before + 1, 60_000);
      const share = (meteredSeconds * 1_000) / kills;
      await sleep(Math.max(500, begun + (kill - 1) * share + chances.below(share) - Date.now()));
      await worker.kill();
      await askSomeToStop();
      assert.deepEqual(await verifyLedger(service.db), [], `after kill ${kill}`);
      await sleep(Math.max(0, begun + kill * share - Date.now()));
    }
    worker = await startWorkerProcess(service);
    await service.db.raw(
      `insert into stop_requests (rental_no, requested_by)
       select no, 'operator' from rentals where settled_at is null on conflict do nothing`,
    );
    await until('all are closed', async () => (await unclosed()) === 0, 180_000);
    assert.deepEqual(await verifyLedger(service.db), []);
    const rows: RentalRow[] = await service.db('rentals').select();
    assert.equal(rows.length, rentals);
    await tellingHistories(service.db, () => {
      const differing = rows.filter((row) => row.status !== 'stopped' || owedCents(row) !== priceOf(row));
      assert.deepEqual(
        differing.map((row) => `${row.id} owes ${owedCents(row)}, its price is ${priceOf(row)}`),
        [],
      );
      return Promise.resolve();
    });
  });

  function owedCents(row: RentalRow): number {
    return row.charged_cents - row.refunded_cents + row.overage_cents + row.written_off_cents;
  }

  function priceOf(row: RentalRow): number {
    return finalCents(row.price_per_hour_cents, billedMs(row), row.max_spend_cents);
  }

  async function askSomeToStop(): Promise<void> {
    await service.db.raw(
      `insert into stop_requests (rental_no, requested_by)
       select no, 'user' from rentals where status = 'running' and no % 20 = ? on conflict do nothing`,
      [chances.below(20)],
    );
  }

  async function unclosed(): Promise<number> {
    const row = await service
      .db('rentals')
      .whereNull('closed_at')
      .count<{ count: number }[]>('* as count')
      .first();
    return row?.count ?? 0;
  }
});
