import assert from 'node:assert/strict';
import type { Transaction } from '../../../adapters/postgres/database.js';
import { verifyLedger } from '../../../adapters/postgres/ledger/verify.js';
import type { RentalId } from '../../../domain/ids.js';
import type { SignedIn } from '../../support/http/api.js';
import type { KilledWorker } from '../../support/service/killed-worker.js';
import type { TestService } from '../../support/service/living-service.js';
import { b200, netCents, priceOf, Renting } from '../../support/story/renting.js';
import { until } from '../../support/until.js';

/** The key of the lock that holds a step up between its commit and the end of its workflow's task. */
const GATE = 4_712;

/**
 * Steps that run within a task of their workflow (decision 120, "Steps within a task"). The server hears of them when
 * the task ends, so a worker that dies before loses the results of all of them, and the next worker takes them again.
 */
export function describeSteps(world: KilledWorker): void {
  describe('a worker that is killed while a rental takes a step within a task', () => {
    let service: TestService;
    let renting: Renting;
    let user: SignedIn;
    let id: RentalId;

    before(() => {
      ({ service } = world);
      renting = new Renting(service);
    });
    beforeEach(async () => {
      await service.gpus.faults({ bootMs: 2_000 });
      user = await service.signIn(10_000);
      id = await renting.open(user, b200);
    });
    afterEach(async () => {
      assert.deepEqual(await verifyLedger(service.db), []);
    });

    /**
     * Waits until the task in which billing began has ended, with a timer for the next look: a worker that dies within
     * that task loses the beginning too, and the next worker goes on from there instead.
     */
    async function awaitMetering(): Promise<void> {
      await until('a task ends with the timer for the next look', async () => {
        const { events } = await service.temporal.workflow.getHandle(id).fetchHistory();
        return events?.some((event) => Boolean(event.timerStartedEventAttributes));
      });
    }

    /**
     * Holds up each step that acknowledges the signals of this rental, right after its commit, once the row is as the
     * condition says. The trigger is there before the signal that is acknowledged, and lets nobody change it: else an earlier
     * step would acknowledge it, and the one that is waited for would have nothing to do.
     */
    async function gateWhere(condition: string): Promise<Transaction> {
      const { db } = service;
      const holding = await db.transaction();
      await holding.raw('select pg_advisory_xact_lock(?)', [GATE]);
      await db.raw(`create or replace function wait_at_gate() returns trigger language plpgsql as $$
        begin
          if new.told_at is null and exists (select 1 from rentals where id = new.workflow_id and ${condition}) then
            perform pg_advisory_xact_lock(${GATE});
          end if;
          return null;
        end $$`);
      await db.raw(`create trigger wait_at_gate before update on look_signals
        for each row when (new.workflow_id = '${id}') execute function wait_at_gate()`);
      await db.raw(`insert into look_signals (workflow_id, workflow_type, wanted_at, told_at, counted_on, signals)
        values ('${id}', 'rental', clock_ms() - interval '1 hour', clock_ms() - interval '1 hour', current_date, 1)`);
      return holding;
    }

    async function killAtGate(holding: Transaction): Promise<void> {
      await until('a step has committed and its task goes on', async () => {
        const waiting = `select 1 from pg_locks where locktype = 'advisory' and objid = ${GATE} and not granted`;
        return (await service.db.raw<{ rows: unknown[] }>(waiting)).rows.length > 0;
      });
      await world.kill();
      await holding.rollback();
      await service.db.raw('drop trigger wait_at_gate on look_signals');
      await world.startWorker();
    }

    /** How often this worker took a step of the rental to its end. */
    function taken(step: string): number {
      return world.logged().filter((line) => {
        return line['msg'] === 'activity done' && line['activityType'] === step && line['rentalId'] === id;
      }).length;
    }

    /** Asserts that the rental was charged to the cent and ended once, and that nothing was bought or told twice. */
    async function assertEndedExactly(): Promise<void> {
      const rental = await renting.awaitClosed(id);
      assert.deepEqual([rental.status, netCents(rental)], ['stopped', priceOf(rental)]);
      assert.deepEqual(
        (await renting.pods(id)).map(({ status }) => status),
        ['deleted'],
      );
      await renting.assertAddsUp(rental.user_id);
      const result: unknown = await service.temporal.workflow.getHandle(id).result();
      assert.deepEqual(result, { outcome: 'stopped' });
    }

    it('after its billing began: it began once, and the next worker takes the step again', async () => {
      const holding = await gateWhere('running_at is not null');
      await killAtGate(holding);
      const { running_at } = await renting.row(id);
      assert.ok(running_at);
      await until('the next worker has begun it again', () => taken('startMetering') > 0);
      assert.deepEqual((await renting.row(id)).running_at, running_at);
      await renting.stop(user, id);
      await assertEndedExactly();
    });

    // The last look of metering is lost with the bill's step, unless it did not go well at once and so became an event of
    // its own: then that step alone is taken again.
    for (const [point, condition, again] of [
      ['its billing has ended', 'ended_at is not null and settled_at is null', ['settleRental']],
      ['its bill was made', 'settled_at is not null and closed_at is null', ['meterRental', 'settleRental']],
      ['it was closed', 'closed_at is not null', ['closeRental']],
    ] as const) {
      it(`after ${point}: it is charged once, to the cent`, async () => {
        await awaitMetering();
        const holding = await gateWhere(condition);
        const { status } = await user.post(`/v1/rentals/${id}/stop`);
        assert.equal(status, 200);
        await killAtGate(holding);
        await assertEndedExactly();
        await until(`${again.join(' or ')} is taken by the next worker`, () =>
          again.some((step) => taken(step) > 0),
        );
      });
    }

    it('before its commit, while somebody holds the wallet: nothing was done, and it is done once', async () => {
      await awaitMetering();
      const { wallet_id } = await renting.row(id);
      const holding = await service.db.transaction();
      await holding.raw('select id from wallets where id = ? for no key update', [wallet_id]);
      await user.post(`/v1/rentals/${id}/stop`);
      await until('a step waits for the wallet', async () => {
        const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
          and query like 'select w.* from wallets%'`;
        return (await service.db.raw<{ rows: unknown[] }>(waiting)).rows.length > 0;
      });
      await world.kill();
      await holding.rollback();
      assert.equal((await renting.row(id)).settled_at, null);
      await world.startWorker();
      await assertEndedExactly();
    });
  });
}
