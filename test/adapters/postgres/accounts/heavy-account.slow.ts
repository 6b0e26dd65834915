import assert from 'node:assert/strict';
import { insertClosing, moveClosing } from '../../../../adapters/postgres/accounts/closings.js';
import { erasePerson } from '../../../../adapters/postgres/accounts/sweeping.js';
import { openDatabase, type Database } from '../../../../adapters/postgres/database.js';
import { databaseDeadlines } from '../../../../adapters/postgres/deadlines.js';
import type { UserId, WebhookId } from '../../../../domain/ids.js';
import { databaseRoles } from '../../../../migrations/roles.js';
import { insertUser } from '../../../support/money/factories.js';
import { createTestDatabase, restoreDump, type TestDatabase } from '../../../support/servers/database.js';

const id = (prefix: string): string => `'${prefix}_' || lpad(n::text, 26, '0')`;
const series = (count: number): string => `generate_series(1, ${count}) n`;

const hook: WebhookId = `wh_${'1'.padStart(26, '0')}`;

/** What an account that rents by programs has after some years. */
const rowsOf = (userId: UserId): readonly string[] => [
  `insert into webhooks (id, user_id, url, state, enabled_at, cursor_seq)
    values ('${hook}', '${userId}', 'https://ann.example.com', 'enabled', now(), 0)`,
  `insert into webhook_deliveries (id, webhook_id, event_id, seq, type, attempt, outcome, duration_ms, at)
    select ${id('dlv')}, '${hook}', 'evt_' || n, n, 'topup.succeeded', 1, 'delivered', 3, now() from ${series(60_000)}`,
  `insert into rentals (id, wallet_id, user_id, status, family, model, gpu_count, region, region_code,
      interconnect, template_id, ssh_key_ids, listing_id, provider_code, tag, pod_id, price_per_hour_cents, hold_cents,
      started_at, running_at, ended_at, settled_at, closed_at, stop_reason, name, host)
    select ${id('rent')}, w.id, w.user_id, 'stopped', 'rtx-4090', 'm', 1, 'r', 'NO', 'pcie', 't', '{}',
           'lst', 'lab', 'tag' || n, 'pod' || n, 1, 0, now(), now(), now(), now(), now(), 'user', 'run of Ann', '192.0.2.1'
      from ${series(30_000)}, wallets w where w.user_id = '${userId}'`,
  `insert into stop_requests (rental_no, requested_by, requested_at, open, reason)
    select no, 'user', now(), false, 'Ann said so' from rentals`,
  `insert into rental_labels (rental_no, user_id, place, key, value) select no, user_id, 1, 'owner', 'ann' from rentals`,
  `insert into pods (provider_code, pod_id, tag, status, upstream_status, host, first_seen_at, gone_at)
    select 'lab', 'pod' || n, 'tag' || n, 'active', 'active', '192.0.2.1', now(), now() from ${series(30_000)}`,
  `insert into audit_events (id, user_id, kind, client_address, details)
    select ${id('aud')}, '${userId}', 'signed_in', '::1', '{"by": "email"}' from ${series(150_000)}`,
  'analyze',
];

/** How many rows of a table still have words of the person. */
const wordsIn: Readonly<Record<string, string>> = {
  rentals: 'name is not null or host is not null',
  stop_requests: `reason <> 'erased'`,
  rental_labels: 'true',
  pods: 'host is not null',
  audit_events: 'details is not null or client_address is not null',
  webhooks: 'true',
  webhook_deliveries: 'true',
};

/** The worker’s with less time, as for more rows: no statement may take longer with each row that there is. */
const deadlines = { ...databaseDeadlines.worker, statementMs: 5_000 };

describe('the person of an account with very many rows', function () {
  this.timeout(600_000);
  let database: TestDatabase;
  let db: Database;
  before(async () => {
    database = await createTestDatabase();
    db = openDatabase(database.url, 2, 'test', databaseRoles.worker, deadlines);
  });
  after(async () => {
    await db.destroy();
    await database.drop();
  });

  const count = async (table: string): Promise<number> => {
    const { rows } = await db.raw<{ rows: { count: number }[] }>(
      `select count(*) from ${table} where ${wordsIn[table]!}`,
    );
    return rows[0]!.count;
  };

  it('is erased within the deadline of each statement', async () => {
    const owner = openDatabase(database.url, 1, 'test');
    const user = await insertUser(owner);
    await owner.destroy();
    await restoreDump(database, rowsOf(user.id).join(';\n'));
    for (const table of Object.keys(wordsIn)) assert.notEqual(await count(table), 0, table);
    await insertClosing(db, user.id, 'operator');
    await moveClosing(db, user.id, { state: 'erasing' });
    let batches = 0;
    const key = Buffer.alloc(32, 7).toString('base64');
    await erasePerson(db, { userId: user.id, customerId: null }, key, () => (batches += 1));
    for (const table of Object.keys(wordsIn)) assert.equal(await count(table), 0, table);
    assert.ok(batches > 100, `${batches} batches`);
  });
});
