import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { claimSlowEnds } from '../../../adapters/postgres/machines/pod-leaks.js';
import { recordBalance } from '../../../adapters/postgres/catalog/provider-health.js';
import { recordOddities } from '../../../adapters/postgres/catalog/provider-oddities.js';
import type { RentalId } from '../../../domain/ids.js';
import { insertProvider, insertRental } from '../../support/money/factories.js';
import {
  insertRunning,
  insertWallet,
  openMoneyDatabase,
  type MoneyDatabase,
} from '../../support/money/money.js';
import { runOps, type OpsResult } from '../../support/ops/ops.js';

describe('ops providers and ops attempts', () => {
  let database: MoneyDatabase;
  let rentalId: RentalId;
  before(async () => {
    database = await openMoneyDatabase();
    await insertProvider(database.db, 'lab');
    rentalId = await insertRunning(database.db, await insertWallet(database.db, 10_000), {
      ...{ priceCents: 360, ranMs: 0 },
    });
  });
  after(() => database.close());

  const ops = (...args: string[]): Promise<OpsResult> => runOps({ databaseUrl: database.url }, ...args);

  /** A machine at 360 cents an hour whose attempt was given up this many minutes ago. */
  async function insertStray(minutesAgo: number): Promise<string> {
    const { db } = database;
    const at = db.raw(`clock_ms() - ? * interval '1 minute'`, [minutesAgo]);
    const tag = `test-${newId('rent')}-1`;
    await db('allocation_attempts').insert({
      ...{
        rental_id: newId('rent'),
        attempt: 1,
        provider_code: 'lab',
        listing_id: newId('lst'),
        offer_id: 'o',
        tag,
      },
      ...{
        price_per_hour_cents: 360,
        state: 'condemned',
        pod_id: `pod-${tag}`,
        error: 'too dear',
        given_up_at: at,
      },
    });
    await db('pods').insert({
      ...{ provider_code: 'lab', pod_id: `pod-${tag}`, tag, status: 'ending', upstream_status: 'deleting' },
      ...{ price_per_hour_cents: 360, first_seen_at: at },
    });
    return tag;
  }

  it('shows how each upstream does, what is held, and what runs unpaid', async () => {
    const { db } = database;
    const tag = await insertStray(10);
    // An attempt whose outcome is still being looked for is no leak yet.
    await db('allocation_attempts')
      .where({ tag: await insertStray(1) })
      .update({ state: 'open', given_up_at: null });
    await db('providers').update({
      ...{
        out_until: db.raw(`clock_ms() + interval '1 minute'`),
        out_reason: 'refused',
        last_error: 'refused: no balance',
      },
    });
    const { out, code } = await ops('providers');
    assert.equal(code, 0);
    assert.match(out, /^lab: out until .* \(refused\);.* refused: no balance$/m);
    assert.doesNotMatch(out, /balance \d/, 'an upstream that does not tell');
    // 10 minutes at 360 cents an hour.
    await recordBalance(db, 'lab', { balanceCents: 1_250, burnCentsPerHour: 100 });
    assert.match(
      (await ops('providers')).out,
      /^lab: .*; balance 1250 cents at 100 cents\/h, lasts 12 h, read \d{4}-\S+;/m,
    );
    await recordBalance(db, 'lab', { balanceCents: 1_250, burnCentsPerHour: 0 });
    assert.match((await ops('providers')).out, /balance 1250 cents at 0 cents\/h, read/);
    assert.match(out, new RegExp(`^ending lab ${tag} .*: given up, 60\\d s, 60 cents$`, 'm'));
    assert.match(out, /^unpaid lab given up: 1 pods, 60\d s, 60 cents in 30 days$/m);
    await db('pods')
      .where({ tag })
      .update({ gone_at: db.raw('clock_ms()') });
    assert.doesNotMatch((await ops('providers')).out, /^ending/m);
    const { leaks } = JSON.parse((await ops('providers', '--json')).out) as { leaks: { cents: number }[] };
    assert.equal(leaks[0]?.cents, 60);
  });

  it('reports a machine that does not end, once, after a quarter of an hour', async () => {
    const [slow, quick] = [await insertStray(16), await insertStray(14)];
    const told = await claimSlowEnds(database.db);
    assert.deepEqual(
      told.map((pod) => pod.tag),
      [slow],
    );
    assert.deepEqual(await claimSlowEnds(database.db), []);
    await database.db('pods').whereIn('tag', [slow, quick]).delete();
  });

  it('lists what was skipped in the upstreams’ answers', async () => {
    await recordOddities(database.db, 'lab', [{ kind: 'unknown_gpu', subject: 'RTX 9090', times: 7 }]);
    assert.match(
      (await ops('providers', 'oddities', 'lab')).out,
      /^lab {2}unknown_gpu {2}RTX 9090 {2}7 times/,
    );
    assert.equal((await ops('providers', 'oddities', 'other')).out.trim(), 'Nothing.');
  });

  it('releases the held machines of a known upstream', async () => {
    const { db } = database;
    const who = ['--by', 'ada', '--reason', 'their console shows none', '--yes'];
    assert.equal((await ops('providers', 'release', 'lab')).code, 2, 'who and why must be told');
    assert.match((await ops('providers', 'release', 'lab', ...who)).out, /^Done: .*heldMachines 0$/m);
    const [row] = await db('providers').whereNotNull('missing_accepted_until');
    assert.equal(row?.code, 'lab');
    assert.match((await ops('actions')).out, /release_missing by ada: their console shows none/);
    const unknown = await ops('providers', 'release', 'nowhere', ...who);
    assert.equal(unknown.code, 1);
    assert.match(unknown.out, /There is no upstream nowhere/);
  });

  it('shows each try to get a machine for a rental', async () => {
    await database.db('allocation_attempts').insert({
      ...{
        rental_id: rentalId,
        attempt: 1,
        provider_code: 'lab',
        listing_id: newId('lst'),
        offer_id: 'offer-1',
      },
      ...{ tag: `t-${rentalId}`, price_per_hour_cents: 40, state: 'failed', error: 'no_capacity: sold out' },
    });
    const { out } = await ops('attempts', rentalId);
    assert.match(out, /^1\. lab offer-1 at 40 cents\/h: failed {2}pod none, .* {2}no_capacity: sold out$/m);
    assert.equal((await ops('attempts', 'rent_1')).code, 2);
  });

  it('shows the cost of machines that nobody was billed for, and who had most', async () => {
    const { db } = database;
    const wallet = await insertWallet(db, 0);
    const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);
    for (const podId of ['pod-free-1', 'pod-free-2']) {
      await insertRental(db, wallet.user_id, {
        ...{ status: 'stopped', stop_reason: 'user', pod_id: podId, price_per_hour_cents: 360 },
        ...{ started_at: minutesAgo(11), ended_at: minutesAgo(1), settled_at: minutesAgo(1) },
      });
    }
    const { out } = await ops('providers');
    const line = `free   lab stopped while provisioning: 2 machines of 1 users (2 of ${wallet.user_id}), 1200 s, 120 cents`;
    assert.ok(out.includes(line), out);
  });
});
