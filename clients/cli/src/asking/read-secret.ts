import type { Cli } from '../cli.js';
import { Failure } from '../failure.js';

/**
 * Reads a secret from the standard input, or asks for it at a terminal. It is never an argument: other users of this
 * machine see those, and the shell keeps them.
 * @param what what it is called: "key"
 * @param givenUp what is true after ctrl-C
 */
export async function readSecret(cli: Cli, what: string, givenUp: string): Promise<string> {
  const { stdin } = cli.surroundings;
  if (stdin.isTTY === true) {
    return cli.asking.secret({ message: `The ${what}`, otherwise: `Pipe the ${what} in.`, givenUp });
  }
  let text = '';
  for await (const chunk of stdin) {
    text += String(chunk);
    if (text.length > 10_000)
      throw new Failure('usage', `That is too long for a ${what}.`, `Pipe in only the ${what}.`);
  }
  return text.trim();
}

/** The failure of a secret that stands among the arguments; it is not repeated. */
export function secretInArguments(what: string, command: string): Failure {
  return new Failure(
    'usage',
    `Pass no ${what} as an argument: other users of this computer can read it there, and your shell keeps it.`,
    `Type it when asked, or pipe it in: ${command} < FILE. Replace the ${what} if others may have read it.`,
  );
}
