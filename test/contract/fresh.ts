import assert from 'node:assert/strict';
import { addPasskey } from '../../api/accounts/describe-passkeys.js';
import { operations } from '../../api/http/openapi/document.js';
import { signIn, type Backend, type Person } from './backends.js';

/** What each operation that takes a fresh sign-in is asked for, beside the ids of a key and a webhook of the person. */
const requests: Readonly<
  Record<string, (person: Person, key: string, hook: string) => ReturnType<Person['get']>>
> = {
  addSshKey: (person) => person.post('/v1/ssh-keys', { name: 'laptop', generate: true }),
  beginPasskey: (person) => person.post('/v1/auth/passkeys/begin', {}),
  addPasskey: (person) => person.post('/v1/auth/passkeys', addPasskey.body?.examples[0]),
  createApiKey: (person) => person.post('/v1/api-keys', { name: 'ci', scopes: ['read'] }),
  changeApiKey: (person, key) => person.patch(`/v1/api-keys/${key}`, { spendCapCents: 501 }),
  putBudget: (person) => person.put('/v1/billing/budget', { monthlyCents: null, hard: false }),
  addWebhook: (person) => person.post('/v1/webhooks', { url: 'http://127.0.0.1:9/other' }),
  changeWebhook: (person, _key, hook) =>
    person.patch(`/v1/webhooks/${hook}`, { url: 'http://127.0.0.1:9/other' }),
  rotateWebhookSecret: (person, _key, hook) => person.post(`/v1/webhooks/${hook}/rotate-secret`),
  closeAccount: (person) => person.post('/v1/account/close', { email: person.user.email }),
  exportAccount: (person) => person.get('/v1/account/export'),
};

/** What only somebody may do who has shown lately who they are (decision 110, "Sessions and fresh proof"). */
export function describeFreshness(backend: () => Backend): void {
  it('asks for a fresh sign-in wherever the description says so', async () => {
    const declared = operations.filter(({ refusals }) => refusals?.includes('fresh_sign_in_required'));
    assert.deepEqual(Object.keys(requests).toSorted(), declared.map(({ name }) => name).toSorted());
    const person = await signIn(backend());
    const asked = { name: 'capped', scopes: ['read', 'rentals'], spendCapCents: 500 };
    const { id: key } = (await person.post('/v1/api-keys', asked)).body;
    const { id: hook } = (await person.post('/v1/webhooks', { url: 'http://127.0.0.1:9/hook' })).body;
    assert.equal((await person.put('/v1/billing/budget', { monthlyCents: 100, hard: true })).status, 200);
    await backend().ageSignIn(person);
    for (const [name, request] of Object.entries(requests)) {
      const { status, body } = await request(person, key, hook);
      assert.deepEqual([status, body.error], [403, 'fresh_sign_in_required'], name);
    }
  });
}
