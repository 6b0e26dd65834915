import { setTimeout as sleep } from 'node:timers/promises';
import type { ToldClosing } from '../told.js';
import type { User } from '../user.js';
import { topUpTwice } from './careless.js';
import { changeLimits } from './changing.js';
import { payInvoice, topUp } from './paying.js';
import { race } from './racing.js';
import { rent, stopOne, wishOf } from './renting.js';

/** How often it is asked for at most, and how often its user looks at it then. */
const TRIES = 40;
const LOOKS = 5;
/** So many of a thousand do something else at the same time. */
const BESIDE = 700;
/** What was begun before goes on, and what comes too late is refused. */
const besides = [rent, rent, topUp, topUpTwice, stopOne, changeLimits, payInvoice, race];
/** How far it is until its user can't look any more. */
const order = ['stopping', 'settling', 'returning', 'erasing'];

/** Closes the account in the midst of something else, and begins nothing after that. */
export async function closeAccount(user: User): Promise<void> {
  const { chance } = user.parts;
  const beside = chance.perMille(BESIDE) ? chance.pick(besides) : undefined;
  const [closing] = await Promise.all([closeAlone(user), beside?.(user)]);
  if (closing.answeredMs !== undefined) await follow(user);
}

/** Closes the account, and looks no more. */
export async function closeAlone(user: User): Promise<ToldClosing> {
  const { kernel, told } = user.parts;
  user.isLeaving = true;
  for (const key of user.keys) key.revokingMs ??= kernel.nowMs;
  const closing: ToldClosing = {
    ...{ email: user.email, userId: told.users.get(user.email) ?? '' },
    ...{ sentMs: kernel.nowMs, answeredMs: undefined },
  };
  told.closings.push(closing);
  await ask(user, closing);
  return closing;
}

/** Asks until it is answered, or nothing lets the user in any more: an answer was lost then. */
async function ask(user: User, closing: ToldClosing): Promise<void> {
  const { chance, kernel, told } = user.parts;
  const body = { email: user.email };
  for (let tries = 0; tries < TRIES; tries += 1) {
    const answer = await user.askFreshly('close account', 'POST', '/v1/account/close', body);
    if (answer?.status === 401) return;
    if (answer?.status === 200) {
      closing.answeredMs = kernel.nowMs;
      return;
    }
    if (answer?.status === 409 || answer?.status === 422)
      told.strange.push(`${user.email} may not close their account: ${String(answer.body['error'])}`);
    await sleep(5_000 + chance.below(30_000));
  }
}

/** Looks how far it is, and tries to rent all the same, until the account lets nobody in. */
async function follow(user: User): Promise<void> {
  const { chance, told } = user.parts;
  let before = 0;
  for (let no = 0; no < LOOKS; no += 1) {
    await sleep(chance.below(5 * 60_000));
    const answer = await user.ask('closing', 'GET', '/v1/account/closing');
    if (answer?.status === 401) return;
    if (answer?.status === 200) {
      const place = order.indexOf(String(answer.body['state']));
      if (place < before)
        told.strange.push(`${user.email} saw their closing go back to ${String(answer.body['state'])}`);
      before = place;
    }
    const headers = { 'idempotency-key': `too-late-${no}` };
    const rented = await user.ask('create too late', 'POST', '/v1/rentals', wishOf(user), headers);
    if (rented?.status === 200) told.strange.push(`${user.email} rented while their account was closing`);
  }
}
