import type { Rental } from '@gpu-rental/client';
import { Argument } from 'commander';
import type { Cli } from '../../cli.js';
import type { AddCommand } from '../../command.js';
import { explainFailure } from '../../explain-failure.js';
import { Failure, usageFailure } from '../../failure.js';
import { findRental } from '../../rentals/find-rental.js';
import type { Alias } from '../../ssh/config-file.js';
import { sshLine } from '../../ssh/connection.js';
import { nameOf } from '../../views/rental.js';
import { factsOf, nameMachines, type NotNamed } from './ssh-config.js';

/** The name of the fleet or pool. */
const POOL = 'gpu-rental';
/** Both tools install a service of the system on each host. */
const PROBE = 'test -d /run/systemd/system && sudo -n true';
const PROBE_MS = 30_000;

interface Tool {
  /** The lines of its file. */
  lines(machines: readonly Alias[], keyFile: string): readonly string[];
  readonly next: string;
}

/** The programs that use rented machines as hosts, and the files by which they find them. JSON's texts are YAML's. */
const tools = {
  dstack: {
    lines: (machines, keyFile) => [
      ...['type: fleet', `name: ${POOL}`, 'ssh_config:', '  hosts:'],
      ...machines.flatMap(({ connection: { host, port, username } }) => [
        `    - hostname: ${JSON.stringify(host)}`,
        `      port: ${port}`,
        `      user: ${JSON.stringify(username)}`,
        `      identity_file: ${JSON.stringify(keyFile)}`,
      ]),
    ],
    next: 'dstack does not check host keys. Next: dstack apply -f FILE',
  },
  skypilot: {
    // It reads addresses, keys and host keys from ~/.ssh/config.
    lines: (machines) => [
      ...[`${POOL}:`, '  hosts:'],
      ...machines.map(({ names }) => `    - ${JSON.stringify(names.at(-1))}`),
    ],
    next: `Add it to your pools in ~/.sky/ssh_node_pools.yaml, in place of the one of that name. Next: sky ssh up --infra ${POOL}`,
  },
} satisfies Readonly<Record<string, Tool>>;

/** gpu export */
export const addExport: AddCommand = (program, act) => {
  program
    .command('export')
    .addArgument(new Argument('<tool>', 'the program that will use them').choices(Object.keys(tools)))
    .argument('[machine...]', 'its id, the end of its id, or its name (default: all that run)')
    .summary('let dstack or SkyPilot use your machines')
    .description(
      'Print the file by which dstack or SkyPilot uses your running machines as SSH hosts. Both need virtual machines: containers are left out. It names your machines for ssh, as gpu ssh-config does.',
    )
    .action(
      act(async (cli, tool: keyof typeof tools, given: readonly string[]) => {
        await exportTo(cli, tools[tool], given);
        return undefined;
      }),
    );
};

async function exportTo(cli: Cli, tool: Tool, given: readonly string[]): Promise<void> {
  const client = cli.client();
  const meant: Rental[] = [];
  for (const word of given) meant.push(await findRental(cli, client, word, 'export'));
  const { aliases, keys, failed } = await nameMachines(cli);
  const isMeant = ({ id }: Pick<Rental, 'id'>): boolean =>
    meant.length === 0 || meant.some((one) => one.id === id);
  const wanted = aliases.filter(({ connection: { rental } }) => isMeant(rental));
  const probed = await Promise.all(wanted.map((alias) => probe(cli, alias)));
  const away = [...failed, ...probed.flatMap(({ away }) => away ?? [])].filter(({ rental }) =>
    isMeant(rental),
  );
  const left = probed.flatMap(({ alias, fits }) => (fits === false ? nameOf(alias.connection.rental) : []));
  const machines = probed.flatMap(({ alias, fits }) => (fits === true ? alias : []));
  // Who names a machine means it; of all that run, one that can't be entered stops no other one.
  if (away[0] && (meant.length > 0 || machines.length === 0)) throw away[0].error;
  if (machines.length === 0) throw nothingToExport(left);
  for (const { error } of away) cli.out.remark(`Left out: ${explainFailure(error, cli, false).message}`);
  if (left.length > 0) cli.out.remark(`Left out, because they are containers: ${left.join(', ')}.`);
  const lines = tool.lines(machines, privateHalf(keys));
  cli.out.result({ file: lines.join('\n'), machines: machines.map(factsOf) }, () => lines);
  cli.out.note(tool.next);
}

/** The key by which the tool enters. @throws Failure where an agent of SSH holds all of them */
function privateHalf(keys: readonly string[]): string {
  const file = keys.find((key) => !key.endsWith('.pub'));
  if (file !== undefined) return file;
  throw usageFailure('There is no file of a private key that opens these machines.', 'gpu rent makes one.');
}

interface Probed {
  readonly alias: Alias;
  /** Whether a tool can use it; undefined: it is away. */
  readonly fits?: boolean;
  readonly away?: NotNamed;
}

async function probe(cli: Cli, alias: Alias): Promise<Probed> {
  try {
    return { alias, fits: await canHost(cli, alias) };
  } catch (error) {
    return { alias, away: { rental: alias.connection.rental, error } };
  }
}

/** Whether a machine runs services and lets its user be root: containers do not. @throws Failure when it does not answer */
async function canHost(cli: Cli, { connection }: Alias): Promise<boolean> {
  const [program = 'ssh', ...args] = sshLine(
    { ...connection, options: ['-o', 'BatchMode=yes', ...connection.options] },
    [PROBE],
  );
  const { code, stderr } = await cli.surroundings.run(program, args, {
    limitMs: PROBE_MS,
    signal: cli.signal,
  });
  if (code !== 255) return code === 0;
  throw new Failure(
    'notReached',
    `${nameOf(connection.rental)} does not let you in: ${stderr.trim()}`,
    'Try: gpu ssh',
  );
}

function nothingToExport(containers: readonly string[]): Failure {
  if (containers.length === 0)
    return new Failure('notFound', 'No machine that runs matches.', 'See your machines with: gpu ls');
  return new Failure(
    'notAvailable',
    `These are containers, which neither dstack nor SkyPilot can use: ${containers.join(', ')}.`,
    'Rent a virtual machine: another offer of the same GPU may be one. See: gpu offers',
  );
}
