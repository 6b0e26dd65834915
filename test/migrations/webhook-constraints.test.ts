import assert from 'node:assert/strict';
import { newId } from '../../adapters/ids.js';
import type { Database } from '../../adapters/postgres/database.js';
import type { UserRow } from '../../adapters/postgres/rows/tables.js';
import { insertUser } from '../support/money/factories.js';
import { openMoneyDatabase, type MoneyDatabase } from '../support/money/money.js';

const sealed = `decode(repeat('00', 60), 'hex')`;
const secret = (values: string) =>
  `insert into webhook_secrets (webhook_id, no, sealed, expires_at) values (${values})`;
const retry = (tries: number) =>
  `insert into webhook_retries (webhook_id, seq, tries, first_tried_at, next_try_at) values (:hook, 7, ${tries}, now(), now())`;

/** A try, each of its columns as it should be but these. */
function delivery(columns: Readonly<Record<string, string>>): string {
  const row = {
    ...{ id: `'${newId('dlv')}'`, webhook_id: ':hook', event_id: `'evt_1'`, seq: '1', type: `'card.saved'` },
    ...{ attempt: '1', outcome: `'failed'`, http_status: '500', fault: 'null', duration_ms: '3' },
    ...columns,
  };
  return `insert into webhook_deliveries (${Object.keys(row).join()}) values (${Object.values(row).join()})`;
}

/** An endpoint, each of its columns as it should be but these. */
function webhook(columns: Readonly<Record<string, string>>): string {
  const row = {
    ...{ id: `'${newId('wh')}'`, user_id: ':user', url: `'https://hooks.example.com'`, cursor_seq: '0' },
    ...columns,
  };
  return `insert into webhooks (${Object.keys(row).join()}) values (${Object.values(row).join()})`;
}

describe('the schema refuses webhooks that do not add up', () => {
  let database: MoneyDatabase;
  let db: Database;
  let user: UserRow;
  const hook = newId('wh');
  const taken = newId('dlv');
  before(async () => {
    database = await openMoneyDatabase();
    db = database.db;
    user = await insertUser(db);
    const known = { user: user.id, hook, taken };
    await db.raw(webhook({ id: ':hook' }), known);
    await db.raw(secret(`:hook, 1, ${sealed}, null`), known);
    await db.raw(retry(1), known);
    await db.raw(delivery({ id: ':taken' }), known);
  });
  after(() => database.close());

  /** Asserts that this constraint fires. */
  async function refuses(constraint: string, sql: string): Promise<void> {
    await assert.rejects(
      db.transaction((trx) => trx.raw(sql, { user: user.id, hook, taken })),
      (error: Error & { constraint?: string }) => {
        assert.equal(error.constraint, constraint, error.message);
        return true;
      },
    );
  }

  const change = (set: string) => `update webhooks set ${set} where id = :hook`;
  const rules: readonly (readonly [what: string, constraint: string, sql: string])[] = [
    ['an endpoint with another id', 'webhooks_id_check', webhook({ id: `'wh_1'` })],
    ['a second one with its id', 'webhooks_pkey', webhook({ id: ':hook' })],
    ['an endpoint of nobody', 'webhooks_user_id_fkey', webhook({ user_id: `'usr_x'` })],
    ['one without an address', 'webhooks_url_check', change(`url = ''`)],
    ['one with an endless address', 'webhooks_url_check', change(`url = repeat('x', 2049)`)],
    ['an endless description', 'webhooks_description_check', change(`description = repeat('x', 201)`)],
    ['a state of no known name', 'webhooks_state_check', change(`state = 'asleep'`)],
    [
      'an end for no known reason',
      'webhooks_switched_off_why_check',
      change(`state = 'switched_off', switched_off_at = now(), switched_off_why = 'bored'`),
    ],
    [
      'one that is switched off since never',
      'webhooks_switched_off',
      change(`state = 'switched_off', switched_off_why = 'gone'`),
    ],
    [
      'one that is switched off for no reason',
      'webhooks_switched_off',
      change(`state = 'switched_off', switched_off_at = now()`),
    ],
    [
      'the end of one that goes on',
      'webhooks_switched_off',
      change(`switched_off_at = now(), switched_off_why = 'gone'`),
    ],
    ['a reason to end one that goes on', 'webhooks_switched_off', change(`switched_off_why = 'gone'`)],
    ['one that was removed and never was', 'webhooks_removed', change(`state = 'removed'`)],
    ['a removal of one that is there', 'webhooks_removed', change(`removed_at = now()`)],
    ['one that is enabled since never', 'webhooks_enabled', change(`state = 'enabled'`)],
    ['failures since never', 'webhooks_failing', change(`failures = 1`)],
    ['no failures since an instant', 'webhooks_failing', change(`failing_since = now()`)],
    ['less than no failures', 'webhooks_failures_check', change(`failures = -1, failing_since = now()`)],
    ['tries since never', 'webhooks_tried', change(`tries = 1`)],
    ['no tries since an instant', 'webhooks_tried', change(`tried_since = now()`)],
    ['less than no tries', 'webhooks_tries_check', change(`tries = -1, tried_since = now()`)],
    ['a place before the feed', 'webhooks_cursor_seq_check', change(`cursor_seq = -1`)],
    [
      'work for a removed one',
      'webhooks_idle',
      change(`state = 'removed', removed_at = now(), due_at = now()`),
    ],
    [
      'work for one that is switched off',
      'webhooks_idle',
      change(`state = 'switched_off', switched_off_at = now(), switched_off_why = 'gone', due_at = now()`),
    ],

    ['a secret of no endpoint', 'webhook_secrets_webhook_id_fkey', secret(`'wh_x', 1, ${sealed}, now()`)],
    ['a secret before the first', 'webhook_secrets_no_check', secret(`:hook, 0, ${sealed}, now()`)],
    ['a second secret of a number', 'webhook_secrets_pkey', secret(`:hook, 1, ${sealed}, now()`)],
    ['two newest secrets', 'webhook_secrets_newest', secret(`:hook, 2, ${sealed}, null`)],
    [
      'a secret that nobody sealed',
      'webhook_secrets_sealed_check',
      secret(`:hook, 2, decode(repeat('00', 59), 'hex'), now()`),
    ],
    [
      'a secret of a whole page',
      'webhook_secrets_sealed_check',
      secret(`:hook, 2, decode(repeat('00', 401), 'hex'), now()`),
    ],

    ['an event twice in a retry line', 'webhook_retries_pkey', retry(1)],
    ['a retry without a try', 'webhook_retries_tries_check', retry(0)],
    ['a retry of no endpoint', 'webhook_retries_webhook_id_fkey', retry(1).replace(':hook', `'wh_x'`)],

    ['a try with another id', 'webhook_deliveries_id_check', delivery({ id: `'dlv_1'` })],
    ['a second try with its id', 'webhook_deliveries_id_key', delivery({ id: ':taken' })],
    ['a try of no endpoint', 'webhook_deliveries_webhook_id_fkey', delivery({ webhook_id: `'wh_x'` })],
    ['a try before the first', 'webhook_deliveries_attempt_check', delivery({ attempt: '0' })],
    ['a try without a known end', 'webhook_deliveries_outcome_check', delivery({ outcome: `'lost'` })],
    ['a status below all', 'webhook_deliveries_http_status_check', delivery({ http_status: '99' })],
    ['a status beyond all', 'webhook_deliveries_http_status_check', delivery({ http_status: '1000' })],
    ['a fault without a word', 'webhook_deliveries_fault_check', delivery({ fault: `''` })],
    ['a fault of many words', 'webhook_deliveries_fault_check', delivery({ fault: `repeat('x', 41)` })],
    [
      'a try that ended before it began',
      'webhook_deliveries_duration_ms_check',
      delivery({ duration_ms: '-1' }),
    ],
    ['a number of no event', 'webhook_deliveries_event', delivery({ event_id: 'null' })],
    ['an event without its number', 'webhook_deliveries_event', delivery({ seq: 'null' })],

    ['a second place in the feed', 'webhook_feed_pkey', 'insert into webhook_feed (last_no) values (0)'],
    [
      'a place in another feed',
      'webhook_feed_singleton_check',
      'insert into webhook_feed (singleton, last_no) values (false, 0)',
    ],
  ];
  for (const [what, constraint, sql] of rules) {
    it(`refuses ${what}`, () => refuses(constraint, sql));
  }

  it('refuses nothing of what endpoints go through', async () => {
    for (const set of [
      `tries = 1, tried_since = now(), failures = 1, failing_since = now(), due_at = now()`,
      `state = 'enabled', enabled_at = now(), tries = 0, tried_since = null, failures = 0, failing_since = null`,
      `state = 'switched_off', switched_off_at = now(), switched_off_why = 'challenge_unanswered', due_at = null`,
      `state = 'removed', removed_at = now(), switched_off_at = null, switched_off_why = null`,
    ]) {
      await db.raw(change(set), { hook });
    }
    // A challenge is a try of no event.
    await db.raw(delivery({ event_id: 'null', seq: 'null', type: `'webhook.challenge'` }), { hook });
  });

  it('drops what belongs to an endpoint with it', async () => {
    await db.raw('delete from webhooks where id = ?', [hook]);
    for (const table of ['webhook_secrets', 'webhook_retries', 'webhook_deliveries'] as const) {
      assert.deepEqual(await db(table).where({ webhook_id: hook }), [], table);
    }
  });

  it('knows the brake of webhooks and the kinds of the audit, and no others', async () => {
    const pull = (kind: string) =>
      `insert into brakes (kind, pulled_by, reason) values ('${kind}', 'ada', 'a drill')`;
    await db.raw(pull('webhooks'));
    await refuses('brakes_kind_check', pull('webhook'));
    const write = (kind: string) =>
      `insert into audit_events (id, user_id, kind) values ('${newId('aud')}', :user, '${kind}')`;
    for (const what of ['created', 'changed', 'removed', 'switched_off']) {
      await db.raw(write(`webhook_${what}`), { user: user.id });
    }
    await refuses('audit_events_kind_check', write('webhook_lost'));
  });
});
