import type { Command } from 'commander';
import { listOddities } from '../../adapters/postgres/catalog/provider-oddities.js';
import { using, type OpsContext } from '../context.js';
import { iso, printRows, readable, type Print } from '../output.js';

/**
 * `ops providers oddities` and `ops catalog oddities`: for an operator who seeks an upstream's fault, or misses an
 * offer.
 */
export function addOdditiesCommand(group: Command, context: OpsContext): void {
  readable(group.command('oddities').argument('[provider]', 'of one upstream'))
    .description('GPUs, regions and words in the upstreams’ answers that we do not know and skip.')
    .action((code: string | undefined, { json }: Print) =>
      using(context, async (db) => {
        printRows(await listOddities(db, code), json, (row) =>
          [
            row.provider_code,
            row.kind,
            row.subject,
            `${row.times} times, last ${iso(row.last_seen_at)}`,
          ].join('  '),
        );
      }),
    );
}
