import assert from 'node:assert/strict';
import type { QuoteId, UserId } from '../../domain/ids.js';
import type { Provider } from '../../adapters/providers/provider.js';
import { warnOfNearEnds } from '../../adapters/postgres/rentals/near-ends.js';
import { lookAtBudgets, tellReached } from '../../adapters/postgres/spending/budget-alerts.js';
import { startMock } from '../../lab/mock/server.js';
import { mockTelemetry } from '../../lab/mock/telemetry.js';
import { ContractClient } from './through-client.js';
import { Invoicing } from '../support/story/invoicing.js';
import { startService } from '../support/service/living-service.js';
import { until } from '../support/until.js';

/** A client with somebody's session. */
export type Person = ContractClient & { readonly user: { readonly id: UserId; readonly email: string } };

/** The subject of the contract, with the acts of a client's own surroundings: to read mail, to pay on a page. */
export interface Backend {
  readonly name: string;
  readonly url: string;
  /** Where pages are that passkeys are for. */
  readonly dashboardUrl: string;
  /** Returns the code that was sent to an address. */
  readCode(email: string): Promise<string>;
  /** Lets the address have had no codes yet: it may ask for one at once. */
  forgetCodes(email: string): Promise<void>;
  /** Pays on a checkout's page as a browser does. @returns the answer's status */
  pay(checkoutUrl: string): Promise<number>;
  /** Saves a card as the processor's form in the browser does. */
  saveCard(person: Person): Promise<void>;
  /** Issues an open debt. @returns the invoice's id */
  issueInvoice(person: Person, amountCents: number): Promise<string>;
  /** Pays an invoice on its page. */
  payInvoice(pageUrl: string): Promise<void>;
  /** Lets the time of a quote be over. */
  expireQuote(quote: { readonly quoteId: string; readonly expiresAt: string }): Promise<void>;
  /** Lets the sign-in of a person's session be too long ago to count as fresh. */
  ageSignIn(person: Person): Promise<void>;
  /** Has budgets looked at now. */
  lookAtBudgets(): Promise<void>;
  /** Has machines looked for now whose end is near. */
  lookForEnds(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the mock with durations of milliseconds instead of its default seconds. */
export async function startMockBackend(): Promise<Backend> {
  const mock = await startMock({
    port: 0,
    durations: { provisionMs: 100, tickMs: 100, endMs: 50, cardMs: 50, quoteMs: 4_000 },
  });
  return {
    name: 'the mock',
    url: mock.url,
    dashboardUrl: mock.world.dashboardUrl,
    readCode: () => Promise.resolve('123456'),
    forgetCodes: () => Promise.resolve(),
    async pay(checkoutUrl) {
      const page = await fetch(checkoutUrl, { redirect: 'manual' });
      return page.status;
    },
    async saveCard(person) {
      assert.equal((await person.post('/v1/billing/setup-intent')).status, 200);
    },
    async issueInvoice(person, amountCents) {
      const answer = await fetch(`${mock.url}/mock/invoices`, {
        method: 'POST',
        headers: { Cookie: `sid=${person.sid ?? ''}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ amountCents }),
      });
      return ((await answer.json()) as { id: string }).id;
    },
    async payInvoice(pageUrl) {
      const paid = await fetch(`${pageUrl}/pay`, { method: 'POST', redirect: 'manual' });
      assert.equal(paid.status, 303);
    },
    async expireQuote({ expiresAt }) {
      await until('the quote expires', () => Promise.resolve(Date.now() > Date.parse(expiresAt)));
    },
    ageSignIn({ sid }) {
      const { account } = mock.world.accounts.find(sid ?? '')!;
      for (const row of mock.world.accounts.sessionsOf(account)) row.proved_at = null;
      return Promise.resolve();
    },
    // It looks at each tick.
    lookAtBudgets: () => Promise.resolve(),
    lookForEnds: () => Promise.resolve(),
    stop: () => mock.stop(),
  };
}

/** Starts the whole service: Postgres, Temporal, a worker, and the lab as its outside. */
export async function startRealBackend(): Promise<Backend> {
  // Its upstream says that it tells how much machines are used, as the mock's does.
  const wrapProvider = (provider: Provider): Provider => ({ ...provider, telemetry: mockTelemetry });
  const service = await startService({ wrapProvider });
  const invoicing = new Invoicing(service);
  const rowOf = async (person: Person) => {
    const user = await service.db('users').where({ id: person.user.id }).first();
    return Object.assign(new ContractClient(service.api.url, person.sid), { user: user! });
  };
  return {
    name: 'the service',
    url: service.api.url,
    dashboardUrl: service.api.deps.settings.dashboardUrl,
    async readCode(email) {
      const mail = await service.db('mail_outbox').where({ recipient: email }).orderBy('id', 'desc').first();
      if (mail?.body !== null && mail?.body !== undefined) return /\b\d{6}\b/.exec(mail.body)![0];
      // The mail has left, and its code is wiped from the outbox.
      return until('the code arrives', async () => {
        const answer = await fetch(`${service.inbox.url}/mails?to=${encodeURIComponent(email)}`);
        return /code is (\d{6})/.exec(await answer.text())?.[1];
      });
    },
    async forgetCodes(email) {
      await service.db('login_codes').where({ email }).delete();
    },
    pay: (checkoutUrl) => invoicing.pay(checkoutUrl),
    async saveCard(person) {
      await invoicing.saveCard(await rowOf(person));
    },
    async issueInvoice(person, amountCents) {
      return (await invoicing.open(await rowOf(person), amountCents)).id;
    },
    async payInvoice(pageUrl) {
      assert.ok((await invoicing.pay(pageUrl)) < 400);
    },
    async expireQuote({ quoteId }) {
      await service
        .db('quotes')
        .where({ id: quoteId as QuoteId })
        .update({
          created_at: service.db.raw(`clock_ms() - interval '2 minutes'`),
          expires_at: service.db.raw(`clock_ms() - interval '1 minute'`),
        });
    },
    async ageSignIn({ user }) {
      await service.db('sessions').where({ user_id: user.id }).update({ proved_at: null });
    },
    async lookAtBudgets() {
      const { reached } = await lookAtBudgets(service.db, undefined);
      for (const one of reached) await tellReached(service.db, one);
    },
    async lookForEnds() {
      await warnOfNearEnds(service.db);
    },
    stop: () => service.stop(),
  };
}

let people = 0;

/** Signs a new user in with a code; default: in a browser of their own. */
export async function signIn(backend: Backend, client = new ContractClient(backend.url)): Promise<Person> {
  people += 1;
  const email = `person${people}@example.com`;
  assert.deepEqual((await client.post('/v1/auth/request-code', { email })).body, { ok: true });
  const code = await backend.readCode(email);
  const { status, body } = await client.post('/v1/auth/verify-code', { email, code });
  assert.equal(status, 200, JSON.stringify(body));
  return Object.assign(client, { user: body.user });
}

/** Tops a user's wallet up on the payment page, and waits for the money. */
export async function topUp(backend: Backend, person: Person, amountCents: number): Promise<string> {
  const { body } = await person.post('/v1/billing/checkout', { amountCents });
  assert.equal(await backend.pay(body.checkoutUrl), 303);
  await until(
    'the top-up is credited',
    async () => (await person.get(`/v1/billing/topups/${body.topupId}`)).body.status === 'succeeded',
  );
  return body.topupId;
}

/** Saves a card, and waits until it is shown. */
export async function saveCard(backend: Backend, person: Person): Promise<{ brand: string; last4: string }> {
  await backend.saveCard(person);
  return until('the card is saved', async () => {
    const { body } = await person.get('/v1/billing/card');
    const { brand, last4 } = body as unknown as { brand: string; last4: string | null };
    return last4 !== null && { brand, last4 };
  });
}

/** Signs a user in once more, in a browser of its own. They have just had a mail: this one asks from elsewhere. */
export async function signInAgain(backend: Backend, { user }: Person): Promise<ContractClient> {
  const client = new ContractClient(backend.url);
  await backend.forgetCodes(user.email);
  assert.equal((await client.post('/v1/auth/request-code', { email: user.email })).status, 200);
  const code = await backend.readCode(user.email);
  assert.equal((await client.post('/v1/auth/verify-code', { email: user.email, code })).status, 200);
  return client;
}
