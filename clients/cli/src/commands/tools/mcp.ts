import { version } from '../../cli.js';
import type { Cli } from '../../cli.js';
import type { AddCommand } from '../../command.js';
import { Failure } from '../../failure.js';
import { sshCommandFor } from '../../ssh/connection.js';
import { ensureIdentity } from '../../ssh/identity.js';
import { clientForAgents, setUpAgents, setUpWords } from './agent-key.js';

/** gpu mcp */
export const addMcp: AddCommand = (program, act) => {
  program
    .command('mcp')
    .summary('let an agent rent, within a cap')
    .description(
      'Serve an agent with the Model Context Protocol, on standard input and output. In a terminal it serves nobody: it creates a key for agents, with a cap and an expiry, and shows how to add this server to an agent. The agent spends only with a key that has a cap, and stops only machines that it opened.',
    )
    .option('--allow-uncapped', 'let it spend with a key that has no cap')
    .action(
      act(async (cli, { allowUncapped = false }: { allowUncapped?: boolean }) => {
        if (cli.asking.canAsk && cli.givenKey === undefined) await setUpAgents(cli);
        else await serve(cli, allowUncapped);
        return undefined;
      }),
    );
};

/** A key of the environment wins over what is kept here. */
const ownKeyBy = (cli: Cli): string =>
  cli.givenKey === undefined
    ? `${setUpWords(cli)} in a terminal`
    : 'gpu keys create agent --agent --spend-cap 20 --days 30, and to set GPU_API_KEY to that key';

async function serve(cli: Cli, allowUncapped: boolean): Promise<void> {
  const { runMcp } = await import('../../mcp/run-mcp.js');
  const client = clientForAgents(cli);
  const { stdin, stdout } = cli.surroundings;
  const unheard = await runMcp({
    ...{ client, allowUncapped, version, stdin, stdout, signal: cli.signal },
    ownKeyBy: ownKeyBy(cli),
    now: () => cli.now(),
    publicKey: () => ensureIdentity(cli),
    sshCommand: (rental) => sshCommandFor(cli, client, rental),
  });
  if (unheard.length === 0) return;
  const told = unheard.map(({ tool, rentalId }) => `${tool} ${rentalId ?? ''}`.trim()).join(', ');
  cli.standing = {
    details: { unheard },
    message: `The agent left before it got the result of: ${told}.`,
    next: 'Check with: gpu ls. Whatever is there costs money; stop it with: gpu stop',
  };
  throw new Failure('givenUp', 'The agent left.');
}
