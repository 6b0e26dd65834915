import assert from 'node:assert/strict';
import { until } from '../support/until.js';
import { startReceiver } from '../support/webhooks/receiver.js';
import { signIn, type Backend, type Person } from './backends.js';

interface Hook {
  readonly id: string;
  readonly state: string;
  readonly deliveredSeq: number;
}

interface Feed {
  readonly events: readonly {
    readonly id: string;
    readonly seq: number;
    readonly entityId: string;
    readonly data: { readonly changed: readonly string[] };
  }[];
}

/** Where users want their events delivered. */
export function describeWebhooks(backend: () => Backend): void {
  describe('webhooks', () => {
    let person: Person;
    before(async () => {
      person = await signIn(backend());
    });
    const stateOf = ({ body }: { readonly body: unknown }) => (body as Hook).state;
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

    it('begin with the events from now on, are told their ping by the feed, and send again from its numbers', async () => {
      const receiver = await startReceiver();
      try {
        const asker = await signIn(backend());
        const told = (type: string) =>
          until(`${type} is told`, async () => {
            const { events } = (await asker.get(`/v1/events?types=${type}`)).body as unknown as Feed;
            return events.at(-1);
          });
        const signedIn = await told('session.started');
        const made = (await asker.post('/v1/webhooks', { url: receiver.url })).body as unknown as Hook;
        const { id } = made;
        assert.ok(made.deliveredSeq >= signedIn.seq, 'what was before is not sent');
        assert.ok((await told('webhook.created')).seq > made.deliveredSeq);
        await until(
          'it is enabled',
          async () => stateOf(await asker.get(`/v1/webhooks/${id}`)) === 'enabled',
        );

        assert.equal((await asker.post(`/v1/webhooks/${id}/ping`)).status, 200);
        const ping = await told('webhook.ping');
        assert.equal(ping.entityId, id);
        const delivery = await until('the ping is delivered', async () => {
          const { body } = await asker.get(`/v1/webhooks/${id}/deliveries`);
          const { deliveries } = body as unknown as {
            deliveries: { seq: number; eventId: string; type: string }[];
          };
          return deliveries.find(({ type }) => type === 'webhook.ping');
        });
        assert.deepEqual([delivery.eventId, delivery.seq], [ping.id, ping.seq]);
        const again = await asker.post(`/v1/webhooks/${id}/redeliver`, { afterSeq: ping.seq - 1 });
        assert.deepEqual([again.status, again.body], [200, { ok: true, afterSeq: ping.seq - 1 }]);
      } finally {
        await receiver.close();
      }
    });

    it('are challenged anew at another address, and at the same one unless that is enabled', async () => {
      const receiver = await startReceiver();
      try {
        const asker = await signIn(backend());
        const { id } = (await asker.post('/v1/webhooks', { url: receiver.url })).body;
        const move = async (to: string) => stateOf(await asker.patch(`/v1/webhooks/${id}`, { url: to }));
        await until(
          'it is enabled',
          async () => stateOf(await asker.get(`/v1/webhooks/${id}`)) === 'enabled',
        );
        assert.equal(await move(receiver.url), 'enabled');
        assert.equal(await move(url), 'pending');
        assert.equal(await move(url), 'pending');
        const changes = await until('both challenges are told', async () => {
          const { events } = (await asker.get('/v1/events?types=webhook.changed')).body as unknown as Feed;
          return events.length >= 2 && events;
        });
        assert.deepEqual(
          changes.map(({ data }) => data.changed),
          [['url'], ['state']],
        );
      } finally {
        await receiver.close();
      }
    });

    it('are ten at most', async () => {
      for (let made = 0; made < 10; made += 1)
        assert.equal((await person.post('/v1/webhooks', { url })).status, 200);
      const { status, body } = await person.post('/v1/webhooks', { url });
      assert.deepEqual([status, body.error, body.details], [400, 'too_many_webhooks', { maxWebhooks: 10 }]);
    });
  });
}
