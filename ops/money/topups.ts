import type { Command } from 'commander';
import {
  findTopupBy,
  listAllTopups,
  readTopupHistory,
  type TopupHistory,
} from '../../adapters/postgres/payments/payment-search.js';
import type { TopupRow } from '../../adapters/postgres/rows/tables.js';
import { autoTopupWorkflowId } from '../../domain/payments/processor-routes.js';
import { topupStatuses, type TopupStatus } from '../../domain/payments/topup.js';
import { using, type OpsContext } from '../context.js';
import { countOf, oneOf } from '../options.js';
import { iso, printFacts, printRows, readable, whenSet, type Fact, type Print } from '../output.js';
import { linkTo } from '../temporal-links.js';
import { getUser } from '../people/named-user.js';
import { unknownPayment, verdictOn } from './topup-verdict.js';

type Listing = Print & {
  readonly user?: string;
  readonly status?: TopupStatus;
  readonly open?: boolean;
  readonly limit: number;
};

/** `ops topups …`: "a user says they paid". */
export function addTopupCommands(program: Command, context: OpsContext): void {
  const topups = program
    .command('topups')
    .alias('topup')
    .description('Top-ups: what was paid, and whether it was credited.')
    .addHelpText(
      'after',
      `
Examples ("a user says they paid"):
  ops topups list --user ann@example.com
  ops topups show top_01J…      or any id that they have: pi_…, cs_…, ch_…`,
    );
  readable(topups.command('list'))
    .description('Lists them, newest first.')
    .option('--user <who>', 'of one user: email address or usr_…')
    .option('--status <status>', topupStatuses.join(', '), oneOf(topupStatuses))
    .option('--open', 'only undecided payments')
    .option('--limit <count>', 'how many at most', countOf, 50)
    .action(({ user, status, open, json, limit }: Listing) =>
      using(context, async (db) => {
        const userId = user === undefined ? undefined : (await getUser(db, user)).id;
        printRows(await listAllTopups(db, { userId, status, open }, limit), json, lineOf);
      }),
    );
  readable(
    topups.command('show').argument('<id>', 'top_…, or a payment (pi_…), session (cs_…) or charge (ch_…)'),
  )
    .description('Shows one: its payment, its events, its credit, and what to do next.')
    .action((id: string, { json }: Print) =>
      using(context, async (db) => {
        const topup = await findTopupBy(db, id);
        if (!topup) throw new Error(unknownPayment(id));
        const history = await readTopupHistory(db, topup);
        const workflowId = topup.source === 'auto_topup' ? autoTopupWorkflowId(topup.user_id) : topup.id;
        const told = {
          ...history,
          verdict: verdictOn(history),
          workflow: linkTo(context.ui(), workflowId),
        };
        printFacts(told, json, factsOf(told));
      }),
    );
}

function lineOf(row: TopupRow): string {
  return [
    row.id,
    row.status.padEnd(16),
    `${row.amount_cents} cents`,
    row.source,
    row.credited_at === null
      ? 'not credited'
      : `credited ${row.credited_cents ?? 0} at ${iso(row.credited_at)}`,
    row.payment_id ?? 'no payment',
    row.user_id,
    `since ${iso(row.created_at)}`,
    row.error ?? '',
  ].join('  ');
}

type Told = TopupHistory & { readonly verdict: string; readonly workflow: string };

function factsOf({ topup, credits, events, parked, verdict, workflow }: Told): Fact[] {
  return [
    [
      'top-up',
      `${topup.id} ${topup.status}, ${topup.amount_cents} cents by ${topup.source}, of ${topup.user_id}`,
    ],
    ['verdict', verdict],
    [
      'since',
      iso(topup.created_at) + whenSet(topup.charge_sent_at, 'charged') + whenSet(topup.closed_at, 'closed'),
    ],
    ['session', topup.session_id],
    ['payment', topup.payment_id && `${topup.payment_id}  ${topup.charge_id ?? ''}`],
    ['receipt', topup.receipt_url],
    ['error', topup.error],
    ...credits.map(({ entryId, at, cents }): Fact => ['credit', `${entryId}  ${cents} cents at ${iso(at)}`]),
    ...events.map(({ id, kind, received_at: at, handled_at: handledAt, note }): Fact => [
      'event',
      `${id}  ${kind}  ${iso(at)}  ${handledAt === null ? 'waits' : `handled: ${note ?? ''}`}`,
    ]),
    ...parked.map((row): Fact => [
      'parked',
      `${row.payment_id}: ${row.amount_cents} ${row.currency}, ${row.reason}${whenSet(row.resolved_at, 'resolved')}`,
    ]),
    ['workflow', workflow],
  ];
}
