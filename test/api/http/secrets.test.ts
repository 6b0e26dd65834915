import assert from 'node:assert/strict';
import Stripe from 'stripe';
import { processorEventsPath } from '../../../api/processor-events/path.js';
import { API_KEY } from '../../lab/provider/living-lab.js';
import { webhookSecret, type SignedIn } from '../../support/http/api.js';
import { secretKey, startService, type TestService } from '../../support/service/living-service.js';
import { Paying } from '../../support/story/paying.js';
import { Renting, rtx4090 } from '../../support/story/renting.js';
import { until } from '../../support/until.js';
import { CodeMails } from '../accounts/code-mails.js';

/** Reads all that the API and the worker log at their most talkative level, and searches it for secrets. */
describe('the log holds no secrets', () => {
  let service: TestService;
  let mails: CodeMails;
  let paying: Paying;

  before(async () => {
    // The service starts without a worker, so that the test can read the code before it is sent and wiped.
    service = await startService({ worker: false, logLevel: 'trace' });
    mails = new CodeMails(service.api);
    paying = new Paying(service);
  });
  after(() => service.stop());

  const log = (): string => JSON.stringify(service.api.logged);

  function assertUnlogged(secrets: Record<string, string>): void {
    const text = log();
    for (const [what, secret] of Object.entries(secrets)) {
      assert.ok(secret.length >= 6, `${what} is there`);
      const found = text.indexOf(secret);
      assert.equal(found, -1, `${what}: ${text.slice(Math.max(0, found - 200), found + 100)}`);
    }
  }

  /** Signs in by a code after a wrong one, and sends secrets where none belong. */
  async function signIn(secrets: Record<string, string>): Promise<SignedIn> {
    const email = mails.newEmail();
    const { client, code } = await mails.request(email);
    Object.assign(secrets, { code, email });
    const wrong = code === '999999' ? '888888' : '999999';
    await client.post('/v1/auth/verify-code', { email, code: wrong });
    const headers = { Authorization: 'Bearer of-an-eager-client' };
    await client.post(`/v1/auth/verify-code?code=${code}`, { email, code, unknownField: code }, headers);
    assert.equal((await client.post('/v1/auth/verify-code', { email, code }, headers)).status, 200);
    Object.assign(secrets, { cookie: client.sid!, authorization: 'of-an-eager-client' });
    return Object.assign(client, {
      user: (await service.db('users').where({ email }).first())!,
    });
  }

  async function addKey(user: SignedIn, secrets: Record<string, string>): Promise<void> {
    const { body, status } = await user.post('/v1/ssh-keys', { name: 'made here', generate: true });
    assert.equal(status, 200);
    const lines = (body as unknown as { privateKey: string }).privateKey.split('\n');
    Object.assign(secrets, { 'the private key': lines[2]!, 'its frame': 'PRIVATE KEY' });
  }

  it('of a whole session: signing in, keys, cards, payments, webhooks, a machine, signing out', async () => {
    const secrets: Record<string, string> = {
      'the processor’s key': secretKey,
      'the webhook’s secret': webhookSecret,
      'the upstream’s key': API_KEY,
    };
    const user = await signIn(secrets);
    await service.startWorker();
    await addKey(user, secrets);
    const { url } = await paying.page(user, 2_000);
    await paying.pay(url);
    await paying.awaitAvailable(user, 2_000);
    const setup = (await user.post('/v1/billing/setup-intent')).body as unknown as { clientSecret: string };
    Object.assign(secrets, {
      'the card form’s secret': setup.clientSecret,
      'the card’s number': '4242424242',
    });
    await paying.saveCard(user);
    assert.equal((await paying.checkout(user, 500)).body.status, 'succeeded');
    const forged = await user.send('POST', processorEventsPath, '{}', {
      'Stripe-Signature': Stripe.webhooks.generateTestHeaderString({
        payload: '{}',
        secret: 'whsec_guessed',
      }),
    });
    assert.equal(forged.status, 400);
    const asked = { name: 'a program', scopes: ['read', 'rentals'] };
    const { key } = (await user.post('/v1/api-keys', asked)).body as unknown as { key: string };
    Object.assign(secrets, { 'the API key': key.slice('gpur_'.length, -4) });
    const program = service.api.withKey(key);
    assert.equal((await program.get(`/v1/rentals?key=${key}`)).status, 400);
    const renting = new Renting(service);
    const rentalId = await renting.open(Object.assign(program, { user: user.user }), rtx4090);
    await user.post(`/v1/rentals/${rentalId}/stop`);
    await paying.awaitHandled();
    assert.equal((await user.post('/v1/auth/logout')).status, 200);

    assert.match(log(), new RegExp(`"userId":"${user.user.id}"`), 'requests are logged');
    assertUnlogged(secrets);
  });

  it('of a failed statement: neither its bindings nor the refused row', async () => {
    await service.db.raw(
      `alter table mail_outbox add constraint no_codes check (body not like '%sign-in code%') not valid`,
    );
    const answer = await service.api
      .stranger()
      .post('/v1/auth/request-code', { email: 'refused@example.com' }, { 'X-Request-Id': 'fails' });
    assert.deepEqual([answer.status, answer.body.error], [500, 'internal_error']);
    const lines = await until('it is logged', () => {
      const found = service.api.logged.filter(({ requestId }) => requestId === 'fails');
      return found.length === 2 && found;
    });
    const { constraint, message } = lines[0]!['err'] as { constraint: string; message: string };
    assert.equal(constraint, 'no_codes');
    assert.match(message, /mail_outbox/);
    assertUnlogged({ 'the mail': 'sign-in code', 'the address': 'refused@example.com' });
  });
});
