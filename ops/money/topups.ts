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
        if (!topup) {
          throw new Error(
            `We know nothing under ${id}. If the processor shows it as paid, run ops webhooks list --object ${id}, then ops parked.`,
          );
        }
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

/** The operator's answer to the user, or next step. */
function verdictOn({ topup, credits, events, parked }: TopupHistory): string {
  const [credit] = credits;
  if (credit) {
    const ids = credits.map(({ entryId }) => entryId).join(', ');
    return `It was paid and credited: ${ids}. For details, run ops explain.`;
  }
  if (parked[0]) return `It was paid, and is parked: ${parked[0].reason}. See ops parked.`;
  const waiting = events.find(({ handled_at: handledAt }) => handledAt === null);
  if (waiting)
    return `${waiting.id} is waiting for its workflow. Check the workflow, or run ops webhooks replay ${waiting.id}.`;
  if (topup.status === 'processing') return 'The bank is processing the payment: nothing to do yet.';
  if (topup.status === 'requires_payment') {
    return `It has not been paid on the page, which is open until ${iso(topup.session_expires_at)}.`;
  }
  if (topup.status === 'failed')
    return `It failed: ${topup.decline_code ?? topup.error ?? 'no reason is known'}.`;
  return 'It was not paid. If the processor says otherwise, an event was lost: we fetch it within minutes.';
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
      `${row.payment_id}: ${row.amount_cents} ${row.currency}, ${row.reason}`,
    ]),
    ['workflow', workflow],
  ];
}
