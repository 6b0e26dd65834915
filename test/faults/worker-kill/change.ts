import assert from 'node:assert/strict';
import { verifyLedger } from '../../../adapters/postgres/ledger/verify.js';
import type { RentalRow } from '../../../adapters/postgres/rows/tables.js';
import type { SignedIn } from '../../support/http/api.js';
import type { KilledWorker } from '../../support/service/killed-worker.js';
import type { TestService } from '../../support/service/living-service.js';
import { Gate } from '../../support/servers/gate.js';
import { b200, netCents, Renting } from '../../support/story/renting.js';
import { until } from '../../support/until.js';

export function describeChange(world: KilledWorker): void {
  describe('a worker that is killed while it changes a rental', () => {
    let service: TestService;
    let renting: Renting;
    let user: SignedIn;
    let rental: RentalRow;

    before(() => {
      ({ service } = world);
      renting = new Renting(service);
    });
    beforeEach(async () => {
      user = await service.signIn(10_000);
      rental = await renting.run(user, b200);
    });
    afterEach(async () => {
      const { status } = await user.post(`/v1/rentals/${rental.id}/stop`);
      assert.ok([200, 409].includes(status));
      await renting.awaitClosed(rental.id);
      assert.deepEqual(await verifyLedger(service.db), []);
    });

    async function changed(): Promise<number> {
      const row = await service
        .db('rental_changes')
        .where({ rental_no: rental.no })
        .whereNotNull('limits_at')
        .count<{ count: number }[]>('* as count')
        .first();
      return row?.count ?? 0;
    }

    it('before its commit: another one makes the change, once, and the caller gets their answer', async () => {
      const holding = await service.db.transaction();
      await holding.raw('select id from wallets where id = ? for no key update', [rental.wallet_id]);
      const answer = user.patch(`/v1/rentals/${rental.id}`, { maxSpendCents: 5_000, name: 'x' });
      await until('the change waits for the wallet', async () => {
        const { raw } = await service.temporal.workflow.getHandle(rental.id).describe();
        return (raw.pendingActivities ?? []).some(
          ({ activityType }) => activityType?.name === 'changeRental',
        );
      });
      await world.kill();
      await holding.commit();
      assert.equal(await changed(), 0);
      await world.startWorker();
      const { status, body } = await answer;
      assert.deepEqual([status, body.name], [200, 'x'], JSON.stringify(body));
      assert.deepEqual([await changed(), (await renting.row(rental.id)).max_spend_cents], [1, 5_000]);
    });

    it('at its commit: the row answers, and the next worker does nothing twice', async () => {
      const gate = await Gate.close(service.db, { at: 'commit', of: 'update', table: 'rental_changes' });
      const before = netCents(await renting.row(rental.id));
      const answer = user.patch(`/v1/rentals/${rental.id}`, { maxSpendCents: 1, name: 'y' });
      await until('it is being committed', () => gate.isReached());
      await world.kill();
      await gate.open();
      await until('it is committed', async () => (await changed()) === 1);
      await world.startWorker();
      const { status, body } = await answer;
      assert.deepEqual([status, body.name], [200, 'y'], JSON.stringify(body));
      const closed = await renting.awaitClosed(rental.id);
      assert.deepEqual([closed.stop_reason, closed.refunded_cents], ['spend_limit', 0]);
      assert.ok(netCents(closed) >= before);
      assert.equal(
        (await service.db('audit_events').where({ kind: 'rental_changed', user_id: user.user.id })).length,
        1,
      );
    });
  });
}
