import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { startWitness } from '../../../adapters/postgres/restore/witness.js';
import type { RentalRow } from '../../../adapters/postgres/rows/tables.js';
import { compareWatermarks } from '../../../activities/ask-first.js';
import { finalCents } from '../../../domain/metering/metering.js';
import type { RestoreReport } from '../../../domain/operations/restore.js';
import { insertSessionOf } from '../../support/money/factories.js';
import { billedMs } from '../../support/money/money.js';
import type { SignedIn } from '../../support/http/api.js';
import { runOps, type OpsResult } from '../../support/ops/ops.js';
import { startPair, type Pair } from '../../support/servers/pair.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { runUpkeepRound } from '../../support/service/upkeep-round.js';
import { Paying } from '../../support/story/paying.js';
import { b200, l40s, netCents, Renting } from '../../support/story/renting.js';
import { until } from '../../support/until.js';

/**
 * The primary dies, and its standby has nothing of what came last: a payment, an opened rental, and nothing else or
 * seconds of metering. The watermark does not see it. Each story is told in order.
 */
for (const [lost, moreMs] of [
  ['200 ms', 0],
  ['5 s', 5_000],
] as const) {
  describe(`a standby that lacks the last ${lost}`, function () {
    this.timeout(240_000);
    let pair: Pair;
    let service: TestService;
    let renting: Renting;
    let steady: SignedIn;
    let opener: SignedIn;
    let payer: SignedIn;
    let running: RentalRow;
    let opened: RentalRow;
    let topupId: string;
    const stops: (() => Promise<unknown>)[] = [];

    before(async () => {
      pair = await startPair({ synchronous: false });
      stops.push(() => pair.stop());
      const database = { url: pair.url, drop: () => Promise.resolve() };
      service = await startService({ database, settings: { stopWaitMs: 1_000 } });
      stops.push(() => service.stop());
      await beginWitnesses();
      renting = new Renting(service);
      const paying = new Paying(service);
      [steady, opener, payer] = [
        await service.signIn(20_000),
        await service.signIn(20_000),
        await service.signIn(),
      ];
      running = await renting.run(steady, b200);
      await runUpkeepRound(service, 'housekeeping');
      await pair.cutOff();
      const { url, topupId: id } = await paying.page(payer, 2_500);
      topupId = id;
      await paying.pay(url);
      await until('it is credited', async () => (await renting.wallet(payer)).available_cents === 2_500);
      opened = await renting.run(opener, l40s);
      await sleep(moreMs);
      await pair.failOver();
    });
    after(async () => {
      for (let stop = stops.pop(); stop !== undefined; stop = stops.pop()) await stop();
    });

    /** As the API's process and the worker's have them. */
    async function beginWitnesses(): Promise<void> {
      const deps = await service.activityDeps();
      const { log } = deps;
      const own = { url: pair.url, log, everyMs: 100 };
      const compare = () => compareWatermarks(deps);
      const witnesses = [
        startWitness({ ...own, db: service.db, part: 'api' }),
        startWitness({ ...own, db: deps.db, part: 'worker', compare }),
      ];
      stops.push(() => Promise.all(witnesses.map((witness) => witness.stop())));
      await until('both have spoken', async () => (await service.db('witnesses')).length === 2);
    }

    const ops = (...args: string[]): Promise<OpsResult> =>
      runOps({ ...service, databaseUrl: pair.standby.url }, ...args);

    it('is noticed: nothing is changed, though its watermark is the primary’s', async () => {
      await until('the brake is pulled', async () => {
        const { body } = await service.api.stranger().get('/readyz');
        return body.checks.brakes.includes('restored');
      });
      const answer = await steady.post('/v1/rentals', { familyId: 'l40s', gpuCount: 1 });
      assert.deepEqual([answer.status, answer.body.error], [503, 'temporarily_unavailable']);
      assert.equal((await steady.get(`/v1/rentals/${running.id}`)).status, 200);
    });

    it('has lost the payment and the rental, and ops restore status names both', async () => {
      assert.match((await ops('restore', 'status')).out, /RESTORED: less than a minute of data is lost/);
      const report = JSON.parse((await ops('restore', 'status', '--json')).out) as RestoreReport;
      assert.equal(report.keptInTemporal, report.watermark);
      assert.deepEqual(
        report.lost.map(({ rentalId, userId }) => [rentalId, userId]),
        [[opened.id, opener.user.id]],
      );
      assert.deepEqual(
        report.unknownPods.map(({ podId }) => podId),
        [opened.pod_id],
      );
      assert.deepEqual(
        report.missingPayments.map(({ topupId: id, amountCents }) => [id, amountCents]),
        [[topupId, 2_500]],
      );
    });

    it('is mended by ops restore reconcile: the payment is credited once, metering goes on', async () => {
      const reason = ['--by', 'ada', '--reason', 'the primary died', '--yes'];
      const { code, err } = await ops('restore', 'reconcile', ...reason);
      assert.equal(code, 0, err);
      assert.deepEqual(await service.db('brakes'), []);
      for (const person of [steady, opener, payer]) {
        person.sid = await insertSessionOf(service.db, person.user.id);
      }
      await runUpkeepRound(service, 'redeliver');
      assert.equal((await renting.wallet(payer)).available_cents, 2_500);
      assert.equal((await payer.get(`/v1/billing/topups/${topupId}`)).body.status, 'succeeded');
      await renting.stop(steady, running.id);
      const closed = await renting.awaitClosed(running.id);
      assert.equal(netCents(closed), finalCents(closed.price_per_hour_cents, billedMs(closed), null));
      await renting.assertAddsUp();
      assert.match((await ops('restore', 'pods')).out, new RegExp(opened.pod_id ?? 'none'));
    });
  });
}
