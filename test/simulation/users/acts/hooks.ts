import type { ToldHook } from '../told.js';
import type { User } from '../user.js';
import { manners } from '../../world/receivers.js';

/** What an endpoint may name; nothing: all but what it must name. */
const choices: readonly (readonly string[])[] = [
  ...[
    [],
    [],
    [],
    ['rental.created', 'rental.stopped', 'rental.failed'],
    ['wallet.credited', 'api_key.created'],
  ],
  ['session.started', 'webhook.changed'],
];

/** The most endpoints that a user keeps, so that dead ones do not take all turns of its live ones. */
const MOST = 4;

/** How long a secret holds beside a newer one (decision 102), and how long a message may be under way. */
const OVERLAP_MS = 24 * 3_600_000;
const ON_ITS_WAY_MS = 1_000;

/** Makes an endpoint whose receiver behaves as the seed says. */
export async function makeHook(user: User): Promise<void> {
  const { chance, kernel, told, world } = user.parts;
  if (hooksOf(user).length >= MOST) return pingHook(user);
  const receiver = world.receivers.open(chance.perMille(450) ? 'good' : chance.pick(manners));
  const types = chance.pick(choices);
  const answer = await user.askFreshly('make hook', 'POST', '/v1/webhooks', { url: receiver.url, types });
  if (answer?.status !== 200) return;
  receiver.secrets.push({ secret: String(answer.body['secret']), sinceMs: kernel.nowMs });
  told.hooks.push({
    ...{ id: String(answer.body['id']), email: user.email, types, receiver, madeMs: kernel.nowMs },
    ...{ removingMs: undefined, removedMs: undefined, isUnsure: false },
    unsure: [],
  });
}

/** Asks for a message to one of the endpoints. */
export async function pingHook(user: User): Promise<void> {
  const hook = pickHook(user);
  if (hook === undefined) return;
  await user.ask('ping hook', 'POST', `/v1/webhooks/${hook.id}/ping`);
  await user.ask('hook', 'GET', `/v1/webhooks/${hook.id}`);
}

/** Gives an endpoint another secret, which its receiver knows once the answer has come. */
export async function rotateHook(user: User): Promise<void> {
  const hook = pickHook(user);
  if (hook === undefined) return makeHook(user);
  const { kernel } = user.parts;
  const sentMs = kernel.nowMs;
  const answer = await user.ask('rotate hook', 'POST', `/v1/webhooks/${hook.id}/rotate-secret`);
  const secret = answer?.body['secret'];
  // A further rotation ends the one before the last at once, and a day ends the last one.
  if (hook.isUnsure) hook.unsure.push({ fromMs: sentMs, toMs: Infinity });
  hook.isUnsure = typeof secret !== 'string';
  if (typeof secret === 'string') {
    hook.receiver.secrets.push({ secret, sinceMs: kernel.nowMs });
    for (const window of hook.unsure) window.toMs = Math.min(window.toMs, kernel.nowMs + ON_ITS_WAY_MS);
  } else {
    hook.unsure.push({ fromMs: sentMs + OVERLAP_MS, toMs: Infinity });
  }
}

/** Removes an endpoint. */
export async function removeHook(user: User): Promise<void> {
  const hook = pickHook(user);
  if (hook === undefined) return;
  const { kernel } = user.parts;
  hook.removingMs ??= kernel.nowMs;
  const answer = await user.ask('remove hook', 'DELETE', `/v1/webhooks/${hook.id}`);
  if (answer?.status === 200) hook.removedMs ??= kernel.nowMs;
}

function hooksOf({ email, parts: { told } }: User): ToldHook[] {
  return told.hooks.filter((hook) => hook.email === email && hook.removingMs === undefined);
}

function pickHook(user: User): ToldHook | undefined {
  const hooks = hooksOf(user);
  return hooks.length === 0 ? undefined : user.parts.chance.pick(hooks);
}
