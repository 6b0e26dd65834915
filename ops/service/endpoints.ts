import type { Command } from 'commander';
import type { WebhookRow } from '../../adapters/postgres/rows/tables.js';
import { listDeliveries } from '../../adapters/postgres/webhooks/deliveries.js';
import { listWebhooks } from '../../adapters/postgres/webhooks/endpoints.js';
import { newSealingKeys } from '../../adapters/sealed-secrets.js';
import { isId } from '../../domain/ids.js';
import { webhookWorkflowId } from '../../domain/webhooks/webhook.js';
import { using, type OpsContext } from '../context.js';
import { countOf } from '../options.js';
import { iso, printFacts, printRows, readable, type Print } from '../output.js';
import { userIdOf } from '../people/named-user.js';
import { linkTo } from '../temporal-links.js';

/** `ops endpoints …`: where users have their events delivered. */
export function addEndpointCommands(program: Command, context: OpsContext): void {
  const endpoints = program
    .command('endpoints')
    .alias('endpoint')
    .description(
      'Users’ webhooks: their state and deliveries. For the payment processor’s events: ops webhooks.',
    )
    .addHelpText(
      'after',
      `
Examples:
  ops endpoints list ann@example.com
  ops endpoints show wh_01J…
  ops pause webhooks --by ada --reason "a receiver asks us to"`,
    );
  readable(endpoints.command('list').argument('<who>', 'an email address or usr_…'))
    .description('Lists the webhooks of one user.')
    .action((who: string, { json }: Print) =>
      using(context, async (db) => {
        printRows(await listWebhooks(db, await userIdOf(db, who)), json, lineOf);
      }),
    );
  readable(endpoints.command('show').argument('<id>', 'wh_…'))
    .description('One webhook, with its last tries.')
    .option('--limit <count>', 'how many tries at most', countOf, 20)
    .action((id: string, { json, limit }: Print & { limit: number }) =>
      using(context, async (db) => {
        const hook = isId('wh', id) ? await db('webhooks').where({ id }).first() : undefined;
        if (!hook) throw new Error(`There is no webhook ${id}: see ops endpoints list.`);
        const tries = await listDeliveries(db, hook.id, undefined, limit);
        printFacts({ ...hook, tries }, json, [
          ['webhook', lineOf(hook)],
          ['user', hook.user_id],
          ['types', hook.types.length === 0 ? 'all that need not be named' : hook.types.join(' ')],
          ['workflow', linkTo(context.ui(), webhookWorkflowId(hook.id))],
          ['next', hook.due_at && `due ${iso(hook.due_at)}, after event ${hook.cursor_seq}`],
          ...tries.map(({ at, type, seq, attempt, outcome, http_status: status, fault, duration_ms: ms }) => {
            const answer = [status, fault].filter((part) => part !== null).join(' ');
            return [iso(at), `${type} ${seq ?? ''} try ${attempt}: ${outcome} ${answer} ${ms} ms`] as const;
          }),
        ]);
      }),
    );
  readable(endpoints.command('keys'))
    .description('Creates a new key pair for WEBHOOK_PUBLIC_KEY and WEBHOOK_PRIVATE_KEYS, and keeps no copy.')
    .action(({ json }: Print) => {
      const { publicKey, privateKey } = newSealingKeys();
      printFacts({ publicKey, privateKey }, json, [
        ['WEBHOOK_PUBLIC_KEY', publicKey],
        ['WEBHOOK_PRIVATE_KEYS', privateKey],
      ]);
    });
}

function lineOf(hook: WebhookRow): string {
  const off = hook.switched_off_at && `since ${iso(hook.switched_off_at)}: ${hook.switched_off_why ?? ''}`;
  const failing = hook.failing_since && `${hook.failures} tries failed since ${iso(hook.failing_since)}`;
  return [hook.id, hook.state, off, hook.url, failing].filter((part) => part !== null).join('  ');
}
