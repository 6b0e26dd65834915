import assert from 'node:assert/strict';
import { newId } from '../../../../adapters/ids.js';
import type { Pod } from '../../../../adapters/providers/provider.js';
import { comparePods } from '../../../../adapters/postgres/reconcile/pods.js';
import { insertProvider } from '../../../support/money/factories.js';
import { openMoneyDatabase, type MoneyDatabase } from '../../../support/money/money.js';

describe('the comparison of an upstream’s machines', () => {
  let database: MoneyDatabase;
  before(async () => {
    database = await openMoneyDatabase();
    await insertProvider(database.db);
  });
  after(() => database.close());

  it('knows which machines are somebody’s', async () => {
    const { db } = database;
    const tag = `test-${newId('rent')}-1`;
    const pod: Pod = {
      ...{ podId: 'pod-1', tag, status: 'active', upstreamStatus: 'active', pricePerHourCents: 100 },
      ...{ host: null, port: null, username: null },
    };
    const why = async (): Promise<unknown> => (await comparePods(db, 'lab', [pod], 0))[0]?.evidence['why'];
    assert.equal(await why(), 'no attempt carries its tag');
    await db('allocation_attempts').insert({
      ...{ rental_id: newId('rent'), attempt: 1, provider_code: 'lab', listing_id: newId('lst') },
      ...{ offer_id: 'o', tag, price_per_hour_cents: 100 },
    });
    const of = () => db('allocation_attempts').where({ tag });
    const put = (state: 'adopted' | 'failed' | 'condemned') => of().update({ state });
    assert.equal(await why(), undefined, 'its attempt is open');
    await of().update({ created_at: db.raw(`clock_ms() - interval '11 minutes'`) });
    assert.equal(await why(), 'its attempt was never decided');
    await put('failed');
    assert.equal(await why(), 'its attempt is failed');
    const twice = await comparePods(db, 'lab', [pod, pod], 0);
    assert.equal(twice.length, 1, 'an upstream may name a machine twice');
    await put('condemned');
    assert.equal(await why(), undefined, 'it was told to end');
    await put('adopted');
    assert.equal(await why(), 'it has no rental');
  });
});
