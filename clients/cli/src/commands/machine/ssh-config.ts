import type { Rental } from '@gpu-rental/client';
import type { Cli } from '../../cli.js';
import type { AddCommand } from '../../command.js';
import type { Column } from '../../output/table.js';
import { addInclude, aliasesOf, includeOf, removeInclude, writeAliases } from '../../ssh/config-file.js';
import type { Alias, Include } from '../../ssh/config-file.js';
import { connect, reachable, type Connection } from '../../ssh/connection.js';
import { chooseKeys } from '../../ssh/own-keys.js';
import { forgetMachine, pinnedMachines } from '../../ssh/pinned.js';

/** gpu ssh-config */
export const addSshConfig: AddCommand = (program, act) => {
  program
    .command('ssh-config')
    .summary('let ssh and editors find your machines')
    .description(
      'Let ssh, rsync and editors reach your running machines by name, such as gpu-training, with their host keys pinned. It adds one Include line to ~/.ssh/config. Run it again after you rent or stop a machine.',
    )
    .option('--remove', 'remove the names of this sign-in, and the line with the last names')
    .action(
      act(async (cli, { remove = false }: { remove?: boolean }) => {
        if (remove) undo(cli, includeOf(cli));
        else await write(cli);
        return undefined;
      }),
    );
};

interface Named {
  readonly running: readonly Rental[];
  readonly aliases: readonly Alias[];
  /** The files of the keys by which they are entered. */
  readonly keys: readonly string[];
  readonly file: string;
  readonly removed: readonly string[];
  readonly include: Include;
  /** Whether our line was added to the user's file. */
  readonly added: boolean;
  /** The machines that can't be entered: they stop no other one. */
  readonly failed: readonly NotNamed[];
}

/** Names the machines that run for ssh, in place of those that were named before. */
export async function nameMachines(cli: Cli): Promise<Named> {
  const include = includeOf(cli);
  const client = cli.client();
  const { signal } = cli;
  const running = await client.rentals.list({ status: 'running', pageSize: 200 }, { signal }).toArray();
  const keys = await chooseKeys(cli, client, undefined);
  const tried = await Promise.all(running.map((rental) => tryToConnect(cli, rental, keys)));
  for (const { rental } of pinnedMachines(cli, undefined))
    if (!running.some(({ id }) => id === rental.id)) forgetMachine(cli, rental.id);
  const aliases = aliasesOf(
    cli,
    tried.flatMap(({ connection }) => (connection ? [connection] : [])),
  );
  const { file, removed } = writeAliases(cli, aliases);
  const added = addInclude(include);
  const failed = tried.filter(({ connection }) => connection === undefined);
  return { running, aliases, keys, file, removed, include, added, failed };
}

async function write(cli: Cli): Promise<void> {
  const { failed, ...named } = await nameMachines(cli);
  const { file, include, added, aliases, removed } = named;
  cli.out.result({ file, include: { ...include, added }, machines: aliases.map(factsOf), removed }, () =>
    linesOf(cli, named),
  );
  if (failed[0]) throw failed[0].error;
}

/** A machine that can't be entered, and why. */
export interface NotNamed {
  readonly rental: Connection['rental'];
  readonly error?: unknown;
}

interface Tried extends NotNamed {
  readonly connection?: Connection;
}

async function tryToConnect(cli: Cli, rental: Rental, keys: readonly string[]): Promise<Tried> {
  try {
    return { rental, connection: await connect(cli, reachable(rental), keys) };
  } catch (error) {
    return { rental, error };
  }
}

/** A machine as programs are told of it. */
export function factsOf({ names, connection: { rental, host, port } }: Alias): object {
  return { rentalId: rental.id, names, host, port };
}

const columns: Column<Alias>[] = [
  { title: 'NAME', value: ({ names }) => names.at(-1) ?? '' },
  { title: 'ALSO', value: ({ names }) => names.slice(0, -1).join(' '), dropAs: 2 },
  { title: 'ADDRESS', value: ({ connection: { host, port } }) => `${host} port ${port}`, dropAs: 1 },
];

function linesOf(
  { out }: Cli,
  { file, running, aliases, removed, include, added }: Omit<Named, 'failed'>,
): string[] {
  const none = running.length === 0 ? 'No machines running.' : 'None of your machines could be named.';
  const [first] = aliases;
  return [
    ...(first ? [...out.table(columns, aliases), ''] : [none]),
    ...(removed.length === 0 ? [] : out.text(`Removed: ${removed.join(', ')}`)),
    ...out.text(`Wrote ${file}`),
    ...(added ? out.text(`Added to ${include.file}: ${include.line}`) : []),
    ...(first ? out.text(`Log in: ssh ${first.names.at(-1) ?? ''}`) : []),
  ];
}

function undo(cli: Cli, include: Include): void {
  const removed = removeInclude(cli, include);
  cli.out.result({ include: { ...include, removed: removed === true } }, () =>
    cli.out.text(
      removed === undefined
        ? `Removed the names of this sign-in. The line stays in ${include.file} for your other sign-ins.`
        : removed
          ? `Removed from ${include.file}: ${include.line}`
          : `${include.file} has no line of gpu ssh-config.`,
    ),
  );
}
