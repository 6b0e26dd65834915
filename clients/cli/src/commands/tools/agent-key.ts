import { isApiError, type ApiKey, type GpuRental } from '@gpu-rental/client';
import { withSession } from '../../asking/with-session.js';
import type { Cli } from '../../cli.js';
import { placeOf } from '../../config/store.js';
import { factsOf } from '../account/keys.js';
import { agentLimits, allScopes, createKey, endAfter, keptOrRevoked } from '../account/new-key.js';

/** Under which profile agents have their key, beside the sign-in that is used, and where it is kept. */
export function agentPlace({ url, profile }: Cli): { readonly name: string; readonly at: string } {
  const name = profile === undefined ? 'agent' : `${profile}-agent`;
  return { name, at: placeOf(url, name) };
}

/**
 * The client by which agents are served: by GPU_API_KEY, by the key of their own that was made here, else by the sign-in,
 * which is said.
 * @throws Failure when nobody is signed in
 */
export function clientForAgents(cli: Cli): GpuRental {
  const { apiKey } = cli.givenKey === undefined ? cli.store.credentials(agentPlace(cli).at) : {};
  if (apiKey !== undefined) return cli.open({ apiKey });
  const client = cli.client();
  if (cli.givenKey === undefined) {
    cli.out.note(
      'The agent is served by your sign-in, not by a key of its own, so it can’t rent, and can’t stop what earlier conversations rented. To create one for it, run it in a terminal once: gpu mcp',
    );
  }
  return client;
}

/** Makes sure that agents have a key of their own on this computer, and says how they are served by it. */
export async function setUpAgents(cli: Cli): Promise<void> {
  const key = (await heldKey(cli)) ?? (await makeKey(cli));
  const { out, url } = cli;
  const server = { command: 'gpu', args: ['mcp', '--url', url] };
  out.result({ apiKey: key, mcpServers: { gpu: server } }, () => [
    ...out.text('Agents on this computer have a key of their own:'),
    '',
    ...out.facts(factsOf(key)),
    '',
    ...out.text('To let your agent rent, add this server to its configuration:'),
    '',
    ...serverLines(server),
    '',
    ...out.text(
      `To change the cap: gpu keys change ${key.name.includes(' ') ? key.hint : key.name} --spend-cap 50`,
    ),
  ]);
}

/** The form that most agents read servers in. */
function serverLines({
  command,
  args,
}: {
  readonly command: string;
  readonly args: readonly string[];
}): string[] {
  return [
    '  {',
    '    "mcpServers": {',
    '      "gpu": {',
    `        "command": "${command}",`,
    `        "args": [${args.map((word) => JSON.stringify(word)).join(', ')}]`,
    '      }',
    '    }',
    '  }',
  ];
}

/** The key that is kept here, as far as it still holds. */
async function heldKey(cli: Cli): Promise<ApiKey | undefined> {
  const { apiKey } = cli.store.credentials(agentPlace(cli).at);
  if (apiKey === undefined) return undefined;
  try {
    return (await cli.open({ apiKey }).auth.me({ signal: cli.signal })).apiKey ?? undefined;
  } catch (error) {
    if (isApiError(error) && error.status === 401) return undefined;
    throw error;
  }
}

async function makeKey(cli: Cli): Promise<ApiKey> {
  cli.out.note(
    'Agents get a key of their own. It stops only machines that it rented, and spends up to its cap.',
  );
  const { days, spendCap } = await agentLimits(cli, {});
  return withSession(cli, 'Sign in to create it.', async (client) => {
    const { user } = await client.auth.me();
    const { key, ...made } = await createKey(cli, client, {
      name: `agent on ${cli.surroundings.hostname}`.slice(0, 64),
      scopes: [...allScopes],
      ends: 'own',
      expiresAt: endAfter(cli, days),
      spendCapCents: spendCap,
    });
    const profile = { email: user.email, keyId: made.id, keyExpiresAt: made.expiresAt };
    await keptOrRevoked(cli, made, client, () => cli.store.keepSignIn(agentPlace(cli).at, profile, key));
    cli.standing = undefined;
    return made;
  });
}
