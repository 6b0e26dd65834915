import type { Cli } from '../../cli.js';
import type { AddCommand } from '../../command.js';
import { InvalidArgumentError } from 'commander';
import { usageFailure } from '../../failure.js';
import { connectionTo } from '../../ssh/connection.js';
import { forwardPorts, type Forward } from '../../ssh/forwards.js';
import { findRental } from '../../rentals/find-rental.js';
import { nameOf } from '../../views/rental.js';

interface Options {
  readonly machine?: string;
  readonly identity?: string;
}

/** What was asked for: a forward, or the name of a port of own software. */
type Asked = Forward | string;

/** gpu ports */
export const addPorts: AddCommand = (program, act) => {
  program
    .command('ports')
    .argument(
      '<port...>',
      'a port of the machine, such as 8888; here:there, such as 8080:80; or its name',
      asked,
    )
    .summary('reach a machine’s ports from here')
    .description(
      'Reach a machine’s ports, such as a notebook on 8888, at 127.0.0.1 on this computer. Only you can. Press ctrl-C to end it.',
    )
    .option('-m, --machine <machine>', 'its id, the end of its id, or its name (default: your only one)')
    .option('-i, --identity <file>', 'a private key to use instead of the default')
    .action(
      act(async (cli, wanted: readonly Asked[], { machine, identity }: Options) => {
        const ports = await namedIn(cli, machine, wanted);
        const connection = await connectionTo(cli, machine, identity);
        tell(cli, ports, nameOf(connection.rental));
        return forwardPorts(cli, connection, ports);
      }),
    );
};

function tell({ out }: Cli, ports: readonly Forward[], machine: string): void {
  const told = ports.map(({ localPort, remotePort }) => ({
    url: `http://127.0.0.1:${localPort}`,
    remotePort,
  }));
  if (out.isJson) out.json({ machine, ports: told });
  else out.print(...told.map(({ url, remotePort }) => `${url} is port ${remotePort} of ${machine}`));
}

/** Finds the ports that were asked for by name. One that is public leads through SSH as well. */
async function namedIn(cli: Cli, machine: string | undefined, wanted: readonly Asked[]): Promise<Forward[]> {
  if (wanted.every((one) => typeof one !== 'string')) return [...wanted];
  const { endpoints } = await findRental(cli, cli.client(), machine, 'enter');
  return wanted.map((one) => {
    if (typeof one !== 'string') return one;
    const found = endpoints.find(({ name }) => name === one);
    if (found) return { localPort: found.machinePort, remotePort: found.machinePort };
    const names = endpoints.map(({ name }) => name).join(', ');
    throw usageFailure(
      `This machine has no port named ${one}.`,
      names === '' ? 'Name a number, such as 8888.' : `It has: ${names}.`,
    );
  });
}

function asked(text: string, before: readonly Asked[] = []): Asked[] {
  return [...before, /^[a-z][a-z0-9-]*$/.test(text) ? text : forward(text)];
}

function forward(text: string): Forward {
  const match = /^(\d{1,5})(?::(\d{1,5}))?$/.exec(text);
  const [localPort, remotePort] = [Number(match?.[1]), Number(match?.[2] ?? match?.[1])];
  const isPort = (port: number): boolean => port >= 1 && port <= 65_535;
  if (isPort(localPort) && isPort(remotePort)) return { localPort, remotePort };
  throw new InvalidArgumentError('It must be a port such as 8888, two such as 8080:80, or a name.');
}
