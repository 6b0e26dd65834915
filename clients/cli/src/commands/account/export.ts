import type { GpuRental } from '@gpu-rental/client';
import { randomUUID } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Progress } from '../../asking/progress.js';
import { withSession } from '../../asking/with-session.js';
import type { Cli } from '../../cli.js';
import type { AddCommand } from '../../command.js';
import { Failure, usageFailure } from '../../failure.js';

interface Options {
  readonly force?: boolean;
}

/** gpu account export */
export const addAccountExport: AddCommand = (account, act) => {
  account
    .command('export')
    .argument('<file>', 'where to, such as account.zip; - is the standard output')
    .description(
      'Download everything the service holds about you as one ZIP archive. Asks for a code that we email you.',
    )
    .option('--force', 'overwrite the file')
    .action(
      act(async (cli, file: string, { force = false }: Options) => {
        await exportTo(cli, file, force);
        return undefined;
      }),
    );
};

async function exportTo(cli: Cli, file: string, force: boolean): Promise<void> {
  if (file === '-') {
    await pipe(cli);
    return;
  }
  const bytes = await save(cli, file, force);
  cli.out.result({ file, bytes }, () =>
    cli.out.text(
      `Saved everything we hold about you as ${file} (${sizeOf(bytes)}). README.txt in it explains each file.`,
    ),
  );
}

const what = 'export your account';

async function pipe(cli: Cli): Promise<void> {
  const { stdout } = cli.surroundings;
  if (cli.out.isJson || stdout.isTTY === true)
    throw usageFailure(
      'The archive is binary.',
      'Name a file, or pipe it: gpu account export - > account.zip',
    );
  await withSession(cli, what, (client) =>
    download(cli, client, () => stdout, 'The download ended early: what came of it doesn’t open.'),
  );
}

/** What is not whole has another name, of its own, and does not stay. @returns how many bytes it has */
async function save(cli: Cli, file: string, force: boolean): Promise<number> {
  refuseToOverwrite(file, force);
  const part = `${file}.${randomUUID()}.part`;
  const handle = await open(part, 'wx', 0o600);
  try {
    const bytes = await withSession(cli, what, (client) =>
      download(
        cli,
        client,
        () => handle.createWriteStream(),
        'The download ended early, and nothing was kept.',
      ),
    );
    // Somebody may have written it meanwhile.
    refuseToOverwrite(file, force);
    await rename(part, file);
    return bytes;
  } finally {
    await handle.close();
    rmSync(part, { force: true });
  }
}

function refuseToOverwrite(file: string, force: boolean): void {
  if (!force && existsSync(file))
    throw usageFailure(`${file} exists already.`, 'Choose another name, or overwrite it with --force');
}

/**
 * @param endedEarly what is said where not all of it comes
 * @returns how many bytes came
 */
async function download(
  cli: Cli,
  client: GpuRental,
  opened: () => Writable,
  endedEarly: string,
): Promise<number> {
  const { signal } = cli;
  const progress = new Progress(cli);
  let bytes = 0;
  const archive = await client.account.export({ signal });
  const to = opened();
  try {
    await pipeline(
      archive,
      async function* (pieces: AsyncIterable<Uint8Array>) {
        try {
          for await (const piece of pieces) {
            bytes += piece.length;
            progress.update('Downloading your data', sizeOf(bytes));
            yield piece;
          }
        } catch (error) {
          if (signal.aborted) throw error;
          throw new Failure('network', endedEarly, 'Run the command again.', { cause: error });
        }
      },
      to,
      { signal, end: to !== cli.surroundings.stdout },
    );
    return bytes;
  } finally {
    progress.end();
  }
}

function sizeOf(bytes: number): string {
  return bytes < 1_000_000 ? `${Math.ceil(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
