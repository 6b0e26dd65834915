import { isApiError, type ApiKeyScope, type GpuRental } from '@gpu-rental/client';
import { askEmail, endSession, signInByCode } from '../../asking/with-session.js';
import type { Cli } from '../../cli.js';
import { dollars, wholeNumber, type AddCommand } from '../../command.js';
import { Failure, usageFailure } from '../../failure.js';
import { usd } from '../../output/money.js';
import { localDate } from '../../output/time.js';

interface Options {
  readonly email?: string;
  readonly key?: string;
  readonly days: number;
  readonly spendCap?: number;
}

const givenUp = 'You are not signed in.';
/** What a terminal needs: everything that a key may do. */
const scopes: ApiKeyScope[] = ['read', 'rentals', 'billing'];
const dayMs = 86_400_000;

/** gpu login */
export const addLogin: AddCommand = (program, act) => {
  program
    .command('login')
    .summary('sign in')
    .description(
      'Sign in with a code that comes by mail. This machine then keeps a key of its own, which expires; the sign-in itself ends.',
    )
    .option('--email <address>', 'where the code is mailed to')
    .option('--key <key>', 'take this API key instead; - reads it from the standard input')
    .option('--days <number>', 'how long the key is valid', wholeNumber(1, 365), 90)
    .option('--spend-cap <dollars>', 'what may be spent by the key in all', dollars)
    .action(
      act(async (cli, options: Options) => {
        if (options.key === undefined) await byCode(cli, options);
        else await byKey(cli, options.key);
        return undefined;
      }),
    );
};

async function byCode(cli: Cli, options: Options): Promise<void> {
  if (!cli.asking.canAsk) {
    throw usageFailure(
      'A sign-in asks for a mailed code, and this is no terminal.',
      'A script signs in with a key: set GPU_API_KEY, or pipe it into: gpu login --key -',
    );
  }
  const email = options.email ?? (await askEmail(cli, givenUp));
  const client = await signInByCode(cli, email, givenUp);
  try {
    const { user } = await client.auth.me();
    const made = await client.apiKeys.create({
      name: `gpu on ${cli.surroundings.hostname}`.slice(0, 64),
      scopes,
      expiresAt: new Date(cli.surroundings.now() + options.days * dayMs).toISOString(),
      ...(options.spendCap !== undefined && { spendCapCents: options.spendCap }),
    });
    const former = cli.store.profile(cli.url)?.keyId ?? null;
    const profile = { email: user.email, keyId: made.id, keyExpiresAt: made.expiresAt };
    cli.store.keepSignIn(cli.url, profile, made.key);
    // The key that this machine had before is of no use any more.
    if (former !== null) await client.apiKeys.revoke(former).catch(() => undefined);
    const availableCents = await readAvailable(cli, client);
    greet(cli, { email: user.email, expiresAt: made.expiresAt, availableCents });
  } finally {
    await endSession(client);
  }
}

async function byKey(cli: Cli, given: string): Promise<void> {
  const key = (given === '-' ? await readAll(cli) : given).trim();
  if (!/^gpur_[0-9A-Za-z]{36}$/.test(key)) {
    throw usageFailure(
      'That is no API key.',
      'A key begins with gpur_ and has 41 characters. Make one with: gpu keys create',
    );
  }
  const client = cli.open({ apiKey: key });
  const availableCents = await readAvailable(cli, client);
  cli.store.keepSignIn(cli.url, { email: null, keyId: null, keyExpiresAt: null }, key);
  greet(cli, { email: null, expiresAt: null, availableCents });
}

/** A key that may not read the wallet is a key all the same. */
async function readAvailable(cli: Cli, client: GpuRental): Promise<number | null> {
  try {
    return (await client.wallet.get({ signal: cli.signal })).availableCents;
  } catch (error) {
    if (isApiError(error, 'key_scope')) return null;
    throw error;
  }
}

interface SignedIn {
  readonly email: string | null;
  readonly expiresAt: string | null;
  readonly availableCents: number | null;
}

function greet({ out, url }: Cli, { email, expiresAt, availableCents }: SignedIn): void {
  const who = email === null ? 'with a key' : `as ${email}`;
  const until = expiresAt === null ? '' : ` until ${localDate(expiresAt)}`;
  const wallet = availableCents === null ? '' : ` In your wallet: ${usd(availableCents)}.`;
  out.result({ url, email, keyExpiresAt: expiresAt, availableCents }, () => [
    ...out.text(`Signed in ${who}${until}.${wallet}`),
    ...(availableCents === 0 ? out.text('Next: gpu pay 20, then gpu rent') : []),
  ]);
}

async function readAll(cli: Cli): Promise<string> {
  if (cli.surroundings.stdin.isTTY === true) {
    return cli.asking.line({ message: 'The key', otherwise: 'Pipe the key in.', givenUp }, () => undefined);
  }
  let text = '';
  for await (const chunk of cli.surroundings.stdin) {
    text += String(chunk);
    if (text.length > 10_000)
      throw new Failure('usage', 'That is too long for a key.', 'Pipe the key alone in.');
  }
  return text;
}
