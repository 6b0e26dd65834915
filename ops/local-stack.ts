import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The file that a running local stack (`npm start`) has written for the ops command. */
interface LocalStack {
  readonly pid: number;
  /** The database's address for each of its operators; empty where no login could be made. */
  readonly logins: Readonly<Record<string, string>>;
  /** The environment of the service's own processes, with the database as its owner. */
  readonly env: Readonly<Record<string, string>>;
}

export interface OpsEnvironment {
  readonly env: NodeJS.ProcessEnv;
  /** The database as its owner, who makes logins. */
  readonly ownerUrl: string | undefined;
  /** The words after `ops`, without `--as`. */
  readonly argv: readonly string[];
}

/**
 * The environment of a command: the variables that are set, or else those of the local stack that runs on this folder's
 * data.
 * @param argv the words after `ops`; `--as <name>` chooses one of the local stack's operators
 * @throws Error when `--as` names none
 */
export function opsEnvironment(env: NodeJS.ProcessEnv, words: readonly string[]): OpsEnvironment {
  const { as, argv } = withoutAs(words);
  const stack = env['DATABASE_URL'] ? undefined : findLocalStack(env['LAB_DATA_DIR'] ?? '.data');
  if (!stack) {
    if (as !== undefined) {
      throw new Error(
        '--as works only with the local stack, which is not running here. Elsewhere, your login in DATABASE_URL says who you are.',
      );
    }
    return { env, ownerUrl: env['DATABASE_URL'], argv };
  }
  const name = as ?? Object.keys(stack.logins)[0] ?? '';
  const login = stack.logins[name];
  if (login === undefined) {
    throw new Error(`The local stack has no operator ${name}: ${Object.keys(stack.logins).join(', ')}.`);
  }
  const database = login === '' ? {} : { DATABASE_URL: login, DATABASE_ROLE: '' };
  return { env: { ...env, ...stack.env, ...database }, ownerUrl: stack.env['DATABASE_URL'], argv };
}

function withoutAs(words: readonly string[]): { as: string | undefined; argv: string[] } {
  const at = words.indexOf('--as');
  if (at < 0) return { as: undefined, argv: [...words] };
  return { as: words[at + 1] ?? '', argv: words.toSpliced(at, 2) };
}

/** The stack of a data folder, while it runs. */
function findLocalStack(dataDir: string): LocalStack | undefined {
  try {
    const stack = JSON.parse(readFileSync(join(resolve(dataDir), 'ops.json'), 'utf8')) as LocalStack;
    return isAlive(stack.pid) ? stack : undefined;
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
