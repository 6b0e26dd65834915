import type { AddCommand } from '../../command.js';
import { usageFailure } from '../../failure.js';

/** gpu proof */
export const addProof: AddCommand = (program, act) => {
  program
    .command('proof')
    .argument('<month>', 'a month that is over, such as 2026-10')
    .summary('the proof of a month’s ledger')
    .description(
      'Download the proof of a month: with it you, or anybody you give it to, can check later that no entry was changed.',
    )
    .action(
      act(async (cli, month: string) => {
        if (cli.out.isJson) throw usageFailure('A proof is a file of its own, and has no --json.');
        const { signal } = cli;
        await cli.out.pour(() => cli.client().wallet.proofStream({ month }, { signal }), signal);
        return undefined;
      }),
    );
};
