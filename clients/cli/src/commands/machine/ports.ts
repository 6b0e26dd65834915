import type { Cli } from '../../cli.js';
import type { AddCommand } from '../../command.js';
import { InvalidArgumentError } from 'commander';
import { connectionTo, runAtTerminal } from '../../ssh/connection.js';
import { nameOf } from '../../views/rental.js';

interface Options {
  readonly machine?: string;
  readonly identity?: string;
}

/** One forward: a port here, and the port of the machine that it leads to. */
interface Forward {
  readonly localPort: number;
  readonly remotePort: number;
}

/** gpu ports */
export const addPorts: AddCommand = (program, act) => {
  program
    .command('ports')
    .argument('<port...>', 'a port of the machine, such as 8888, or here:there, such as 8080:80', forwards)
    .summary('reach a machine’s ports from here')
    .description(
      'Reach a machine’s ports, such as a notebook on 8888, at 127.0.0.1 on this computer. Only you can. Press ctrl-C to end it.',
    )
    .option('-m, --machine <machine>', 'its id, the end of its id, or its name (default: your only one)')
    .option('-i, --identity <file>', 'a private key to use instead of the default')
    .action(
      act(async (cli, ports: readonly Forward[], { machine, identity }: Options) => {
        const connection = await connectionTo(cli, machine, identity);
        const { host, port, username, options, rental } = connection;
        tell(cli, ports, nameOf(rental));
        const settings = [
          'ExitOnForwardFailure=yes',
          'ServerAliveInterval=15',
          'PermitLocalCommand=yes',
          connected,
        ];
        const args = [
          ...['-N', '-p', String(port), '-l', username, ...options],
          ...settings.flatMap((setting) => ['-o', setting]),
          ...ports.flatMap(({ localPort, remotePort }) => [
            '-L',
            `127.0.0.1:${localPort}:127.0.0.1:${remotePort}`,
          ]),
          ...['--', host],
        ];
        const code = await runAtTerminal(cli, 'ssh', args, connection);
        return cli.signal.aborted ? 0 : code;
      }),
    );
};

/** ssh runs it as soon as the connection stands. */
const connected = 'LocalCommand=echo "Connected. Press ctrl-C to end." >&2';

function tell({ out }: Cli, ports: readonly Forward[], machine: string): void {
  const told = ports.map(({ localPort, remotePort }) => ({
    url: `http://127.0.0.1:${localPort}`,
    remotePort,
  }));
  if (out.isJson) out.json({ machine, ports: told });
  else out.print(...told.map(({ url, remotePort }) => `${url} is port ${remotePort} of ${machine}`));
}

function forwards(text: string, before: readonly Forward[] = []): Forward[] {
  const match = /^(\d{1,5})(?::(\d{1,5}))?$/.exec(text);
  const [localPort, remotePort] = [Number(match?.[1]), Number(match?.[2] ?? match?.[1])];
  const isPort = (port: number): boolean => port >= 1 && port <= 65_535;
  if (isPort(localPort) && isPort(remotePort)) return [...before, { localPort, remotePort }];
  throw new InvalidArgumentError('It must be a port such as 8888, or two such as 8080:80.');
}
