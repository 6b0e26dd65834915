import { version } from '../../cli.js';
import type { AddCommand } from '../../command.js';
import { Failure } from '../../failure.js';
import { sshCommandFor } from '../../ssh/connection.js';
import { ensureIdentity } from '../../ssh/identity.js';

/** gpu mcp */
export const addMcp: AddCommand = (program, act) => {
  program
    .command('mcp')
    .summary('let an agent rent, within a cap')
    .description(
      'Serve an agent with the Model Context Protocol, on standard input and output. It spends only with a key that has a cap, and stops only machines that it opened: create a key for it with gpu keys create agent --agent, and set GPU_API_KEY.',
    )
    .option('--allow-uncapped', 'let it spend with a key that has no cap')
    .action(
      act(async (cli, { allowUncapped = false }: { allowUncapped?: boolean }) => {
        const { runMcp } = await import('../../mcp/run-mcp.js');
        const client = cli.client();
        const { stdin, stdout } = cli.surroundings;
        const unheard = await runMcp({
          ...{ client, allowUncapped, version, stdin, stdout, signal: cli.signal },
          publicKey: () => ensureIdentity(cli),
          sshCommand: (rental) => sshCommandFor(cli, client, rental),
        });
        if (unheard.length === 0) return undefined;
        const told = unheard.map(({ tool, rentalId }) => `${tool} ${rentalId ?? ''}`.trim()).join(', ');
        cli.standing = {
          details: { unheard },
          message: `The agent left before it got the result of: ${told}.`,
          next: 'Check with: gpu ls. Whatever is there costs money; stop it with: gpu stop',
        };
        throw new Failure('givenUp', 'The agent left.');
      }),
    );
};
