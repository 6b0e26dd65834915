import assert from 'node:assert/strict';
import { openStream } from '../support/http/event-stream.js';
import { until } from '../support/until.js';
import { ContractClient } from './through-client.js';
import { signIn, topUp, type Backend, type Person } from './backends.js';

interface Key {
  readonly id: string;
  readonly key: string;
  readonly name: string;
  readonly hint: string;
  readonly ends: string;
  readonly revokedAt: string | null;
  readonly lastUsedAt: string | null;
}

/** Keys: made, used within their scopes, and revoked. */
export function describeApiKeys(backend: () => Backend): void {
  describe('API keys', () => {
    let person: Person;
    before(async () => {
      person = await signIn(backend());
    });

    async function make(scopes: string[], more: object = {}): Promise<{ made: Key; client: ContractClient }> {
      const { status, body } = await person.post('/v1/api-keys', { name: 'a program', scopes, ...more });
      assert.equal(status, 200, JSON.stringify(body));
      const made = body as unknown as Key;
      const client = Object.assign(new ContractClient(backend().url), { key: made.key });
      return { made, client };
    }

    it('are shown once, listed, used, renamed and revoked', async () => {
      const { made, client } = await make(['read', 'billing']);
      const { key, ...shown } = made;
      assert.equal(key.slice(-4), shown.hint);
      assert.deepEqual((await person.get(`/v1/api-keys/${made.id}`)).body, shown);
      const me = (await client.get('/v1/auth/me')).body as unknown as { user: object; apiKey: Key };
      assert.deepEqual([me.user, me.apiKey.id], [person.user, made.id]);
      assert.equal((await client.get('/v1/billing/balance')).body.totalCents, 0);
      const renamed = (await person.patch(`/v1/api-keys/${made.id}`, { name: 'other' }))
        .body as unknown as Key;
      assert.equal(renamed.name, 'other');
      assert.ok(renamed.lastUsedAt !== null, 'it was used');
      assert.equal((await person.delete(`/v1/api-keys/${made.id}`)).status, 200);
      assert.equal((await person.delete(`/v1/api-keys/${made.id}`)).status, 200);
      const late = await client.get('/v1/auth/me');
      assert.deepEqual([late.status, late.body.error], [401, 'key_revoked']);
      const { body } = await person.get('/v1/api-keys?pageSize=1');
      const [listed] = (body as unknown as { apiKeys: Key[] }).apiKeys;
      assert.deepEqual([listed?.id, listed?.revokedAt === null], [made.id, false]);
    });

    it('may do what their scopes say, and never what is their owner’s alone', async () => {
      const { client } = await make(['read']);
      const quote = await client.post('/v1/quotes', { familyId: 'rtx-4090', gpuCount: 1 });
      assert.deepEqual([quote.status, quote.body.error], [403, 'key_scope']);
      const key = await client.post('/v1/api-keys', { name: 'more', scopes: ['read'] });
      assert.deepEqual([key.status, key.body.error], [403, 'session_required']);
      assert.equal((await client.get('/v1/api-keys')).body.error, 'session_required');
    });

    it('end and limit only what they opened, where they were made so', async () => {
      await topUp(backend(), person, 1_000);
      const wish = { familyId: 'rtx-4090', gpuCount: 1 };
      const { id } = (await person.post('/v1/rentals', wish)).body;
      const theirs = id;
      const { made, client } = await make(['read', 'rentals'], { ends: 'own' });
      const { client: any } = await make(['read', 'rentals']);
      assert.equal(made.ends, 'own');
      for (const refused of [
        await client.post(`/v1/rentals/${id}/stop`),
        await client.patch(`/v1/rentals/${id}`, { maxSpendCents: 1 }),
        await client.patch(`/v1/rentals/${id}`, { autoStopAfterHours: 1 }),
      ]) {
        assert.deepEqual([refused.status, refused.body.error], [403, 'key_ends_own']);
        assert.deepEqual(refused.body.details, { rentalId: id });
      }
      assert.equal((await client.patch(`/v1/rentals/${id}`, { name: 'theirs' })).status, 200);
      assert.equal((await any.post(`/v1/rentals/${id}/stop`)).status, 200);
      const own = (await client.post('/v1/rentals', wish)).body;
      for (const [asker, id] of [
        [client, own.id],
        [person, theirs],
      ] as const) {
        const { rentals } = (await asker.get('/v1/rentals?mine=true')).body;
        assert.deepEqual(
          rentals.map((rental) => rental.id),
          [id],
        );
        assert.equal((await asker.get('/v1/rentals?mine=false')).body.rentals.length, 2);
      }
      assert.equal((await client.patch(`/v1/rentals/${own.id}`, { maxSpendCents: 100 })).status, 200);
      assert.equal((await client.post(`/v1/rentals/${own.id}/stop`)).status, 200);
    });

    it('set up webhooks, SSH keys and lower budgets, where they have that scope, and nothing more', async () => {
      const { made, client } = await make(['setup', 'read', 'billing']);
      const url = 'https://hooks.example.com/ci';
      const reasonOf = ({ status, body }: { status: number; body: { error?: string; details?: object } }) => {
        assert.deepEqual([status, body.error], [403, 'key_setup'], JSON.stringify(body));
        return (body.details as { reason: string }).reason;
      };
      const theirs = (await person.post('/v1/webhooks', { url, types: ['rental.stopped'] })).body;
      const watch = (await person.post('/v1/webhooks', { url, types: ['session.started'] })).body;
      const hook = await client.post('/v1/webhooks', { url });
      assert.match(String((hook.body as { secret?: string }).secret), /^whsec_/);

      assert.equal((await client.patch(`/v1/webhooks/${theirs.id}`, { description: 'by CI' })).status, 200);
      assert.equal((await client.post(`/v1/webhooks/${hook.body.id}/rotate-secret`)).status, 200);
      for (const refused of [
        await client.post('/v1/webhooks', { url, types: ['rental.running', 'api_key.created'] }),
        await client.patch(`/v1/webhooks/${theirs.id}`, { types: ['session.ended'] }),
        await client.patch(`/v1/webhooks/${watch.id}`, { url: 'https://hooks.example.com/mine' }),
        await client.delete(`/v1/webhooks/${watch.id}`),
      ]) {
        assert.equal(reasonOf(refused), 'sign_in_events');
      }
      const moved = { url: 'https://hooks.example.com/mine' };
      for (const refused of [
        await client.post(`/v1/webhooks/${theirs.id}/rotate-secret`),
        await client.patch(`/v1/webhooks/${theirs.id}`, moved),
        await client.patch(`/v1/webhooks/${theirs.id}`, { url }),
      ]) {
        assert.equal(reasonOf(refused), 'not_made_by_key');
      }
      assert.equal((await client.patch(`/v1/webhooks/${hook.body.id}`, moved)).body.url, moved.url);

      const own = (await person.post('/v1/ssh-keys', { name: 'laptop', generate: true })).body;
      const ci = (await client.post('/v1/ssh-keys', { name: 'CI', generate: true })).body;
      const keys = (await client.get('/v1/ssh-keys')).body.sshKeys as unknown as {
        id: string;
        byKey: boolean;
      }[];
      assert.deepEqual(
        keys.filter(({ id }) => [own.id, ci.id].includes(id)).map(({ byKey }) => byKey),
        [false, true],
      );
      assert.equal(reasonOf(await client.delete(`/v1/ssh-keys/${own.id}`)), 'not_made_by_key');

      assert.equal((await client.put('/v1/billing/budget', { monthlyCents: 5_000 })).status, 200);
      assert.equal((await client.put('/v1/billing/budget', { monthlyCents: 4_000, hard: true })).status, 200);
      for (const looser of [
        { monthlyCents: 4_001, hard: true },
        { monthlyCents: 4_000 },
        { monthlyCents: null },
      ]) {
        assert.equal(reasonOf(await client.put('/v1/billing/budget', looser)), 'budget_raised');
      }
      assert.equal((await person.put('/v1/billing/budget', { monthlyCents: null })).status, 200);

      assert.equal((await person.delete(`/v1/api-keys/${made.id}?removeMade=true`)).status, 200);
      const left = (await person.get('/v1/webhooks')).body as unknown as { webhooks: { id: string }[] };
      const leftIds = left.webhooks.map(({ id }) => id);
      assert.deepEqual(leftIds, [theirs.id, watch.id]);
      const leftKeys = (await person.get('/v1/ssh-keys')).body.sshKeys.map(({ id }) => id);
      assert.deepEqual([leftKeys.includes(own.id), leftKeys.includes(ci.id)], [true, false]);
    });

    it('take with them what they made and rented, where that is asked for, and each end is told', async () => {
      await topUp(backend(), person, 1_000);
      const { made, client } = await make(['setup', 'read', 'rentals']);
      const hook = (await client.post('/v1/webhooks', { url: 'https://hooks.example.com/ci' })).body.id;
      const sshKey = (await client.post('/v1/ssh-keys', { name: 'CI', generate: true })).body.id;
      const rental = (await client.post('/v1/rentals', { familyId: 'rtx-4090', gpuCount: 1 })).body.id;
      const path = `/v1/api-keys/${made.id}?stopMachines=true&removeMade=true`;
      assert.equal((await person.delete(path)).status, 200);
      const { body } = await person.get('/v1/audit?pageSize=4');
      const { events } = body as unknown as { events: { kind: string; entityId: string }[] };
      assert.deepEqual(
        events.map(({ kind, entityId }) => [kind, entityId]),
        [
          ['api_key_revoked', made.id],
          ['ssh_key_removed', sshKey],
          ['webhook_removed', hook],
          ['rental_stopped', rental],
        ],
      );
      const told = await openStream(person, '?after=0');
      try {
        for (const [type, id] of [
          ['api_key.revoked', made.id],
          ['webhook.removed', hook],
          ['ssh_key.removed', sshKey],
          ['rental.stopping', rental],
        ] as const)
          await until(`${type} is told`, () => told.named(type).some(({ data }) => data['entityId'] === id));
        told.check();
      } finally {
        told.cut();
      }
    });

    it('are refused when they are mistyped, and from elsewhere', async () => {
      const { client } = await make(['read'], { allowedCidrs: ['192.0.2.0/24'] });
      const elsewhere = await client.get('/v1/rentals');
      assert.deepEqual([elsewhere.status, elsewhere.body.error], [403, 'key_address']);
      const mistyped = Object.assign(new ContractClient(backend().url), { key: `gpur_${'0'.repeat(36)}` });
      const unknown = await mistyped.get('/v1/rentals');
      assert.deepEqual([unknown.status, unknown.body.error], [401, 'key_unknown']);
    });

    it('have what they did named in the audit trail', async () => {
      const { made, client } = await make(['billing']);
      assert.equal((await client.post('/v1/billing/checkout', { amountCents: 500 })).status, 200);
      const { body } = await person.get('/v1/audit?kind=checkout_begun');
      const [begun] = (body as unknown as { events: { apiKeyId: string }[] }).events;
      assert.equal(begun?.apiKeyId, made.id);
    });

    it('pay on a page, though a card is saved', async () => {
      await backend().saveCard(person);
      const { client } = await make(['billing']);
      const { body } = await client.post('/v1/billing/checkout', { amountCents: 500 });
      assert.ok(body.checkoutUrl, JSON.stringify(body));
    });
  });
}
