import assert from 'node:assert/strict';
import type { RentalRow } from '../../../adapters/postgres/rows/tables.js';
import type { ApiKeyId } from '../../../domain/ids.js';
import { findCap } from '../../../adapters/postgres/spending/caps.js';
import { tick } from '../../../money/metering/tick.js';
import { startApi, type SignedIn, type TestApi } from '../../support/http/api.js';
import { insertRunningRental } from '../../support/money/factories.js';
import { getKey, insertKey } from '../../support/money/keys.js';
import { credit } from '../../support/money/money.js';

describe('the cap of an API key', () => {
  let api: TestApi;
  let owner: SignedIn;
  before(async () => {
    api = await startApi();
  });
  beforeEach(async () => {
    owner = await api.signIn();
    await credit(api.db, owner.user.id, 10_000);
  });
  after(() => api.stop());

  async function patch(id: ApiKeyId, spendCapCents: number | null): Promise<[number, unknown]> {
    const { status, body } = await owner.patch(`/v1/api-keys/${id}`, { spendCapCents });
    return [
      status,
      status === 200 ? (body as unknown as { spendCapCents: unknown }).spendCapCents : body.error,
    ];
  }

  /** A machine of a key that has run for a minute. */
  async function run(key: ApiKeyId, limit: number | null = 300): Promise<RentalRow> {
    return api.db.transaction(async (trx) => {
      await trx('api_keys')
        .where({ id: key })
        .increment('reserved_cents', limit ?? 0);
      return insertRunningRental(trx as never, owner.user.id, 60_000, {
        ...{ api_key_id: key, max_spend_cents: limit, price_per_hour_cents: 600 },
      });
    });
  }

  it('is set when the key is made, and audited', async () => {
    const asked = { name: 'x', scopes: ['read', 'rentals'], spendCapCents: 700 };
    const { status, body } = await owner.post('/v1/api-keys', asked);
    assert.equal(status, 200, JSON.stringify(body));
    assert.equal((await getKey(api.db, body.id as ApiKeyId)).spend_cap_cents, 700);
    const audit = await api.db('audit_events').where({ entity_id: body.id }).first();
    assert.equal(audit?.details?.['spendCapCents'], 700);
  });

  it('is raised after a fresh sign-in only, and lowered at any time', async () => {
    const key = await insertKey(api.db, owner.user.id, 500);
    const uncapped = await insertKey(api.db, owner.user.id, null);
    await api.db('sessions').where({ user_id: owner.user.id }).update({ proved_at: null });
    for (const raised of [501, null]) {
      assert.deepEqual(await patch(key, raised), [403, 'fresh_sign_in_required']);
    }
    assert.deepEqual(await patch(key, 400), [200, 400]);
    assert.deepEqual(await patch(uncapped, 400), [200, 400], 'a first cap only lowers');
    assert.equal((await getKey(api.db, key)).spend_cap_cents, 400);
  });

  it('is no lower than what is spent and reserved, as the answer says', async () => {
    const key = await insertKey(api.db, owner.user.id, 500, { spent_cents: 20 });
    await run(key);
    assert.deepEqual(await patch(key, 5), [200, 320]);
  });

  it('tells what running machines have cost as spent, and no longer as reserved', async () => {
    const [capped, free] = [
      await insertKey(api.db, owner.user.id, 500, { spent_cents: 20 }),
      await insertKey(api.db, owner.user.id, null),
    ];
    const running = await run(capped);
    await run(free, null);
    await run(free, 300);
    await tick(api.db, { shard: 0, shards: 1 });
    const sumsOf = (row: object) => {
      const { spentCents, reservedCents, leftCents } = row as Record<string, number | null>;
      return [spentCents, reservedCents, leftCents];
    };
    const { apiKeys } = (await owner.get('/v1/api-keys')).body as unknown as { apiKeys: { id: string }[] };
    for (const [id, sums] of [
      [capped, [30, 290, 180]],
      [free, [20, 290, null]],
    ] as const) {
      assert.deepEqual(sumsOf(apiKeys.find((key) => key.id === id)!), sums);
      assert.deepEqual(sumsOf((await owner.get(`/v1/api-keys/${id}`)).body), sums);
      assert.deepEqual(sumsOf((await owner.patch(`/v1/api-keys/${id}`, { name: 'renamed' })).body), sums);
    }
    assert.deepEqual(await findCap(api.db, await getKey(api.db, capped)), {
      ...{ kind: 'cap', apiKeyId: capped, limitCents: 500, spentCents: 30, reservedCents: 290 },
      holders: [{ rentalId: running.id, reservedCents: 290 }],
    });
  });

  it('stays with the key’s machines when it is revoked: they are stopped where that is asked for', async () => {
    const key = await insertKey(api.db, owner.user.id, 1_000);
    const other = await run(await insertKey(api.db, owner.user.id, 1_000));
    const [first, second] = [await run(key), await run(key)];
    const stops = () => api.db('stop_requests').orderBy('rental_no').select('rental_no', 'requested_at');
    assert.equal((await owner.delete(`/v1/api-keys/${key}`)).status, 200);
    assert.deepEqual(await stops(), [], 'what it rented runs on');
    assert.equal(
      (await owner.delete(`/v1/api-keys/${key}?stopMachines=true`)).status,
      200,
      'also afterwards',
    );
    assert.deepEqual(
      (await stops()).map(({ rental_no: no }) => no),
      [first.no, second.no],
    );
    await tick(api.db, { shard: 0, shards: 1 });
    assert.equal((await api.db('rentals').where({ no: other.no }).first())?.status, 'running');
    const audit = await api.db('audit_events').where({ user_id: owner.user.id, kind: 'rental_stopped' });
    assert.deepEqual(audit.map(({ entity_id: id }) => id).toSorted(), [first.id, second.id].toSorted());
  });

  it('ends the billing of what it rented at the first tick after its revocation', async () => {
    const key = await insertKey(api.db, owner.user.id, 1_000);
    const rental = await run(key);
    await tick(api.db, { shard: 0, shards: 1 });
    assert.equal((await owner.delete(`/v1/api-keys/${key}?stopMachines=true`)).status, 200);
    await tick(api.db, { shard: 0, shards: 1 });
    const tickedMs = Date.now();
    const { ended_at: endedAt } = (await api.db('rentals').where({ no: rental.no }).first())!;
    const { revoked_at: revokedAt } = await getKey(api.db, key);
    assert.ok(endedAt! >= revokedAt! && endedAt!.getTime() <= tickedMs);
    const { rows } = await api.db.raw<{ rows: { late: number }[] }>(
      'select count(*)::int as late from ledger_entries where rental_no = ? and created_at > ?',
      [rental.no, new Date(revokedAt!.getTime() + 2_000)],
    );
    assert.equal(rows[0]?.late, 0, 'no cent is charged later');
  });

  it('refuses what is no cap', async () => {
    const key = await insertKey(api.db, owner.user.id, 500);
    for (const spendCapCents of [0, -1, 1.5, 'much']) {
      const { status, body } = await owner.patch(`/v1/api-keys/${key}`, { spendCapCents });
      assert.deepEqual([status, body.error], [400, 'validation_failed']);
    }
    const { status } = await owner.delete(`/v1/api-keys/${key}?stopMachines=maybe`);
    assert.equal(status, 400);
    assert.equal((await getKey(api.db, key)).revoked_at, null);
  });
});
