import type { Command } from 'commander';
import { listOddEvents } from '../../adapters/postgres/payments/odd-events.js';
import { findEvent, listEvents } from '../../adapters/postgres/payments/payment-search.js';
import type { OddEventRow, ProcessorEventRow } from '../../adapters/postgres/rows/tables.js';
import { signalWorkflow } from '../../adapters/temporal/signal-workflow.js';
import type { OperationResult } from '../../domain/operations/operation.js';
import type { EventWorkflow } from '../../domain/payments/processor-routes.js';
import { using, type OpsContext } from '../context.js';
import { actByHand } from '../direct.js';
import { asOperator, countOf, type OperatorOptions } from '../options.js';
import { iso, printFacts, printRows, readable, type Print } from '../output.js';
import { linkTo } from '../temporal-links.js';

type Listing = Print & {
  readonly unhandled?: boolean;
  readonly workflow?: string;
  readonly kind?: string;
  readonly object?: string;
  readonly limit: number;
};

/** `ops webhooks …`: events of the payment processor as they came. */
export function addWebhookCommands(program: Command, context: OpsContext): void {
  const webhooks = program
    .command('webhooks')
    .alias('webhook')
    .description(
      'Events from the payment processor, and which workflow handled them. For users’ own webhooks: ops endpoints.',
    )
    .addHelpText(
      'after',
      `
Examples:
  ops webhooks list --unhandled
  ops webhooks list --object pi_3Q…
  ops webhooks replay evt_1Q… --by ada --reason "the worker had a fault"`,
    );
  readable(webhooks.command('list'))
    .description('Lists them, newest first.')
    .option('--unhandled', 'only unhandled ones')
    .option('--workflow <id>', 'for one workflow: top_…, inv_…, re_…')
    .option('--kind <kind>', 'such as payment_intent.succeeded')
    .option('--object <id>', 'about one object of the processor: pi_…, cs_…, re_…')
    .option('--limit <count>', 'how many at most', countOf, 50)
    .action(({ unhandled, workflow, kind, object, json, limit }: Listing) =>
      using(context, async (db) => {
        const filter = { unhandled, kind, workflowId: workflow, objectId: object };
        printRows(await listEvents(db, filter, limit), json, lineOf);
      }),
    );
  readable(webhooks.command('show').argument('<event>', 'evt_…'))
    .description('Shows one event, with its object.')
    .action((id: string, { json }: Print) =>
      using(context, async (db) => {
        const event = await findEvent(db, id);
        if (!event) throw new Error(`There is no event ${id}: see ops webhooks list.`);
        printFacts(event, json, [
          ['event', lineOf(event)],
          ['version', `${event.api_version ?? 'none'}, ${event.livemode ? 'live' : 'test'} mode`],
          ['workflow', event.workflow_id && linkTo(context.ui(), event.workflow_id)],
          ['object', JSON.stringify(event.object, null, 2)],
        ]);
      }),
    );
  readable(webhooks.command('odd'))
    .description('Lists signed events that we could not read, newest first. We answered them with 200.')
    .option('--limit <count>', 'how many at most', countOf, 50)
    .action(({ json, limit }: Listing) =>
      using(context, async (db) => {
        printRows(await listOddEvents(db, limit), json, oddLineOf);
      }),
    );
  asOperator(webhooks.command('replay').argument('<event>', 'evt_…'))
    .description('Has its workflow handle it again. Nothing happens twice: each credit has one cause.')
    .action((eventId: string, options: OperatorOptions) =>
      actByHand(context, { kind: 'replay_event', eventId }, options, {
        signal: ({ workflow: workflows }, result) => signalWorkflow(workflows, routeOfResult(result)),
      }),
    );
}

function routeOfResult({ workflow, workflowId }: OperationResult) {
  return { workflow: workflow as EventWorkflow, workflowId: String(workflowId) };
}

function oddLineOf({ id, reason, deliveries, first_received_at: first, body }: OddEventRow): string {
  const times = `${deliveries} ${deliveries === 1 ? 'delivery' : 'deliveries'} since ${iso(first)}`;
  return [String(id), times, reason, body.slice(0, 120).replaceAll(/\s+/g, ' ')].join('  ');
}

function lineOf(event: ProcessorEventRow): string {
  const { id, kind, received_at: receivedAt, handled_at: handledAt, note, object } = event;
  const objectId = typeof object['id'] === 'string' ? object['id'] : 'no object';
  const state = handledAt === null ? 'WAITS' : `handled ${iso(handledAt)}: ${note ?? ''}`;
  return [id, kind, objectId, `received ${iso(receivedAt)}`, event.workflow_id ?? 'nobody', state].join('  ');
}
