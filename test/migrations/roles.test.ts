import assert from 'node:assert/strict';
import { noWords } from '../../domain/rentals/words.js';
import type { Knex } from 'knex';
import { openDatabase, type Database } from '../../adapters/postgres/database.js';
import { databaseRoles, type DatabaseRole } from '../../migrations/roles.js';
import { ensureLogins, loginOf } from '../../migrations/logins.js';
import { createTestDatabase, type TestDatabase } from '../support/servers/database.js';
import { insertUser } from '../support/money/factories.js';
import { credit } from '../support/money/money.js';

const roles = Object.keys(databaseRoles) as DatabaseRole[];

describe('the roles of the database', () => {
  let database: TestDatabase;
  let owner: Database;
  const as = {} as Record<DatabaseRole, Database>;

  before(async () => {
    database = await createTestDatabase();
    owner = openDatabase(database.url, 2, 'test');
    for (const role of roles) as[role] = openDatabase(database.url, 2, `test-${role}`, databaseRoles[role]);
  });
  after(async () => {
    await Promise.all([owner, ...Object.values(as)].map((db) => db.destroy()));
    await database.drop();
  });

  it('are what the connections of a process work as', async () => {
    for (const role of roles) {
      const { rows } = await as[role].raw<{ rows: { role: string }[] }>('select current_user as role');
      assert.equal(rows[0]?.role, databaseRoles[role]);
    }
  });

  for (const role of roles) {
    for (const table of ['ledger_entries', 'ledger_causes']) {
      for (const statement of [
        `update ${table} set seq = seq`,
        `delete from ${table}`,
        `truncate ${table}`,
        `alter table ${table} disable trigger all`,
        `drop table ${table}`,
      ]) {
        it(`keep the ${role} from "${statement}"`, () => isDenied(as[role], statement));
      }
    }
  }

  for (const role of ['api', 'ops'] as const) {
    it(`keep the ${role} from writing the ledger and from changing a wallet`, async () => {
      const user = await insertUser(owner);
      await credit(owner, user.id, 500);
      const { id } = await owner('wallets').where({ user_id: user.id }).first('id').then(known);
      await isDenied(
        as[role],
        `insert into ledger_entries (wallet_id, seq, type, amount_cents, balance_after_cents, created_at)
         values (${id}, 2, 'adjustment', 100, 600, now())`,
      );
      await isDenied(as[role], `insert into ledger_causes values ('x', ${id}, 2)`);
      await isDenied(as[role], `update wallets set available_cents = 600 where id = ${id}`);
      await isDenied(as[role], `insert into wallets (user_id, available_cents) values ('usr_x', 5)`);
      await isDenied(as[role], `delete from wallets where id = ${id}`);
    });
  }

  it('let the api write what its requests make, and nothing that is money', async () => {
    assert.deepEqual(await writableBy(owner, databaseRoles.api), [
      'account_closings (user_id)',
      'account_ties',
      'api_keys (id, user_id, name, token_hash, hint, scopes, allowed_cidrs, expires_at, spend_cap_cents, last_used_at, last_used_address, revoked_at, suspended_at, ends)',
      'audit_events',
      'auto_topups',
      'billing_details',
      'budgets',
      'card_setups',
      'event_outbox (user_id, type, entity_id, data)',
      'failed_sign_ins',
      'idempotency_keys',
      'identities',
      'idle_guards',
      'intents (kind, wallet_id)',
      'login_codes',
      'look_signals',
      'mail_outbox',
      'notice_settings',
      'oauth_states',
      'odd_events',
      'open_streams',
      'passkey_challenges',
      'passkeys',
      'processor_events',
      'proof_codes',
      'quotes',
      'rate_limits',
      'rental_changes (id, rental_no, user_id, asked, answer_before, answered_at, api_key_id)',
      'rental_labels',
      'rental_requests',
      `rentals (${Object.keys(noWords)
        .filter((name) => name !== 'labels')
        .join(', ')})`,
      'saved_cards (removed_at, removed_why)',
      'sessions',
      'software_secrets',
      'ssh_keys',
      'stop_requests (rental_no, requested_by, reason)',
      'stream_hosts',
      'topup_requests',
      'user_notices (user_id, kind, cause, facts)',
      'users',
      'wallets (user_id, created_at)',
      'webhook_retries',
      'webhook_secrets',
      'webhooks',
    ]);
  });

  it('let the api read mails, and no code or address that is in them', async () => {
    const off = 'https://off.example/token';
    const mail = { recipient: 'a@example.com', subject: 'x', next_try_at: new Date() };
    await owner('mail_outbox').insert([
      { ...mail, cause: 'test:1', body: 'the code 123456', wipe_after_sending: true },
      { ...mail, cause: 'test:2', body: `off: ${off}`, unsubscribe_url: off },
    ]);
    for (const column of ['body', 'html', 'unsubscribe_url', '*'])
      await isDenied(as.api, `select ${column} from mail_outbox`);
    const kept = await as.api('kept_mails').where({ recipient: mail.recipient }).orderBy('id').select('body');
    assert.deepEqual(kept, [{ body: null }, { body: 'off: (link)' }]);
    await isDenied(as.api, "update kept_mails set subject = 'y'");
  });

  it('let the api say that a stop is asked for, and not when, nor in an operator’s name', async () => {
    const insert = (columns: string, values: string) =>
      `insert into stop_requests (rental_no, ${columns}) values (1, ${values})`;
    await isDenied(as.api, insert('requested_by, requested_at', "'user', now() - interval '1 hour'"));
    await isDenied(as.api, insert('requested_by, open', "'user', false"));
    await isDenied(as.api, insert('requested_by', "'operator'"));
    await isDenied(as.ops, insert('requested_by, requested_at', "'operator', now() - interval '1 hour'"));
    // There is no such rental: nothing else keeps them from it.
    await assert.rejects(as.api.raw(insert('requested_by', "'user'")), { code: '23503' });
    await assert.rejects(as.ops.raw(insert('requested_by', "'operator'")), { code: '23503' });
  });

  it('let the api give a user a customer of the processor, and not another one', async () => {
    const user = await insertUser(owner);
    const become = (db: Database, customer: string | null) =>
      db('users').where({ id: user.id }).update({ processor_customer_id: customer });
    await become(as.api, 'cus_first');
    await become(as.api, 'cus_first');
    for (const customer of ['cus_other', null]) {
      await assert.rejects(become(as.api, customer), { code: '42501' });
    }
  });

  it('let operators write what moves no money: money they move by a workflow', async () => {
    assert.deepEqual(await writableBy(owner, databaseRoles.ops), [
      'account_closings (user_id, requested_by)',
      'api_keys (revoked_at)',
      'audit_events',
      'brakes',
      'charge_marks (lifted_at)',
      'event_outbox (user_id, type, entity_id, data)',
      'operator_actions',
      'operator_order_items (order_id, rental_no, amount_cents)',
      'operator_orders (id, kind, request, reason, said_by, status, rejected_why)',
      'parked_payments (resolved_at, resolution, credited_by)',
      'processor_events (workflow_id, handled_at, note, workflow_type)',
      'providers',
      'reconcile_findings (state, acknowledged_at, acknowledged_by, acknowledged_why)',
      'sessions',
      'stop_requests (rental_no, requested_by, reason)',
      'stuck_items (attempts, next_attempt_at, set_aside_at)',
      'unknown_pods (released_at, released_by, released_why)',
      'users (blocked_at, blocked_reason)',
    ]);
  });

  it('let the signer read and sign roots, and nothing else', async () => {
    const role = databaseRoles.signer;
    assert.deepEqual(await writableBy(owner, role), [
      'ledger_roots (line, endorsed, signature, signed_at)',
      'lost_roots (number, line, endorsed, signature)',
    ]);
    const { rows } = await owner.raw<{ rows: { name: string }[] }>(
      `select relname as name from pg_class c where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm')
        and has_any_column_privilege(?, c.oid, 'select')`,
      [role],
    );
    assert.deepEqual(rows, [{ name: 'ledger_roots' }, { name: 'lost_roots' }]);
  });

  it('are not the owner of anything, may not make anything, and can not leave their role by rights', async () => {
    const { rows } = await owner.raw<{ rows: unknown[] }>(
      `select rolname from pg_roles
        where rolname like 'gpu\\_rental\\_%' and rolname = any (?)
          and (rolsuper or rolcreaterole or rolcreatedb or rolbypassrls or rolcanlogin)`,
      [Object.values(databaseRoles)],
    );
    assert.deepEqual(rows, []);
    for (const role of roles) await isDenied(as[role], 'create table mine (id int)');
  });

  it('are decided for every table and view', async () => {
    const { rows } = await owner.raw<{ rows: { name: string }[] }>(
      `select c.relname as name from pg_class c
        where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm')
          and c.relname not like 'knex\\_%'
          and not exists (select 1 from unnest(?::text[]) as role
                           where has_any_column_privilege(role, c.oid, 'select, insert, update')
                              or has_table_privilege(role, c.oid, 'delete'))
        order by 1`,
      [Object.values(databaseRoles)],
    );
    assert.deepEqual(
      rows.map(({ name }) => name),
      [],
      'Decide who may do what with these tables: the migration that makes one grants it',
    );
  });
});

describe('the logins of the processes', () => {
  let database: TestDatabase;
  const passwords = { api: 'a-password_1', worker: 'another-one-2', ops: null, signer: null, machine: null };

  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  it('are made by the migrations, and have the rights of their role alone', async () => {
    assert.deepEqual(await ensureLogins(database.url, passwords), [
      'gpu_rental_api_login',
      'gpu_rental_worker_login',
    ]);
    assert.equal(await logInAs('api', 'a-password_1'), 'gpu_rental_api_login');
    const db = openDatabase(urlAs('api', 'a-password_1'), 1, 'test');
    try {
      await db('ledger_entries').first();
      await isDenied(db, 'delete from ledger_entries');
      await isDenied(db, 'set role gpu_rental_worker');
    } finally {
      await db.destroy();
    }
  });

  it('take another password when the migrations run with one, and no older one any more', async () => {
    await ensureLogins(database.url, { ...passwords, api: 'a-newer-password' });
    assert.equal(await logInAs('api', 'a-newer-password'), 'gpu_rental_api_login');
    await assert.rejects(logInAs('api', 'a-password_1'), { code: '28P01' });
  });

  function urlAs(role: DatabaseRole, password: string): string {
    return Object.assign(new URL(database.url), { username: loginOf(role), password }).toString();
  }

  async function logInAs(role: DatabaseRole, password: string): Promise<string | undefined> {
    const db = openDatabase(urlAs(role, password), 1, 'test');
    try {
      const { rows } = await db.raw<{ rows: { name: string }[] }>('select current_user as name');
      return rows[0]?.name;
    } finally {
      await db.destroy();
    }
  }
});

/** Tables that a role may insert into, update or delete from, with the columns where it is not all of them. */
async function writableBy(db: Knex, role: string): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { name: string }[] }>(
    `select c.relname || case
              when has_table_privilege(:role, c.oid, 'insert, update, delete') then ''
              else ' (' || (select string_agg(attname, ', ' order by attnum) from pg_attribute a
                             where a.attrelid = c.oid and attnum > 0
                               and has_column_privilege(:role, c.oid, attnum, 'insert, update')) || ')' end as name
       from pg_class c
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v')
        and (has_any_column_privilege(:role, c.oid, 'insert, update') or has_table_privilege(:role, c.oid, 'delete'))
      order by c.relname`,
    { role },
  );
  return rows.map(({ name }) => name);
}

async function isDenied(db: Database, statement: string): Promise<void> {
  await assert.rejects(
    db.raw(statement),
    { code: '42501' },
    `"${statement}" was not refused for want of rights`,
  );
}

function known<T>(row: T | undefined): T {
  assert.ok(row);
  return row;
}
