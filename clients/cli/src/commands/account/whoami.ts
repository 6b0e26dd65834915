import { isApiError } from '@gpu-rental/client';
import type { Cli } from '../../cli.js';
import type { AddCommand } from '../../command.js';
import { localDate } from '../../output/time.js';
import { factsOf } from './keys.js';

/** gpu whoami */
export const addWhoami: AddCommand = (program, act) => {
  program
    .command('whoami')
    .summary('your account, and the key in use')
    .description('Your account, the service, the key in use, and other sign-ins on this computer.')
    .action(
      act(async (cli) => {
        await show(cli);
        return undefined;
      }),
    );
};

async function show(cli: Cli): Promise<void> {
  const { out, url, profile = null } = cli;
  const me = await readMe(cli);
  const by = cli.givenKey === undefined ? 'signIn' : 'GPU_API_KEY';
  const others = othersOf(cli);
  const { user, apiKey } = me ?? {};
  out.result({ url, profile, by, user: user ?? null, apiKey: apiKey ?? null, others }, () => [
    ...out.facts([
      ['Account', user?.email ?? 'unknown: this key can’t read it'],
      ['Service', url],
      ['Profile', profile],
      ['By', by === 'signIn' ? 'this computer’s sign-in' : 'the key in GPU_API_KEY'],
      ['Key', apiKey?.id],
      ...(apiKey ? factsOf(apiKey) : []),
    ]),
    ...(others.length === 0 ? [] : ['', ...out.text('Also signed in here:')]),
    ...others.flatMap((other) => out.text(otherWords(other))),
  ]);
}

/** Undefined for a key that may not read. */
async function readMe(cli: Cli) {
  try {
    return await cli.client().auth.me({ signal: cli.signal });
  } catch (error) {
    if (isApiError(error, 'key_scope')) return undefined;
    throw error;
  }
}

interface Other {
  readonly url: string;
  readonly profile: string | null;
  readonly email: string | null;
  readonly keyExpiresAt: string | null;
}

/** With the key of the environment and no folder for files, there is nothing else. */
function othersOf({ store, url, profile, givenKey }: Cli): Other[] {
  if (givenKey !== undefined) return [];
  return store
    .signIns()
    .filter((known) => known.url !== url || known.name !== profile)
    .map(({ name, ...known }) => ({
      ...{ url: known.url, profile: name ?? null, email: known.email, keyExpiresAt: known.keyExpiresAt },
    }));
}

function otherWords({ url, profile, email, keyExpiresAt }: Other): string {
  const until = keyExpiresAt === null ? '' : ` until ${localDate(keyExpiresAt)}`;
  const how = profile === null ? `--url ${url}` : `--url ${url} --profile ${profile}`;
  return `  ${email ?? 'by a key'}${until}: ${how}`;
}
