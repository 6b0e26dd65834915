import assert from 'node:assert/strict';
import { openStream, type StreamClient } from '../support/http/event-stream.js';
import { until } from '../support/until.js';
import { saveCard, signIn, topUp, type Backend, type Person } from './backends.js';

interface Closing {
  readonly requestedAt: string | null;
  readonly closingSince: string | null;
  readonly state: string | null;
  readonly returns: readonly { readonly paymentId: string }[];
  readonly lapsesCents: number;
}

/** The closing of an account: what it would do, and what it ends. */
export function describeClosing(backend: () => Backend): void {
  describe('closing an account', () => {
    let person: Person;
    const opened: StreamClient[] = [];
    beforeEach(async () => {
      person = await signIn(backend());
    });
    afterEach(() => {
      for (const stream of opened.splice(0)) stream.cut();
    });

    const show = async () => (await person.get('/v1/account/closing')).body as unknown as Closing;
    const close = (email = person.user.email) => person.post('/v1/account/close', { email });

    it('says what it would do, wants the own address, and lets nothing new begin', async () => {
      // It is waited for: nothing else here would keep the account from being closed, and the session from ending.
      await backend().issueInvoice(person, 500);
      const before = await show();
      assert.deepEqual([before.state, before.returns, before.lapsesCents], [null, [], 0]);
      const wrong = await close('somebody@example.com');
      assert.deepEqual([wrong.status, wrong.body.error], [400, 'validation_failed']);
      const closed = await close();
      const shown = closed.body as unknown as Closing;
      assert.deepEqual([closed.status, shown.state !== null], [200, true]);
      for (const [path, body] of [
        ['/v1/quotes', { familyId: 'h100-80gb', gpuCount: 1, templateId: 'ubuntu-24-04' }],
        ['/v1/billing/checkout', { amountCents: 1_000 }],
        ['/v1/billing/setup-intent', {}],
        ['/v1/api-keys', { name: 'late', scopes: ['read'] }],
      ] as const) {
        const late = await person.post(path, body);
        assert.deepEqual([late.status, late.body.error], [403, 'account_closing'], path);
      }
      const { closingSince } = (await person.get('/v1/auth/me')).body as unknown as Partial<Closing>;
      assert.equal(closingSince, shown.requestedAt);
    });

    it('gives back to the newest payments first what was paid in and is not owed', async () => {
      await topUp(backend(), person, 2_000);
      await topUp(backend(), person, 700);
      await backend().issueInvoice(person, 500);
      const { returns, lapsesCents } = await show();
      assert.deepEqual(
        returns.map(({ paymentId: _id, ...told }) => told),
        [700, 1_500].map((amountCents) => ({
          ...{ amountCents, status: 'planned', cardBrand: 'visa', cardLast4: '4242' },
        })),
      );
      assert.equal(lapsesCents, 0);
    });

    it('ends keys with their streams, open pages and the automatic top-up', async () => {
      await backend().issueInvoice(person, 500);
      const { topupId } = (await person.post('/v1/billing/checkout', { amountCents: 700 })).body;
      await saveCard(backend(), person);
      await person.put('/v1/billing/auto-topup', { enabled: true, thresholdCents: 600 });
      const { id, key } = (await person.post('/v1/api-keys', { name: 'CI', scopes: ['read'] }))
        .body as unknown as { id: string; key: string };
      const byKey = await openStream({ url: backend().url }, '', { Authorization: `Bearer ${key}` });
      const stream = await openStream(person, '?after=0');
      opened.push(byKey, stream);
      await close();
      assert.equal((await stream.await('api_key.revoked')).data['entityId'], id);
      assert.equal((await stream.await('topup.expired')).data['entityId'], topupId);
      await byKey.awaitClose();
      assert.deepEqual(byKey.named('closed')[0]?.data, { reason: 'key_ended' });
      const { body: off } = await person.get('/v1/billing/auto-topup');
      assert.deepEqual([off.enabled, off.disabledReason], [false, null]);
      assert.equal((await person.get(`/v1/billing/topups/${topupId}`)).body.status, 'expired');
      await until('only the debt is waited for', async () => (await show()).state === 'settling');
    });
  });
}
