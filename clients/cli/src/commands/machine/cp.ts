import type { Cli } from '../../cli.js';
import type { AddCommand } from '../../command.js';
import { usageFailure } from '../../failure.js';
import { printable } from '../../output/colour.js';
import { shellPath } from '../../output/shell.js';
import { connectionTo, runAtTerminal, type Connection } from '../../ssh/connection.js';

interface Options {
  readonly recursive?: boolean;
  readonly identity?: string;
}

/** A path as it was written: on this machine, or on a rented one. */
interface Place {
  /** undefined: here. '': on the only machine. */
  readonly machine: string | undefined;
  readonly path: string;
}

/** gpu cp */
export const addCp: AddCommand = (program, act) => {
  program
    .command('cp')
    .usage('[options] <from...> <to>')
    .argument(
      '<paths...>',
      'what to copy, then where to; a path on a machine is machine:path, or :path if you have only one',
    )
    .summary('copy files to a machine, or from it')
    .description('Copy files to a machine, or from it, with your own scp: gpu cp -r data :work/')
    .option('-r, --recursive', 'copy folders with everything in them')
    .option('-i, --identity <file>', 'a private key to use instead of the default')
    .action(
      act(async (cli, paths: string[], { recursive = false, identity }: Options) => {
        const places = paths.map(placeOf);
        const machine = machineOf(places);
        const connection = await connectionTo(cli, machine === '' ? undefined : machine, identity);
        const { host, port, username, options } = connection;
        const target = `${username}@${host.includes(':') ? `[${host}]` : host}`;
        const argsFor = (write: (path: string) => string): string[] => [
          ...(recursive ? ['-r'] : []),
          ...['-P', String(port), ...options, '--'],
          ...places.map(({ machine: on, path }) =>
            on === undefined ? here(path) : `${target}:${write(path)}`,
          ),
        ];
        return copy(cli, argsFor, connection);
      }),
    );
};

/**
 * Runs scp; on machines that serve no SFTP, by its older way, which hands the paths there to a shell.
 * @param argsFor its arguments, by how a path there is written
 */
async function copy(
  cli: Cli,
  argsFor: (write: (path: string) => string) => string[],
  connection: Connection,
): Promise<number> {
  const [plainly, forShell] = [argsFor((path) => path), argsFor(shellPath)];
  const isOdd = plainly.some((arg, index) => arg !== forShell[index]);
  const args = isOdd && (await isOld(cli)) ? forShell : plainly;
  const seen = { noSftp: false };
  const tell = (text: string): void => {
    seen.noSftp ||= text.includes('subsystem request failed');
    if (!seen.noSftp) cli.surroundings.stderr.write(printable(text));
  };
  return runAtTerminal(cli, 'scp', args, connection, {
    onStderr: tell,
    instead: () => (seen.noSftp ? ['-O', ...forShell] : undefined),
  });
}

/** Before version 9 scp knew its older way only, or took it by itself. */
async function isOld({ surroundings }: Cli): Promise<boolean> {
  try {
    const { stderr } = await surroundings.run('ssh', ['-V'], { limitMs: 10_000 });
    return Number(/^OpenSSH_(\d+)\./.exec(stderr)?.[1] ?? 9) < 9;
  } catch {
    return false;
  }
}

function placeOf(text: string): Place {
  const colon = text.indexOf(':');
  const slash = text.indexOf('/');
  const isRemote = colon >= 0 && (slash < 0 || colon < slash);
  return isRemote
    ? { machine: text.slice(0, colon), path: text.slice(colon + 1) }
    : { machine: undefined, path: text };
}

/** One side is here, the other one on a machine. */
function machineOf(places: readonly Place[]): string {
  const machines = places.map(({ machine }) => machine);
  const target = machines.at(-1);
  const sources = new Set(machines.slice(0, -1));
  const [source] = sources;
  if (sources.size === 1 && (source === undefined) !== (target === undefined)) return source ?? target ?? '';
  throw usageFailure(
    'One side must be here and the other on a machine.',
    'Such as: gpu cp data.tar :work/   or: gpu cp :work/result.txt .',
  );
}

/** scp takes a name with a colon for another machine's, and one that begins with a dash for an option. */
function here(path: string): string {
  return /^[./]/.test(path) ? path : `./${path}`;
}
