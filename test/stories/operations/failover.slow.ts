import assert from 'node:assert/strict';
import { pino } from 'pino';
import { compareWatermarks } from '../../../activities/ask-first.js';
import { type Database, openDatabase } from '../../../adapters/postgres/database.js';
import { confirmDatabase, isDatabaseConfirmed } from '../../../adapters/postgres/restore/watermark.js';
import { startWitness, type Witness } from '../../../adapters/postgres/restore/witness.js';
import type { RentalRow } from '../../../adapters/postgres/rows/tables.js';
import { finalCents } from '../../../domain/metering/metering.js';
import type { RestoreReport } from '../../../domain/operations/restore.js';
import type { SignedIn } from '../../support/http/api.js';
import { insertSessionOf } from '../../support/money/factories.js';
import { billedMs } from '../../support/money/money.js';
import { type OpsResult, runOps } from '../../support/ops/ops.js';
import { type Pair, startPair } from '../../support/servers/pair.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { runUpkeepRound } from '../../support/service/upkeep-round.js';
import { Paying } from '../../support/story/paying.js';
import { b200, l40s, netCents, Renting } from '../../support/story/renting.js';
import { until } from '../../support/until.js';

/**
 * The primary dies, and its standby has nothing of what came last: a payment, an opened rental, and nothing else or
 * seconds of metering. The watermark does not see it. Each story is told in order.
 */
for (const [lost, moreCents] of [
  ['payment and rental', 0],
  ['seconds of metering', 4],
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
      const { charged_cents: chargedCents } = await renting.row(running.id);
      await until('the running one is metered on', async () => {
        const row = await renting.row(running.id);
        return row.charged_cents >= chargedCents + moreCents;
      });
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

/** A primary and a standby of PostgreSQL; the watermark never rises, so that the timeline alone tells. */
describe('a standby that was promoted', function () {
  this.timeout(120_000);
  let pair: Pair;
  let db: Database;
  let witnesses: Witness[] = [];

  async function begin({ synchronous }: { synchronous: boolean }): Promise<void> {
    pair = await startPair({ synchronous });
    db = openDatabase(pair.url, 4, 'test-timeline');
    assert.equal(await confirmDatabase(db, 0), 'confirmed');
    await db('watermark').update({ value: 1, confirmed_as: db.raw('database_incarnation(tableoid)') });
  }
  afterEach(async () => {
    await Promise.all(witnesses.map((witness) => witness.stop()));
    witnesses = [];
    await db.destroy();
    await pair.stop();
  });

  async function witness(part: 'api' | 'worker', everyMs = 20): Promise<Witness> {
    const begun = startWitness({
      ...{ db, url: pair.url, part, everyMs },
      log: pino({ enabled: false }),
    });
    witnesses.push(begun);
    await until(
      'it has spoken',
      async () => (await db('witnesses').where({ part }).first('id')) !== undefined,
    );
    return begun;
  }

  const judge = () => confirmDatabase(db, 1).catch(() => 'away' as const);
  const judged = (wanted: 'confirmed' | 'restored') =>
    until(`it is ${wanted}`, async () => (await judge()) === wanted);
  const note = (text: string) =>
    db.transaction((trx) => trx('operator_notices').insert({ cause: text, subject: text, body: text }));

  it('is gone on with when every process says that it holds what it saw committed', async () => {
    await begin({ synchronous: true });
    await witness('worker');
    // This one goes on writing after the promotion before it speaks again.
    await witness('api', 1_500);
    const acknowledged: string[] = [];
    const writing = { ended: false };
    const writers = [1, 2, 3].map(async (writer) => {
      for (let turn = 0; !writing.ended; turn += 1) {
        const text = `${writer}-${turn}`;
        await note(text).then(
          () => acknowledged.push(text),
          () => undefined,
        );
      }
    });
    await until('much is written', () => Promise.resolve(acknowledged.length > 300));
    await pair.failOver();
    await judged('confirmed');
    writing.ended = true;
    await Promise.all(writers);
    assert.equal(await isDatabaseConfirmed(db), true);
    const there = new Set((await db('operator_notices').select('cause')).map(({ cause }) => cause));
    assert.deepEqual(
      acknowledged.filter((text) => !there.has(text)),
      [],
    );
    assert.equal((await db('witnesses').where({ misses: true })).length, 0);
  });

  it('counts as restored when one commit is lost that a process saw acknowledged', async () => {
    await begin({ synchronous: false });
    await witness('worker');
    await pair.cutOff();
    await note('lost');
    await pair.failOver();
    await judged('restored');
    assert.deepEqual(await db('operator_notices').where({ cause: 'lost' }), []);
    assert.equal((await db('brakes').first('kind'))?.kind, 'restored');
    assert.equal(await judge(), 'restored', 'whatever it says later');
  });

  it('counts as restored when a process that saw commits does not say so any more', async () => {
    await begin({ synchronous: false });
    await db.raw(`select * from bear_witness('gone', 'api', null, '{}', '{}', '{}')`);
    await pair.caughtUp();
    await pair.failOver();
    assert.equal(
      await until('it is away no more', async () => (await judge()) !== 'away' && judge()),
      'unproven',
    );
    assert.equal(await isDatabaseConfirmed(db), false);
    await db('watermark').update({ doubted_at: db.raw(`clock_ms() - interval '11 s'`) });
    await judged('restored');
  });

  it('takes writes alone: the old primary is a standby for ever, whoever starts it', async () => {
    await begin({ synchronous: false });
    await pair.failOver();
    const old = await pair.reviveOld();
    const direct = openDatabase(old.url, 1, 'test-old');
    const error: unknown = await direct('watermark')
      .update({ value: 9 })
      .catch((fault: unknown) => fault);
    await direct.destroy();
    assert.equal((error as { code?: string }).code, '25006');
    await judged('confirmed');
    await db.transaction((trx) => trx('watermark').update({ value: 2 }));
  });
});
