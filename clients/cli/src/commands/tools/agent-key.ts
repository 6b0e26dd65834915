import { isApiError, type ApiKey, type GpuRental } from '@gpu-rental/client';
import { withSession } from '../../asking/with-session.js';
import type { Cli } from '../../cli.js';
import { placeOf } from '../../config/store.js';
import { factsOf } from '../account/keys.js';
import { agentLimits, createKey, endAfter, keptOrRevoked, programScopes } from '../account/new-key.js';

/** Under which profile agents have their key, beside the sign-in that is used, and where it is kept. */
export function agentPlace({ url, profile }: Cli): { readonly name: string; readonly at: string } {
  const name = profile === undefined ? 'agent' : `${profile}-agent`;
  return { name, at: placeOf(url, name) };
}

/** The words by which somebody sets agents up at the same sign-in. */
export function setUpWords({ profile }: Cli): string {
  return ['gpu', ...profileWords(profile), 'mcp'].join(' ');
}

const profileWords = (profile: string | undefined): readonly string[] =>
  profile === undefined ? [] : ['--profile', profile];

/** The two accounts, where the key for agents belongs to another one than the sign-in: a login leaves that key. */
function otherAccount(cli: Cli): { readonly theirs: string; readonly ours: string } | undefined {
  const theirs = cli.store.profile(agentPlace(cli).at)?.email ?? undefined;
  const ours = cli.store.profile(cli.place)?.email ?? undefined;
  return theirs === undefined || ours === undefined || theirs === ours ? undefined : { theirs, ours };
}

/**
 * The client by which agents are served: by GPU_API_KEY, by the key of their own that was made here, else by the sign-in,
 * which is said. A key of another account than the sign-in's is not used.
 * @throws Failure when nobody is signed in
 */
export function clientForAgents(cli: Cli): GpuRental {
  if (cli.givenKey !== undefined) return cli.client();
  const { apiKey } = cli.store.credentials(agentPlace(cli).at);
  const other = otherAccount(cli);
  if (apiKey !== undefined && other === undefined) return cli.open({ apiKey });
  const client = cli.client();
  if (apiKey !== undefined && other !== undefined)
    cli.out.note(
      `The key for agents here belongs to ${other.theirs}, and you are signed in as ${other.ours}: it is not used.`,
    );
  cli.out.note(
    `The agent is served by your sign-in, not by a key of its own, so it can’t rent, and can’t stop what earlier conversations rented. To create one for it, run it in a terminal once: ${setUpWords(cli)}`,
  );
  return client;
}

/** A key for agents, and whose money it spends. */
interface AgentKey {
  readonly key: ApiKey;
  readonly email: string;
}

/** Makes sure that agents have a key of their own on this computer, and says how they are served by it. */
export async function setUpAgents(cli: Cli): Promise<void> {
  const { key, email } = (await keyInUse(cli)) ?? (await makeKey(cli));
  const { out, url, profile } = cli;
  const server = { command: 'gpu', args: [...profileWords(profile), 'mcp', '--url', url] };
  const change = ['gpu', ...profileWords(profile), 'keys change'].join(' ');
  out.result({ apiKey: key, email, mcpServers: { gpu: server } }, () => [
    ...out.text('Agents on this computer have a key of their own:'),
    '',
    ...out.facts([['Account', email], ...factsOf(key)]),
    '',
    ...out.text('To let your agent rent, add this server to its configuration:'),
    '',
    ...serverLines(server),
    '',
    ...out.text(
      `To change the cap: ${change} ${key.name.includes(' ') ? key.hint : key.name} --spend-cap 50`,
    ),
  ]);
}

/** The key that is kept here, unless it is another account's: that one makes place, and is not forgotten. */
async function keyInUse(cli: Cli): Promise<AgentKey | undefined> {
  const held = await heldKey(cli);
  const other = otherAccount(cli);
  if (held === undefined || other === undefined) return held;
  const aside = cli.store.keepAside(agentPlace(cli).at);
  cli.out.note(
    `The key for agents here belongs to ${other.theirs}, and you are signed in as ${other.ours}: agents get another one. To revoke the first: gpu logout --profile ${aside} --revoke`,
  );
  return undefined;
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
async function heldKey(cli: Cli): Promise<AgentKey | undefined> {
  const { apiKey } = cli.store.credentials(agentPlace(cli).at);
  if (apiKey === undefined) return undefined;
  try {
    const { user, apiKey: key } = await cli.open({ apiKey }).auth.me({ signal: cli.signal });
    return key ? { key, email: user.email } : undefined;
  } catch (error) {
    if (isApiError(error) && error.status === 401) return undefined;
    throw error;
  }
}

async function makeKey(cli: Cli): Promise<AgentKey> {
  cli.out.note(
    'Agents get a key of their own. It stops only machines that it rented, and spends up to its cap.',
  );
  const { days, spendCap } = await agentLimits(cli, {});
  return withSession(cli, 'create it', async (client) => {
    const { user } = await client.auth.me();
    const { key, ...made } = await createKey(cli, client, {
      name: `agent on ${cli.surroundings.hostname}`.slice(0, 64),
      scopes: [...programScopes],
      ends: 'own',
      expiresAt: endAfter(cli, days),
      spendCapCents: spendCap,
    });
    const profile = { email: user.email, keyId: made.id, keyExpiresAt: made.expiresAt };
    await keptOrRevoked(cli, made, client, () => cli.store.keepSignIn(agentPlace(cli).at, profile, key));
    return { key: made, email: user.email };
  });
}
