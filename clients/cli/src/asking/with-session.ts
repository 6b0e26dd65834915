import { isApiError, type GpuRental } from '@gpu-rental/client';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cli } from '../cli.js';
import { Failure, inTerminal } from '../failure.js';
import { duration } from '../output/time.js';
import { Progress } from './progress.js';

/** Where somebody left before a code was typed. */
const nothingDone = 'Nothing was changed.';

/** Signs in by a mailed code, as a stranger's client becomes one with a session. The caller ends the session. */
export async function signInByCode(cli: Cli, email: string, givenUp = nothingDone): Promise<GpuRental> {
  const { signal } = cli;
  const client = cli.open();
  await requestCode(cli, client, email);
  cli.out.note(`We emailed a code to ${email}.`);
  for (let tries = 1; ; tries += 1) {
    const code = await cli.asking.line(
      { message: 'Six-digit code', otherwise: howWithoutTerminal, givenUp },
      (text) => (/^\d{6}$/.test(text) ? undefined : 'Enter six digits.'),
    );
    try {
      await client.auth.verifyCode({ email, code }, { signal });
      return client;
    } catch (error) {
      if (!isApiError(error, 'code_invalid') || tries === 3) throw error;
      cli.out.note('That code is wrong. Use the one from the newest email.');
    }
  }
}

/** Has a code mailed. An address gets one each half minute only: who has just got one waits for the next. */
async function requestCode(cli: Cli, client: GpuRental, email: string): Promise<void> {
  const { signal } = cli;
  const progress = new Progress(cli);
  for (let tries = 1; ; tries += 1) {
    try {
      await client.auth.requestCode({ email }, { signal });
      return;
    } catch (error) {
      if (!isApiError(error, 'code_request_rate_limited') || tries === 3) throw error;
      const seconds = error.retryAfterSeconds ?? Infinity;
      if (seconds > waitAtMostSeconds) throw error;
      progress.update(`We emailed a code a moment ago. You can ask for the next one in ${duration(seconds)}`);
      await sleep(seconds * 1_000, undefined, { signal });
    } finally {
      progress.end();
    }
  }
}

const waitAtMostSeconds = 60;

/** How a script signs in. */
export const howWithoutTerminal =
  'Run it in a terminal. A script signs in with a key: set GPU_API_KEY, or pipe it into: gpu login --key';

/** Asks for an e-mail address. */
export function askEmail(cli: Cli, givenUp = nothingDone): Promise<string> {
  return cli.asking.line({ message: 'Your email address', otherwise: howWithoutTerminal, givenUp }, (text) =>
    /^\S+@\S+$/.test(text) ? undefined : 'It looks like ann@example.com',
  );
}

/**
 * Does what no key may do, in a session that lasts as long as the work. It asks for a mailed code, also of somebody who
 * has signed in by gpu login: that left a key here.
 * @param what what the code is for, as in "create a key"
 */
export async function withSession<T>(
  cli: Cli,
  what: string,
  work: (client: GpuRental) => Promise<T>,
): Promise<T> {
  const why = `To ${what}, confirm that it’s you.`;
  if (!cli.asking.canAsk) throw new Failure('refused', why, inTerminal);
  cli.out.note(why);
  const email = (await emailOf(cli)) ?? (await askEmail(cli));
  const client = await signInByCode(cli, email);
  try {
    return await work(client);
  } finally {
    await endSession(client);
  }
}

/** The address of the account that the key belongs to: a session of another one would change another one's things. */
async function emailOf(cli: Cli): Promise<string | undefined> {
  const known = cli.givenKey === undefined ? cli.store.profile(cli.place)?.email : undefined;
  if (typeof known === 'string' || cli.apiKey === undefined) return known ?? undefined;
  try {
    return (await cli.client().auth.me({ signal: cli.signal })).user.email;
  } catch (error) {
    // A key that is not valid any more tells nothing.
    if (isApiError(error)) return undefined;
    throw error;
  }
}

/** Ends a session of ours. One that can't be ended now ends by itself. */
export async function endSession(client: GpuRental): Promise<void> {
  await client.auth.logout({ timeoutMs: 10_000 }).catch(() => undefined);
}

/**
 * Sets something up by the key, where it has the scope for it, and else in a session as above. What a key is refused has
 * changed nothing.
 */
export async function byKeyOrSession<T>(
  cli: Cli,
  what: string,
  work: (client: GpuRental) => Promise<T>,
): Promise<T> {
  if (!(await maySetUp(cli))) return withSession(cli, what, work);
  try {
    return await work(cli.client());
  } catch (error) {
    // A script reads what its key may not do.
    if (!isApiError(error, 'key_setup') || !cli.asking.canAsk) throw error;
    return withSession(cli, what, work);
  }
}

async function maySetUp(cli: Cli): Promise<boolean> {
  if (cli.apiKey === undefined) return false;
  try {
    const { apiKey } = await cli.client().auth.me({ signal: cli.signal });
    return apiKey?.scopes.includes('setup') ?? false;
  } catch (error) {
    if (isApiError(error)) return false;
    throw error;
  }
}

/** Asks by the key, and where a key may not, in a session as above. */
export async function askOrSession<T>(
  cli: Cli,
  what: string,
  ask: (client: GpuRental) => Promise<T>,
): Promise<T> {
  try {
    return await ask(cli.client());
  } catch (error) {
    if (!isApiError(error, 'session_required')) throw error;
    return withSession(cli, what, ask);
  }
}
