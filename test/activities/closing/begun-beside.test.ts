import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { insertApiKey } from '../../../adapters/postgres/accounts/api-keys.js';
import { lockBy } from '../../../adapters/postgres/locks.js';
import type { TopupRow } from '../../../adapters/postgres/rows/tables.js';
import type { CheckoutSession } from '../../../adapters/processor/processor.js';
import { refuseWhenTopupNotAllowed } from '../../../money/topups/topup-guards.js';
import { closingWorld } from '../../support/activities/closing-world.js';
import { insertTopup } from '../../support/money/factories.js';
import { untilSomeoneWaits } from '../../support/someone-waits.js';

describe('what an account begins beside its closing', () => {
  const world = closingWorld();

  const topup = (columns: Partial<TopupRow> = {}) =>
    insertTopup(world.db, world.userId, { status: 'processing', ...columns });
  /** The customer at the processor that a payment beside the closing makes. */
  const late = () => `${world.customer}_late`;
  const endTopup = ({ id }: TopupRow) =>
    world.db('topups').where({ id }).update({ status: 'failed', closed_at: new Date() });

  it('waits for a top-up that was begun before the wish, and not committed', async () => {
    const beginning = await world.db.transaction();
    await lockBy(beginning, 'topupsOfUser', world.userId);
    await refuseWhenTopupNotAllowed(beginning, world.userId, 5);
    const closing = world.close();
    try {
      await Promise.race([closing, untilSomeoneWaits(world.db, 'the closing waits for the top-up')]);
      await insertTopup(beginning as never, world.userId, { status: 'creating' });
    } finally {
      await beginning.commit();
    }
    const row = await closing;
    assert.deepEqual([row.state, row.waits_for], ['stopping', ['topups']]);
    assert.deepEqual(world.deleted, []);
  });

  it('closes a page that is open later, and erases the customer whom it made', async () => {
    await world.close();
    const expired: string[] = [];
    world.lone.processor.answers.expireCheckoutSession = (id) => {
      expired.push(id);
      return Promise.resolve({ sessionId: id } as CheckoutSession);
    };
    const page = await topup({ session_id: 'cs_late' });
    await world.db('users').where({ id: world.userId }).update({ processor_customer_id: late() });
    const row = await world.look();
    assert.deepEqual([row.state, row.waits_for, expired], ['kept', ['topups'], ['cs_late']]);
    assert.deepEqual(world.deleted, [world.customer]);
    await endTopup(page);
    await world.look();
    assert.deepEqual(world.deleted, [world.customer, late()]);
    assert.equal((await world.db('users').where({ id: world.userId }).first())?.processor_customer_id, null);
  });

  it('forgets no customer who came while another one was erased', async () => {
    world.lone.processor.answers.deleteCustomer = async (id) => {
      if (world.deleted.push(id) === 1)
        await world.db('users').where({ id: world.userId }).update({ processor_customer_id: late() });
    };
    await assert.rejects(world.close(), /another customer/);
    assert.deepEqual(world.deleted, [world.customer]);
    await world.look();
    assert.deepEqual(world.deleted, [world.customer, late()]);
  });

  it('revokes a key that is just being made', async () => {
    const making = await world.db.transaction();
    const key = { id: newId('key'), userId: world.userId, name: 'a', scopes: ['read'], ends: 'all' } as const;
    await insertApiKey(making, { ...key, allowedCidrs: null, expiresAt: null, spendCapCents: null });
    await topup({ session_id: null });
    const closing = world.close();
    try {
      await Promise.race([closing, untilSomeoneWaits(world.db, 'the closing waits for the key')]);
    } finally {
      await making.commit();
    }
    await closing;
    assert.notEqual((await world.db('api_keys').where({ id: key.id }).first())?.revoked_at, null);
  });
});
