import type { ApiKey, ApiKeyScope } from '@gpu-rental/client';
import { askOrSession, withSession } from '../../asking/with-session.js';
import type { Cli } from '../../cli.js';
import { collect, dollars, wholeNumber, type AddCommand } from '../../command.js';
import { Failure, usageFailure } from '../../failure.js';
import { usd } from '../../output/money.js';
import type { Column } from '../../output/table.js';
import { apart, cut } from '../../output/text.js';
import { ago, localDate } from '../../output/time.js';
import { agentLimits, createKey, endAfter, programScopes } from './new-key.js';
import { addSshKeys } from './ssh-keys.js';

interface CreateOptions {
  readonly scopes?: readonly ApiKeyScope[];
  readonly setup?: boolean;
  readonly days?: number;
  readonly agent?: boolean;
  readonly spendCap?: number;
  readonly from?: readonly string[];
}

interface RevokeOptions {
  readonly stopMachines?: boolean;
  readonly removeMade?: boolean;
}

interface ChangeOptions {
  readonly name?: string;
  readonly spendCap?: number;
  /** false: --no-spend-cap. */
  readonly noSpendCap?: boolean;
  readonly from?: readonly string[];
  readonly anywhere?: boolean;
}

/** gpu keys */
export const addKeys: AddCommand = (program, act) => {
  const keys = program
    .command('keys')
    .summary('keys for programs, and your SSH keys')
    .description('The API keys of your account. Changes ask for a code that we email you.')
    .action(
      act(async (cli) => {
        await list(cli);
        return undefined;
      }),
    );
  keys
    .command('create')
    .argument('<name>', 'a name for it')
    .description('Create a key for a program. It is shown only once.')
    .option(
      '--scopes <scopes>',
      `what it may do, separated by commas (default: ${programScopes.join(',')})`,
      scopes,
    )
    .option('--setup', 'for CI: it sets up webhooks and SSH keys, lowers the budget, and reads')
    .option('--days <number>', 'how long it is valid (default: 90)', wholeNumber(1, 365))
    .option('--agent', 'for an agent: it can stop only machines that it opened, and has a cap and an expiry')
    .option('--spend-cap <dollars>', 'how much its machines may cost in total', dollars)
    .option(
      '--from <addresses>',
      'the only addresses it may be used from, such as 203.0.113.0/24; repeatable',
      collect,
    )
    .action(
      act(async (cli, name: string, options: CreateOptions) => {
        await create(cli, name, options);
        return undefined;
      }),
    );
  keys
    .command('change')
    .argument('<key>', 'its id or name')
    .description('Change the name or the limits of a key.')
    .option('--name <name>', 'a new name')
    .option('--spend-cap <dollars>', 'how much its machines may cost in total', dollars)
    .option('--no-cap', 'remove the cap')
    .option('--from <addresses>', 'the only addresses it may be used from; repeatable', collect)
    .option('--anywhere', 'allow it from anywhere')
    .action(
      act(async (cli, key: string, options: ChangeOptions & { cap: boolean }) => {
        await change(cli, key, { ...options, noSpendCap: !options.cap });
        return undefined;
      }),
    );
  keys
    .command('revoke')
    .argument('<key>', 'its id or name')
    .description('Revoke a key, at once.')
    .option('--stop-machines', 'also stop the machines that it rented')
    .option('--remove-made', 'also remove the webhooks and SSH keys that it made')
    .action(
      act(async (cli, key: string, { stopMachines = false, removeMade = false }: RevokeOptions) => {
        await revoke(cli, key, { stopMachines, removeMade });
        return undefined;
      }),
    );
  addSshKeys(keys, act);
};

function scopes(text: string): ApiKeyScope[] {
  const words = text.split(',').map((word) => word.trim());
  const known = programScopes.filter((scope) => words.includes(scope));
  if (known.length === words.length) return known;
  throw usageFailure(
    `--scopes takes ${programScopes.join(', ')}, separated by commas. For webhooks and SSH keys, use --setup.`,
  );
}

async function list(cli: Cli): Promise<void> {
  const { out } = cli;
  const apiKeys = await askOrSession(cli, 'list your keys', (client) =>
    client.apiKeys.list({ pageSize: 200 }).toArray(),
  );
  const nowMs = cli.now();
  const own = cli.store.profile(cli.place)?.keyId;
  const columns: Column<ApiKey>[] = [
    { title: 'NAME', value: ({ name, id }) => `${cut(name, 24)}${id === own ? ' *' : ''}`, shrinksTo: 6 },
    { title: 'ENDS WITH', value: ({ hint }) => hint, dropAs: 3 },
    { title: 'MAY', value: scopeWords, dropAs: 5 },
    { title: 'SPENT', value: spentWords, align: 'right' },
    { title: 'STATE', value: (key) => stateOf(key, nowMs) },
    {
      title: 'USED',
      value: ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : ago(lastUsedAt, nowMs)),
      dropAs: 4,
    },
    { title: 'ID', value: ({ id }) => id, dropAs: 6 },
  ];
  out.result({ apiKeys }, () => {
    if (apiKeys.length === 0) return ['You have no API keys.'];
    const table = out.table(columns, apiKeys);
    const notes = [
      ...(apiKeys.some(({ id }) => id === own) ? ['* is this computer’s key.'] : []),
      ...(table.some((line) => line.includes(OWN_MACHINES))
        ? out.text('(own): ends only machines that it rented.')
        : []),
    ];
    return [...table, ...apart(notes)];
  });
}

/** Marks a key that ends only its own machines. */
const OWN_MACHINES = ' (own)';

function scopeWords({ scopes, ends }: ApiKey): string {
  return `${scopes.join(',')}${ends === 'own' && scopes.includes('rentals') ? OWN_MACHINES : ''}`;
}

function spentWords({ spentCents, spendCapCents }: ApiKey): string {
  return spendCapCents === null ? usd(spentCents) : `${usd(spentCents)} of ${usd(spendCapCents)}`;
}

function stateOf({ revokedAt, expiresAt, suspendedAt }: ApiKey, nowMs: number): string {
  if (revokedAt !== null) return 'revoked';
  if (Date.parse(expiresAt) <= nowMs) return 'expired';
  return suspendedAt === null ? `until ${localDate(expiresAt)}` : 'suspended';
}

async function create(
  cli: Cli,
  name: string,
  { scopes: asked, setup = false, from, agent = false, ...given }: CreateOptions,
): Promise<void> {
  const { out } = cli;
  if (setup && agent) throw usageFailure('Use either --setup or --agent.');
  const { days, spendCap } = agent ? await agentLimits(cli, given) : { days: 90, ...given };
  const body = {
    ...(agent && { ends: 'own' as const }),
    name,
    scopes: scopesOf(asked, setup),
    ...(spendCap !== undefined && { spendCapCents: spendCap }),
    ...(from !== undefined && { allowedCidrs: [...from] }),
  };
  const made = await withSession(cli, 'create a key', (client) =>
    createKey(cli, client, { ...body, expiresAt: endAfter(cli, days) }),
  );
  out.result(made, () => [
    made.key,
    '',
    ...out.facts(factsOf(made)),
    '',
    ...out.text('Save it now: it is not shown again.'),
    ...out.text('gpu reads it from GPU_API_KEY. Other programs send it as: Authorization: Bearer'),
  ]);
}

/** A key that sets up does nothing else unless asked to, and reads what is there. */
function scopesOf(asked: readonly ApiKeyScope[] | undefined, setup: boolean): ApiKeyScope[] {
  return setup ? [...(asked ?? (['read'] as const)), 'setup'] : [...(asked ?? programScopes)];
}

/** What a key may do, and until what. */
export function factsOf({
  name,
  scopes,
  ends,
  spendCapCents,
  spentCents,
  reservedCents,
  allowedCidrs,
  expiresAt,
}: ApiKey) {
  const used =
    spentCents + reservedCents === 0 ? '' : `, ${usd(spentCents)} spent, ${usd(reservedCents)} reserved`;
  return [
    ['Name', name],
    ['May', scopes.join(', ')],
    ['Ends', ends === 'own' ? 'only its own machines' : null],
    ['Cap', spendCapCents === null ? 'none' : `${usd(spendCapCents)}${used}`],
    ['From', allowedCidrs === null ? 'anywhere' : allowedCidrs.join(', ')],
    ['Until', localDate(expiresAt)],
  ] as const;
}

async function change(cli: Cli, given: string, options: ChangeOptions): Promise<void> {
  const body = changeOf(options);
  if (Object.keys(body).length === 0) throw usageFailure('Say what to change.', 'Such as: --spend-cap 50');
  const changed = await withSession(cli, 'change a key', async (client) => {
    const { id, name } = keyMeant(await client.apiKeys.list().toArray(), given);
    const about = { details: { keyId: id }, next: 'Check with: gpu keys' };
    return cli.commit(
      () => client.apiKeys.change(id, body),
      { ...about, message: `The service did not confirm whether it changed ${name} (${id}).` },
      () => ({ ...about, message: `${name} (${id}) is changed.` }),
    );
  });
  const { out } = cli;
  out.result(changed, () => [
    ...out.facts(factsOf(changed)),
    ...capWords(changed, options).flatMap((line) => out.text(line)),
  ]);
}

function changeOf({ name, spendCap, noSpendCap = false, from, anywhere = false }: ChangeOptions) {
  const spendCapCents = oneOf('Use either --spend-cap or --no-cap.', spendCap, noSpendCap);
  const allowedCidrs = oneOf('Use either --from or --anywhere.', from && [...from], anywhere);
  return {
    ...(name !== undefined && { name }),
    ...(spendCapCents !== undefined && { spendCapCents }),
    ...(allowedCidrs !== undefined && { allowedCidrs }),
  };
}

/** A limit, or null for none; undefined leaves it as it is. */
function oneOf<T>(contradiction: string, limit: T | undefined, without: boolean): T | null | undefined {
  if (!without) return limit;
  if (limit !== undefined) throw usageFailure(contradiction);
  return null;
}

/** A cap can't be less than what is gone already. */
function capWords({ spendCapCents }: ApiKey, { spendCap }: ChangeOptions): string[] {
  if (spendCap === undefined || spendCapCents === spendCap) return [];
  return ['', `${usd(spendCap)} is less than it has already spent and reserved, so its cap is now that sum.`];
}

async function revoke(
  cli: Cli,
  given: string,
  { stopMachines, removeMade }: Required<RevokeOptions>,
): Promise<void> {
  const revoked = await withSession(cli, 'revoke a key', async (client) => {
    const keys = await client.apiKeys.list().toArray();
    // Its machines may be stopped later as well.
    const key = keys.find(({ id }) => id === given) ?? keyMeant(keys, given);
    const about = { details: { keyId: key.id }, next: 'Check with: gpu keys, and gpu ls' };
    const more = stopMachines ? ', and whether its machines are stopping' : '';
    await cli.commit(
      () => client.apiKeys.revoke(key.id, { stopMachines, removeMade }),
      { ...about, message: `The service did not confirm whether ${key.name} (${key.id}) is revoked${more}.` },
      () => ({ ...about, message: `${key.name} (${key.id}) is revoked.` }),
    );
    return key;
  });
  cli.orRemark(() => {
    if (revoked.id === cli.store.profile(cli.place)?.keyId) cli.store.forget(cli.place);
  });
  const words = [
    `Revoked ${revoked.name}.`,
    ...(removeMade ? ['The webhooks and SSH keys that it made are gone.'] : []),
    stopMachines ? 'Its machines are stopping.' : 'Its machines keep running: gpu ls',
  ];
  cli.out.result({ id: revoked.id, revoked: true, stopMachines, removeMade }, () =>
    cli.out.text(words.join(' ')),
  );
}

/** Finds a key by its id, its name, or its last characters. */
function keyMeant(keys: readonly ApiKey[], given: string): ApiKey {
  const live = keys.filter(({ revokedAt }) => revokedAt === null);
  const meant = live.filter(({ id, name, hint }) => [id, name, hint].includes(given));
  const [first, ...others] = meant;
  if (!first) throw new Failure('notFound', `You have no key "${given}".`, 'See your keys with: gpu keys');
  if (others.length > 0)
    throw usageFailure(
      `Several keys are called "${given}".`,
      `Use its last characters: ${meant.map(({ hint }) => hint).join(', ')}`,
    );
  return first;
}
