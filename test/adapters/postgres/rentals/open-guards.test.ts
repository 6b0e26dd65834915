import assert from 'node:assert/strict';
import { insertClosing } from '../../../../adapters/postgres/accounts/closings.js';
import { newId } from '../../../../adapters/ids.js';
import { openDatabase, type Database } from '../../../../adapters/postgres/database.js';
import { readRenter } from '../../../../adapters/postgres/rentals/open-guards.js';
import type { UserRow } from '../../../../adapters/postgres/rows/tables.js';
import type { Renter } from '../../../../domain/rentals/open.js';
import { createTestDatabase } from '../../../support/servers/database.js';
import { insertRental, insertStoppedRental, insertUser } from '../../../support/money/factories.js';

/** Decision 23, "Guards against loss". The verdict is domain/rentals/open.ts. */
describe('what may keep an account from renting', () => {
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

  const nothing: Renter = {
    ...{ isPaused: false, blockedReason: null, isClosing: false, overdueInvoiceId: null, liveRentals: 0 },
  };
  const isSeen = async (facts: Partial<Renter> = {}): Promise<void> => {
    assert.deepEqual(await readRenter(db, user.id), { ...nothing, ...facts });
  };

  it('is a block, with its reason, until it is lifted', async () => {
    await isSeen();
    await db('users').where({ id: user.id }).update({ blocked_at: new Date(), blocked_reason: 'fraud' });
    await isSeen({ blockedReason: 'fraud' });
    await db('users').where({ id: user.id }).update({ blocked_reason: null });
    await isSeen({ blockedReason: 'account' });
    await db('users').where({ id: user.id }).update({ blocked_at: null });
    await isSeen();
  });

  it('is that it is being closed', async () => {
    await insertClosing(db, user.id);
    await isSeen({ isClosing: true });
  });

  it('are their live rentals; those that have ended, and others’, do not count', async () => {
    const other = await insertUser(db);
    await insertRental(db, other.id);
    await insertStoppedRental(db, user.id);
    await insertRental(db, user.id);
    await insertRental(db, user.id, { status: 'running', running_at: new Date() });
    await isSeen({ liveRentals: 2 });
  });

  it('is an invoice that is due, until it is paid, void or given up', async () => {
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
    await isSeen();
    const of = () => db('invoices').where({ id });
    await of().update(due);
    await isSeen({ overdueInvoiceId: id });
    await of().update({ void_requested_at: new Date(), void_reason: 'a mistake' });
    await isSeen();
    await of().update({ void_requested_at: null, void_reason: null, status: 'uncollectible' });
    await isSeen();
    await of().update({ status: 'paid', paid_at: new Date() });
    await isSeen();
  });

  it('is a brake on new rentals or on metering', async () => {
    for (const kind of ['creates', 'metering'] as const) {
      await db('brakes').insert({ kind, pulled_by: 'test', reason: 'drill' });
      await isSeen({ isPaused: true });
      await db('brakes').delete();
    }
    await db('brakes').insert({ kind: 'charges', pulled_by: 'test', reason: 'drill' });
    await isSeen();
    await db('brakes').delete();
  });
});
