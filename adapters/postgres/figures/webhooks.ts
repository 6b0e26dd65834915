import { tryOutcomes, webhookStates } from '../../../domain/webhooks/webhook.js';
import type { FigureGroup } from '../../metrics/figures.js';

/** Webhooks to users: endpoints by state, tries by outcome, and how late we are. */
export const webhookFigures: FigureGroup = {
  name: 'webhooks',
  metrics: {
    webhooks: { help: 'Webhook endpoints of users.', labels: ['state'] },
    webhooks_failing: { help: 'Those of them whose last try failed.' },
    webhook_tries_last_hour: {
      help: 'Tries to deliver to webhook endpoints within the last hour.',
      labels: ['outcome'],
    },
    oldest_undelivered_event_seconds: {
      help: 'Age of the oldest event that waits for an endpoint whose last try did not fail; 0: none.',
    },
  },
  async read(trx) {
    const { rows: hooks } = await trx.raw<{ rows: { state: string; hooks: number; failing: number }[] }>(
      `select state, count(*) as hooks, count(*) filter (where failures > 0 and state = 'enabled') as failing
         from webhooks group by state`,
    );
    const { rows: tries } = await trx.raw<{ rows: { outcome: string; tries: number }[] }>(
      `select outcome, count(*) as tries from webhook_deliveries
        where at > now() - interval '1 hour' group by outcome`,
    );
    const { rows: late } = await trx.raw<{ rows: { seconds: number }[] }>(
      `select coalesce(extract(epoch from now() - min(e.sequenced_at)), 0)::float8 as seconds
         from webhooks w
         cross join lateral (select sequenced_at from events e
                              where e.user_id = w.user_id and e.seq > w.cursor_seq order by e.seq limit 1) e
        where w.due_at is not null and w.failures = 0 and w.state = 'enabled'
          and not exists (select 1 from brakes where kind = 'webhooks')`,
    );
    return [
      ...webhookStates.map((state) => ({
        metric: 'webhooks',
        labels: { state },
        value: hooks.find((row) => row.state === state)?.hooks ?? 0,
      })),
      { metric: 'webhooks_failing', value: hooks.reduce((sum, { failing }) => sum + failing, 0) },
      ...tryOutcomes.map((outcome) => ({
        metric: 'webhook_tries_last_hour',
        labels: { outcome },
        value: tries.find((row) => row.outcome === outcome)?.tries ?? 0,
      })),
      { metric: 'oldest_undelivered_event_seconds', value: Math.max(0, late[0]?.seconds ?? 0) },
    ];
  },
};
