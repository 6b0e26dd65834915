import { isApiError, type GpuRental } from '@gpu-rental/client';
import { readSecret, secretInArguments } from '../../asking/read-secret.js';
import { askEmail, endSession, signInByCode } from '../../asking/with-session.js';
import type { Cli } from '../../cli.js';
import { dollars, wholeNumber, type AddCommand } from '../../command.js';
import type { Profile } from '../../config/store.js';
import { usageFailure } from '../../failure.js';
import { usd } from '../../output/money.js';
import { localDate } from '../../output/time.js';
import { createKey, endAfter, keptOrRevoked, programScopes } from './new-key.js';

interface Options {
  readonly email?: string;
  readonly key?: boolean;
  readonly days: number;
  readonly spendCap?: number;
}

const givenUp = 'You are not signed in.';
/** gpu login */
export const addLogin: AddCommand = (program, act) => {
  const login = program
    .command('login')
    .allowExcessArguments()
    .summary('sign in')
    .description(
      'Sign in with a code that we email you. This computer then keeps its own key, which expires, and the session ends.',
    )
    .option('--email <address>', 'where to email the code')
    .option('--key', 'use an API key instead: asks for it, or reads it from standard input')
    .option('--days <number>', 'how long the key is valid', wholeNumber(1, 365), 90)
    .option('--spend-cap <dollars>', 'how much the key may spend in total', dollars)
    .action(
      act(async (cli, options: Options) => {
        if (login.args.some((word) => word !== '-')) throw secretInArguments('key', 'gpu login --key');
        if (options.key === true) await byKey(cli);
        else await byCode(cli, options);
        return undefined;
      }),
    );
};

async function byCode(cli: Cli, options: Options): Promise<void> {
  if (!cli.asking.canAsk) {
    throw usageFailure(
      'To sign in you enter a code that we email you, and this is not a terminal.',
      'A script signs in with a key: set GPU_API_KEY, or pipe it into: gpu login --key',
    );
  }
  const email = options.email ?? (await askEmail(cli, givenUp));
  const client = await signInByCode(cli, email, givenUp);
  try {
    const { user } = await client.auth.me();
    const made = await createKey(cli, client, {
      name: `gpu on ${cli.surroundings.hostname}`.slice(0, 64),
      scopes: [...programScopes],
      expiresAt: endAfter(cli, options.days),
      ...(options.spendCap !== undefined && { spendCapCents: options.spendCap }),
    });
    const profile = { email: user.email, keyId: made.id, keyExpiresAt: made.expiresAt };
    const replaced = await keptOrRevoked(cli, made, client, () => replace(cli, profile, made.key, client));
    const availableCents = await readAvailable(cli, client);
    greet(cli, { email: user.email, expiresAt: made.expiresAt, availableCents, replaced });
  } finally {
    await endSession(client);
  }
}

const both = [() => true, () => false] as const;

/** What became of the sign-in that was here before. */
interface Replaced {
  readonly email: string | null;
  readonly keyId: string | null;
  /** Whether its key is of no use any more. */
  readonly revoked: boolean;
  /** The profile by which it is still there; null: it is not. */
  readonly profile: string | null;
}

/**
 * Keeps a sign-in in place of the one before. That one's key is revoked where the new session can: it is this machine's
 * own. Otherwise it stays, under a name, because a key that nobody knows of goes on being valid.
 * @param client a session of the account, where there is one
 */
async function replace(
  { store, place }: Cli,
  profile: Profile,
  key: string,
  client?: GpuRental,
): Promise<Replaced | undefined> {
  const former = store.credentials(place).apiKey;
  const { email = null, keyId = null } = store.profile(place) ?? {};
  if (former === undefined || former === key) {
    store.keepSignIn(place, profile, key);
    return undefined;
  }
  if (client !== undefined && keyId !== null && email === profile.email) {
    store.keepSignIn(place, profile, key);
    return { email, keyId, revoked: await client.apiKeys.revoke(keyId).then(...both), profile: null };
  }
  const aside = store.keepAside(place);
  store.keepSignIn(place, profile, key);
  return { email, keyId, revoked: false, profile: aside };
}

async function byKey(cli: Cli): Promise<void> {
  const key = await readSecret(cli, 'key', givenUp);
  if (!/^gpur_[0-9A-Za-z]{36}$/.test(key)) {
    throw usageFailure(
      'That is not an API key.',
      'A key starts with gpur_ and has 41 characters. Create one with: gpu keys create',
    );
  }
  const client = cli.open({ apiKey: key });
  const availableCents = await readAvailable(cli, client);
  const replaced = await replace(cli, await profileOf(cli, client), key);
  greet(cli, { email: null, expiresAt: null, availableCents, replaced });
}

/** A key that may not read tells nothing of itself, and is a key all the same. */
async function profileOf({ signal }: Cli, client: GpuRental): Promise<Profile> {
  try {
    const { user, apiKey } = await client.auth.me({ signal });
    return { email: user.email, keyId: apiKey?.id ?? null, keyExpiresAt: apiKey?.expiresAt ?? null };
  } catch (error) {
    if (isApiError(error, 'key_scope')) return { email: null, keyId: null, keyExpiresAt: null };
    throw error;
  }
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
  readonly replaced: Replaced | undefined;
}

function greet({ out, url }: Cli, { email, expiresAt, availableCents, replaced }: SignedIn): void {
  const who = email === null ? 'with a key' : `as ${email}`;
  const until = expiresAt === null ? '' : ` until ${localDate(expiresAt)}`;
  const wallet = availableCents === null ? '' : ` In your wallet: ${usd(availableCents)}.`;
  out.result({ url, email, keyExpiresAt: expiresAt, availableCents, ...(replaced && { replaced }) }, () => [
    ...out.text(`Signed in ${who}${until}.${wallet}`),
    ...(replaced ? out.text(replacedWords(replaced)) : []),
    ...(availableCents === 0 ? out.text('Next: gpu pay 20, then gpu rent') : []),
  ]);
}

function replacedWords({ email, keyId, revoked, profile }: Replaced): string {
  if (revoked) return 'This computer’s previous key is revoked.';
  if (profile !== null)
    return `${email ?? 'The previous key'} stays signed in here, too: gpu --profile ${profile}. To sign out: gpu logout --profile ${profile}`;
  return `We could not revoke this computer’s previous key (${keyId ?? ''}). Try again: gpu keys revoke ${keyId ?? ''}`;
}
