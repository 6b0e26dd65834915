import assert from 'node:assert/strict';
import type { RentalId } from '../../../domain/ids.js';
import type { SignedIn } from '../../support/http/api.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { runUpkeepRound } from '../../support/service/upkeep-round.js';
import { runOps, type OpsResult } from '../../support/ops/ops.js';
import { Paying } from '../../support/story/paying.js';
import { l40s, Renting } from '../../support/story/renting.js';
import { snapshotDatabase, type Snapshot } from '../../support/servers/snapshots.js';
import { until } from '../../support/until.js';

/** The tests of this file are one story, in order (decision 96, "Unfinished restores"). */
describe('a restored database of which one rental and one payment can not be brought up to date', () => {
  let service: TestService;
  let renting: Renting;
  let paying: Paying;
  let snapshot: Snapshot | undefined;
  let payers: [bad: SignedIn, good: SignedIn];
  let rentals: [bad: RentalId, good: RentalId];
  let badPayment = '';

  before(async () => {
    service = await startService();
    renting = new Renting(service);
    paying = new Paying(service);
    const renter = await service.signIn(20_000);
    payers = [await service.signIn(), await service.signIn()];
    rentals = [(await renting.run(renter, l40s)).id, (await renting.run(renter, l40s)).id];
    await raiseWatermark();
    snapshot = await snapshotDatabase(service.databaseUrl);
    await until(
      'the service is back',
      async () => (await service.api.stranger().get('/readyz')).status === 200,
    );
    await raiseWatermark();
    for (const payer of payers) {
      const { url, topupId } = await paying.page(payer, 2_500);
      await paying.pay(url);
      const { payment_id: paymentId } = await paying.awaitTopup(topupId, 'succeeded');
      badPayment ||= paymentId ?? '';
    }
    for (const id of rentals) {
      await renting.stop(renter, id);
      await renting.awaitClosed(id);
      await until('its run has ended', async () => {
        return (await service.temporal.workflow.getHandle(id).describe()).closeTime;
      });
    }
    await snapshot.restore();
    await until('the brake is pulled', () => service.db('brakes').where({ kind: 'restored' }).first());
    const [badRental] = await service.db('rentals').where({ id: rentals[0] }).select('no');
    await service.db.raw(
      `alter table stop_requests add constraint poison check (rental_no <> ${badRental!.no})`,
    );
    await service.db.raw(
      `alter table ledger_causes add constraint poison check (cause <> 'payment:${badPayment}')`,
    );
  });
  after(async () => {
    try {
      await service.stop();
    } finally {
      await snapshot?.drop();
    }
  });

  const raiseWatermark = (): Promise<unknown> => runUpkeepRound(service, 'housekeeping');
  const reconcile = (...args: string[]): Promise<OpsResult> =>
    runOps(
      service,
      ...['restore', 'reconcile', '--by', 'ada', '--reason', 'the disk failed', '--yes'],
      ...args,
    );
  const brakes = async (): Promise<string[]> => (await service.db('brakes')).map(({ kind }) => kind);
  const stopRequests = async (): Promise<number> => (await service.db('stop_requests')).length;

  it('does the others, names these, and does not let the service go on', async () => {
    const { code, out, err } = await reconcile();
    assert.equal(code, 1, err);
    assert.match(out, /Incomplete: 2 could not be done, and the service does NOT go on/);
    assert.ok(out.includes(`${rentals[0]} (SQLSTATE 23514), ${badPayment} (SQLSTATE 23514)`), out);
    assert.deepEqual(await brakes(), ['restored']);
    assert.equal(await stopRequests(), 1);
    assert.deepEqual(await paying.entries(payers[1]), [['processor_topup', 2_500]]);
    assert.deepEqual(await paying.entries(payers[0]), []);
  });

  it('does the rest once it can be, goes on with what an operator leaves, and nothing is done twice', async () => {
    await service.db.raw('alter table stop_requests drop constraint poison');
    const { code, out, err } = await reconcile('--leave-undone');
    assert.equal(code, 0, err);
    assert.match(out, /Reconciled: the service continues/);
    assert.ok(out.includes(`LEFT UNDONE, as you said: ${badPayment} (SQLSTATE 23514)`), out);
    assert.deepEqual(await brakes(), []);
    const [action] = await service.db('operator_actions').where({ kind: 'reconcile_restored' });
    assert.match(JSON.stringify(action?.result), new RegExp(badPayment));
    for (const id of rentals) await renting.awaitClosed(id);
    assert.deepEqual(await paying.entries(payers[1]), [['processor_topup', 2_500]]);

    await service.db.raw('alter table ledger_causes drop constraint poison');
    await until('the payment that was left undone is in its wallet', async () => {
      // The pause of an item that has failed grows, to longer than a test waits on a slow machine.
      await service.db('stuck_items').update({ next_attempt_at: service.db.raw('clock_ms()') });
      await runUpkeepRound(service, 'redeliver');
      return (await paying.wallet(payers[0])).available_cents === 2_500;
    });
    await renting.assertAddsUp();
  });
});
