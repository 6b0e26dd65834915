import { isApiError, type Rental } from '@gpu-rental/client';
import type { Cli } from '../../cli.js';
import { wholeNumber, type AddCommand } from '../../command.js';
import { Failure, usageFailure } from '../../failure.js';
import { findRental } from '../../rentals/find-rental.js';
import { connectionTo } from '../../ssh/connection.js';
import { findFreePort, forwardPorts } from '../../ssh/forwards.js';
import { nameOf, shortId } from '../../views/rental.js';
import { awaitReady } from '../renting/await-ready.js';

interface Options {
  readonly identity?: string;
  readonly port?: number;
}

type Endpoint = Rental['endpoints'][number];

/** gpu notebook */
export const addNotebook: AddCommand = (program, act) => {
  program
    .command('notebook')
    .argument('[machine]', 'its id, the end of its id, or its name (default: your only one)')
    .summary('open a machine’s Jupyter from here')
    .description(
      'Open a machine’s Jupyter at 127.0.0.1 on this computer. Only you can reach it there. Press ctrl-C to end it. The token is shown on a terminal alone.',
    )
    .option(
      '-p, --port <port>',
      'the port on this computer (default: the notebook’s, or a free one)',
      wholeNumber(1, 65_535),
    )
    .option('-i, --identity <file>', 'a private key to use instead of the default')
    .action(
      act(async (cli, given: string | undefined, { identity, port }: Options) => {
        const { rental, endpoint } = await findNotebook(cli, given);
        if (endpoint.public) return tellPublic(cli, rental, endpoint);
        const connection = await connectionTo(cli, rental.id, identity);
        const localPort = port ?? (await findFreePort(endpoint.machinePort));
        await tell(cli, rental, endpoint, `http://127.0.0.1:${localPort}/`);
        cli.out.note(
          'If nothing answers there yet, Jupyter is still being installed. Try again in a minute.',
        );
        return forwardPorts(cli, connection, [{ localPort, remotePort: endpoint.machinePort }]);
      }),
    );
};

/** Finds the machine's notebook, and waits until a public one has its address. */
async function findNotebook(
  cli: Cli,
  given: string | undefined,
): Promise<{ rental: Rental; endpoint: Endpoint }> {
  const client = cli.client();
  const found = await findRental(cli, client, given, 'enter');
  const isPublic = endpointOf(found).public;
  const rental =
    isPublic && found.status === 'provisioning' ? await awaitReady(cli, client, found.id) : found;
  return { rental, endpoint: endpointOf(rental) };
}

/** @throws Failure for a machine without a notebook */
function endpointOf(rental: Rental): Endpoint {
  const found = rental.endpoints.find(({ auth }) => auth === 'token');
  if (found) return found;
  throw usageFailure(
    `${nameOf(rental)} has no notebook.`,
    'Rent a machine that has one with: gpu rent --template jupyter',
  );
}

async function tellPublic(cli: Cli, rental: Rental, endpoint: Endpoint): Promise<number> {
  if (endpoint.url === null) {
    throw new Failure('notReached', 'Its port is not open yet.', 'Try again in a minute.');
  }
  await tell(cli, rental, endpoint, endpoint.url);
  cli.out.note('Everybody on the internet can reach it: its token is all that keeps them out.');
  return 0;
}

/** No URL holds the token, and neither does a file or a pipe. */
async function tell(cli: Cli, rental: Rental, { name }: Endpoint, url: string): Promise<void> {
  const { out, surroundings } = cli;
  if (out.isJson) {
    out.json({ machine: rental.id, url });
    return;
  }
  const isSeen = surroundings.stdout.isTTY === true;
  const token = isSeen ? await readToken(cli, rental, name) : undefined;
  out.print(
    ...out.facts([
      ['Notebook', url],
      ['Token', token ?? null],
    ]),
  );
  if (!isSeen) out.note('The token is shown on a terminal alone. The dashboard copies it, too.');
}

/** @returns undefined where a key of ours may not read it */
async function readToken(cli: Cli, { id }: Rental, name: string): Promise<string | undefined> {
  try {
    return (await cli.client().rentals.endpointToken(id, name, { signal: cli.signal })).token;
  } catch (error) {
    if (!isApiError(error, 'session_required')) throw error;
    cli.out.note(
      `Another sign-in rented ${shortId(id)}, so this one can’t read its token. Copy it on the machine’s page of the dashboard.`,
    );
    return undefined;
  }
}
