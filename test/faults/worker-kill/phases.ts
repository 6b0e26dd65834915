import assert from 'node:assert/strict';
import type { RentalRow } from '../../../adapters/postgres/rows/tables.js';
import type { RentalId } from '../../../domain/ids.js';
import type { Answer } from '../../support/http/answers.js';
import type { SignedIn } from '../../support/http/api.js';
import type { KilledWorker } from '../../support/service/killed-worker.js';
import type { TestService } from '../../support/service/living-service.js';
import { runUpkeepRound } from '../../support/service/upkeep-round.js';
import { b200, netCents, priceOf, Renting, rtx4090 } from '../../support/story/renting.js';
import { until } from '../../support/until.js';

/** One worker is killed while each of five rentals is at another point of its way. Another worker follows. */
export function describePhases(world: KilledWorker): void {
  describe('a worker that is killed', () => {
    let service: TestService;
    let renting: Renting;

    interface Rented {
      readonly user: SignedIn;
      readonly id: RentalId;
    }
    let opening: { user: SignedIn; answer: Promise<Answer> };
    let openingByQuote: { user: SignedIn; quoteId: string; answer: Promise<Answer> };
    let provisioning: Rented;
    let running: Rented;
    let askedToStop: Rented;
    let stopping: Rented;

    before(async () => {
      ({ service } = world);
      renting = new Renting(service);
      await world.startWorker();
      [running, askedToStop, stopping] = await Promise.all([
        rent(b200, 'running'),
        rent(b200, 'running'),
        rent(b200, 'running'),
      ]);
      await service.gpus.faults({ failDelete: true });
      await renting.stop(stopping.user, stopping.id);
      await until('its end was asked for', async () => (await renting.row(stopping.id)).settled_at !== null);
      await service.gpus.faults({ bootMs: 15_000 });
      provisioning = await rent(rtx4090, 'provisioning');
      await service.gpus.faults({ bootMs: 100, loseCreateAnswer: 2 });
      const before = (await service.gpus.state()).pods.length;
      const user = await service.signIn(10_000);
      opening = { user, answer: user.post('/v1/rentals', { familyId: 'rtx-4090', gpuCount: 1 }) };
      const buyer = await service.signIn(10_000);
      const { body: quote } = await buyer.post('/v1/quotes', { familyId: 'rtx-4090', gpuCount: 1 });
      const { quoteId } = quote as unknown as { quoteId: string };
      openingByQuote = { user: buyer, quoteId, answer: buyer.post('/v1/rentals', { quoteId }) };
      await until(
        'their pods were made',
        async () => (await service.gpus.state()).pods.length === before + 2,
      );

      await world.kill();
      const answer = await askedToStop.user.post(`/v1/rentals/${askedToStop.id}/stop`);
      assert.deepEqual([answer.status, answer.body.finalChargedCents], [200, null]);
      await service.gpus.faults({ failDelete: false });
      await world.startWorker();
    });

    async function rent(machine: typeof b200, status: 'provisioning' | 'running'): Promise<Rented> {
      const user = await service.signIn(10_000);
      const id = await renting.open(user, machine);
      await renting.awaitStatus(id, status);
      return { user, id };
    }

    /** Asserts the rules for every rental in the end, whatever happened to the workers. */
    async function assertEndedExactly(rental: RentalRow): Promise<void> {
      assert.equal(rental.status, 'stopped');
      assert.equal(netCents(rental), rental.running_at === null ? 0 : priceOf(rental));
      const pods = await renting.pods(rental.id);
      assert.deepEqual(
        pods.map(({ status }) => status),
        ['deleted'],
        'one pod was ever bought',
      );
      await renting.assertAddsUp(rental.user_id);
    }

    it('while it opened a rental: the machine is found by its tag, and the caller gets their answer', async () => {
      const answer = await opening.answer;
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      const id = answer.body.id as RentalId;
      const { pod_id } = await renting.awaitStatus(id, 'running');
      assert.deepEqual(
        (await renting.pods(id)).map((pod) => pod.id),
        [pod_id],
      );
      await renting.stop(opening.user, id);
      await assertEndedExactly(await renting.awaitClosed(id));
    });

    it('while it bought what was quoted: the quote is taken once, by the rental that was opened', async () => {
      const { user, quoteId, answer: first } = openingByQuote;
      const [answer, again] = await Promise.all([first, user.post('/v1/rentals', { quoteId })]);
      assert.deepEqual([answer.status, again.status], [200, 200], JSON.stringify([answer.body, again.body]));
      assert.equal(again.body.id, answer.body.id);
      const id = answer.body.id as RentalId;
      const taken = await service.db('quotes').where({ user_id: user.user.id }).select('id', 'rental_id');
      assert.deepEqual(taken, [{ id: quoteId, rental_id: id }]);
      await renting.awaitStatus(id, 'running');
      await renting.stop(user, id);
      await assertEndedExactly(await renting.awaitClosed(id));
      assert.equal((await service.db('rentals').where({ user_id: user.user.id })).length, 1);
    });

    it('while it waited for a machine: another one waits on', async () => {
      await renting.awaitStatus(provisioning.id, 'running');
      await renting.stop(provisioning.user, provisioning.id);
      await assertEndedExactly(await renting.awaitClosed(provisioning.id));
    });

    it('while a rental ran: the time without a worker is charged, to the cent', async () => {
      const { charged_cents } = await renting.row(running.id);
      await until(
        'it is metered again',
        async () => (await renting.row(running.id)).charged_cents > charged_cents,
      );
      await renting.stop(running.user, running.id);
      await assertEndedExactly(await renting.awaitClosed(running.id));
    });

    it('before a rental was asked to stop: it ends at the instant of the request', async () => {
      const rental = await renting.awaitClosed(askedToStop.id);
      const request = await service.db('stop_requests').where({ rental_no: rental.no }).first();
      assert.deepEqual(rental.ended_at, request?.requested_at);
      await assertEndedExactly(rental);
    });

    it('while it ended a machine: another one goes on asking until it is gone', async () => {
      await assertEndedExactly(await renting.awaitClosed(stopping.id));
    });

    it('and a rental whose workflow was terminated by hand is revived, charged exactly, and ends when asked', async () => {
      const { user, id } = await rent(b200, 'running');
      const first = await service.temporal.workflow.getHandle(id).describe();
      await service.temporal.workflow.getHandle(id).terminate('by hand');
      const { db } = service;
      // The reviver skips rows younger than a quarter of a minute: their workflow may be about to begin.
      await db('rentals')
        .where({ id })
        .update({ started_at: db.raw(`started_at - interval '1 minute'`) });
      await until('it is revived', async () => {
        await runUpkeepRound(service, 'revive');
        const { runId, status } = await service.temporal.workflow.getHandle(id).describe();
        return runId !== first.runId && status.name === 'RUNNING';
      });
      await renting.stop(user, id);
      const rental = await renting.awaitClosed(id);
      await assertEndedExactly(rental);
    });
  });
}
