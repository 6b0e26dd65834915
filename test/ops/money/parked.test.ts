import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import type { OperationId } from '../../../domain/ids.js';
import { openMoneyDatabase, type MoneyDatabase } from '../../support/money/money.js';
import { runOps, type OpsResult } from '../../support/ops/ops.js';

describe('ops parked', () => {
  let database: MoneyDatabase;
  before(async () => {
    database = await openMoneyDatabase();
    await database.db('parked_payments').insert([
      { payment_id: 'pi_euro', amount_cents: 2_000, currency: 'eur', reason: 'it was paid in eur' },
      { payment_id: 'pi_other', amount_cents: 500, currency: 'usd', reason: 'it names no user of ours' },
    ]);
  });
  after(() => database.close());

  const ops = (...args: string[]): Promise<OpsResult> => runOps({ databaseUrl: database.url }, ...args);
  const who = ['--by', 'ada', '--reason', 'given back: re_1'];
  const waiting = async (): Promise<string[]> =>
    (JSON.parse((await ops('parked', '--json')).out) as { payment_id: string }[]).map(
      (row) => row.payment_id,
    );

  it('lists what came in and could not be credited', async () => {
    const { out } = await ops('parked');
    assert.match(out, /^pi_euro {2}2000 eur {2}no user {2}since \S+ {2}it was paid in eur$/m);
    assert.match(out, /^pi_other {2}500 usd/m);
  });

  it('resolves one, says who did it and why, and does not do it twice', async () => {
    const dry = await ops('parked', 'resolve', 'pi_euro', ...who, '--dry-run');
    assert.match(dry.out, /^Would do as ada: /);
    assert.deepEqual(await waiting(), ['pi_euro', 'pi_other']);
    const { code, out, err } = await ops('parked', 'resolve', 'pi_euro', ...who);
    assert.equal(code, 0, err);
    assert.match(out, /^Done: paymentId pi_euro, amountCents 2000, currency eur$/m);
    assert.deepEqual(await waiting(), ['pi_other']);
    const [row] = await database.db('parked_payments').where({ payment_id: 'pi_euro' });
    assert.equal(row?.resolution, 'given back: re_1');
    assert.match((await ops('actions', '--about', 'pi_euro')).out, /resolve_parked by ada: given back: re_1/);
    const again = await ops('parked', 'resolve', 'pi_euro', ...who);
    assert.deepEqual([again.code, again.out.includes('is resolved already: given back: re_1')], [1, true]);
  });

  it('keeps by which operation one was credited, and takes none that credited nothing, or another', async () => {
    const operationId = newId('op');
    const insert = (id: OperationId, kind: string, amountCents: number) =>
      database.db('operator_actions').insert({
        ...{ id, kind, operator: 'ada', reason: 'it is hers', result: '{}' },
        request: JSON.stringify({ kind, userId: newId('usr'), amountCents }),
      });
    await insert(operationId, 'adjust', 500);
    const taking = newId('op');
    await insert(taking, 'adjust', -500);
    const credited = (by: string, payment = 'pi_other') =>
      ops('parked', 'resolve', payment, '--credited-by', by, ...who);
    for (const none of [taking, newId('op')]) {
      const { code, out } = await credited(none);
      assert.deepEqual([code, out.includes(`${none} credited no wallet`)], [1, true], out);
    }
    assert.deepEqual(await waiting(), ['pi_other']);
    assert.equal((await credited(operationId)).code, 0);
    const [row] = await database.db('parked_payments').where({ payment_id: 'pi_other' });
    assert.equal(row?.credited_by, operationId);
    await database
      .db('parked_payments')
      .insert({ payment_id: 'pi_third', amount_cents: 500, currency: 'usd', reason: 'nobody’s' });
    const twice = await credited(operationId, 'pi_third');
    assert.deepEqual(
      [twice.code, twice.out.includes(`${operationId} credited pi_other, and only that`)],
      [1, true],
    );
    await database.db('parked_payments').where({ payment_id: 'pi_third' }).delete();
    await database
      .db('parked_payments')
      .where({ payment_id: 'pi_other' })
      .update({ credited_by: null, resolved_at: null, resolution: null });
  });

  it('names a payment that is not parked, and changes nothing', async () => {
    const { code, out } = await ops('parked', 'resolve', 'pi_nowhere', ...who);
    assert.deepEqual([code, out.includes('No payment pi_nowhere is parked: see ops parked.')], [1, true]);
    assert.deepEqual(await waiting(), ['pi_other']);
  });
});
