import type { Knex } from 'knex';
import { databaseRoles, grant, type TableGrants } from './grants.js';

/**
 * Makes the roles of the processes, each with the rights that it needs and no more (decision 63, "Roles in the
 * database"). The ledger grows and never changes, for every role: the worker adds to it, the others read it. Nobody may
 * truncate a table or change the schema.
 */
export async function up(knex: Knex): Promise<void> {
  for (const role of Object.values(databaseRoles)) await makeRole(knex, role);
  await grant(knex, tables);
}

/**
 * Makes a role, which belongs to the whole cluster: another database of it may have it already, or be making it right
 * now.
 */
async function makeRole(knex: Knex, role: string): Promise<void> {
  await knex.raw(`
    do $$ begin
      if not exists (select 1 from pg_roles where rolname = '${role}') then
        create role ${role} nologin;
      end if;
    exception
      when duplicate_object or unique_violation then null;
      when insufficient_privilege then
        raise exception 'The role ${role} is missing and this user may not make it. Run as a superuser: create role ${role} nologin; or give this user createrole. Then migrate again.';
    end $$`);
  // The owner becomes a member, so that it can work as the role (DATABASE_ROLE). Another owner in this cluster may have
  // made the role: then the processes log in as members of it, which needs nothing of us.
  await knex.raw(`
    do $$ begin
      for attempt in 1..20 loop
        begin
          grant ${role} to current_user with inherit false, set true;
          exit;
        exception
          when insufficient_privilege then exit;
          -- Two databases of one cluster are being migrated at once: the other one is through in a moment.
          when unique_violation or internal_error then perform pg_sleep(0.05);
        end;
      end loop;
    end $$`);
}

const readers: TableGrants = { api: 'select', worker: 'select', ops: 'select' };
/** The rights on tables that the worker alone changes. */
const worked: TableGrants = { ...readers, worker: 'select, insert, update' };

const tables: Readonly<Record<string, TableGrants>> = {
  // Accounts: a user makes one by signing in, which is the API's work.
  users: {
    api: 'select, insert, update (processor_customer_id)',
    worker: 'select, update',
    ops: 'select, update (blocked_at, blocked_reason)',
  },
  sessions: { api: 'select, insert, update, delete', worker: 'select, delete', ops: 'select, delete' },
  login_codes: { api: 'select, insert, update', worker: 'select, delete', ops: null },
  oauth_states: { api: 'select, insert, update (used_at)', worker: 'select, delete', ops: null },
  // Never changed, except for an address that was not known yet.
  audit_events: {
    api: 'select, insert, update (client_address)',
    worker: 'select, insert, update (client_address)',
    ops: 'select, insert, update (client_address)',
  },
  ssh_keys: { api: 'select, insert, delete', worker: 'select', ops: 'select' },
  idempotency_keys: { api: 'select, insert, update', worker: 'select, delete', ops: 'select' },

  // Money: the API makes an empty wallet for a new user. Later it locks the wallet to read the outcome under the lock.
  // A lock needs the right to change some column, and the creation time of a wallet is nobody's money.
  wallets: { api: 'select, insert (user_id), update (created_at)', worker: 'select, update', ops: 'select' },
  ledger_entries: { ...readers, worker: 'select, insert' },
  ledger_causes: { ...readers, worker: 'select, insert' },
  topups: worked,
  invoices: worked,
  invoice_line_items: { ...readers, worker: 'select, insert' },
  refunds_and_disputes: worked,
  parked_payments: worked,
  // An explanation shows a user the actions on their own account, with who did them and why.
  operator_actions: { api: 'select', worker: 'select, insert', ops: 'select, insert' },
  // Users change their own settings and cards.
  auto_topups: { api: 'select, insert, update', worker: 'select, update', ops: 'select' },
  saved_cards: {
    api: 'select, update (removed_at, removed_why)',
    worker: 'select, insert, update',
    ops: 'select',
  },
  card_setups: { api: 'select, insert, update', worker: 'select, delete', ops: 'select' },

  // The processor's words: the API takes them in, and the worker does when they never arrived.
  processor_events: {
    api: 'select, insert',
    worker: 'select, insert, update',
    ops: 'select, update (workflow_type, workflow_id, handled_at, note)',
  },
  event_cursor: { api: null, worker: 'select, update', ops: 'select' },

  // Rentals and what they are made of.
  rentals: worked,
  meters: { ...readers, worker: 'select, insert, update, delete' },
  rentals_now: readers,
  stop_requests: { api: 'select, insert', worker: 'select, insert, update', ops: 'select, insert' },
  allocation_attempts: { api: 'select', worker: 'select, insert, update', ops: 'select' },
  pods: { ...worked, api: 'select' },
  pod_leaks: { api: null, worker: 'select', ops: 'select' },
  intents: { ...worked, api: null },
  meter_shards: { ...worked, api: 'select' },

  // The upstreams and what they offer.
  providers: { api: 'select', worker: 'select, insert, update', ops: 'select, update' },
  listings: worked,
  provider_families: { ...readers, worker: 'select, insert, update, delete' },
  provider_oddities: { api: null, worker: 'select, insert, update', ops: 'select' },
  rate_limits: { api: 'select, insert, update', worker: 'select, insert, update, delete', ops: 'select' },

  // A mail's text may carry a code: only its sender reads it.
  mail_outbox: {
    api: 'select (id, cause), insert',
    worker: 'select, insert, update',
    ops: 'select (id, cause, recipient, subject, tries, next_try_at, last_error, created_at, sent_at)',
  },
  brakes: { ...readers, ops: 'select, insert, update, delete' },

  // The comparison of the three truths; operators say which findings they know.
  reconcile_runs: { api: null, worker: 'select, insert, update, delete', ops: 'select' },
  reconcile_sources: { api: null, worker: 'select, insert, update, delete', ops: 'select' },
  reconcile_findings: {
    api: null,
    worker: 'select, insert, update, delete',
    ops: 'select, update (state, acknowledged_at, acknowledged_by, acknowledged_why)',
  },
  reconcile_documents: { api: null, worker: 'select, insert, update, delete', ops: null },
  watermark: { ...worked, worker: 'select, update', api: null },
};
