import { setTimeout as sleep } from 'node:timers/promises';
import type { StackUrls } from '../../lab/stack/urls.js';
import { Client, type Answer } from './client.js';
import type { Figures } from './figures.js';

/** The answers that one user got, to be compared with the truth in the end. */
export interface Account {
  readonly email: string;
  /** The client, still signed in. */
  readonly client: Client;
  /** The cents of each payment page that was paid, by top-up. */
  readonly paid: Map<string, number>;
  /** Each rental whose creation was answered. */
  readonly rentals: string[];
  /** Those that never got a machine: a process died while it was bought. */
  readonly failed: Set<string>;
  /** The answer to each stop. */
  readonly stops: Map<string, Answer['body']>;
}

const topupCents = 10_000;
/** Up to 24 dollars an hour: a cent every second and a half. */
const wishes = [
  { familyId: 'h100-80gb', gpuCount: 8 },
  { familyId: 'h100-80gb', gpuCount: 1 },
  { familyId: 'rtx-4090', gpuCount: 1 },
];
const pollEveryMs = 1_000;
const card = { cardNumber: '4242424242424242', cardExpiry: '12/40', cardCvc: '123' };
const waitLimitMs = 150_000;

/** Signs in by the code in the mail, and makes the first payment. */
export async function arrive(index: number, urls: StackUrls, figures: Figures): Promise<Account> {
  const account: Account = {
    email: `user-${index}@example.com`,
    client: new Client(urls.api, figures),
    paid: new Map(),
    rentals: [],
    failed: new Set(),
    stops: new Map(),
  };
  const { client, email } = account;
  must(200, await client.post('sign in', '/v1/auth/request-code', { email }));
  const code = await until(`the mail to ${email}`, async () => {
    const answer = await fetch(`${urls.mail}/mails?to=${encodeURIComponent(email)}`);
    const { mails } = (await answer.json()) as { mails: { text: string }[] };
    return /\b\d{6}\b/.exec(mails[0]?.text ?? '')?.[0];
  });
  must(200, await client.post('sign in', '/v1/auth/verify-code', { email, code }));
  await topUp(account);
  return account;
}

/** Pays a page as a browser does, and waits for the money. */
export async function topUp(account: Account): Promise<void> {
  const { client, paid } = account;
  const answer = must(200, await client.post('top up', '/v1/billing/checkout', { amountCents: topupCents }));
  const page = await fetch(String(answer['checkoutUrl']), {
    method: 'POST',
    body: new URLSearchParams(card),
    redirect: 'manual',
  });
  await page.arrayBuffer();
  if (page.status !== 303) throw new Error(`The payment page answered ${page.status}.`);
  const topupId = String(answer['topupId']);
  paid.set(topupId, topupCents);
  await until(`the credit of ${topupId}`, async () => {
    const { body } = await client.get('poll', `/v1/billing/topups/${topupId}`);
    return body['status'] === 'succeeded' ? true : undefined;
  });
}

/** Rents a machine, looks at it every second, and stops it, again and again; pays once more in between. */
export async function rentUntil(
  account: Account,
  index: number,
  end: { readonly at: number },
): Promise<void> {
  for (let round = 0; Date.now() < end.at; round += 1) {
    if (round === 1) await topUp(account);
    await rentOnce(account, index + round);
  }
}

async function rentOnce(account: Account, seed: number): Promise<void> {
  const { client, rentals, failed, stops } = account;
  const created = await client.post('create', '/v1/rentals', wishes[seed % wishes.length] ?? {});
  const id = String(must(200, created)['id']);
  rentals.push(id);
  const read = async (): Promise<Answer['body']> => must(200, await client.get('poll', `/v1/rentals/${id}`));
  await until(`${id} to run`, async () => {
    const { status } = await read();
    if (status === 'failed') failed.add(id);
    if (status === 'running' || status === 'failed') return true;
    if (status !== 'provisioning') throw new Error(`${id} is ${String(status)} and never ran.`);
    return undefined;
  });
  if (failed.has(id)) return;
  for (let polls = 0; polls < 12 + (seed % 10); polls += 1) {
    await sleep(pollEveryMs);
    await read();
  }
  stops.set(id, must(200, await client.post('stop', `/v1/rentals/${id}/stop`, {})));
  await until(`${id} to be stopped`, async () => ((await read())['status'] === 'stopped' ? true : undefined));
}

function must(status: number, answer: Answer): Answer['body'] {
  if (answer.status === status) return answer.body;
  throw new Error(`${status} was expected, not ${answer.status}: ${JSON.stringify(answer.body)}`);
}

async function until<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  const deadline = Date.now() + waitLimitMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > deadline) throw new Error(`${what} did not come within ${waitLimitMs / 1000} s.`);
    await sleep(pollEveryMs);
  }
}
