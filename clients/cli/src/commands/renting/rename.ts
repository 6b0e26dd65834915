import type { Cli } from '../../cli.js';
import type { AddCommand } from '../../command.js';
import { findRental } from '../../rentals/find-rental.js';
import { gpusOf, shortId } from '../../views/rental.js';
import { machineArgument } from './show.js';

/** gpu rename */
export const addRename: AddCommand = (program, act) => {
  program
    .command('rename')
    .argument(...machineArgument)
    .argument('<name>', 'its new name; "" removes it')
    .summary('give a machine another name')
    .description('Give a machine another name, also one that has ended.')
    .action(
      act(async (cli, given: string, name: string) => {
        await rename(cli, given, name);
        return undefined;
      }),
    );
};

async function rename(cli: Cli, given: string, name: string): Promise<void> {
  const client = cli.client();
  const { id } = await findRental(cli, client, given, 'rename');
  const changed = await client.rentals.change(id, { name }, { signal: cli.signal });
  const words = changed.name === null ? 'has no name now' : `is called ${changed.name} now`;
  cli.out.result(changed, () => cli.out.text(`${shortId(id)} (${gpusOf(changed)}) ${words}.`));
}
