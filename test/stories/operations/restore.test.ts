import assert from 'node:assert/strict';
import { openDatabase } from '../../../adapters/postgres/database.js';
import type { RentalRow } from '../../../adapters/postgres/rows/tables.js';
import type { RentalId } from '../../../domain/ids.js';
import { finalCents } from '../../../domain/metering/metering.js';
import type { RestoreReport } from '../../../domain/operations/restore.js';
import { insertSessionOf } from '../../support/money/factories.js';
import type { SignedIn } from '../../support/http/api.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import type { UpkeepDuty } from '../../../domain/operations/upkeep.js';
import { runUpkeepRound } from '../../support/service/upkeep-round.js';
import { billedMs, credit } from '../../support/money/money.js';
import { runOps, type OpsResult } from '../../support/ops/ops.js';
import { Paying } from '../../support/story/paying.js';
import { b200, l40s, netCents, Renting } from '../../support/story/renting.js';
import { snapshotDatabase, type Snapshot } from '../../support/servers/snapshots.js';
import { until } from '../../support/until.js';

const HOUR_S = 3_600;

/**
 * The rehearsal of decision 37, "Brakes and the watermark": the whole service works, its database is copied, an hour
 * passes, and the copy is restored while everything runs on. The tests of this file are one story, in order.
 */
describe('a database that was restored one hour back', () => {
  let service: TestService;
  let renting: Renting;
  let paying: Paying;
  let snapshot: Snapshot | undefined;
  /** The users: one rents all the time, one stops in the lost hour, one opens a rental in it, one pays in it. */
  let steady: SignedIn;
  let stopper: SignedIn;
  let opener: SignedIn;
  let payer: SignedIn;
  let running: RentalRow;
  let stopped: RentalRow;
  /** Its machine was still being ended when the database was lost. */
  let ending: RentalRow;
  let lost: RentalRow;
  let topupId: string;
  let report: RestoreReport;

  before(async () => {
    service = await startService({ settings: { stopWaitMs: 1_000 } });
    renting = new Renting(service);
    paying = new Paying(service);
    [steady, stopper, opener, payer] = [
      await service.signIn(20_000),
      await service.signIn(20_000),
      await service.signIn(20_000),
      await service.signIn(0),
    ];
    running = await renting.run(steady, b200);
    stopped = await renting.run(stopper, l40s);
    ending = await renting.run(stopper, l40s);
    await runUpkeepRound(service, 'housekeeping');
    snapshot = await snapshotDatabase(service.databaseUrl);
    await makeOlder(snapshot);
    await liveOneHour();
    await snapshot.restore();
  });
  after(async () => {
    try {
      await service.stop();
    } finally {
      await snapshot?.drop();
    }
  });

  async function assertRefused(duty: UpkeepDuty): Promise<void> {
    await assert.rejects(runUpkeepRound(service, duty), { type: 'database_restored' });
  }

  const ops = (...args: string[]): Promise<OpsResult> => runOps(service, ...args);

  /** Makes the copy an hour old: the machines in it began an hour before now. */
  async function makeOlder({ url }: Snapshot): Promise<void> {
    const copy = openDatabase(url, 1, 'test-copy');
    try {
      await copy.raw(`update rentals set started_at = started_at - interval '1 hour',
                        running_at = running_at - interval '1 hour'`);
    } finally {
      await copy.destroy();
    }
  }

  async function liveOneHour(): Promise<void> {
    await until(
      'the service is back',
      async () => (await service.api.stranger().get('/readyz')).status === 200,
    );
    await Promise.all([running, stopped, ending].map(({ id }) => renting.age(id, HOUR_S)));
    // The watermark rises by an hour: 59 minutes at once, and the last one as the service raises it.
    await service.db('watermark').increment('value', 59);
    await runUpkeepRound(service, 'housekeeping');
    // The longer its upstream takes to end a machine, the later its run ends.
    await service.gpus.faults({ deleteMs: 3_000 });
    await renting.stop(stopper, stopped.id);
    stopped = await renting.awaitClosed(stopped.id);
    await service.gpus.faults({ failDelete: true });
    await renting.stop(stopper, ending.id);
    ending = await until('it is billed, and its machine stays', async () => {
      const row = await renting.row(ending.id);
      return row.settled_at !== null && row;
    });
    const { url, topupId: id } = await paying.page(payer, 2_500);
    topupId = id;
    await paying.pay(url);
    await until('it is credited', async () => (await renting.wallet(payer)).available_cents === 2_500);
    lost = await renting.run(opener, l40s);
    await until('its run has ended', async () => {
      return (await service.temporal.workflow.getHandle(stopped.id).describe()).closeTime;
    });
  }

  const podOf = async (id: RentalId): Promise<string | undefined> => (await renting.pods(id))[0]?.status;

  it('is noticed at once: /readyz shows the brake, and changes are 503 while reads go on', async () => {
    const answer = await steady.post('/v1/rentals', { familyId: 'l40s', gpuCount: 1 });
    assert.equal(answer.status, 503);
    assert.equal(answer.body.error, 'temporarily_unavailable');
    assert.equal((await steady.get(`/v1/rentals/${running.id}`)).status, 200);
    await until('the brake is shown', async () => {
      const { body } = await service.api.stranger().get('/readyz');
      return body.checks.brakes.includes('restored');
    });
  });

  it('takes no posting, and meters, ends, revives and mails nothing', async () => {
    await assert.rejects(credit(service.db, steady.user.id, 1), { code: 'RS001' });
    const before = await renting.row(running.id);
    await service.db('mail_outbox').insert({
      ...{ cause: 'rehearsal', recipient: 'waits@example.com', subject: 'It waits', body: 'It waits.' },
      wipe_after_sending: false,
    });
    await Promise.all((['sweep', 'revive', 'redeliver'] as const).map(assertRefused));
    assert.equal((await renting.row(running.id)).charged_cents, before.charged_cents);
    assert.equal(await podOf(lost.id), 'active');
    assert.equal(await podOf(running.id), 'active');
    const [mail] = await service.db('mail_outbox').where({ cause: 'rehearsal' });
    assert.equal(mail?.sent_at, null);
    const { status } = await service.temporal.workflow.getHandle(stopped.id).describe();
    assert.equal(status.name, 'COMPLETED', 'no new run hides when the last one ended');
  });

  it('ops restore status tells what is lost', async () => {
    const text = await ops('restore', 'status');
    assert.equal(text.code, 1, text.err);
    assert.match(text.out, /RESTORED: about 60 minutes of data are lost/);
    const { out } = await ops('restore', 'status', '--json');
    report = JSON.parse(out) as RestoreReport;
    assert.deepEqual(
      report.ended,
      [stopped, ending].map(({ id, ended_at: endedAt }) => ({
        rentalId: id,
        status: 'running',
        endedAt: endedAt?.toISOString(),
        by: 'user',
        ...(id === ending.id && { isOpen: true }),
      })),
    );
    assert.deepEqual(report.limits, []);
    assert.equal(report.goingOn, 1);
    assert.deepEqual(report.withoutRun, []);
    assert.deepEqual(
      report.lost.map(({ rentalId, userId, endedAt }) => [rentalId, userId, endedAt]),
      [[lost.id, opener.user.id, null]],
    );
    assert.deepEqual(
      report.unknownPods.map(({ podId }) => podId),
      [lost.pod_id],
    );
    assert.deepEqual(
      report.missingPayments.map(({ topupId: id, amountCents }) => [id, amountCents]),
      [[topupId, 2_500]],
    );
  });

  it('ops restore reconcile does nothing on a dry run, nor without a yes', async () => {
    const who = ['--by', 'ada', '--reason', 'disk failed'];
    const dry = await ops('restore', 'reconcile', ...who, '--dry-run');
    assert.equal(dry.code, 0, dry.err);
    assert.match(dry.out, /Nothing was done/);
    assert.equal((await ops('restore', 'reconcile', ...who)).code, 2);
    assert.equal((await service.db('brakes')).length, 1);
  });

  it('ops restore reconcile lets the service go on', async () => {
    const { code, out, err } = await ops(
      'restore',
      'reconcile',
      '--by',
      'ada',
      '--reason',
      'disk failed',
      '--yes',
    );
    assert.equal(code, 0, err);
    assert.match(out, /Reconciled: the service continues at watermark 62/);
    assert.deepEqual(await service.db('brakes'), []);
    const [action] = await service.db('operator_actions').where({ kind: 'reconcile_restored' });
    assert.deepEqual([action?.operator, action?.reason], ['ada', 'disk failed']);
  });

  it('ends the sessions that came back: their users sign in afresh', async () => {
    for (const person of [steady, stopper, opener, payer]) {
      const { status, body } = await person.get('/v1/auth/me');
      assert.deepEqual([status, body.error], [401, 'unauthorized']);
      person.sid = await insertSessionOf(service.db, person.user.id);
    }
  });

  it('steps each feed of events over the numbers of the lost time, and says so', async () => {
    for (const { user } of [steady, stopper, opener, payer]) {
      const feed = await until('a number is given after the step', async () => {
        const events = await service.db('events').where({ user_id: user.id }).orderBy('seq');
        return events.some(({ seq }) => seq >= 1_000_000) && events;
      });
      const before = feed.filter(({ seq }) => seq < 1_000_000);
      assert.deepEqual(
        before.map(({ seq }) => seq),
        before.map((_event, index) => index + 1),
      );
      const [first, ...rest] = feed.slice(before.length);
      assert.deepEqual([first?.type, first?.seq], ['feed.resync', before.length + 1_000_000]);
      assert.deepEqual(
        rest.map(({ seq }) => seq),
        rest.map((_event, index) => before.length + 1_000_001 + index),
      );
    }
  });

  it('ends the rentals of the lost time at their users’ stops, and bills what those were told', async () => {
    const closed = await renting.awaitClosed(stopped.id);
    const settled = await until('its own run has settled it', async () => {
      await service.gpus.faults({ failDelete: false });
      const row = await renting.row(ending.id);
      return row.settled_at !== null && row;
    });
    for (const [row, before] of [
      [closed, stopped],
      [settled, ending],
    ] as const) {
      assert.deepEqual([row.stop_reason, row.ended_at], ['user', before.ended_at]);
      assert.equal(netCents(row), netCents(before));
    }
  });

  it('credits the payment once, to the top-up that its owner was told', async () => {
    await runUpkeepRound(service, 'redeliver');
    const wallet = await renting.wallet(payer);
    assert.equal(wallet.available_cents, 2_500);
    const { body } = await payer.get('/v1/billing/ledger');
    assert.equal((body as unknown as { entries: unknown[] }).entries.length, 1);
    assert.equal((await payer.get(`/v1/billing/topups/${topupId}`)).body.status, 'succeeded');
  });

  it('charges the rental that ran through for the lost hour, once', async () => {
    const row = await until('it is metered', async () => {
      const now = await renting.row(running.id);
      return now.charged_cents >= b200.pricePerHourCents && now;
    });
    assert.ok(row.charged_cents < b200.pricePerHourCents + 200, String(row.charged_cents));
    await renting.stop(steady, running.id);
    const closed = await renting.awaitClosed(running.id);
    assert.equal(netCents(closed), finalCents(closed.price_per_hour_cents, billedMs(closed), null));
  });

  it('ends no machine that it does not know before a human has said so', async () => {
    await service
      .db('pods')
      .update({ first_seen_at: service.db.raw(`first_seen_at - interval '2 minutes'`) });
    await runUpkeepRound(service, 'sweep');
    assert.equal(await podOf(lost.id), 'active');
    assert.match((await ops('restore', 'pods')).out, new RegExp(lost.pod_id ?? 'none'));
    const who = ['--by', 'ada', '--reason', 'its renter was told'];
    const { code, err } = await ops('restore', 'release-pods', lost.pod_id ?? '', ...who, '--yes');
    assert.equal(code, 0, err);
    await until('it is gone', async () => {
      await runUpkeepRound(service, 'sweep');
      return (await podOf(lost.id)) === 'deleted';
    });
    assert.match(
      (await ops('restore', 'release-pods', lost.pod_id ?? '', ...who, '--yes')).out,
      /Not waiting/,
    );
  });

  it('mails what waited, takes changes again, and adds up', async () => {
    await until(
      'it is sent',
      async () => (await service.db('mail_outbox').where({ cause: 'rehearsal' }).first())?.sent_at,
    );
    await renting.run(steady, l40s);
    await renting.assertAddsUp();
    const { code, out } = await ops('restore', 'reconcile', '--by', 'ada', '--reason', 'again', '--yes');
    assert.equal(code, 0);
    assert.match(out, /up to date: nothing to reconcile/);
  });
});
