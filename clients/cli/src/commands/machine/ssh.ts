import type { AddCommand } from '../../command.js';
import { shellLine } from '../../output/shell.js';
import { connectionTo, runAtTerminal, sshLine } from '../../ssh/connection.js';

interface Options {
  readonly identity?: string;
  readonly print?: boolean;
}

/** gpu ssh */
export const addSsh: AddCommand = (program, act) => {
  program
    .command('ssh')
    .usage('[options] [machine] [-- command]')
    .argument('[machine]', 'its id, the end of its id, or its name (default: your only one)')
    .argument('[command...]', 'after --: the command to run there instead of a shell')
    .summary('log in to a machine')
    .description(
      'Log in to a machine with your own ssh, or run a command there. Its host key is checked against the one that the service saw. The exit code is ssh’s.',
    )
    .option('-i, --identity <file>', 'a private key to use instead of the default')
    .option('--print', 'only print the ssh command line')
    .action(
      act(async (cli, given: string | undefined, command: string[], { identity, print = false }: Options) => {
        const { machine, line } = splitAtDashes(cli.dashedArgs, given, command);
        const connection = await connectionTo(cli, machine, identity);
        const [program = 'ssh', ...args] = sshLine(connection, line);
        if (!print) return runAtTerminal(cli, program, args, connection);
        cli.out.result({ command: [program, ...args] }, () => [shellLine([program, ...args])]);
        return undefined;
      }),
    );
};

/** What stands after -- is a command, also where no machine stands before it. */
function splitAtDashes(
  dashed: readonly string[] | undefined,
  given: string | undefined,
  command: readonly string[],
): { readonly machine: string | undefined; readonly line: readonly string[] } {
  if (dashed === undefined) return { machine: given, line: command };
  const words = [...(given === undefined ? [] : [given]), ...command];
  const before = words.slice(0, words.length - dashed.length);
  return { machine: before[0], line: dashed };
}
