import assert from 'node:assert/strict';
import { until } from '../support/until.js';
import { signIn, topUp, type Backend, type Person } from './backends.js';

const machine = {
  ...{ familyId: 'b200', gpuCount: 8, templateId: 'pytorch', name: 'training' },
  labels: { team: 'research' },
};

/** The changes of a rental that runs, and of one that is over. */
export function describeChanging(backend: () => Backend): void {
  describe('a changed rental', () => {
    let person: Person;
    let id: string;

    before(async () => {
      person = await signIn(backend());
      await topUp(backend(), person, 10_000);
      id = (await person.post('/v1/rentals', machine)).body.id;
      await until('it runs', async () => (await person.get(`/v1/rentals/${id}`)).body.status === 'running');
    });

    it('is changed in what is sent, and nothing else, once per Idempotency-Key', async () => {
      const retried = { 'Idempotency-Key': 'change' };
      const hours = { autoStopAfterHours: 2, labels: { team: 'research', stage: 'test' } };
      const { status, body } = await person.patch(`/v1/rentals/${id}`, hours, retried);
      assert.equal(status, 200, JSON.stringify(body));
      const { autoStopAt, runningAt, name, labels } = body as unknown as Record<string, string>;
      assert.equal(Date.parse(autoStopAt!) - Date.parse(runningAt!), 7_200_000);
      assert.deepEqual([name, labels], ['training', { stage: 'test', team: 'research' }]);
      const renamed = await person.patch(`/v1/rentals/${id}`, { name: 'renamed', autoStopAt: null });
      const shown = renamed.body as unknown as Record<string, unknown>;
      assert.deepEqual([shown['name'], shown['autoStopAt'], shown['maxSpendCents']], ['renamed', null, null]);
      const again = await person.patch(`/v1/rentals/${id}`, hours, retried);
      assert.deepEqual([again.status, again.body], [200, body]);
      assert.equal(again.headers.get('Idempotent-Replayed'), 'true');
    });

    it('ends at once at what was used when its spend limit is lowered below it', async () => {
      const used = await until('it was charged', async () => {
        const { body } = await person.get(`/v1/rentals/${id}`);
        return body.totalChargedCents >= 1 && body.totalChargedCents;
      });
      const { status, body } = await person.patch(`/v1/rentals/${id}`, { maxSpendCents: 1 });
      assert.equal(status, 200, JSON.stringify(body));
      const shown = body as unknown as Record<string, unknown>;
      assert.deepEqual([shown['status'], shown['stopReason']], ['stopping', 'spend_limit']);
      assert.ok(Number(shown['maxSpendCents']) >= used);
      assert.equal(shown['totalChargedCents'], shown['maxSpendCents']);
      const refused = await person.patch(`/v1/rentals/${id}`, { maxSpendCents: 500 });
      assert.equal(refused.status, 409, JSON.stringify(refused.body));
      await until(
        'it is stopped',
        async () => (await person.get(`/v1/rentals/${id}`)).body.status === 'stopped',
      );
      const late = await person.patch(`/v1/rentals/${id}`, { labels: {} });
      assert.deepEqual([late.status, late.body.error], [409, 'already_stopped']);
      assert.equal((await person.patch(`/v1/rentals/${id}`, { name: 'over' })).body.name, 'over');
    });
  });
}
