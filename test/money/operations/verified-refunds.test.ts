import assert from 'node:assert/strict';
import type { Database } from '../../../adapters/postgres/database.js';
import { verifyLedger } from '../../../adapters/postgres/ledger/verify.js';
import type { TimeWindow } from '../../../domain/metering/window-charge.js';
import { credit, insertWallet, onVerifiedDatabase } from '../../support/money/money.js';
import { tamper } from '../../support/story/reconciling.js';
import { carryOutOrder, orderAffected } from '../../support/story/refunding.js';
import { ToldLedger } from '../../support/money/told-ledger.js';

const MINUTE = 60_000;

describe('ledger verify’s findings about orders of many', () => {
  let db: Database;
  onVerifiedDatabase((opened) => {
    db = opened.db;
  });

  async function newUser(): Promise<ToldLedger> {
    const { user_id: userId } = await insertWallet(db, 0);
    await credit(db, userId, 100_000);
    return new ToldLedger(db, userId);
  }

  async function lastTenMinutes(): Promise<TimeWindow> {
    const { rows } = await db.raw<{ rows: { now: Date }[] }>('select clock_ms() as now');
    const { now } = rows[0]!;
    return { from: new Date(now.getTime() - 10 * MINUTE), to: now };
  }

  const details = async (user: ToldLedger) =>
    (await verifyLedger(db, user.userId)).map(({ rule, detail }) => `${rule}: ${detail}`);

  it('is an item that says something else than its entry, or gave more than was charged', async () => {
    const user = await newUser();
    const id = await user.runMachine(20 * MINUTE);
    const orderId = await orderAffected(db, await lastTenMinutes(), [id]);
    await carryOutOrder(db, orderId);
    const change =
      'update operator_order_items set refunded_cents = ?, amount_cents = 500 where order_id = ?';
    await tamper(db, 'operator_order_items', (trx) => trx.raw(change, [200, orderId]));
    assert.deepEqual(await details(user), [
      `order: ${orderId} gave 200 for ${id}, its entry says 60`,
      `order: orders of many gave 200 for ${id}, which was charged 120 less 0`,
    ]);
    await tamper(db, 'operator_order_items', (trx) => trx.raw(change, [60, orderId]));
  });

  it('is an entry for an item that there is not', async () => {
    const user = await newUser();
    const id = await user.runMachine(20 * MINUTE);
    const orderId = await orderAffected(db, await lastTenMinutes(), [id]);
    await carryOutOrder(db, orderId);
    const [item] = await db('operator_order_items').where({ order_id: orderId });
    await tamper(db, 'operator_order_items', (trx) =>
      trx('operator_order_items').where({ order_id: orderId }).delete(),
    );
    assert.match(
      (await details(user)).join(),
      /^order: entry \d+ is for operation:op_\w+:rent_\w+, and no order gave/,
    );
    await tamper(db, 'operator_order_items', (trx) => trx('operator_order_items').insert(item!));
  });
});
