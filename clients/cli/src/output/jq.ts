import { usageFailure } from '../failure.js';

/** What an expression makes of a value, line by line: texts as they are, all else as JSON. */
export type Select = (value: unknown) => readonly string[];

/**
 * Reads an expression of jq. What runs it is large, and is loaded by this alone.
 * @returns a function that throws a Failure for a value that does not fit
 * @throws Failure for what is no expression
 */
export async function selectBy(expression: string): Promise<Select> {
  const { loadJq } = await import('jq-wasm/inline');
  const jq = await loadJq();
  // With a space in front, one that begins with a dash is no option.
  const query = expression.startsWith('-') ? ` ${expression}` : expression;
  const run = (input: string) => jq.raw(input, query, ['--compact-output']);
  const read = run('');
  if (read.exitCode !== 0) {
    throw usageFailure(
      `The expression of --jq can’t be read: ${reasonIn(read.stderr)}.`,
      'The manual of jq 1.8: https://jqlang.org/manual/v1.8/',
    );
  }
  return (value) => {
    const { stdout, stderr, exitCode } = unlessTooLarge(() => run(JSON.stringify(value)));
    if (exitCode !== 0) throw misfit(reasonIn(stderr));
    return stdout
      .split('\n')
      .filter((line) => line !== '')
      .map(textOf);
  };
}

function textOf(json: string): string {
  return json.startsWith('"') ? (JSON.parse(json) as string) : json;
}

/** A program that is out of memory ends by an error of its own. */
function unlessTooLarge<T>(run: () => T): T {
  try {
    return run();
  } catch {
    throw misfit('it takes too much memory');
  }
}

function misfit(why: string): Error {
  return usageFailure(`--jq does not fit the result: ${why}.`, 'See the whole result with: --json');
}

/** The first line of what jq says, without what only its own command line has. */
function reasonIn(said: string): string {
  const [line = ''] = said.split('\n');
  return line
    .replace(/^jq: error(?: \(at .*?\))?: /, '')
    .replace(/ at <top-level>, line \d+, column (\d+):$/, ' at column $1');
}
