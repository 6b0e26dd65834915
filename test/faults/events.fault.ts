import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { recordEvent } from '../../adapters/postgres/events/outbox.js';
import { sequenceEvents } from '../../adapters/postgres/events/sequence.js';
import { streamLimits } from '../../domain/events/stream-limits.js';
import type { WebhookId } from '../../domain/ids.js';
import { findFreePorts } from '../../lab/stack/ports.js';
import { openStream, type StreamClient } from '../support/http/event-stream.js';
import type { SignedIn } from '../support/http/api.js';
import { takeChances, type Chances } from '../support/seeded.js';
import { startService, type TestService } from '../support/service/living-service.js';
import { startApiProcess, type WorkerProcess } from '../support/service/worker-process.js';
import { until } from '../support/until.js';
import { startReceiver } from '../support/webhooks/receiver.js';

const clients = Number(process.env['FAULT_CLIENTS'] ?? '50');
const cuts = Number(process.env['FAULT_CUTS'] ?? '1000');
const kills = Number(process.env['FAULT_KILLS'] ?? '10');
const manyStreams = Number(process.env['FAULT_STREAMS'] ?? '1000');
/** How long the writers' events may take to reach the last endpoint, once nothing is cut any more. */
const SENT_WITHIN_MS = 300_000;

/** Its clients ask as often as they like. */
const unlimited = {
  API_READS_PER_MINUTE: '1000000000',
  API_USER_READS_PER_MINUTE: '1000000000',
  API_STRANGERS_PER_MINUTE: '1000000000',
};

/** Follows a feed in one way, whatever happens to its connections, and keeps each event that it was told. */
interface Follower {
  readonly user: SignedIn;
  /** The ids of the events in the order in which they came, each with its number. */
  readonly told: { readonly seq: number; readonly id: string }[];
  /** Whether events may come twice and in another order, each with its number; and none about sessions comes. */
  readonly isByWebhook: boolean;
  cut(): void;
  stop(): Promise<void>;
}

/**
 * Events of many users while connections are cut and API processes are killed, again and again. Each way to follow a
 * feed is a function that makes a follower: by a stream, by pages, and by a webhook.
 */
describe(`${clients} followers of events, ${cuts} cuts and ${kills} kills of API processes`, function () {
  this.timeout(900_000);
  let service: TestService;
  let chances: Chances;
  let ports: readonly number[];
  const apis: WorkerProcess[] = [];
  let going = true;
  const work: Promise<void>[] = [];

  before(async () => {
    chances = takeChances('events under kills');
    service = await startService({ shards: 0, webhookSender: { exchangeMs: 1_000 } });
    ports = await findFreePorts(2);
    await Promise.all(ports.map((_, index) => start(index)));
    // A second sequencer beside the worker's.
    work.push(
      whileGoing(async () => {
        await sequenceEvents(service.db);
        await sleep(20);
      }),
    );
  });
  after(async () => {
    going = false;
    await Promise.all(work);
    await Promise.all(apis.map(async (api?: WorkerProcess) => api?.kill()));
    await service.stop();
  });

  async function start(index: number): Promise<void> {
    apis[index] = await startApiProcess(service, {
      ...unlimited,
      DATABASE_ROLE: 'gpu_rental_api',
      API_PORT: String(ports[index]),
      METRICS_PORT: '0',
    });
  }

  async function whileGoing(step: () => Promise<void>): Promise<void> {
    while (going) await step();
  }

  const someUrl = (): string => `http://127.0.0.1:${ports[chances.below(ports.length)]!}`;

  function followByStream(user: SignedIn): Follower {
    const told: Follower['told'] = [];
    let open: StreamClient | undefined;
    const state = { isOver: false };
    let lastId = 0;
    const following = (async () => {
      while (!state.isOver && going) {
        try {
          open = await openStream({ url: someUrl(), sid: user.sid }, '', { 'Last-Event-ID': String(lastId) });
        } catch {
          await sleep(50);
          continue;
        }
        await until('it is cut', () => open!.isClosed || state.isOver || !going, 3_600_000);
        open.cut();
        open.check();
        assert.deepEqual(open.named('resync'), []);
        for (const { data } of open.events()) told.push({ seq: Number(data['seq']), id: String(data['id']) });
        lastId = open.lastId ?? lastId;
      }
    })();
    return {
      user,
      told,
      isByWebhook: false,
      cut: () => open?.cut(),
      async stop() {
        await until(`${user.user.id} was told all`, async () => {
          const seen = Math.max(lastId, open?.lastId ?? 0);
          return seen >= (await lastSeqOf(user));
        });
        state.isOver = true;
        await following;
      },
    };
  }

  function followByPages(user: SignedIn): Follower {
    const told: Follower['told'] = [];
    const state = { isOver: false };
    let after = 0;
    let cutter = new AbortController();
    const following = (async () => {
      while (!state.isOver && going) {
        cutter = new AbortController();
        try {
          const answer = await fetch(`${someUrl()}/v1/events?after=${after}&pageSize=7`, {
            headers: { Cookie: `sid=${user.sid!}` },
            signal: cutter.signal,
          });
          if (answer.status >= 500 || answer.status === 429) throw new Error('again');
          const page = (await answer.json()) as { events: Follower['told']; lastSeq: number };
          assert.equal(answer.status, 200, JSON.stringify(page));
          told.push(...page.events.map(({ seq, id }) => ({ seq, id })));
          after = page.lastSeq;
          if (page.events.length === 0) await sleep(50 + chances.below(100));
        } catch (error) {
          if (error instanceof assert.AssertionError) throw error;
          await sleep(50);
        }
      }
    })();
    return {
      user,
      told,
      isByWebhook: false,
      cut: () => cutter.abort(),
      async stop() {
        await until(`${user.user.id} has read all`, async () => after >= (await lastSeqOf(user)));
        state.isOver = true;
        await following;
      },
    };
  }

  /** A cut is an answer that never comes: before the receiver has taken the event, or afterwards. */
  async function followByWebhook(user: SignedIn): Promise<Follower> {
    const told: Follower['told'] = [];
    const state = { cuts: 0 };
    const receiver = await startReceiver();
    receiver.answer = ({ id, seq }, response, socket) => {
      const isCut = state.cuts > 0;
      if (isCut) state.cuts -= 1;
      const isTaken = !isCut || chances.below(2) === 0;
      if (isTaken) told.push({ id, seq: seq! });
      if (isCut) socket.destroy();
      else response.writeHead(204).end();
    };
    const { status, body } = await user.post('/v1/webhooks', { url: receiver.url });
    assert.equal(status, 200, JSON.stringify(body));
    const webhookId = body.id as WebhookId;
    const isEnabled = async () =>
      (await service.db('webhooks').where({ id: webhookId }).first())?.state === 'enabled';
    await until(`${webhookId} is enabled`, isEnabled);
    return {
      user,
      told,
      isByWebhook: true,
      cut: () => (state.cuts = 1),
      async stop() {
        state.cuts = 0;
        const missing = async () => {
          const seen = new Set(told.map(({ seq }) => seq));
          return (await sentTo(user)).filter(({ seq }) => !seen.has(seq));
        };
        // Each endpoint is sent one event at a time, some ten a second when everything else is at work beside it.
        await until(
          `${user.user.id} was sent all`,
          async () => {
            await hurry(webhookId);
            return (await missing()).length === 0;
          },
          SENT_WITHIN_MS,
        ).catch(async (error: unknown) => {
          const state = { missing: await missing(), ...(await standingOf(webhookId)) };
          throw new Error(JSON.stringify(state, undefined, 1), { cause: error });
        });
        await receiver.close();
      },
    };
  }

  /** Lets the pauses after failed tries be over. */
  async function hurry(id: WebhookId): Promise<void> {
    const { db } = service;
    await db('webhook_retries').where({ webhook_id: id }).update({ next_try_at: new Date() });
    await db('webhooks')
      .where({ id, state: 'enabled' })
      .andWhere((paused) => void paused.whereNotNull('line_at').orWhereNotNull('retry_at'))
      .update({ line_at: null, retry_at: null, due_at: new Date(), told_at: null });
  }

  /** Where an endpoint stands, for whoever reads why it was not sent all. */
  async function standingOf(id: WebhookId): Promise<object> {
    const { db, temporal } = service;
    const run = await temporal.workflow.getHandle(`webhook:${id}`).describe();
    return {
      row: await db('webhooks').where({ id }).first(),
      retries: await db('webhook_retries').where({ webhook_id: id }),
      stuck: await db('stuck_items'),
      run: { status: run.status.name, startTime: run.startTime, pending: run.raw.pendingActivities },
    };
  }

  const sentTo = async ({ user }: SignedIn) =>
    service
      .db('events')
      .where({ user_id: user.id })
      .andWhereNot('type', 'like', 'session.%')
      .orderBy('seq')
      .select('seq', 'id');

  async function lastSeqOf({ user }: SignedIn): Promise<number> {
    return (await service.db('event_feeds').where({ user_id: user.id }).first())?.last_seq ?? 0;
  }

  it('tells each of them every event, in order and once', async () => {
    const ways = [followByStream, followByPages, followByWebhook];
    const users = await Promise.all(
      Array.from({ length: Math.ceil(clients / ways.length) }, () => service.signIn()),
    );
    const followers = await Promise.all(users.flatMap((user) => ways.map(async (follow) => follow(user))));
    const writing = { is: true };
    const writers = [1, 2].map(async () => {
      while (writing.is) {
        const { user } = users[chances.below(users.length)]!;
        const rollsBack = chances.below(5) === 0;
        await service.db
          .transaction(async (trx) => {
            for (let left = 1 + chances.below(4); left > 0; left -= 1) {
              await recordEvent(trx, {
                type: 'card.removed',
                userId: user.id,
                entityId: user.id,
                data: { reason: 'user' },
              });
            }
            await sleep(chances.below(30));
            if (rollsBack) throw new Error('rolled back');
          })
          .catch((error: unknown) => assert.match(String(error), /rolled back/));
      }
    });
    const killing = (async () => {
      for (let kill = 0; kill < kills; kill += 1) {
        const index = chances.below(apis.length);
        await sleep(chances.below(1_000));
        await apis[index]?.kill();
        await start(index);
      }
    })();
    const killed = { all: false };
    void killing.finally(() => (killed.all = true));
    for (let cut = 0; cut < cuts || !killed.all; cut += 1) {
      followers[chances.below(followers.length)]!.cut();
      await sleep(chances.below(40));
    }
    await killing;
    writing.is = false;
    await Promise.all(writers);
    await until('all is numbered', async () => (await service.db('event_outbox').first('no')) === undefined);
    await Promise.all(followers.map((follower) => follower.stop()));
    for (const { user, told, isByWebhook } of followers) {
      if (isByWebhook) {
        const once = [...new Map(told.map((event) => [event.id, event])).values()];
        assert.deepEqual(
          once.toSorted((one, other) => one.seq - other.seq),
          await sentTo(user),
          user.user.id,
        );
        continue;
      }
      const rows = await service
        .db('events')
        .where({ user_id: user.user.id })
        .orderBy('seq')
        .select('seq', 'id');
      assert.deepEqual(told, rows, user.user.id);
      assert.deepEqual(
        rows.map(({ seq }) => seq),
        rows.map((_, index) => index + 1),
      );
    }
  });

  it(`lets ${manyStreams} streams of a killed process go on where they were`, async () => {
    const users = await Promise.all(
      Array.from({ length: Math.ceil(manyStreams / streamLimits.ofUser) }, () => service.signIn()),
    );
    const places = users
      .flatMap((user) => Array.from({ length: streamLimits.ofUser }, () => user))
      .slice(0, manyStreams);
    const openAll = async (port: number, ids: readonly (number | undefined)[]): Promise<StreamClient[]> => {
      const opened: StreamClient[] = [];
      for (let at = 0; at < places.length; at += 50) {
        const some = places.slice(at, at + 50).map((user, index) => {
          const id = ids[at + index];
          const headers: Record<string, string> = id === undefined ? {} : { 'Last-Event-ID': String(id) };
          return openStream({ url: `http://127.0.0.1:${port}`, sid: user.sid }, '', headers);
        });
        opened.push(...(await Promise.all(some)));
      }
      return opened;
    };
    await until(
      'their sign-ins are numbered',
      async () => (await service.db('event_outbox').first('no')) === undefined,
    );
    const before = await openAll(ports[0]!, []);
    await apis[0]?.kill();
    for (const { user } of users) {
      await recordEvent(service.db, {
        type: 'card.removed',
        userId: user.id,
        entityId: user.id,
        data: { reason: 'user' },
      });
    }
    await Promise.all(before.map((stream) => stream.awaitClose()));
    // They come back to the other process, which takes the dead one's places.
    const again = await openAll(
      ports[1]!,
      before.map(({ lastId }) => lastId),
    );
    await Promise.all(again.map((stream) => stream.await('card.removed')));
    const odd = again
      .filter((stream) => stream.events().length !== 1 || stream.isClosed)
      .map((stream) => ({
        isClosed: stream.isClosed,
        told: stream.events().map(({ data }) => `${String(data['seq'])} ${String(data['type'])}`),
        closed: stream.named('closed').map(({ data }) => data['reason']),
      }));
    assert.deepEqual(odd, []);
    for (const stream of again) stream.cut();
    await start(0);
  });
});
