import type { BillingDetails } from '@gpu-rental/client';
import { withSession } from '../../asking/with-session.js';
import type { Cli } from '../../cli.js';
import { collect, type AddCommand } from '../../command.js';
import { usageFailure } from '../../failure.js';
import { linesOf } from '../renting/words.js';

interface SetOptions {
  readonly name?: string;
  /** A line each. */
  readonly address?: readonly string[];
  readonly taxId?: string;
}

/** gpu billing */
export const addBilling: AddCommand = (program, act) => {
  const details = program
    .command('billing')
    .summary('whom your receipts are made out to')
    .description('Whom your receipts and statements are made out to.')
    .command('details')
    .description('The company, address and tax ID on your receipts and statements.')
    .action(
      act(async (cli) => {
        show(cli, await cli.client().wallet.details({ signal: cli.signal }));
        return undefined;
      }),
    );
  details
    .command('set')
    .description(
      'Change them; what you leave out stays. An empty text ("") removes one. Asks for a code that we email you.',
    )
    .option('--name <name>', 'your company’s name, or your own')
    .option('--address <line>', 'the address; repeatable, for a line each', collect)
    .option('--tax-id <id>', 'such as a VAT number')
    .action(
      act(async (cli, options: SetOptions) => {
        await set(cli, options);
        return undefined;
      }),
    );
};

async function set(cli: Cli, { name, address, taxId }: SetOptions): Promise<void> {
  if (name === undefined && address === undefined && taxId === undefined) {
    throw usageFailure('Say what to change: --name, --address or --tax-id.');
  }
  const said = {
    ...(name !== undefined && { name }),
    ...(address !== undefined && { address: address.join('\n') }),
    ...(taxId !== undefined && { taxId }),
  };
  // The service takes all of them at once, and removes what is left out.
  const saved = await withSession(cli, 'change your billing details', async ({ wallet }) =>
    wallet.saveDetails({ ...(await wallet.details()), ...said }),
  );
  show(cli, saved);
}

function show({ out }: Cli, details: BillingDetails): void {
  const { name, address, taxId } = details;
  out.result(details, () =>
    [name, address, taxId].every((each) => each === null)
      ? out.text(
          'Your receipts name your email address alone. Add your company with: gpu billing details set --name "Example Ltd"',
        )
      : out.facts([['Name', name], ...linesOf('Address', address), ['Tax ID', taxId]]),
  );
}
