import { isPassing, type GpuRental, type Rental } from '@gpu-rental/client';
import type { Cli } from '../cli.js';
import { awaitReady } from '../commands/renting/await-ready.js';
import { explainFailure } from '../explain-failure.js';
import { Failure } from '../failure.js';
import { ago } from '../output/time.js';
import { findRental } from '../rentals/find-rental.js';
import { isLive, nameOf, whyEnded } from '../views/rental.js';
import { checkHostKey, checkReachable, pinHostKey, type Reachable } from './known-hosts.js';
import { chooseKeys, namedKey } from './own-keys.js';
import { forgetMachine, keepPinned, onlyPinned, pinnedMachines, type Pinned } from './pinned.js';
import { isMissingProgram } from './programs.js';

/** How ssh, scp and forwards reach a machine: by its pinned host key, and by the right keys of ours. */
export interface Connection extends Reachable {
  /** `-o` options that each of the programs takes. */
  readonly options: readonly string[];
}

/** How long the service may take where a machine can be entered without it, in milliseconds. */
const askWithinMs = 10_000;
/** How ssh says that it could not connect, or was not let in. */
const sshFailed = 255;

/**
 * Finds a machine, waits until it is ready, and pins its host key. While the service is away it is reached as it was
 * before, by the same pinned key.
 * @param identity a private key to enter by, instead of those that are chosen
 */
export async function connectionTo(
  cli: Cli,
  given: string | undefined,
  identity: string | undefined,
): Promise<Connection> {
  const client = cli.client();
  const pinned = pinnedMachines(cli, given);
  let found: Rental;
  try {
    found = await findRental(cli, client, given, 'enter', pinned.length > 0 ? askWithinMs : undefined);
  } catch (error) {
    if (pinned.length === 0 || !isPassing(error)) throw error;
    return pinnedConnection(cli, onlyPinned(pinned), identity, error);
  }
  const rental = found.status === 'provisioning' ? await awaitReady(cli, client, found.id) : found;
  // From here on the exit code is that of the program which enters it.
  cli.standing = undefined;
  if (!isLive(rental)) forgetMachine(cli, rental.id);
  return connect(cli, reachable(rental), await chooseKeys(cli, client, identity));
}

/** The command line that enters a machine that runs. Its host key is pinned. */
export async function sshCommandFor(cli: Cli, client: GpuRental, rental: Rental): Promise<string[]> {
  return sshLine(await connect(cli, reachable(rental), await chooseKeys(cli, client, undefined)));
}

/** The command line of ssh: the program, its options, the machine's address, and what is run there. */
export function sshLine(
  { host, port, username, options }: Connection,
  command: readonly string[] = [],
): string[] {
  return ['ssh', '-p', String(port), '-l', username, ...options, '--', host, ...command];
}

/** Pins the host key of a machine that runs, and keeps how it is reached. */
export async function connect(cli: Cli, machine: Reachable, keys: readonly string[]): Promise<Connection> {
  const file = await pinHostKey(cli, machine);
  keepPinned(cli, machine, keys);
  return { ...machine, options: optionsFor(machine, file, keys) };
}

async function pinnedConnection(
  cli: Cli,
  pinned: Pinned,
  identity: string | undefined,
  away: unknown,
): Promise<Connection> {
  tellPinned(cli, pinned, away);
  const machine = checkReachable(pinned);
  const file = await pinHostKey(cli, machine);
  const keys = identity === undefined ? pinned.keys : [namedKey(identity)];
  return { ...machine, options: optionsFor(machine, file, keys) };
}

function tellPinned(cli: Cli, { rental, host, port, toldAt }: Pinned, away: unknown): void {
  const { message } = explainFailure(away, cli, false);
  const when = ago(toldAt, cli.surroundings.now());
  cli.out.note(
    `${message} Trying ${nameOf(rental)} where it was ${when}, at ${host} port ${port}, with the host key that was pinned then.`,
  );
}

/** What a program may need besides its arguments. */
interface AtTerminal {
  readonly onStderr?: (text: string) => void;
  /** After a failure: the arguments of another try. */
  readonly instead?: () => readonly string[] | undefined;
}

/** Runs one of OpenSSH's programs at the terminal. @returns its exit code */
export async function runAtTerminal(
  cli: Cli,
  program: string,
  args: readonly string[],
  connection: Connection,
  { onStderr, instead }: AtTerminal = {},
): Promise<number> {
  try {
    const { code } = await cli.surroundings.run(program, args, {
      inherit: true,
      // A terminal's ctrl-C reaches it by itself; a signal to this process alone does not.
      signal: cli.signal,
      ...(onStderr && { onStderr }),
    });
    if (code !== sshFailed || cli.signal.aborted) return code;
    const others = instead?.();
    if (others) return await runAtTerminal(cli, program, others, connection);
    // A terminal's ctrl-C may reach it before this process: then it has failed at nothing.
    await explainFailedLogin(cli, connection).catch((error: unknown) => {
      if (!cli.signal.aborted || (error instanceof Failure && error.kind === 'hostKey')) throw error;
    });
    return code;
  } catch (error) {
    if (!isMissingProgram(error)) throw error;
    throw new Failure('usage', `There is no ${program} on this computer.`, 'Install OpenSSH, and try again.');
  }
}

/** What the service tells of how a machine is reached, checked. @throws Failure unless it runs */
export function reachable(rental: Rental): Reachable {
  const { host, port, username, hostKeyFingerprint } = rental;
  refuseUnready(rental);
  if (rental.status !== 'running' || host === null || username === null || hostKeyFingerprint === null) {
    const why = whyEnded(rental);
    throw new Failure(
      'notFound',
      `${nameOf(rental)} is no longer running${why === undefined ? '' : `: ${why}`}.`,
      'See your machines with: gpu ls. Rent another one with: gpu rent',
    );
  }
  return checkReachable({ rental, host, port: port ?? 22, username, hostKeyFingerprint });
}

/** @throws Failure for one that runs, and can't be entered for now */
function refuseUnready(rental: Rental): void {
  if (rental.status !== 'running') return;
  if (rental.host === null)
    throw new Failure(
      'notReached',
      `${nameOf(rental)} runs, and does not answer over SSH.`,
      'Its image may have no SSH daemon. See its ports with: gpu show',
    );
  if (rental.hostKeyFingerprint === null)
    throw new Failure(
      'notReached',
      `${nameOf(rental)} has not shown its host key yet.`,
      'Try again in a minute.',
    );
}

function optionsFor(machine: Reachable, knownHosts: string, keys: readonly string[]): string[] {
  const settings = [
    `UserKnownHostsFile=${quoted(knownHosts)}`,
    ...['GlobalKnownHostsFile=/dev/null', 'StrictHostKeyChecking=yes', 'UpdateHostKeys=no', 'CheckHostIP=no'],
    `HostKeyAlias=${machine.rental.id}`,
    // A shared connection of before may lead to another machine at the same address.
    'ControlPath=none',
    ...(keys.length === 0 ? [] : ['IdentitiesOnly=yes']),
    ...keys.map((file) => `IdentityFile=${quoted(file)}`),
  ];
  return settings.flatMap((setting) => ['-o', setting]);
}

/** ssh reads the value of an option as a line of its configuration: % begins a token there. */
function quoted(path: string): string {
  return `"${path.replaceAll('%', '%%')}"`;
}

/** ssh has said what went wrong in its own words; whether the machine is still the same one, it can't know. */
async function explainFailedLogin(cli: Cli, connection: Connection): Promise<void> {
  await checkHostKey(cli, connection);
  if (cli.signal.aborted) return;
  cli.out.note(
    'If you could not log in: use --identity with a key that the machine knows. Machines know the keys that were stored (gpu keys ssh) when you rented them.',
  );
}
