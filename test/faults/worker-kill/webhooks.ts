import assert from 'node:assert/strict';
import { defaultPayloadConverter } from '@temporalio/common';
import { newId } from '../../../adapters/ids.js';
import { recordEvent } from '../../../adapters/postgres/events/outbox.js';
import type { WebhookId } from '../../../domain/ids.js';
import { webhookWorkflowId } from '../../../domain/webhooks/webhook.js';
import type { SignedIn } from '../../support/http/api.js';
import type { KilledWorker } from '../../support/service/killed-worker.js';
import type { TestService } from '../../support/service/living-service.js';
import { until } from '../../support/until.js';
import { startReceiver, type Receiver } from '../../support/webhooks/receiver.js';

/** An endpoint that is enabled, and what it receives. */
interface Endpoint {
  readonly id: WebhookId;
  readonly receiver: Receiver;
}

export function describeWebhooks(world: KilledWorker): void {
  describe('a worker that is killed while it delivers an event', () => {
    let service: TestService;
    let user: SignedIn;
    let endpoint: Endpoint;
    let other: Endpoint;

    before(() => {
      ({ service } = world);
    });
    beforeEach(async () => {
      user = await service.signIn();
      [endpoint, other] = [await enabled(), await enabled()];
      for (const { id } of [endpoint, other]) await idle(id);
    });
    afterEach(async () => {
      for (const { id, receiver } of [endpoint, other]) {
        await user.delete(`/v1/webhooks/${id}`);
        await receiver.close();
      }
    });

    async function enabled(): Promise<Endpoint> {
      const receiver = await startReceiver();
      const { body } = await user.post('/v1/webhooks', { url: receiver.url, types: ['ssh_key.added'] });
      const id = body.id as WebhookId;
      await until(`${id} is enabled`, async () => (await rowOf(id)).state === 'enabled');
      return { id, receiver };
    }
    const rowOf = async (id: WebhookId) => (await service.db('webhooks').where({ id }).first())!;
    const idle = (id: WebhookId) => until(`${id} is idle`, async () => (await rowOf(id)).due_at === null);

    /** Commits three events. @returns their ids in the feed's order */
    async function happen(): Promise<string[]> {
      for (let no = 0; no < 3; no += 1) {
        const event = { userId: user.user.id, entityId: newId('key'), data: { fingerprint: 'SHA256:0' } };
        await recordEvent(service.db, { type: 'ssh_key.added', ...event });
      }
      return until('they are numbered', async () => {
        const rows = await service
          .db('events')
          .where({ user_id: user.user.id, type: 'ssh_key.added' })
          .orderBy('seq');
        return rows.length === 3 && rows.map(({ id }) => id);
      });
    }
    const received = ({ receiver }: Endpoint) =>
      receiver.events().map(({ headers }) => headers['webhook-id']);

    /** What is written down of an endpoint's tries of events. */
    async function noted({ id }: Endpoint): Promise<unknown[]> {
      const rows = await service.db('webhook_deliveries').where({ webhook_id: id }).orderBy('no');
      return rows
        .filter(({ event_id: eventId }) => eventId !== null)
        .map(({ event_id: eventId, outcome, attempt }) => [eventId, outcome, attempt]);
    }
    const onceEach = (ids: readonly string[]) => ids.map((id) => [id, 'delivered', 1]);

    /** Waits until a query of the worker waits for a lock. */
    const waits = (query: string) =>
      until('the worker waits for a lock', async () => {
        const { rows } = await service.db.raw<{ rows: unknown[] }>(
          `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
              and application_name like 'worker-webhooks %' and query ilike ?`,
          [query],
        );
        return rows.length > 0;
      });

    it('before it is sent: another one sends it, once', async () => {
      const holding = await service.db.transaction();
      await holding.raw('lock table webhook_secrets in access exclusive mode');
      const ids = await happen();
      await waits('%webhook_secrets%');
      await world.kill();
      await holding.commit();
      assert.deepEqual([received(endpoint), received(other)], [[], []]);
      await world.startWorker();
      for (const each of [endpoint, other]) {
        await idle(each.id);
        assert.deepEqual(received(each), ids);
        assert.deepEqual(await noted(each), onceEach(ids));
      }
    });

    it('before it is answered: it comes again under its id, before those after it', async () => {
      const { receiver } = endpoint;
      receiver.answer = (_message, response) => {
        if (receiver.events().length !== 2) response.writeHead(204).end();
      };
      const ids = await happen();
      await until('the second one came', () => receiver.events().length === 2);
      await until('it is being tried', () => receiver.now.open === 1);
      await idle(other.id);
      await world.kill();
      await world.startWorker();
      await idle(endpoint.id);
      assert.deepEqual(received(endpoint), [ids[0], ids[1], ids[1], ids[2]]);
      assert.equal(receiver.events()[1]?.body, receiver.events()[2]?.body);
      assert.deepEqual(received(other), ids);
      for (const each of [endpoint, other]) assert.deepEqual(await noted(each), onceEach(ids));
    });

    it('after it was answered and before that is written: it comes again only if nobody was told', async () => {
      const { receiver } = endpoint;
      const held: { answer?: () => void } = {};
      receiver.answer = (_message, response) => {
        const answer = () => void response.writeHead(204).end();
        if (receiver.events().length === 2) held.answer = answer;
        else answer();
      };
      const ids = await happen();
      await until('the second one came', () => held.answer);
      await idle(other.id);
      const holding = await service.db.transaction();
      await holding('webhooks').where({ id: endpoint.id }).forUpdate();
      held.answer?.();
      await waits('%webhooks%');
      await until('Temporal knows that it was taken', async () => {
        const { raw } = await service.temporal.workflow.getHandle(webhookWorkflowId(endpoint.id)).describe();
        const [payload] = raw.pendingActivities?.[0]?.heartbeatDetails?.payloads ?? [];
        const details = payload && defaultPayloadConverter.fromPayload<{ sent?: object }>(payload);
        return details?.sent !== undefined;
      });
      await world.kill();
      await holding.commit();
      assert.deepEqual(await noted(endpoint), onceEach(ids.slice(0, 1)));
      await world.startWorker();
      await idle(endpoint.id);
      assert.deepEqual(received(endpoint), ids);
      for (const each of [endpoint, other]) assert.deepEqual(await noted(each), onceEach(ids));
    });
  });
}
