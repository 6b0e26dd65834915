import assert from 'node:assert/strict';
import { newId } from '../../adapters/ids.js';
import type { Database } from '../../adapters/postgres/database.js';
import type { WalletRow } from '../../adapters/postgres/rows/tables.js';
import { migrateToLatest } from '../../migrations/migrate.js';
import {
  insertRunning,
  insertWallet,
  openMoneyDatabase,
  type MoneyDatabase,
} from '../support/money/money.js';
import { createTestDatabase } from '../support/servers/database.js';

const label = (place: number, key: string) =>
  `insert into rental_labels (rental_no, user_id, place, key, value) values (:no, :user, ${place}, '${key}', 'x')`;
const changed = (asked: string) =>
  `insert into rental_changes (id, rental_no, user_id, asked, answer_before, answered_at)
   values ('${newId('chg')}', :no, :user, '${asked}', now(), now())`;

/** Sees each rule of the schema itself fire (design: rule 7). */
describe('the schema refuses what does not add up', () => {
  let database: MoneyDatabase;
  let db: Database;
  let wallet: WalletRow;
  let rentalNo: number;
  before(async () => {
    database = await openMoneyDatabase();
    db = database.db;
    wallet = await insertWallet(db, 1_000);
    const id = await insertRunning(db, wallet, { priceCents: 100, ranMs: 1_000 });
    rentalNo = (await db('rentals').where({ id }).first('no'))?.no ?? 0;
    await db('providers').insert({ code: 'lab' });
    await db.raw(changed('{"name": "x"}'), { no: rentalNo, user: wallet.user_id });
  });
  after(() => database.close());

  async function refuses(
    constraint: string,
    sql: string,
    bindings: Record<string, unknown> = {},
  ): Promise<void> {
    await assert.rejects(
      db.transaction((trx) =>
        trx.raw(sql, { wallet: wallet.id, no: rentalNo, user: wallet.user_id, ...bindings }),
      ),
      (error: unknown) => {
        assert.ok(error instanceof Error);
        const { constraint: fired } = error as { constraint?: string };
        assert.equal(fired, constraint, error.message);
        return true;
      },
    );
  }

  const entry = (values: string) =>
    `insert into ledger_entries (wallet_id, seq, type, amount_cents, balance_after_cents, rental_no, created_at) values ${values}`;
  const rental = (column: string, value: string) => `update rentals set ${column} = ${value} where no = :no`;

  const warning = (kind: string) =>
    `insert into rental_warnings (rental_no, warning, at) values (:no, '${kind}', '2026-11-01')`;

  const rules: [what: string, constraint: string, sql: string][] = [
    ['a warning of no known kind', 'rental_warnings_warning_check', warning('meteor_near')],
    [
      'a second warning of one instant',
      'rental_warnings_pkey',
      `${warning('auto_stop_near')}, (:no, 'auto_stop_near', '2026-11-01')`,
    ],
    [
      'a negative available balance',
      'wallets_available_cents_check',
      'update wallets set available_cents = -1 where id = :wallet',
    ],
    [
      'a negative reserved balance',
      'wallets_reserved_cents_check',
      'update wallets set reserved_cents = -1 where id = :wallet',
    ],
    [
      'a wallet that differs from its newest entry',
      'wallet_is_newest_entry',
      'update wallets set available_cents = available_cents + 1 where id = :wallet',
    ],
    [
      'a wallet that forgets its newest entry',
      'wallet_is_newest_entry',
      'update wallets set seq = 0 where id = :wallet',
    ],
    [
      'a wallet that starts with money',
      'wallet_starts_empty',
      `insert into wallets (user_id, available_cents) values (:user, 5)`,
    ],
    ['a second wallet of a user', 'wallets_user_id_key', `insert into wallets (user_id) values (:user)`],
    ['an entry that skips a number', 'ledger_chain', entry(`(:wallet, 3, 'refund', 5, 1005, null, now())`)],
    [
      'an entry that does not continue the balance',
      'ledger_chain',
      entry(`(:wallet, 2, 'refund', 5, 1006, null, now())`),
    ],
    ['an entry without its wallet', 'ledger_chain', entry(`(999999, 1, 'refund', 5, 5, null, now())`)],
    [
      'an entry that the wallet does not follow',
      'ledger_chain',
      entry(`(:wallet, 2, 'refund', 5, 1005, null, now())`),
    ],
    [
      'an entry number that exists',
      'ledger_entries_pkey',
      entry(`(:wallet, 1, 'refund', 5, 5, null, now())`),
    ],
    ['entry number 0', 'ledger_entries_seq_check', entry(`(:wallet, 0, 'refund', 5, 5, null, now())`)],
    [
      'a negative balance',
      'ledger_entries_balance_after_cents_check',
      entry(`(:wallet, 2, 'adjustment', -1001, -1, null, now())`),
    ],
    ['a positive charge', 'ledger_sign', entry(`(:wallet, 2, 'rental_charge', 5, 1005, :no, now())`)],
    ['a negative top-up', 'ledger_sign', entry(`(:wallet, 2, 'processor_topup', -5, 995, null, now())`)],
    ['an adjustment of nothing', 'ledger_sign', entry(`(:wallet, 2, 'adjustment', 0, 1000, null, now())`)],
    ['a charge for no rental', 'ledger_rental', entry(`(:wallet, 2, 'rental_charge', -5, 995, null, now())`)],
    [
      'the change of an entry',
      'append_only',
      'update ledger_entries set amount_cents = 2 where wallet_id = :wallet',
    ],
    ['the removal of an entry', 'append_only', 'delete from ledger_entries where wallet_id = :wallet'],
    ['the removal of all entries', 'append_only', 'truncate ledger_entries'],
    ['the removal of a cause', 'append_only', 'delete from ledger_causes'],
    [
      'a cause that was used',
      'ledger_causes_pkey',
      `insert into ledger_causes select cause, wallet_id, seq + 1 from ledger_causes where wallet_id = :wallet`,
    ],
    ['an eleventh label', 'rental_labels_place_check', label(11, 'team')],
    ['a key in capitals', 'rental_labels_key_check', label(1, 'Team')],
    ['a label twice', 'rental_labels_pkey', `${label(1, 'team')}, (:no, :user, 2, 'team', 'x')`],
    ['two labels at one place', 'rental_labels_place', `${label(1, 'team')}, (:no, :user, 1, 'at', 'x')`],
    [
      'a change that is answered and says no limits',
      'rental_changes_limits',
      changed('{"maxSpendCents": null}'),
    ],
    [
      'another wish in a change that was made',
      'rental_changes_stay',
      `update rental_changes set asked = '{"name": null}'`,
    ],
    ['the removal of a change that was made', 'rental_changes_stay', 'delete from rental_changes'],
    ['the removal of all changes', 'rental_changes_stay', 'truncate rental_changes'],
    ['an unknown status', 'rentals_status_check', rental('status', `'lost'`)],
    ['a negative hold', 'rentals_hold_cents_check', rental('hold_cents', '-1')],
    ['a negative charge in all', 'rentals_charged_cents_check', rental('charged_cents', '-1')],
    [
      'a meter with a negative hold',
      'meter_readings_hold_cents_check',
      'update meter_readings set hold_cents = -1 where rental_no = :no',
    ],
    [
      'a meter with a negative charge',
      'meter_readings_charged_cents_check',
      'update meter_readings set charged_cents = -1 where rental_no = :no',
    ],
    [
      'a second meter of a rental',
      'meter_readings_pkey',
      `insert into meter_readings (rental_no, wallet_id, price_per_hour_cents, hold_cents, charged_cents, running_ms)
       select rental_no, wallet_id, price_per_hour_cents, hold_cents, charged_cents, running_ms from meter_readings
        where rental_no = :no`,
    ],
    ['a refund beyond the charge', 'rentals_refund', rental('refunded_cents', 'charged_cents + 1')],
    ['negative overage', 'rentals_overage_cents_check', rental('overage_cents', '-1')],
    ['a negative write-off', 'rentals_written_off_cents_check', rental('written_off_cents', '-1')],
    ['running without a start', 'rentals_running', rental('running_at', 'null')],
    ['running after the end', 'rentals_running', rental('ended_at', 'clock_ms()')],
    ['stopping without an end', 'rentals_ended', rental('status', `'stopping'`)],
    [
      'an end before the start',
      'rentals_order',
      `update rentals set status = 'stopping', ended_at = running_at - interval '1 second' where no = :no`,
    ],
    [
      'a settlement that keeps the hold',
      'rentals_settled',
      `update rentals set status = 'stopping', ended_at = clock_ms(), settled_at = clock_ms() where no = :no`,
    ],
    [
      'stopped without a settlement',
      'rentals_final',
      `update rentals set status = 'stopped', ended_at = clock_ms() where no = :no`,
    ],
    [
      'failed without a reason',
      'rentals_failed',
      `update rentals set status = 'failed', hold_cents = 0, settled_at = clock_ms() where no = :no`,
    ],
    ['closed while running', 'rentals_closed', rental('closed_at', 'clock_ms()')],
    ['three GPUs', 'rentals_gpu_count_check', rental('gpu_count', '3')],
    [
      'an auto-stop after 721 hours',
      'rentals_auto_stop_after_ms_check',
      rental('auto_stop_after_ms', '721 * 3600000::bigint'),
    ],
    ['a name of 65 characters', 'rentals_name_check', rental('name', `repeat('x', 65)`)],
    ['a free machine', 'rentals_price_per_hour_cents_check', rental('price_per_hour_cents', '0')],
    [
      'the removal of a wallet that has rentals',
      'rentals_wallet_id_fkey',
      'delete from wallets where id = :wallet',
    ],
    ['the removal of a user that has money', 'wallets_user_id_fkey', 'delete from users where id = :user'],
    [
      'a stop of a rental that is not there',
      'stop_requests_rental_no_fkey',
      `insert into stop_requests (rental_no, requested_by) values (999999, 'user')`,
    ],
    [
      'an upper-case e-mail',
      'users_email_check',
      `update users set email = 'Ann@example.com' where id = :user`,
    ],
    [
      'a top-up below a dollar',
      'topups_amount_cents_check',
      `insert into topups (id, user_id, wallet_id, amount_cents, status) values ('top_' || repeat('0', 26), :user, :wallet, 99, 'creating')`,
    ],
    [
      'a top-up above 5,000 dollars',
      'topups_amount_cents_check',
      `insert into topups (id, user_id, wallet_id, amount_cents, status) values ('top_' || repeat('0', 26), :user, :wallet, 500001, 'creating')`,
    ],
    [
      'a top-up that succeeded without a payment',
      'topups_credited',
      `insert into topups (id, user_id, wallet_id, amount_cents, status) values ('top_' || repeat('0', 26), :user, :wallet, 100, 'succeeded')`,
    ],
    [
      'a payment page without a session',
      'topups_session',
      `insert into topups (id, user_id, wallet_id, amount_cents, status) values ('top_' || repeat('0', 26), :user, :wallet, 100, 'requires_payment')`,
    ],
    [
      "an invoice below the processor's minimum",
      'invoices_amount_cents_check',
      `insert into invoices (id, user_id, wallet_id, status, reason, amount_cents, cause) values ('inv_' || repeat('0', 26), :user, :wallet, 'draft', 'manual', 49, 'x')`,
    ],
    [
      'an invoice that is paid without a date',
      'invoices_paid',
      `insert into invoices (id, user_id, wallet_id, status, reason, amount_cents, cause) values ('inv_' || repeat('0', 26), :user, :wallet, 'paid', 'manual', 50, 'x')`,
    ],
    [
      'an overage invoice without its rental',
      'invoices_overage',
      `insert into invoices (id, user_id, wallet_id, status, reason, amount_cents, cause) values ('inv_' || repeat('0', 26), :user, :wallet, 'draft', 'overage', 50, 'x')`,
    ],
    [
      'an invoice in another currency',
      'invoices_currency_check',
      `insert into invoices (id, user_id, wallet_id, status, reason, amount_cents, cause, currency) values ('inv_' || repeat('0', 26), :user, :wallet, 'draft', 'manual', 50, 'x', 'EUR')`,
    ],
    [
      'an unknown allocation state',
      'allocation_attempts_state_check',
      `insert into allocation_attempts (rental_id, attempt, provider_code, listing_id, offer_id, tag, price_per_hour_cents, state) values ('r', 1, 'lab', 'l', 'o', 't', 1, 'lost')`,
    ],
    [
      'a second watermark',
      'watermark_singleton_check',
      `insert into watermark (singleton, value, raised_at) values (false, 1, clock_ms())`,
    ],
    [
      'an attempt that nobody failed',
      'allocation_attempts_failed_by_check',
      `insert into allocation_attempts (rental_id, attempt, provider_code, listing_id, offer_id, tag, price_per_hour_cents, failed_by) values ('r', 1, 'lab', 'l', 'o', 't', 1, 'nobody')`,
    ],
    [
      'an hour of use that begins within one',
      'telemetry_hours_hour_check',
      `insert into telemetry_hours values (:no, '2026-11-01T10:30Z', 'upstream', decode(repeat('ff', 300), 'hex'))`,
    ],
    [
      'reliability of a part of an hour',
      'reliability_hours_hour_check',
      `insert into reliability_hours values ('lab', 'f', '2026-11-01T10:30Z', 0, 0, '{}', '{}', 0, 0)`,
    ],
    [
      'a machine that came up in no time',
      'reliability_hours_check',
      `insert into reliability_hours values ('lab', 'f', '2026-11-01T10:00Z', 1, 0, '{}', '{1}', 0, 0)`,
    ],
    [
      'times of no machine',
      'reliability_times',
      `insert into reliability values ('lab', 'f', 0, 1, 5, 6, 7, 8, 0, 0)`,
    ],
    [
      'nine of ten that were sooner than half',
      'reliability_times',
      `insert into reliability values ('lab', 'f', 1, 0, 6, 5, 7, 8, 0, 0)`,
    ],
    [
      'a look at a part of an hour',
      'catalog_hours_hour_check',
      `insert into catalog_hours values ('2026-11-01T10:30Z', 'lab')`,
    ],
    [
      'an offer for nothing',
      'offer_hours_lowest_price_per_hour_cents_check',
      `insert into offer_hours values ('f', '*', '2026-11-01T10:00Z', 'lab', 0, 1)`,
    ],
    [
      'an unknown brake',
      'brakes_kind_check',
      `insert into brakes (kind, pulled_by, reason) values ('mails', 'x', 'y')`,
    ],
    [
      'an upstream that is paused by nobody',
      'providers_paused',
      `insert into providers (code, paused_at) values ('paused', clock_ms())`,
    ],
    [
      'a notice of no known kind',
      'user_notices_kind_check',
      `insert into user_notices (user_id, kind, cause, facts) values (:user, 'gift', 'gift:1', '{}')`,
    ],
    [
      'a notice that tells a list',
      'user_notices_facts_check',
      `insert into user_notices (user_id, kind, cause, facts) values (:user, 'card_saved', 'card-saved:1', '[]')`,
    ],
    [
      'a notice that was told, and nobody knows how',
      'user_notices_told',
      `insert into user_notices (user_id, kind, cause, facts, told_at) values (:user, 'card_saved', 'card-saved:1', '{}', now())`,
    ],
    [
      'mails about money that are switched off',
      'notice_settings_kind_check',
      `insert into notice_settings (user_id, kind) values (:user, 'rental_balance_exhausted')`,
    ],
    [
      'a kept 5xx answer',
      'idempotency_keys_response_status_check',
      `insert into idempotency_keys (user_id, endpoint, key, body_hash, target_id, response_status, response_body) values (:user, 'e', 'k', sha256('x'), 't', 503, '{}')`,
    ],
  ];
  for (const [what, constraint, sql] of rules) {
    it(`refuses ${what}`, () => refuses(constraint, sql));
  }

  it('keeps a meter exactly while a rental runs, with its instants', async () => {
    const other = await insertWallet(db, 1_000);
    const id = await insertRunning(db, other, { priceCents: 100, ranMs: 1_000 });
    const meters = async () => db('meters').where({ wallet_id: other.id });
    const [before] = await meters();
    await db('rentals')
      .where({ id })
      .update({ running_at: db.raw(`running_at - interval '1 minute'`) });
    assert.equal((await meters())[0]?.running_ms, (before?.running_ms ?? 0) - 60_000);
    await db('rentals')
      .where({ id })
      .update({ status: 'stopping', ended_at: db.raw('clock_ms()') });
    assert.deepEqual(await meters(), []);
  });

  it('adopts one pod per rental', async () => {
    const attempt = (n: number) =>
      db('allocation_attempts').insert({
        rental_id: 'rent_X',
        attempt: n,
        provider_code: 'lab',
        listing_id: newId('lst'),
        offer_id: 'o',
        tag: `t${n}`,
        price_per_hour_cents: 1,
        state: 'adopted',
      });
    await attempt(1);
    await assert.rejects(attempt(2), /allocation_attempts_adopted/);
  });

  it('keeps one open intent of a kind per rental', async () => {
    const leave = () =>
      db('intents').insert({ kind: 'end_rental', wallet_id: wallet.id, rental_no: rentalNo });
    await leave();
    await assert.rejects(leave(), /intents_of_rental/);
  });

  it('migrates a database that is at the newest schema without doing anything', async () => {
    const other = await createTestDatabase();
    try {
      assert.deepEqual(await migrateToLatest(other.url), []);
    } finally {
      await other.drop();
    }
  });
});
