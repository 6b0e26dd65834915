import type { Answered, Asking } from '../../service.js';
import { highestAt, type ToldKey } from '../told.js';
import type { User } from '../user.js';
import { noteRental, wishOf } from './renting.js';

/** What N10 lets a key ask for with a scope; "session": with none. */
type Access = 'read' | 'rentals' | 'billing' | 'session';

interface KeyedAsk {
  readonly access: Access;
  readonly kind: string;
  readonly method: Asking['method'];
  readonly path: string;
  readonly body?: object;
}

/** Requests that change nothing when they are refused, as each of the last ones must be. */
const probes: readonly KeyedAsk[] = [
  { access: 'read', kind: 'rentals by key', method: 'GET', path: '/v1/rentals' },
  { access: 'read', kind: 'events by key', method: 'GET', path: '/v1/events' },
  { access: 'billing', kind: 'balance by key', method: 'GET', path: '/v1/billing/balance' },
  {
    ...{ access: 'rentals', kind: 'quote by key', method: 'POST', path: '/v1/quotes' },
    body: { familyId: 'rtx-4090', gpuCount: 1 },
  },
  {
    ...{ access: 'session', kind: 'key by key', method: 'POST', path: '/v1/api-keys' },
    body: { name: 'of a key', scopes: ['read'] },
  },
  {
    ...{ access: 'session', kind: 'auto-topup by key', method: 'PUT', path: '/v1/billing/auto-topup' },
    body: { enabled: false },
  },
];

/** Makes a key, with a cap most of the time. */
export async function makeKey(user: User): Promise<void> {
  const { chance, kernel, told } = user.parts;
  const scopes = chance.pick([
    ['read', 'rentals'],
    ['read', 'rentals', 'billing'],
    ['rentals'],
    ['read'],
    ['billing'],
  ]);
  const spendCapCents = chance.perMille(800) ? 20 + chance.below(400) : null;
  const sentMs = kernel.nowMs;
  const body = { name: `key of ${kernel.nowMs}`, scopes, spendCapCents };
  const answer = await user.askFreshly('make key', 'POST', '/v1/api-keys', body);
  if (answer?.status !== 200) return;
  const key: ToldKey = {
    ...{ id: String(answer.body['id']), token: String(answer.body['key']), email: user.email, scopes },
    caps: [{ sentMs, answeredMs: kernel.nowMs, value: capIn(answer), isSure: true }],
    ...{ revokingMs: undefined, revokedMs: undefined, stoppedMs: undefined },
  };
  user.keys.push(key);
  told.keys.set(key.id, key);
}

/** Rents by one of the keys, which may be revoked or lack the scope. */
export async function rentByKey(user: User): Promise<void> {
  const key = pickKey(user);
  if (key === undefined) return makeKey(user);
  const wish = wishOf(user);
  const answer = await askByKey(user, key, {
    ...{ access: 'rentals', kind: 'create by key', method: 'POST', path: '/v1/rentals', body: wish },
  });
  noteRental(user, answer, { wish, acceptedCents: wish.maxPricePerHourCents, key });
}

/** Asks by a key for something that it may or may not do. */
export async function probeKey(user: User): Promise<void> {
  const { chance, told } = user.parts;
  const key = pickKey(user);
  if (key === undefined) return makeKey(user);
  const isCapped = key.caps.every(({ value }) => value !== Infinity);
  const answer = await askByKey(user, key, chance.pick(probes));
  for (const { id } of (answer?.body['rentals'] ?? []) as { id: string }[]) {
    const rental = told.rentals.get(id);
    const isOthers =
      rental !== undefined && (rental.email !== user.email || (isCapped && rental.keyId !== key.id));
    if (isOthers) told.strange.push(`${key.id} sees ${id}, which it did not rent`);
  }
}

/** Sets another cap, or takes it away. */
export async function changeCap(user: User): Promise<void> {
  const { chance, kernel } = user.parts;
  const key = pickKey(user);
  if (key === undefined) return makeKey(user);
  const spendCapCents = chance.perMille(100) ? null : 1 + chance.below(400);
  const sentMs = kernel.nowMs;
  // A cap that is lower takes no fresh sign-in.
  const isLooser = (spendCapCents ?? Infinity) > highestAt(key.caps, sentMs);
  const path = `/v1/api-keys/${key.id}`;
  const answer = await user.askFreshly('change cap', 'PATCH', path, { spendCapCents }, isLooser);
  if (answer !== undefined && answer.status < 500 && answer.status !== 200) return;
  const isSure = answer?.status === 200;
  const value = isSure ? capIn(answer) : (spendCapCents ?? Infinity);
  key.caps.push({ sentMs, answeredMs: kernel.nowMs, value, isSure });
}

/** Revokes a key, with or without its machines. */
export async function revokeKey(user: User): Promise<void> {
  const { chance, kernel } = user.parts;
  const key = pickKey(user);
  if (key === undefined) return makeKey(user);
  const stops = chance.perMille(500);
  key.revokingMs ??= kernel.nowMs;
  const path = `/v1/api-keys/${key.id}${stops ? '?stopMachines=true' : ''}`;
  const answer = await user.ask('revoke key', 'DELETE', path);
  if (answer?.status !== 200) return;
  key.revokedMs ??= kernel.nowMs;
  if (stops) key.stoppedMs ??= kernel.nowMs;
}

/** Rents by a key while it is revoked, and while its cap is lowered. */
export async function raceKey(user: User): Promise<void> {
  await Promise.all(
    [rentByKey, rentByKey, user.parts.chance.pick([revokeKey, changeCap])].map((act) => act(user)),
  );
}

function pickKey({ keys, parts: { chance } }: User): ToldKey | undefined {
  return keys.length === 0 ? undefined : chance.pick(keys.slice(-3));
}

function capIn({ body }: Answered): number {
  const { spendCapCents } = body;
  return typeof spendCapCents === 'number' ? spendCapCents : Infinity;
}

/** Refusals that depend on the key alone. */
const keyErrors = [
  'key_revoked',
  'key_scope',
  'session_required',
  'key_unknown',
  'key_expired',
  'unauthorized',
];

/** Sends a request by a key, and looks whether its answer is one that the key may get (N10). */
async function askByKey(user: User, key: ToldKey, asked: KeyedAsk): Promise<Answered | undefined> {
  const { kind, method, path, body } = asked;
  const headers = { authorization: `Bearer ${key.token}` };
  const wasRevoked = key.revokedMs !== undefined;
  const answer =
    kind === 'create by key' && body !== undefined
      ? await user.askKeyed(kind, path, body, { method, headers })
      : await user.ask(kind, method, path, body, headers);
  // Nothing knows the key of an account that was erased.
  if (answer !== undefined && answer.status < 500 && answer.status !== 429 && !user.isLeaving) {
    const fault = faultOf(key, asked, wasRevoked, answer);
    if (fault !== undefined) user.parts.told.strange.push(fault);
  }
  return answer;
}

function faultOf(
  { id, scopes, revokingMs }: ToldKey,
  { access, kind }: KeyedAsk,
  wasRevoked: boolean,
  { status, body }: Answered,
): string | undefined {
  const error = String(body['error']);
  // While a key is being revoked it may be so already.
  if (!wasRevoked && revokingMs !== undefined && error === 'key_revoked') return undefined;
  const wanted = wasRevoked ? 'key_revoked' : refusalFor(scopes, access);
  const isAsWanted = wanted === undefined ? !keyErrors.includes(error) : error === wanted;
  return isAsWanted ? undefined : `${id} (${scopes.join()}): ${kind} was answered with ${status} ${error}`;
}

function refusalFor(scopes: readonly string[], access: Access): string | undefined {
  if (access === 'session') return 'session_required';
  return scopes.includes(access) ? undefined : 'key_scope';
}
