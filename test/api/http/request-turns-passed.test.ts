import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { newId } from '../../../adapters/ids.js';
import type { IdentityProvider } from '../../../adapters/identity/identity.js';
import type { Processor } from '../../../adapters/processor/processor.js';
import { requestLimits } from '../../../domain/requests/limits.js';
import type { Answer } from '../../support/http/answers.js';
import { startApi, type SignedIn, type TestApi } from '../../support/http/api.js';
import { insertRunningRental } from '../../support/money/factories.js';
import { getTemporal } from '../../support/servers/servers.js';
import { until } from '../../support/until.js';

const HOUR = 3_600_000;
/** Longer than a request waits for its turn: a request behind another is refused before this ends. */
const LONG_MS = 4 * requestLimits.requestTurnWaitMs;
const PATIENCE_MS = 2 * requestLimits.requestTurnWaitMs;

describe('the one turn of a caller is passed on (decision 97)', () => {
  let api: TestApi;
  let user: SignedIn;
  /** The peers that were called. Each is silent until the test lets go. */
  const asked: string[] = [];
  let never: Promise<never>;
  let letGo: () => void;

  function ask(whom: string): Promise<never> {
    asked.push(whom);
    return never;
  }

  const processor = {
    createCustomer: () => ask('for a customer'),
    getInvoice: () => ask('for an invoice'),
  } as unknown as Processor;
  let pageIsKnown = true;
  const identityProvider: IdentityProvider = {
    ...{ id: 'oidc', name: 'Silent' },
    findSignInPage: ({ state }) =>
      pageIsKnown ? Promise.resolve(new URL(`https://id.example/?state=${state}`)) : ask('for its page'),
    findVerifiedIdentity: () => ask('for an account'),
  };

  before(async () => {
    api = await startApi({
      settings: { requestsAtOnce: 1 },
      ...{ processor: () => processor, identityProviders: [identityProvider] },
    });
  });
  after(() => api.stop());
  beforeEach(async () => {
    asked.length = 0;
    pageIsKnown = true;
    never = new Promise((_resolve, reject) => (letGo = () => reject(new Error('the test is over'))));
    never.catch(() => undefined);
    user = await api.signIn();
  });

  /** Asserts that a second request gets as far as the first one, which is still under way there. */
  async function assertPassed(whom: string, send: () => Promise<Answer>): Promise<void> {
    const answers = Promise.all([send(), send()]);
    const both = () => asked.filter((each) => each === whom).length === 2;
    await until(`both ask ${whom}`, both, PATIENCE_MS).finally(letGo);
    for (const { status } of await answers) assert.equal(status, 500);
  }

  it('while the payment processor is asked to save a card', async () => {
    await assertPassed('for a customer', () => user.post('/v1/billing/setup-intent'));
  });

  it('while the payment processor is asked for the page of an invoice', async () => {
    const wallet = await api.db('wallets').where({ user_id: user.user.id }).first();
    const id = newId('inv');
    await api.db('invoices').insert({
      ...{ id, user_id: user.user.id, wallet_id: wallet!.id, amount_cents: 120, status: 'open' },
      ...{ reason: 'manual', cause: `test:${id}`, processor_invoice_id: 'in_1' },
    });
    await assertPassed('for an invoice', () => user.get(`/v1/billing/invoices/${id}/pay-url`));
  });

  it('while an identity provider is asked for its page', async () => {
    pageIsKnown = false;
    await assertPassed('for its page', () => api.stranger().get('/v1/auth/oauth/oidc/start'));
  });

  it('while an identity provider is asked whose account it is', async () => {
    await assertPassed('for an account', async () => {
      const { headers } = await api.stranger().get('/v1/auth/oauth/oidc/start');
      const state = new URL(headers.get('location')!).searchParams.get('state')!;
      const [cookie = ''] = headers.getSetCookie()[0]!.split(';');
      const path = `/v1/auth/oauth/oidc/callback?code=x&state=${state}`;
      return api.stranger().get(path, { Cookie: cookie });
    });
  });

  it('while a stop waits for Temporal', async () => {
    const silent = await listenSilently();
    const waiting = await startApi({
      ...{ databaseUrl: api.databaseUrl, temporalAddress: silent.address },
      settings: { requestsAtOnce: 1, reachMs: LONG_MS },
    });
    try {
      const client = waiting.stranger();
      client.sid = user.sid!;
      const rentals = await Promise.all([1, 2, 3].map(() => insertRunningRental(api.db, user.user.id, HOUR)));
      const nos = rentals.map(({ no }) => no);
      let answered = 0;
      const stops = rentals.map(async ({ id }) => {
        const answer = await client.post(`/v1/rentals/${id}/stop`);
        answered += 1;
        return answer;
      });
      const written = async (): Promise<boolean> =>
        (await api.db('stop_requests').whereIn('rental_no', nos)).length === nos.length;
      await until('all stops are written', written, PATIENCE_MS).finally(() => silent.close());
      assert.equal(answered, 0, 'while each of them waits for Temporal');
      for (const { status } of await Promise.all(stops)) assert.equal(status, 200);
    } finally {
      await waiting.stop();
    }
  });

  it('while an opening waits for its workflow, which no worker runs', async () => {
    const waiting = await startApi({
      ...{ databaseUrl: api.databaseUrl, temporalAddress: (await getTemporal()).address },
      settings: { requestsAtOnce: 1, answerWithinMs: 6_000, answerGraceMs: 0 },
    });
    try {
      const client = waiting.stranger();
      client.sid = user.sid!;
      let answered = 0;
      const open = async (): Promise<Answer> => {
        const answer = await client.post('/v1/rentals', { familyId: 'rtx-4090', gpuCount: 1 });
        answered += 1;
        return answer;
      };
      const answers = Promise.all([open(), open()]);
      const requested = async (): Promise<boolean> =>
        (await api.db('rental_requests').where({ user_id: user.user.id })).length === 2;
      await until('both are asked for', requested, PATIENCE_MS);
      assert.equal(answered, 0, 'while each of them waits for its workflow');
      for (const { status, body } of await answers) {
        assert.equal(status, 503);
        const { workflow } = waiting.deps.temporal.client;
        await workflow.getHandle(body.details.rentalId).terminate('the test is over');
      }
    } finally {
      await waiting.stop();
    }
  });
});

/** Accepts connections and never sends anything. */
async function listenSilently(): Promise<{ readonly address: string; close(): void }> {
  const sockets: Socket[] = [];
  const server: Server = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
