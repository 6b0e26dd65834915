import type { Command } from 'commander';
import { listDeclines } from '../../adapters/postgres/payments/declines.js';
import { using, type OpsContext } from '../context.js';
import { countOf } from '../options.js';
import { iso, printRows, readable, type Print } from '../output.js';

/** `ops declines`: whose cards banks decline (decision 128, "Trying of cards"). */
export function addDeclinesCommand(program: Command, context: OpsContext): void {
  readable(program.command('declines'))
    .description('Users whose cards were declined in the last 24 hours, those with the most declines first.')
    .option('--limit <count>', 'how many at most', countOf, 50)
    .action(({ limit, json }: Print & { limit: number }) =>
      using(context, async (db) => {
        printRows(await listDeclines(db, limit), json, (row) =>
          [
            row.userId,
            `${row.declines} declines on ${row.pages} pages`,
            `last ${iso(row.lastAt)}`,
            row.lastCode ?? 'no code',
          ].join('  '),
        );
      }),
    );
}
