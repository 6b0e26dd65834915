import assert from 'node:assert/strict';
import { isCommit } from '../../../adapters/postgres/acknowledged.js';
import pg from 'pg';
import { openDatabase, type Database } from '../../../adapters/postgres/database.js';
import { countHours, listHoursToCount } from '../../../adapters/postgres/catalog/reliability.js';
import { listWorkflowsWithWaitingEvents } from '../../../adapters/postgres/payments/event-handling.js';
import { listDueNotices } from '../../../adapters/postgres/notices/notice-mails.js';
import { listExpiredCards } from '../../../adapters/postgres/payments/expired-cards.js';
import { readFreeMachines } from '../../../adapters/postgres/rentals/free-machines.js';
import { listDueIntents } from '../../../adapters/postgres/upkeep/intents.js';
import { listInvoicesToSignal, listUnclosedInvoices } from '../../../money/invoices/invoice-states.js';
import { deliverDueMails } from '../../../adapters/postgres/upkeep/outbox-delivery.js';
import { noteDearerMachines } from '../../../adapters/postgres/machines/dearer-machines.js';
import { claimSlowEnds } from '../../../adapters/postgres/machines/pod-leaks.js';
import { expectPodsOfRentals } from '../../../adapters/postgres/machines/pods-watch.js';
import { isBusy } from '../../../adapters/postgres/machines/pods.js';
import { listStartingTags, mayKeepCredentials } from '../../../adapters/postgres/rentals/software.js';
import { prune } from '../../../adapters/postgres/upkeep/retention.js';
import {
  findDueEvent,
  listDeliveries,
  listSealedSecrets,
  lookAtWebhookRow,
  noteTry,
  scheduleWebhook,
} from '../../../adapters/postgres/webhooks/deliveries.js';
import {
  isSomethingDue,
  noteDueWebhooks,
  takeDueWebhooks,
  untellWebhooks,
} from '../../../adapters/postgres/webhooks/waking.js';
import {
  beginWaitsAnew,
  closeCondemnedAttempts,
  listForgottenAttempts,
  listStrayPods,
  listUnclosedRentals,
  listUnclosedTopups,
  listUsersWithOpenAutoTopups,
} from '../../../adapters/postgres/upkeep/upkeep.js';
import type { WebhookId } from '../../../domain/ids.js';
import { retention } from '../../../domain/operations/retention.js';
import { rentalLimits } from '../../../domain/rentals/limits.js';
import { databaseRoles } from '../../../migrations/roles.js';
import { createTestDatabase, type TestDatabase } from '../../support/servers/database.js';
import { getPostgres } from '../../support/servers/servers.js';

interface Plan {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Shared Hit Blocks'?: number;
  readonly 'Shared Read Blocks'?: number;
  readonly Plans?: readonly Plan[];
}

/** Pages of 8 KiB that one look may read. Rows that are done must cost it nothing. */
const PAGES_MAX = 200;

/** The endpoint with a long retry line. */
const busyHook: WebhookId = `wh_${'7'.padStart(26, '0')}`;

/** Rows of many years: three million in the narrowest table, all done and none due. */
const rows: Readonly<Record<string, string>> = {
  intents: `insert into intents (kind, wallet_id, created_at, delivered_at, acknowledged_at)
    select 'auto_topup', n, now() - interval '6 days', now() - interval '6 days', now() - interval '6 days'
      from generate_series(1, 3000000) n`,
  processor_events: `insert into processor_events (id, kind, created_at, received_at, livemode, object, workflow_type,
      workflow_id, handled_at)
    select 'evt_' || n, 'k', now() - interval '9 days', now() - interval '9 days', true, '{}', 'topup', 'top_' || n, now()
      from generate_series(1, 60000) n`,
  mail_outbox: `insert into mail_outbox (cause, recipient, subject, body, created_at, sent_at, next_try_at)
    select 'c' || n, 'r', 's', 'b', now() - interval '9 days', now() - interval '9 days', now() - interval '9 days'
      from generate_series(1, 60000) n`,
  // All told but one, whose user has machines that might just be ending for the same reason.
  user_notices: `insert into user_notices (user_id, kind, cause, facts, noted_at, told_at, is_mailed)
    select 'usr_' || n, 'rental_balance_exhausted', 'c' || n, '{}', now() - interval '9 days',
           case when n <> 7 then now() end, case when n <> 7 then true end
      from generate_series(1, 60000) n`,
  pods: `insert into pods (provider_code, pod_id, tag, status, upstream_status, first_seen_at, gone_at)
    select 'lab', 'pod' || n, 'tag' || n, 'active', 'active', now() - interval '9 days', now() - interval '9 days'
      from generate_series(1, 60000) n`,
  allocation_attempts: `insert into allocation_attempts (rental_id, attempt, provider_code, listing_id, offer_id, tag,
      price_per_hour_cents, state, created_at)
    select 'rent_' || n, 1, 'lab', 'lst', 'o', 'tag' || n, 1, 'gone', now() - interval '9 days'
      from generate_series(1, 60000) n`,
  rentals: `insert into rentals (id, wallet_id, user_id, status, family, model, gpu_count, region, region_code,
      interconnect, template_id, ssh_key_ids, listing_id, provider_code, tag, pod_id, price_per_hour_cents, hold_cents,
      started_at, running_at, ended_at, settled_at, closed_at, stop_reason)
    select 'rent_' || lpad(n::text, 26, '0'), n, 'usr_' || n, 'stopped', 'rtx-4090', 'm', 1, 'r', 'NO', 'pcie', 't', '{}',
           'lst', 'lab', 'tag' || n, 'pod' || n, 1, 0, since, since, since, since, since, 'user'
      from generate_series(1, 60000) n, lateral (select now() - interval '100 days' - n * interval '1 minute' as since) s`,
  lost_machines: `insert into lost_machines (rental_no, last_alive_at, settled_at)
    select n, now() - interval '100 days', now() - interval '100 days' from generate_series(1, 60000) n`,
  reliability_hours: `insert into reliability_hours (provider_code, family, hour, created, not_created, ready_seconds,
      ssh_seconds, losses, machine_ms)
    select 'lab', 'f' || n % 300, date_trunc('hour', now(), 'UTC') - interval '20 days' - n / 300 * interval '1 hour', 0, 0,
           '{}', '{}', 0, 0
      from generate_series(1, 60000) n`,
  saved_cards: `insert into saved_cards (pm_id, user_id, brand, last4, exp_month, exp_year, set_up_at)
    select 'pm_' || n, 'usr_' || n, 'visa', '4242', 1, 2099, now() from generate_series(1, 60000) n`,
  account_ties: `insert into account_ties (user_id, kind, value)
    select 'usr_' || n, 'card', 'fp_' || n from generate_series(1, 60000) n`,
  audit_events: `insert into audit_events (id, user_id, kind, client_address)
    select 'aud_' || lpad(n::text, 26, '0'), 'usr_' || n, 'signed_in', '::1' from generate_series(1, 60000) n`,
  events: `insert into events (id, user_id, seq, type, entity_id, data, at)
    select 'evt_' || n, 'usr_' || n, 1, 'topup.succeeded', 'top_' || n, '{}', now() from generate_series(1, 60000) n`,
  // One in a hundred fails and waits. Five users have events that no look has taken in yet.
  webhooks: `insert into webhooks (id, user_id, url, state, enabled_at, cursor_seq, failures, failing_since, due_at, told_at)
    select 'wh_' || lpad(n::text, 26, '0'), 'usr_' || n, 'https://hooks.example.com', 'enabled', now(), case when fails then 0 else 1 end,
           case when fails then 1 else 0 end, case when fails then now() end,
           case when fails then now() + interval '9 minutes' end, case when fails then now() + interval '9 minutes' end
      from generate_series(1, 60000) n, lateral (select n % 100 = 0 as fails) f;
    update webhook_feed set last_no = 59995`,
  webhook_secrets: `insert into webhook_secrets (webhook_id, no, sealed)
    select 'wh_' || lpad(n::text, 26, '0'), 1, decode(repeat('00', 60), 'hex') from generate_series(1, 60000) n`,
  // All of one endpoint, which refuses each event. All but one wait.
  webhook_retries: `insert into webhook_retries (webhook_id, seq, tries, first_tried_at, next_try_at)
    select '${busyHook}', n, 6, now() - interval '1 day', now() + case when n = 1 then -1 else n * 0.4 end * interval '1 second'
      from generate_series(1, 60000) n`,
  // Half of them are of one endpoint.
  webhook_deliveries: `insert into webhook_deliveries (id, webhook_id, event_id, seq, type, attempt, outcome, duration_ms, at)
    select 'dlv_' || lpad(n::text, 26, '0'), case when n % 2 = 0 then '${busyHook}' else 'wh_' || lpad(n::text, 26, '0') end,
           'evt_' || n, n, 'topup.succeeded', 1, 'delivered', 3, now() - interval '9 days'
      from generate_series(1, 60000) n`,
  idempotency_keys: `insert into idempotency_keys (user_id, endpoint, key, body_hash, target_id)
    select 'usr_' || n, 'e', 'k', decode(repeat('00', 32), 'hex'), 't' from generate_series(1, 60000) n`,
};

describe('with three million rows that are done, each look of a loop', () => {
  let database: TestDatabase;
  let db: Database;
  before(async () => {
    database = await createTestDatabase();
    await fill(database);
    db = openDatabase(database.url, 2, 'test-worker', databaseRoles.worker);
  });
  after(async () => {
    await db.destroy();
    await database.drop();
  });

  const never = (): Promise<never> => Promise.reject(new Error('nothing is due'));
  const looks: Readonly<Record<string, () => Promise<unknown>>> = {
    'intents to deliver': () => listDueIntents(db, 500),
    'events to redeliver': () => listWorkflowsWithWaitingEvents(db, 10_000),
    'invoices to tell': () => listInvoicesToSignal(db),
    'machines that nobody was billed for': () =>
      db.transaction((trx) => readFreeMachines(trx, 'usr_7', rentalLimits.freeMachines)),
    'rentals to revive': () => listUnclosedRentals(db),
    'top-ups to revive': () => listUnclosedTopups(db),
    'auto-topups to revive': () => listUsersWithOpenAutoTopups(db),
    'invoices to revive': () => listUnclosedInvoices(db),
    'mails to send': () =>
      deliverDueMails(db, { send: never, failed: never, recovered: never, gaveUp: () => undefined }),
    'users to tell': async () => {
      const due = await listDueNotices(db, { quietMs: 0, longestMs: 30 * 86_400_000 });
      assert.deepEqual(due, [{ userId: 'usr_7', kind: 'rental_balance_exhausted' }]);
    },
    'cards that expired': () => listExpiredCards(db),
    'an upstream’s lists': () => isBusy(db, 'lab'),
    'waits of purchases that began ahead': () => beginWaitsAnew(db),
    'stray machines': () => listStrayPods(db, 'lab', 300_000),
    'machines no list showed': () => expectPodsOfRentals(db),
    'machines that have become dearer': () => noteDearerMachines(db, { code: 'lab' }),
    'machines that do not end': () => claimSlowEnds(db),
    'credentials that upstreams may keep': () => mayKeepCredentials(db),
    'machines that may be pulling': () => listStartingTags(db, 'lab'),
    'forgotten purchases': () => listForgottenAttempts(db, 300_000),
    'hours of reliability': async () => {
      const hours = await listHoursToCount(db, new Date());
      await countHours(db, hours.at(-1)!, new Date());
    },
    'condemned purchases': () => closeCondemnedAttempts(db, 600_000),
    'events for webhooks': async () => {
      assert.equal(await isSomethingDue(db), true);
      await noteDueWebhooks(db);
    },
    'webhooks to tell': async () => {
      const told = await takeDueWebhooks(db, 500);
      assert.equal(told.length, 5);
      await untellWebhooks(db, [told[0]!.id]);
    },
    'a webhook with a long retry line': async () => {
      const hook = (await lookAtWebhookRow(db, busyHook))!;
      assert.equal((await listSealedSecrets(db, hook.id)).length, 1);
      const { line, event } = (await findDueEvent(db, hook))!;
      assert.deepEqual([line, event.seq], ['retries', 1]);
      const tried = { line, result: 'success', random: 0 } as const;
      const answer = { httpStatus: 204, fault: null, durationMs: 3 };
      const noting = db.transaction(async (trx) => {
        await noteTry(trx, hook, { event, type: event.type, tried, ...answer });
        // The same insert runs once more, to be explained.
        throw new Undone();
      });
      await assert.rejects(noting, Undone);
      assert.notEqual((await scheduleWebhook(db, hook.id)).waitMs, null);
    },
    'the tries of a webhook': () => listDeliveries(db, busyHook, 50_000, 200),
    ...Object.fromEntries(retention.map((kept) => [`pruning ${kept.table}`, () => prune(db, kept)])),
  };
  for (const [what, look] of Object.entries(looks)) {
    it(`reads by an index: ${what}`, async () => {
      for (const { sql, plan } of await plansOf(db, look)) {
        const scanned = nodesOf(plan).filter((node) => node['Node Type'] === 'Seq Scan');
        const big = scanned.map((node) => node['Relation Name'] ?? '').filter((table) => table in rows);
        assert.deepEqual(big, [], sql);
        const pages = (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);
        assert.ok(pages < PAGES_MAX, `${pages} pages: ${sql}`);
      }
    });
  }
});

/** The plans of all queries of a look, as they ran. */
async function plansOf(
  db: Database,
  look: () => Promise<unknown>,
): Promise<{ readonly sql: string; readonly plan: Plan }[]> {
  const asked: { sql: string; bindings: readonly unknown[] }[] = [];
  const listen = (query: { sql: string; bindings?: readonly unknown[] }): void => {
    if (/^\s*(with|select|insert|update|delete)/i.test(query.sql) && !isCommit(query.sql)) {
      asked.push({ sql: query.sql, bindings: query.bindings ?? [] });
    }
  };
  db.on('query', listen);
  await look();
  db.off('query', listen);
  assert.ok(asked.length > 0);
  const plans: { sql: string; plan: Plan }[] = [];
  for (const { sql, bindings } of asked) {
    await db
      .transaction(async (trx) => {
        // The query as the server received it, with numbered bindings.
        const { client: own } = trx as unknown as { client: { acquireConnection(): Promise<pg.Client> } };
        const client = await own.acquireConnection();
        const { rows: found } = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
          `explain (analyze, buffers, format json) ${sql}`,
          [...bindings],
        );
        plans.push({ sql, plan: found[0]!['QUERY PLAN'][0].Plan });
        throw new Undone();
      })
      .catch((error: unknown) => {
        if (!(error instanceof Undone)) throw error;
      });
  }
  return plans;
}

class Undone extends Error {}

function nodesOf(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}

/** Fills the tables without foreign keys and triggers, as a superuser may: years of rows in seconds. */
async function fill({ url }: TestDatabase): Promise<void> {
  const admin = new URL((await getPostgres()).adminUrl);
  admin.pathname = new URL(url).pathname;
  const client = new pg.Client({ connectionString: admin.toString() });
  await client.connect();
  try {
    await client.query(`set session_replication_role = replica`);
    await client.query(`set synchronous_commit = off`);
    for (const insert of Object.values(rows)) await client.query(insert);
    await client.query('vacuum analyze');
  } finally {
    await client.end();
  }
}
