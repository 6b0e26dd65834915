import type { GpuRental } from '@gpu-rental/client';
import { createWriteStream, existsSync, rmSync } from 'node:fs';
import { rename } from 'node:fs/promises';
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
  const { out, surroundings } = cli;
  if (file !== '-' && !force && existsSync(file))
    throw usageFailure(`${file} exists already.`, 'Choose another name, or overwrite it with --force');
  if (file === '-' && (out.isJson || surroundings.stdout.isTTY === true))
    throw usageFailure(
      'The archive is binary.',
      'Name a file, or pipe it: gpu account export - > account.zip',
    );
  const bytes = await withSession(cli, 'An API key can’t export your account: sign in.', (client) =>
    file === '-' ? download(cli, client, () => surroundings.stdout) : downloadTo(cli, client, file),
  );
  if (file === '-') return;
  out.result({ file, bytes }, () =>
    out.text(
      `Saved everything we hold about you as ${file} (${sizeOf(bytes)}). README.txt in it explains each file.`,
    ),
  );
}

/** What is not whole has another name, and does not stay. */
async function downloadTo(cli: Cli, client: GpuRental, file: string): Promise<number> {
  const part = `${file}.part`;
  try {
    const bytes = await download(cli, client, () => createWriteStream(part, { mode: 0o600 }));
    await rename(part, file);
    return bytes;
  } finally {
    rmSync(part, { force: true });
  }
}

/** @returns how many bytes came */
async function download(cli: Cli, client: GpuRental, open: () => Writable): Promise<number> {
  const { signal } = cli;
  const progress = new Progress(cli);
  let bytes = 0;
  const archive = await client.account.export({ signal });
  const to = open();
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
          throw signal.aborted ? error : endedEarly(error);
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

function endedEarly(cause: unknown): Failure {
  return new Failure('network', 'The download ended early, and nothing was kept.', 'Run the command again.', {
    cause,
  });
}

function sizeOf(bytes: number): string {
  return bytes < 1_000_000 ? `${Math.ceil(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
