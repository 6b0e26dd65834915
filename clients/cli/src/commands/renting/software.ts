import type { NewRental } from '@gpu-rental/client';
import { readFileSync } from 'node:fs';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { readSecret } from '../../asking/read-secret.js';
import type { Cli } from '../../cli.js';
import { collect, variable, wholeNumber } from '../../command.js';
import { usageFailure } from '../../failure.js';

type Port = NonNullable<NewRental['ports']>[number];

/** What runs on the machine instead of a template, as options. */
export interface SoftwareOptions {
  readonly image?: string;
  readonly entrypoint?: 'keep' | 'replace';
  readonly arg?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly envFile?: string;
  readonly script?: string;
  readonly port?: readonly Port[];
  readonly disk?: number;
  readonly registryUser?: string;
  readonly registryPasswordStdin?: boolean;
}

/** Adds them to a command. No secret is an argument: other users of this machine see those. */
export function addSoftware(command: Command): Command {
  return command
    .option('--image <image>', 'run your own image instead of a template')
    .addOption(
      new Option(
        '--entrypoint <choice>',
        'replace: run your --script, or your --arg words, in place of the image’s entrypoint',
      ).choices(['keep', 'replace']),
    )
    .option('--arg <text>', 'an argument of what the image runs; repeatable', collect)
    .option('--env <KEY=value>', 'a variable that is no secret; repeatable', variable)
    .option('--env-file <file>', 'variables from a file, a KEY=value in each line')
    .option('--script <file>', 'a script that the machine, or with --entrypoint replace the image, runs')
    .option('--port <name:port>', 'a port, such as page:8080/http or page:8080/http:public; repeatable', port)
    .option('--disk <GB>', 'the size of the disk', wholeNumber(1, 2_000))
    .option('--registry-user <name>', 'who signs in to the image’s registry')
    .option('--registry-password-stdin', 'read the registry’s password from the standard input');
}

/** The same in a request. */
export async function softwareOf(cli: Cli, options: SoftwareOptions): Promise<Partial<NewRental>> {
  const { image, entrypoint, arg: args, script, port: ports, disk: diskGb } = options;
  const env = { ...(options.envFile !== undefined && variablesIn(options.envFile)), ...options.env };
  const registryAuth = await registryOf(cli, options);
  return {
    ...(image !== undefined && { image }),
    ...(entrypoint !== undefined && { entrypoint }),
    ...(args !== undefined && { args: [...args] }),
    ...(Object.keys(env).length > 0 && { env }),
    ...(script !== undefined && { startScript: textOf(script) }),
    ...(ports !== undefined && { ports: [...ports] }),
    ...(diskGb !== undefined && { diskGb }),
    ...(registryAuth && { registryAuth }),
  };
}

async function registryOf(
  cli: Cli,
  { registryUser: username, registryPasswordStdin }: SoftwareOptions,
): Promise<NewRental['registryAuth']> {
  if (username === undefined && registryPasswordStdin !== true) return undefined;
  if (username === undefined || registryPasswordStdin !== true) {
    throw usageFailure('--registry-user and --registry-password-stdin belong together.');
  }
  return { username, password: await readSecret(cli, 'password', 'Nothing was rented.') };
}

/** A line is KEY=value; empty ones and those that begin with # are none. The value is taken as it is. */
function variablesIn(file: string): Record<string, string> {
  const lines = textOf(file)
    .split(/\r?\n/)
    .map((line, index) => ({ line, number: index + 1 }))
    .filter(({ line }) => line.trim() !== '' && !line.trimStart().startsWith('#'));
  const pairs = lines.map(({ line, number }) => {
    const at = line.indexOf('=');
    // The line may hold a secret, so it is not shown.
    if (at < 1) throw usageFailure(`Line ${number} of ${file} is not KEY=value.`);
    return [line.slice(0, at).trim(), line.slice(at + 1)] as const;
  });
  return Object.fromEntries(pairs);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw usageFailure(`The file ${file} can’t be read.`);
  }
}

function port(text: string, before: readonly Port[] = []): Port[] {
  const [, name, number, kind = 'http', isPublic] =
    /^([a-z][a-z0-9-]*):(\d{1,5})(?:\/(http|tcp))?(:public)?$/.exec(text) ?? [];
  if (name === undefined || (kind !== 'http' && kind !== 'tcp')) {
    throw new InvalidArgumentError(
      'Write a port as name:port, such as page:8080, page:8080/tcp or page:8080/http:public.',
    );
  }
  return [...before, { name, port: Number(number), kind, public: isPublic !== undefined }];
}
