import { wordOf, type GpuRental, type Webhook } from '@gpu-rental/client';
import type { Command } from 'commander';
import { askOrSession, byKeyOrSession, withSession } from '../../asking/with-session.js';
import type { Cli } from '../../cli.js';
import { eventTypes, wholeNumber, type Act } from '../../command.js';
import { Failure, usageFailure } from '../../failure.js';
import type { Column } from '../../output/table.js';
import { ago, localTime } from '../../output/time.js';

interface CreateOptions {
  readonly types?: Webhook['types'];
  readonly description?: string;
}

const webhookArgument = ['<webhook>', 'its id, the end of its id, or its address'] as const;

/** gpu webhooks list, create, rotate, ping, redeliver and delete */
export function addStoredWebhooks(webhooks: Command, act: Act): void {
  webhooks
    .command('list')
    .description('Your webhooks, and whether they take what we send.')
    .action(
      act(async (cli) => {
        await list(cli);
        return undefined;
      }),
    );
  webhooks
    .command('create')
    .argument('<url>', 'where we send your events: https, at a public address')
    .description(
      'Create a webhook. Its secret is shown once, here. It must answer a challenge first: see the API’s documentation. Asks for a code that we email you.',
    )
    .option('--types <types>', 'only these, separated by commas: rental.running,rental.stopped', eventTypes)
    .option('--description <text>', 'a note for yourself')
    .action(
      act(async (cli, url: string, options: CreateOptions) => {
        await create(cli, url, options);
        return undefined;
      }),
    );
  webhooks
    .command('rotate')
    .argument(...webhookArgument)
    .description(
      'Give a webhook a new secret, shown once, here. For 24 hours we sign with both. Asks for a code that we email you.',
    )
    .action(
      act(async (cli, given: string) => {
        await rotate(cli, given);
        return undefined;
      }),
    );
  addDeliveries(webhooks, act);
  webhooks
    .command('delete')
    .argument(...webhookArgument)
    .description('Delete a webhook. Asks for a code that we email you.')
    .action(
      act(async (cli, given: string) => {
        const { id, url } = await change(cli, given, 'delete', (client, id) => client.webhooks.delete(id));
        cli.out.result({ id, deleted: true }, () => cli.out.text(`Deleted ${url}.`));
        return undefined;
      }),
    );
}

function addDeliveries(webhooks: Command, act: Act): void {
  webhooks
    .command('ping')
    .argument(...webhookArgument)
    .description('Send a webhook.ping to a webhook. Asks for a code that we email you.')
    .action(
      act(async (cli, given: string) => {
        const { id, url } = await change(cli, given, 'ping', (client, id) => client.webhooks.ping(id));
        cli.out.result({ id, pinged: true }, () => cli.out.text(`A webhook.ping is on its way to ${url}.`));
        return undefined;
      }),
    );
  webhooks
    .command('redeliver')
    .argument(...webhookArgument)
    .description('Send a webhook its events once more. Asks for a code that we email you.')
    .requiredOption(
      '--after <number>',
      'events after this number, which gpu events shows',
      wholeNumber(0, Number.MAX_SAFE_INTEGER),
    )
    .action(
      act(async (cli, given: string, { after: afterSeq }: { after: number }) => {
        const { id, url } = await change(cli, given, 'redeliver to', (client, id) =>
          client.webhooks.redeliver(id, { afterSeq }),
        );
        cli.out.result({ id, afterSeq }, () =>
          cli.out.text(`All events after ${afterSeq} are on their way to ${url} once more.`),
        );
        return undefined;
      }),
    );
}

async function list(cli: Cli): Promise<void> {
  const { out } = cli;
  const webhooks = await askOrSession(cli, 'list your webhooks', (client) =>
    client.webhooks.list({ signal: cli.signal }),
  );
  const nowMs = cli.now();
  const columns: Column<Webhook>[] = [
    { title: 'ADDRESS', value: ({ url }) => url, shrinksTo: 12 },
    { title: 'STATE', value: stateOf },
    { title: 'TYPES', value: typesOf, dropAs: 1 },
    {
      title: 'LAST TAKEN',
      value: ({ lastSuccessAt }) => (lastSuccessAt === null ? 'never' : ago(lastSuccessAt, nowMs)),
      dropAs: 2,
    },
    { title: 'ID', value: ({ id }) => id, dropAs: 3 },
  ];
  out.result({ webhooks }, () =>
    webhooks.length === 0
      ? out.text('You have no webhooks. Create one with: gpu webhooks create')
      : out.table(columns, webhooks),
  );
}

const offWords: Readonly<Record<NonNullable<Webhook['switchedOffReason']>, string>> = {
  gone: 'off: it answered 410',
  no_success: 'off: it took nothing for days',
  challenge_unanswered: 'off: no answer to its challenge',
};

function stateOf({ state, switchedOffReason, failingSince }: Webhook): string {
  if (switchedOffReason !== null) return wordOf(offWords, switchedOffReason);
  if (state === 'pending') return 'waits for its challenge';
  return failingSince === null ? state : `fails since ${localTime(failingSince)}`;
}

function typesOf({ types }: Webhook): string {
  const [first, ...others] = types;
  if (first === undefined) return 'all';
  return others.length === 0 ? first : `${first} and ${others.length} more`;
}

async function create(cli: Cli, url: string, { types, description }: CreateOptions): Promise<void> {
  const body = {
    url,
    ...(types !== undefined && { types }),
    ...(description !== undefined && { description }),
  };
  const made = await byKeyOrSession(cli, 'create a webhook', (client) =>
    cli.commit(
      () => client.webhooks.add(body),
      {
        details: { url, outcome: 'unknown' },
        message: `The service did not confirm whether it created the webhook ${url}.`,
        next: 'Check with: gpu webhooks list. If it is there, get a secret with: gpu webhooks rotate',
      },
      ({ id }) => ({
        details: { webhookId: id },
        message: `The webhook ${url} (${id}) was created anyway, and its secret can’t be shown again.`,
        next: `Get another one: gpu webhooks rotate ${id}`,
      }),
    ),
  );
  showSecret(cli, made, [
    ['Types', typesOf(made)],
    ['State', stateOf(made)],
  ]);
}

async function rotate(cli: Cli, given: string): Promise<void> {
  const rotated = await byKeyOrSession(cli, 'rotate a secret', async (client) => {
    const { id, url } = await webhookMeant(cli, client, given);
    const again = `Rotate it again: gpu webhooks rotate ${id}`;
    const about = { details: { webhookId: id }, next: `${again}. The secret in use stops at once then.` };
    return cli.commit(
      () => client.webhooks.rotateSecret(id),
      {
        ...about,
        message: `The service did not confirm whether ${url} has a new secret.`,
        next: `${again}. If it has one, the secret in use stops at once then.`,
      },
      () => ({ ...about, message: `${url} has a new secret, which can’t be shown again.` }),
    );
  });
  showSecret(cli, rotated, [['Old secret', `valid until ${localTime(rotated.previousSecretValidUntil)}`]]);
}

/** Shows a secret in the one answer that has it. */
function showSecret(
  { out }: Cli,
  webhook: Webhook & { readonly secret: string },
  more: readonly (readonly [string, string])[],
): void {
  out.result(webhook, () => [
    webhook.secret,
    '',
    ...out.facts([['Address', webhook.url], ...more, ['Id', webhook.id]]),
    '',
    ...out.text('Save the secret now: it is not shown again.'),
  ]);
}

/** Does something to a webhook: a key that sets up may delete it, all else takes a session. @param verb "ping" */
async function change(
  cli: Cli,
  given: string,
  verb: string,
  work: (client: GpuRental, id: string) => Promise<unknown>,
): Promise<Webhook> {
  const asked = verb === 'delete' ? byKeyOrSession : withSession;
  return asked(cli, `${verb} a webhook`, async (client) => {
    const webhook = await webhookMeant(cli, client, given);
    await work(client, webhook.id);
    return webhook;
  });
}

async function webhookMeant({ signal }: Cli, client: GpuRental, given: string): Promise<Webhook> {
  const isMeant = ({ id, url }: Webhook): boolean =>
    [id, url].includes(given) || (given.length >= 4 && id.endsWith(given.toUpperCase()));
  const [first, ...others] = (await client.webhooks.list({ signal })).filter(isMeant);
  if (!first)
    throw new Failure('notFound', `You have no webhook "${given}".`, 'See them with: gpu webhooks list');
  if (others.length === 0) return first;
  const ids = [first, ...others].map(({ id }) => id).join(', ');
  throw usageFailure(`Several webhooks are at "${given}".`, `Use its id: ${ids}`);
}
