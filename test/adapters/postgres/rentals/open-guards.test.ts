import assert from 'node:assert/strict';
import { newId } from '../../../../adapters/ids.js';
import { openDatabase, type Database } from '../../../../adapters/postgres/database.js';
import { refuseWhenNotAllowed } from '../../../../adapters/postgres/rentals/open-guards.js';
import type { UserRow } from '../../../../adapters/postgres/rows/tables.js';
import { Refusal } from '../../../../domain/refusal.js';
import { createTestDatabase } from '../../../support/servers/database.js';
import { insertRental, insertStoppedRental, insertUser } from '../../../support/money/factories.js';

describe('a new rental (decision 23)', () => {
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  let db: Database;
  let user: UserRow;
  before(async () => {
    database = await createTestDatabase();
    db = openDatabase(database.url, 2, 'test');
  });
  beforeEach(async () => {
    user = await insertUser(db);
  });
  after(async () => {
    await db.destroy();
    await database.drop();
  });

  const isAllowed = (): Promise<void> => db.transaction((trx) => refuseWhenNotAllowed(trx, user.id));
  const isRefused = (code: string, details?: object): Promise<void> =>
    assert.rejects(isAllowed(), (error) => {
      assert.ok(error instanceof Refusal);
      assert.deepEqual([error.code, error.details], [code, details]);
      return true;
    });

  it('is refused to a blocked user, with the reason, until they are unblocked', async () => {
    await isAllowed();
    await db('users').where({ id: user.id }).update({ blocked_at: new Date(), blocked_reason: 'fraud' });
    await isRefused('blocked', { reason: 'fraud' });
    await db('users').where({ id: user.id }).update({ blocked_reason: null });
    await isRefused('blocked', { reason: 'account' });
    await db('users').where({ id: user.id }).update({ blocked_at: null });
    await isAllowed();
  });

  it('is refused to who has twenty that live; those that have ended, and others’, do not count', async () => {
    const other = await insertUser(db);
    await insertRental(db, other.id);
    await insertStoppedRental(db, user.id);
    for (let count = 0; count < 19; count += 1) await insertRental(db, user.id);
    await isAllowed();
    await insertRental(db, user.id);
    await isRefused('blocked', { reason: 'too_many_rentals', limit: 20 });
  });

  it('is refused to who owes an invoice that is due, until it is paid, void or given up', async () => {
    const { id: walletId } = (await db('wallets').where({ user_id: user.id }).first())!;
    const soon = { due_at: db.raw(`clock_ms() + interval '1 minute'`) };
    const due = { due_at: db.raw(`clock_ms() - interval '1 second'`) };
    const [id, offer] = [newId('inv'), newId('inv')];
    for (const [invoiceId, reason] of [
      [id, 'manual'],
      [offer, 'topup_failed'],
    ] as const) {
      await db('invoices').insert({
        ...{ id: invoiceId, user_id: user.id, wallet_id: walletId, status: 'open', reason },
        ...{ amount_cents: 700, cause: `test:${invoiceId}`, finalized_at: new Date(), ...soon },
      });
    }
    await db('invoices').where({ id: offer }).update(due);
    await isAllowed();
    const of = () => db('invoices').where({ id });
    await of().update(due);
    await isRefused('blocked', { reason: 'unpaid_invoice', invoiceId: id });
    await of().update({ void_requested_at: new Date(), void_reason: 'a mistake' });
    await isAllowed();
    await of().update({ void_requested_at: null, void_reason: null, status: 'uncollectible' });
    await isAllowed();
    await of().update({ status: 'paid', paid_at: new Date() });
    await isAllowed();
  });

  it('is refused to all while operators have paused new rentals', async () => {
    await db('brakes').insert({ kind: 'creates', pulled_by: 'test', reason: 'drill' });
    await isRefused('temporarily_unavailable', undefined);
    await db('brakes').delete();
    await isAllowed();
  });
});
