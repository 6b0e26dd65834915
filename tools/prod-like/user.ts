import { randomUUID } from 'node:crypto';
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
  /** Each name that a rental got, by an answered change. */
  readonly names: string[];
  /** The rentals whose machine fetches a start script from the listener. */
  readonly scripted: Set<string>;
}

const topupCents = 10_000;
/** Up to 24 dollars an hour: a cent every second and a half. */
const wishes = [
  { familyId: 'h100-80gb', gpuCount: 8 },
  { familyId: 'h100-80gb', gpuCount: 1 },
  { familyId: 'rtx-4090', gpuCount: 1 },
];
const ownScript = { startScript: '#!/bin/sh\necho "$GREETING"\n', env: { GREETING: 'hello' } };
const scriptEvery = 3;
const lastingEvery = 4;
const renameEvery = 5;
/** What a dashboard asks for again and again. */
const pages = ['/v1/rentals', '/v1/billing/ledger', '/v1/catalog/listings'];
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
    names: [],
    scripted: new Set(),
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

/** What users do. */
export interface Load {
  /** By Date.now(); no rental begins after it. */
  readonly end: { readonly at: number };
  /** Whether there is a listener, from which machines fetch start scripts. */
  readonly scripts: boolean;
}

/**
 * Rents a machine, looks at it every second, renames it and stops it, again and again, and pays in between. Every fourth user
 * has another machine, which runs all the time.
 */
export async function rentUntil(account: Account, index: number, load: Load): Promise<void> {
  const lasting = index % lastingEvery === 0 ? await open(account, index, load) : undefined;
  for (let round = 0; Date.now() < load.end.at; round += 1) {
    if (round % 2 === 1) await topUp(account);
    await rentOnce(account, index + round, load);
  }
  if (lasting !== undefined) await stop(account, lasting);
}

async function rentOnce(account: Account, seed: number, load: Load): Promise<void> {
  const id = await open(account, seed, load);
  if (id === undefined) return;
  for (let polls = 0; polls < 12 + (seed % 10); polls += 1) {
    await sleep(pollEveryMs);
    await read(account, id);
    must(200, await account.client.get('page', pages[polls % pages.length] ?? ''));
    if (polls % renameEvery === 0) await rename(account, id, `${seed}-${polls}-${randomUUID()}`);
  }
  await stop(account, id);
}

/** @returns undefined when it got no machine */
async function open(account: Account, seed: number, { scripts }: Load): Promise<string | undefined> {
  const { client, rentals, failed, scripted } = account;
  const hasScript = scripts && seed % scriptEvery === 0;
  const wish = { ...wishes[seed % wishes.length], ...(hasScript && ownScript) };
  const id = String(must(200, await client.post('create', '/v1/rentals', wish))['id']);
  rentals.push(id);
  if (hasScript) scripted.add(id);
  await until(`${id} to run`, async () => {
    const { status } = await read(account, id);
    if (status === 'failed') failed.add(id);
    if (status === 'running' || status === 'failed') return true;
    if (status !== 'provisioning') throw new Error(`${id} is ${String(status)} and never ran.`);
    return undefined;
  });
  return failed.has(id) ? undefined : id;
}

async function read({ client }: Account, id: string): Promise<Answer['body']> {
  return must(200, await client.get('poll', `/v1/rentals/${id}`));
}

async function rename({ client, names }: Account, id: string, name: string): Promise<void> {
  must(200, await client.patch('change', `/v1/rentals/${id}`, { name }));
  names.push(name);
}

async function stop(account: Account, id: string): Promise<void> {
  account.stops.set(id, must(200, await account.client.post('stop', `/v1/rentals/${id}/stop`, {})));
  await until(`${id} to be stopped`, async () =>
    (await read(account, id))['status'] === 'stopped' ? true : undefined,
  );
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
