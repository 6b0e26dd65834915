import type { AddCommand } from '../../command.js';
import { connectionTo, runAtTerminal } from '../../ssh/connection.js';

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
    .action(
      act(async (cli, given: string | undefined, command: string[], { identity }: { identity?: string }) => {
        const { machine, line } = splitAtDashes(cli.dashedArgs, given, command);
        const connection = await connectionTo(cli, machine, identity);
        const { host, port, username, options } = connection;
        const target = ['-p', String(port), '-l', username, ...options, '--', host];
        return runAtTerminal(cli, 'ssh', [...target, ...line], connection);
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
