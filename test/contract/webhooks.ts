import assert from 'node:assert/strict';
import { until } from '../support/until.js';
import { signIn, type Backend, type Person } from './backends.js';

/** Where users want their events delivered. */
export function describeWebhooks(backend: () => Backend): void {
  describe('webhooks', () => {
    let person: Person;
    before(async () => {
      person = await signIn(backend());
    });
    const url = 'http://127.0.0.1:9/hook';

    it('are made, changed, rotated and removed', async () => {
      const made = await person.post('/v1/webhooks', { url, types: ['rental.running'] });
      const { id, secret, state } = made.body as unknown as { id: string; secret: string; state: string };
      assert.match(secret, /^whsec_/);
      assert.equal(state, 'pending');
      const changed = await person.patch(`/v1/webhooks/${id}`, { description: 'mine' });
      assert.equal((changed.body as unknown as { description: string }).description, 'mine');
      const rotated = await person.post(`/v1/webhooks/${id}/rotate-secret`);
      assert.notEqual((rotated.body as unknown as { secret: string }).secret, secret);
      const told = await until('both changes are told', async () => {
        const { body } = await person.get('/v1/events?types=webhook.changed');
        const { events } = body as unknown as { events: { data: { changed: string[] } }[] };
        return events.length >= 2 && events;
      });
      assert.deepEqual(
        told.map(({ data }) => data.changed),
        [['description'], ['secret']],
      );
      assert.equal((await person.get(`/v1/webhooks/${id}/deliveries`)).status, 200);
      assert.equal((await person.delete(`/v1/webhooks/${id}`)).status, 200);
      for (const { status, body } of [
        await person.get(`/v1/webhooks/${id}`),
        await person.post(`/v1/webhooks/${id}/ping`),
        await person.post(`/v1/webhooks/${id}/redeliver`, { afterSeq: 0 }),
      ]) {
        assert.deepEqual([status, body.error], [404, 'webhook_not_found']);
      }
    });

    it('are refused with the name of the field that is not right', async () => {
      for (const body of [
        { url: 'x' },
        { url: 'https://a:b@example.com/' },
        { url, types: ['nothing.happened'] },
      ]) {
        const { status, body: answer } = await person.post('/v1/webhooks', body);
        assert.deepEqual([status, answer.error], [400, 'validation_failed']);
      }
    });

    it('send again what was sent, twenty times an hour at most', async () => {
      const asker = await signIn(backend());
      const { id } = (await asker.post('/v1/webhooks', { url })).body;
      const again = () => asker.post(`/v1/webhooks/${id}/redeliver`, { afterSeq: 1_000 });
      for (let asked = 1; asked <= 20; asked += 1) assert.ok([400, 409].includes((await again()).status));
      const { status, body } = await again();
      assert.deepEqual([status, body.error], [429, 'rate_limited']);
    });

    it('are ten at most', async () => {
      for (let made = 0; made < 10; made += 1)
        assert.equal((await person.post('/v1/webhooks', { url })).status, 200);
      const { status, body } = await person.post('/v1/webhooks', { url });
      assert.deepEqual([status, body.error, body.details], [400, 'too_many_webhooks', { maxWebhooks: 10 }]);
    });
  });
}
