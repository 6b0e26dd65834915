import type { Answered, Asking } from '../../service.js';
import type { User } from '../user.js';
import { noteRental, wishOf } from './renting.js';
import { topUp } from './paying.js';

/** Uses one Idempotency-Key for two different requests, one after the other or at once (decision 6). */
export async function reuseKey(user: User): Promise<void> {
  const { chance, kernel, told } = user.parts;
  const headers = { 'idempotency-key': `reused-${kernel.nowMs}` };
  const bodies = [2_000, 3_000].map((amountCents) => ({ amountCents: amountCents + chance.below(100) }));
  const ask = (body: object): Promise<Answered | undefined> =>
    user.ask('checkout anew', 'POST', '/v1/billing/checkout', body, headers);
  const answers = chance.perMille(500)
    ? await Promise.all(bodies.map(ask))
    : [await ask(bodies[0] ?? {}), await ask(bodies[1] ?? {})];
  const taken = answers.filter((answer) => answer !== undefined && [200, 402].includes(answer.status));
  if (taken.length > 1) told.strange.push(`${user.email}: one Idempotency-Key opened two top-ups`);
  const [first, again] = [await ask(bodies[0] ?? {}), await ask(bodies[0] ?? {})];
  const ids = [first, again].map((answer) =>
    answer?.status === 200 ? String(answer.body['topupId']) : undefined,
  );
  if (ids.every((id) => id !== undefined) && ids[0] !== ids[1])
    told.strange.push(`${user.email}: one Idempotency-Key was answered with ${ids.join(' and ')}`);
}

/** What nobody may send: each must be a refusal by the code, and none a failure of the service. */
const nonsense: readonly (readonly [
  method: Asking['method'],
  path: string,
  body: object | undefined,
  code: string,
])[] = [
  ['POST', '/v1/rentals', { familyId: 'rtx-4090', gpuCount: -1 }, 'invalid_count'],
  ['POST', '/v1/rentals', { familyId: 'rtx-9000', gpuCount: 1 }, 'unknown_family'],
  ['POST', '/v1/rentals', { familyId: 'rtx-4090', gpuCount: 1, maxSpendCents: 1.5 }, 'validation_failed'],
  [
    'POST',
    '/v1/rentals',
    { familyId: 'rtx-4090', gpuCount: 1, autoStopAfterHours: 1e9 },
    'validation_failed',
  ],
  ['POST', '/v1/rentals', [], 'validation_failed'],
  ['POST', '/v1/rentals', { quoteId: 'quo_none' }, 'quote_not_found'],
  ['POST', '/v1/billing/checkout', { amountCents: 1 }, 'invalid_amount'],
  ['GET', '/v1/events?after=-1', undefined, 'validation_failed'],
  ['GET', '/v1/events?pageSize=1000000', undefined, 'validation_failed'],
  ['GET', '/v1/events?after=900000000', undefined, 'resync'],
  ['DELETE', '/v1/rentals', undefined, 'method_not_allowed'],
  ['GET', '/v1/nothing', undefined, 'not_found'],
];

/** Sends something that nobody may send. */
export async function sendNonsense(user: User): Promise<void> {
  const { chance, told } = user.parts;
  const [method, path, body, code] = chance.pick(nonsense);
  const answer = await user.ask('nonsense', method, path, body);
  if (answer === undefined || answer.status === 503 || answer.status === 429) return;
  const error = String(answer.body['error']);
  if (error !== code)
    told.strange.push(
      `${method} ${path} ${JSON.stringify(body)} was answered with ${answer.status} ${error}`,
    );
}

/** Asks for what is another user's by its id: it answers as what does not exist, and nothing comes of it (decision 5). */
export async function pry(user: User): Promise<void> {
  const { chance, told } = user.parts;
  const rentals = [...told.rentals.values()].map(({ rentalId, email }) => ({
    email,
    at: `/v1/rentals/${rentalId}`,
  }));
  const keys = [...told.keys.values()].map(({ id, email }) => ({ email, at: `/v1/api-keys/${id}` }));
  const hooks = told.hooks.map(({ id, email }) => ({ email, at: `/v1/webhooks/${id}` }));
  const others = [...rentals, ...keys, ...hooks].filter(({ email }) => email !== user.email);
  if (others.length === 0) return;
  const { at } = chance.pick(others);
  const ways: Readonly<Record<string, readonly (readonly [Asking['method'], string, object?])[]>> = {
    rentals: [
      ['GET', at],
      ['GET', `${at}/meter`],
      ['POST', `${at}/stop`],
      ['PATCH', at, { maxSpendCents: 1 }],
    ],
    'api-keys': [
      ['GET', at],
      ['DELETE', `${at}?stopMachines=true`],
      ['PATCH', at, { spendCapCents: 1 }],
    ],
    webhooks: [
      ['GET', at],
      ['DELETE', at],
      ['GET', `${at}/deliveries`],
      ['POST', `${at}/rotate-secret`],
    ],
  };
  const [method, path, body] = chance.pick(ways[at.split('/')[2] ?? ''] ?? []);
  const answer = await user.ask('pry', method, path, body);
  if (answer === undefined || answer.status >= 500 || answer.status === 429) return;
  if (answer.status !== 404)
    told.strange.push(`${user.email} asked ${method} ${path} of another, and got ${answer.status}`);
}

/** Signs out, and in again. What is asked between with the old cookie is refused. */
export async function leaveAndReturn(user: User): Promise<void> {
  const { told } = user.parts;
  const isOut = (await user.ask('sign out', 'POST', '/v1/auth/logout'))?.status === 200;
  const answer = await user.ask('balance', 'GET', '/v1/billing/balance');
  if (isOut && answer !== undefined && answer.status < 500 && answer.status !== 401)
    told.strange.push(`${user.email} had signed out, and was answered with ${answer.status}`);
  await user.signIn();
}

/** Opens several top-ups at once. */
export async function topUpTwice(user: User): Promise<void> {
  await Promise.all([topUp(user), topUp(user)]);
}

/** Rents one thing by two twins of one request: they are one rental (decision 6). */
export async function twin(user: User): Promise<void> {
  const { kernel, told } = user.parts;
  const headers = { 'idempotency-key': `twin-${kernel.nowMs}` };
  const wish = wishOf(user);
  const ask = (): Promise<Answered | undefined> => user.ask('twin', 'POST', '/v1/rentals', wish, headers);
  const answers = await Promise.all([ask(), ask(), ask()]);
  // Whose answer was lost is asked for again, so that its user knows of it.
  if (answers.includes(undefined)) answers.push(await ask());
  const ids = answers.flatMap((answer) => (answer?.status === 200 ? [String(answer.body['id'])] : []));
  if (new Set(ids).size > 1)
    told.strange.push(`${user.email}: twins of one request are ${ids.join(' and ')}`);
  for (const answer of answers) noteRental(user, answer, { wish, acceptedCents: wish.maxPricePerHourCents });
}
