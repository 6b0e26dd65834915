import assert from 'node:assert/strict';
import type { Database } from '../../adapters/postgres/database.js';
import type { WalletRow } from '../../adapters/postgres/rows/tables.js';
import { insertWallet, openMoneyDatabase, type MoneyDatabase } from '../support/money/money.js';

/** Sees each rule about cards, their charges and reversals fire (design: rule 7). */
describe('the schema of cards and reversals', () => {
  let database: MoneyDatabase;
  let db: Database;
  let wallet: WalletRow;
  before(async () => {
    database = await openMoneyDatabase();
    db = database.db;
    wallet = await insertWallet(db, 1_000);
    await run(card({ pm_id: `'pm_saved'` }));
    await run(`insert into card_setups (user_id, setup_id) values (:user, 'seti_1')`);
    await run(topup({ id: `'top_' || repeat('1', 26)`, source: `'saved_card'`, pm_id: `'pm_saved'` }));
    await run(reversal({ id: `'re_1'` }));
    await run(
      `insert into parked_payments (payment_id, amount_cents, currency, reason) values ('pi_1', 5, 'eur', 'x')`,
    );
  });
  after(() => database.close());

  function run(sql: string): Promise<unknown> {
    return db.transaction((trx) => trx.raw(sql, { wallet: wallet.id, user: wallet.user_id }));
  }

  async function refuses(constraint: string, sql: string): Promise<void> {
    await assert.rejects(run(sql), (error: unknown) => {
      assert.ok(error instanceof Error);
      assert.equal((error as { constraint?: string }).constraint, constraint, error.message);
      return true;
    });
  }

  /** An insert of SQL expressions by column. */
  const insert = (table: string, columns: Record<string, string>): string =>
    `insert into ${table} (${Object.keys(columns).join(', ')}) values (${Object.values(columns).join(', ')})`;
  const card = (columns: Record<string, string> = {}): string =>
    insert('saved_cards', {
      pm_id: `'pm_other'`,
      user_id: ':user',
      brand: `'visa'`,
      last4: `'4242'`,
      exp_month: '12',
      exp_year: '2034',
      set_up_at: 'clock_ms()',
      ...columns,
    });
  const removed = (columns: Record<string, string> = {}): string =>
    card({ removed_at: 'clock_ms()', removed_why: `'user'`, ...columns });
  const topup = (columns: Record<string, string>): string =>
    insert('topups', {
      id: `'top_' || repeat('0', 26)`,
      user_id: ':user',
      wallet_id: ':wallet',
      amount_cents: '100',
      status: `'creating'`,
      ...columns,
    });
  const reversal = (columns: Record<string, string>): string =>
    insert('refunds_and_disputes', {
      id: `'re_other'`,
      kind: `'refund'`,
      payment_id: `'pi_1'`,
      user_id: ':user',
      wallet_id: ':wallet',
      amount_cents: '100',
      status: `'pending'`,
      ...columns,
    });
  const taken = (columns: Record<string, string>): string =>
    reversal({ taken_at: 'clock_ms()', debited_cents: '100', ...columns });

  const rules: [what: string, constraint: string, sql: string][] = [
    ['a card that is kept already', 'saved_cards_pkey', removed({ pm_id: `'pm_saved'` })],
    ['a second card of a user', 'saved_cards_one_per_user', card()],
    ['a card of nobody', 'saved_cards_user_id_fkey', card({ user_id: `'usr_none'` })],
    ['a card without digits', 'saved_cards_last4_check', removed({ last4: `''` })],
    ['a card with five digits at its end', 'saved_cards_last4_check', removed({ last4: `'54242'` })],
    ['month 0', 'saved_cards_exp_month_check', removed({ exp_month: '0' })],
    ['month 13', 'saved_cards_exp_month_check', removed({ exp_month: '13' })],
    ['the year 34', 'saved_cards_exp_year_check', removed({ exp_year: '34' })],
    ['the year 10000', 'saved_cards_exp_year_check', removed({ exp_year: '10000' })],
    ['an unknown reason of a removal', 'saved_cards_removed_why_check', removed({ removed_why: `'lost'` })],
    ['a removal without a reason', 'saved_cards_removed', removed({ removed_why: 'null' })],
    ['a reason without a removal', 'saved_cards_removed', removed({ removed_at: 'null' })],
    ['a detached card that is not removed', 'saved_cards_detached', card({ detached_at: 'clock_ms()' })],
    [
      'a setup that is known already',
      'card_setups_setup_id_key',
      `insert into card_setups (user_id, setup_id) values (:user, 'seti_1')`,
    ],
    [
      'a setup of nobody',
      'card_setups_user_id_fkey',
      `insert into card_setups (user_id) values ('usr_none')`,
    ],
    ['a top-up from elsewhere', 'topups_source', topup({ source: `'cash'` })],
    ['a charge of no card', 'topups_saved_card', topup({ source: `'saved_card'`, closed_at: 'clock_ms()' })],
    ['a charge that was sent without a card', 'topups_charge_sent', topup({ charge_sent_at: 'clock_ms()' })],
    [
      'a second charge of a user in flight',
      'topups_one_charge',
      topup({ source: `'saved_card'`, pm_id: `'pm_saved'` }),
    ],
    [
      'an event with a workflow of no type',
      'processor_events_route',
      `insert into processor_events (id, kind, created_at, livemode, object, workflow_id) values ('evt_1', 'k', clock_ms(), false, '{}', 'w')`,
    ],
    [
      'an event with a type of no workflow',
      'processor_events_route',
      `insert into processor_events (id, kind, created_at, livemode, object, workflow_type) values ('evt_1', 'k', clock_ms(), false, '{}', 'topup')`,
    ],
    [
      'a payment that is parked twice',
      'parked_payments_pkey',
      `insert into parked_payments (payment_id, amount_cents, currency, reason) values ('pi_1', 5, 'eur', 'x')`,
    ],
    [
      'a parked payment that is resolved without words',
      'parked_payments_check',
      `update parked_payments set resolved_at = clock_ms()`,
    ],
    [
      'a parked payment with words that is not resolved',
      'parked_payments_check',
      `update parked_payments set resolution = 'sent back'`,
    ],
    ['a reversal that is known already', 'refunds_and_disputes_pkey', reversal({ id: `'re_1'` })],
    ['a reversal of another kind', 'refunds_and_disputes_kind_check', reversal({ kind: `'gift'` })],
    ['a reversal of nobody', 'refunds_and_disputes_user_id_fkey', reversal({ user_id: `'usr_none'` })],
    ['a reversal of no wallet', 'refunds_and_disputes_wallet_id_fkey', reversal({ wallet_id: '999999' })],
    ['a negative reversal', 'refunds_and_disputes_amount_cents_check', reversal({ amount_cents: '-1' })],
    ['a negative debit', 'refunds_and_disputes_debited_cents_check', taken({ debited_cents: '-1' })],
    [
      'a negative write-off',
      'refunds_and_disputes_written_off_cents_check',
      taken({ written_off_cents: '-1' }),
    ],
    [
      'a negative invoice',
      'refunds_and_disputes_invoiced_cents_check',
      taken({ invoiced_cents: '-1', invoice_id: `'inv_none'` }),
    ],
    ['a debit that was not taken', 'refunds_and_disputes_taken', taken({ taken_at: 'null' })],
    ['more than the reversal is about', 'refunds_and_disputes_at_most', taken({ written_off_cents: '1' })],
    [
      'an invoiced part without its invoice',
      'refunds_and_disputes_invoice',
      taken({ debited_cents: '50', invoiced_cents: '50' }),
    ],
    ['an invoice for nothing', 'refunds_and_disputes_invoice', taken({ invoice_id: `'inv_none'` })],
    [
      'an invoice that does not exist',
      'refunds_and_disputes_invoice_id_fkey',
      taken({ debited_cents: '50', invoiced_cents: '50', invoice_id: `'inv_none'` }),
    ],
    [
      'a second place in the events',
      'event_cursor_singleton_check',
      `insert into event_cursor (singleton, seen_until) values (false, clock_ms())`,
    ],
    [
      'the same place in the events twice',
      'event_cursor_pkey',
      `insert into event_cursor (seen_until) values (clock_ms())`,
    ],
    ['the removal of a user with a card', 'saved_cards_user_id_fkey', userWith('pm_kept')],
  ];
  for (const [what, constraint, sql] of rules) {
    it(`refuses ${what}`, () => refuses(constraint, sql));
  }

  /** Makes a user who has nothing but a card, and removes them. */
  function userWith(pmId: string): string {
    const id = `'usr_' || repeat('0', 26)`;
    return `insert into users (id, email) values (${id}, 'card@example.com');
      ${card({ pm_id: `'${pmId}'`, user_id: id })};
      delete from users where id = ${id}`;
  }

  it('takes what adds up', async () => {
    await run(removed());
    await run(taken({ id: `'re_whole'` }));
    await run(topup({ source: `'saved_card'`, pm_id: `'pm_saved'`, closed_at: 'clock_ms()' }));
    await run(`update parked_payments set resolved_at = clock_ms(), resolution = 'sent back'`);
  });
});
