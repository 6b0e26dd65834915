import assert from 'node:assert/strict';
import { noteDearerMachines } from '../../../adapters/postgres/machines/dearer-machines.js';
import type { PodRow } from '../../../adapters/postgres/rows/tables.js';
import { startActivities, type LoneActivities } from '../../support/activities/lone-activities.js';
import { ScriptedUpstream } from '../../support/activities/scripted-upstream.js';
import { insertProvider } from '../../support/money/factories.js';
import { insertRunning, insertWallet } from '../../support/money/money.js';

describe('running machines that have become dearer than they were rented for', () => {
  let lone: LoneActivities;
  before(async () => {
    lone = await startActivities({ providers: new Map([['lab', new ScriptedUpstream().port]]) });
    await insertProvider(lone.db);
  });
  after(() => lone.close());

  /** A machine at 200 cents an hour. */
  async function add(costCents: number | null, columns: Partial<PodRow> = {}) {
    const { db } = lone;
    const id = await insertRunning(db, await insertWallet(db, 1_000), { priceCents: 200, ranMs: 1_000 });
    const pod = { provider_code: 'lab', pod_id: `pod-${id}`, tag: `test-${id}-1`, status: 'active' } as const;
    await db('pods').insert({
      ...{ ...pod, upstream_status: '', first_seen_at: new Date(), price_per_hour_cents: costCents },
      ...columns,
    });
    return id;
  }

  it('are told to operators by the sweep, once a day', async () => {
    const { db } = lone;
    const told = () => db('operator_notices').select('subject', 'body');
    for (const costCents of [200, null]) await add(costCents);
    await add(230, { gone_at: new Date() });
    const small = await add(230);
    await noteDearerMachines(db, { code: 'lab', diskPrice: { centsPerGbHour: 1, usualGb: 30 } });
    assert.deepEqual(await told(), [], 'its disk may cost that, as it was rented');
    const large = await add(300);
    for (let times = 0; times < 2; times += 1) await lone.round('sweep');
    const [notice, ...others] = await told();
    assert.deepEqual([notice?.subject, others], ['Machines at lab cost more than their renters pay', []]);
    const lines = notice!.body.split('\n');
    assert.match(lines[0]!, /^We lose \$1\.30 an hour/);
    assert.deepEqual(
      lines.filter((line) => line.startsWith('rent_')),
      [`${large}  costs $3.00 an hour  rented for $2.00`, `${small}  costs $2.30 an hour  rented for $2.00`],
    );
  });
});
