import assert from 'node:assert/strict';
import { newId } from '../../adapters/ids.js';
import type { Database } from '../../adapters/postgres/database.js';
import type { UserRow } from '../../adapters/postgres/rows/tables.js';
import { insertListing, insertProvider, insertRental, insertUser } from '../support/money/factories.js';
import { openMoneyDatabase, type MoneyDatabase } from '../support/money/money.js';

describe('the schema refuses quotes that do not add up', () => {
  let database: MoneyDatabase;
  let db: Database;
  let user: UserRow;
  let bindings: Record<string, unknown>;
  before(async () => {
    database = await openMoneyDatabase();
    db = database.db;
    user = await insertUser(db);
    await insertProvider(db);
    bindings = { user: user.id, listing: (await insertListing(db)).id };
  });
  after(() => database.close());

  /** Asserts that this constraint fires. */
  async function refuses(constraint: string, sql: string, more: Record<string, unknown> = {}): Promise<void> {
    await assert.rejects(
      db.transaction((trx) => trx.raw(sql, { ...bindings, ...more })),
      { constraint },
    );
  }

  const quote = (values: string) =>
    `insert into quotes (id, user_id, request, listing_id, price_per_hour_cents, expires_at) values ${values}`;
  const quoteId = `'quo_' || repeat('0', 26)`;

  const soon = `clock_ms() + interval '1 minute'`;

  for (const [what, constraint, values] of [
    [
      'one that is over at once',
      'quotes_expire',
      `(${quoteId}, :user, '{}', :listing, 50, clock_ms() - interval '1 s')`,
    ],
    ['one that asks for nothing', 'quotes_request_check', `(${quoteId}, :user, '[]', :listing, 50, ${soon})`],
    [
      'one that costs nothing',
      'quotes_price_per_hour_cents_check',
      `(${quoteId}, :user, '{}', :listing, 0, ${soon})`,
    ],
    ['one of no listing', 'quotes_listing_id_fkey', `(${quoteId}, :user, '{}', 'lst_x', 50, ${soon})`],
    ['one of nobody', 'quotes_user_id_fkey', `(${quoteId}, 'usr_x', '{}', :listing, 50, ${soon})`],
    ['one with another id', 'quotes_id_check', `('quo_1', :user, '{}', :listing, 50, ${soon})`],
  ] as const) {
    it(`refuses ${what}`, () => refuses(constraint, quote(values)));
  }

  it('refuses a second rental of one, and a second one of a rental', async () => {
    const ids = [newId('quo'), newId('quo')] as const;
    for (const id of ids) {
      await db.raw(quote(`(:id, :user, '{}', :listing, 50, ${soon})`), { ...bindings, id });
    }
    const take = `update quotes set rental_id = :rental where id = :id`;
    const [one, two] = [await insertRental(db, user.id), await insertRental(db, user.id)];
    await db.raw(take, { id: ids[0], rental: one.id });
    await refuses('quotes_once', take, { id: ids[0], rental: two.id });
    await refuses('quotes_rental_id_key', take, { id: ids[1], rental: one.id });
    await refuses('quotes_rental_id_fkey', take, { id: ids[1], rental: newId('rent') });
  });

  it('refuses a request by something that is no quote', () =>
    refuses(
      'rental_requests_quote_id_check',
      `insert into rental_requests (id, user_id, family_id, gpu_count, template_id, ssh_key_ids, answer_before, quote_id)
         values ('rent_' || repeat('0', 26), :user, 'l4', 1, 't', '{}', clock_ms(), 'x')`,
    ));
});
