import type { Command } from 'commander';
import { listNotices } from '../../adapters/postgres/operators/operator-notices.js';
import { using, type OpsContext } from '../context.js';
import { iso, printRows, readable, type Print } from '../output.js';

/** `ops notices`: the things that a person should look at. */
export function addNoticeCommands(program: Command, context: OpsContext): void {
  readable(program.command('notices'))
    .description(
      'Lists notices to operators, also sent by email and log: an upstream out of money, refunds over the limit.',
    )
    .action(({ json }: Print) =>
      using(context, async (db) =>
        printRows(await listNotices(db), json, (row) =>
          [iso(row.noted_at), row.subject, row.body.replaceAll('\n', ' ')].join('  '),
        ),
      ),
    );
}
